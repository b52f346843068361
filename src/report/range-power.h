/* range-power: joules of groups of ranges, from the power of every set of groups that is open at a time. */
#ifndef NVMTOP_REPORT_RANGE_POWER_H
#define NVMTOP_REPORT_RANGE_POWER_H

#include "model/energy.h"
#include "model/power-fit.h"

enum { USE_ALL, USE_OWN, USES }; /* a group's ranges as they are; without those nested in them */

/* What a group is for this: its first member. */
struct range_user {
	struct range_user *before;
	uint32_t number, open[USES]; /* how many are open */
	uint64_t times[USES];	     /* that one was open after none */
	int64_t closed_ns[USES];
	bool lost; /* some of its time */
	struct energy_result joules[USES];
};

/* Begin with zeros, and the source. */
struct range_power {
	struct energy_source source; /* power: SIZE_MAX: none */
	struct energy_rows rows;
	struct power_reading *readings; /* from the one before the next that takes part */
	size_t n_readings, room_readings, done;
	int64_t next_ns;  /* where reading goes on */
	struct range_segment {
		int64_t end_ns;
		uint32_t state;
	} * segments; /* each begins where the one before ends, the first at first_ns */
	size_t n_segments, room_segments;
	int64_t first_ns;
	uint64_t key, key_before; /* of the set that is open at the end, and of that before */
	int64_t key_ns;		  /* since then */
	struct range_event {
		int64_t t_ns;
		struct range_user *user;
		int8_t use, step;
	} * events;
	size_t n_events, room_events;
	struct range_user **open; /* now */
	size_t n_open, room_open;
	struct range_use {
		struct range_user *user;
		int use;
	} * uses; /* those of each state, in its order */
	size_t n_uses, room_uses;
	uint32_t *table; /* of states by key: the number plus 1 */
	size_t room_table;
	struct range_user *newest;
	size_t n_users;
	struct power_fit fit;
	size_t work; /* rows read */
	bool no_memory;
};
void range_power_free(struct range_power *p);
/* Adds a user, which is zeroed. */
void range_power_join(struct range_power *p, struct range_user *user);

/* A range is open in the part that follows: within [from_ns, to_ns). */
void range_power_open(struct range_power *p, struct range_user *user, int use, int64_t from_ns, int64_t to_ns);
/* Ends the part [from_ns, to_ns): takes the readings of power. */
void range_power_part(struct range_power *p, struct timeline *t, int64_t from_ns, int64_t to_ns);
/* Nothing follows on the last part. */
void range_power_break(struct range_power *p, struct timeline *t);

/* Sets the joules of all users. */
void range_power_solve(struct range_power *p);

#endif
