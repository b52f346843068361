/* tally: what a recording was like, counted while it streams by. */
#ifndef NVMTOP_RECORD_TALLY_H
#define NVMTOP_RECORD_TALLY_H

#include "model/stats.h"
#include "model/stream.h"

struct log_writer;

#define TALLY_CHANGES 4 /* the first are listed one by one */

/* One signal among several that are compared: a zone, what throttles, a notice. */
struct tally_signal {
	char label[32];
	enum tier tier;
	uint16_t column;
	bool counts; /* it counts events; otherwise it is above 0 while it lasts */
	bool notice; /* it slows nothing down */
	double last; /* value and time of the newest row; NaN: missing */
	int64_t last_ns;
	double most;      /* the highest value; NaN: none was read */
	int64_t above_ns; /* how long it was above 0 */
	uint64_t events;  /* how often it began, or how many were counted */
	uint64_t values;  /* rows in which it had one */
};

struct tally_power {
	bool known; /* the board has a total, or a GPU that reports its power */
	bool gpu_alone; /* from NVML: there is no total */
	enum tier tier;
	uint16_t column;
	int64_t hole_ns; /* between two values further apart nothing is added */
	struct integral mj; /* millijoules */
	double most_mw;     /* NaN: nothing was read */
};

/* Passes the stream on to another sink, unchanged, and counts what that one takes. */
struct tally {
	struct sink sink;
	struct sink *next;
	struct log_writer *writer; /* tells which rows got into the file; NULL: all */
	int64_t start_ns, end_ns;
	int64_t cpu_ns,
		ran_ns; /* CPU time of the whole process from begin() to end(), and how long that was */
	uint64_t rows[TIERS], changes;
	uint64_t late[TIERS], lost[TIERS]; /* ticks, in its gaps */
	struct change change[TALLY_CHANGES];
	int64_t newest_ns[TIERS], longest_ns[TIERS]; /* the longest time between two rows */
	struct tally_power power;
	struct tally_signal hottest; /* of all zones that are measured; its label: of which */
	bool knows_hottest;          /* the board has such a signal */
	struct tally_signal *zones, *throttles;
	size_t n_zones, n_throttles;
};

/* In front of next, which is borrowed; t is zeroed. */
struct sink *tally_init(struct tally *t, struct sink *next);
/* Only rows that get into its chunks are counted, and then: which ones it drops is found out
 * long after they came.  Before begin(); t lives until its end(). */
void tally_of_writer(struct tally *t, struct log_writer *w);
void tally_free(struct tally *t);

/* The hottest zone, or NULL when no temperature was read. */
const struct tally_signal *tally_hottest(const struct tally *t);

#endif
