/* range-power: joules of groups of ranges, from the power of every set of groups that is open at a time. */
#ifndef NVMTOP_REPORT_RANGE_POWER_H
#define NVMTOP_REPORT_RANGE_POWER_H

#include "model/energy.h"
#include "model/power-fit.h"

/* What the ranges of a group are for this, as they are or without those nested in them. Begin with zeros. */
struct range_user {
	struct range_user *before;
	uint32_t number, open; /* how many are open */
	size_t at;	       /* in the list of those that are */
	uint64_t times;	       /* that one was open after none */
	int64_t closed_ns;
	bool lost; /* some of its time */
	struct range_use *uses;
	struct energy_result joules;
};

/* A set of users that are open, or the time just after another set. */
struct range_state {
	uint64_t key;
	struct range_state *of; /* without what was before */
	uint32_t number;
	size_t row;	    /* of the fit, of readings that lie in it */
	double time_s;	    /* in which power is known */
	double weight;	    /* readings, each by its share */
	double least, most; /* of the readings that see it, and those beside them */
	double rank;	    /* the weight for a column of its own */
	struct range_use {
		struct range_use *next; /* of the user */
		struct range_state *state;
	} uses[];
};

#define RANGE_STATES 64 /* at most, that one reading sees */

/* Begin with zeros, and the source. */
struct range_power {
	struct energy_source source; /* power: SIZE_MAX: none */
	struct energy_rows rows;
	bool coarse; /* some rows were gone: no bound */
	struct power_last last;
	struct range_segment {
		int64_t end_ns;
		struct range_state *state;
	} * segments; /* each begins where the one before ends, the first at first_ns */
	size_t n_segments, room_segments;
	int64_t first_ns;
	uint64_t key, key_before; /* of the set that is open at the end, and of that before */
	int64_t key_ns;		  /* since then */
	struct range_event {
		int64_t t_ns;
		struct range_user *user;
		int step;
	} * events;
	size_t n_events, room_events;
	struct range_user **open; /* now */
	size_t n_open, room_open;
	void *tree;		     /* of states */
	struct range_state **states; /* the first: nothing is open */
	size_t n_states, room_states;
	struct range_state *seen[RANGE_STATES]; /* by the newest reading */
	size_t n_seen;
	struct range_user *newest;
	size_t n_users;
	struct power_fit fit;
	size_t work; /* rows read */
	bool no_memory;
};
void range_power_free(struct range_power *p);
void range_power_join(struct range_power *p, struct range_user *user);

/* A range is open in the part that follows: within [from_ns, to_ns). */
void range_power_open(struct range_power *p, struct range_user *user, int64_t from_ns, int64_t to_ns);
/* Ends the part [from_ns, to_ns): takes the readings of power. */
void range_power_part(struct range_power *p, struct timeline *t, int64_t from_ns, int64_t to_ns);
/* Nothing follows on the last part. */
void range_power_break(struct range_power *p, struct timeline *t);

/* Sets the joules of all users. */
void range_power_solve(struct range_power *p);

#endif
