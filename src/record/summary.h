/* summary: a recording in a few lines, when it has ended. */
#ifndef NVMTOP_RECORD_SUMMARY_H
#define NVMTOP_RECORD_SUMMARY_H

#include <stdio.h>

#include "record/tally.h"
#include "util/clock.h"
#include "engine/engine.h"

/* What the engine had counted at the begin, and at the end, of a recording. */
struct summary_moment {
	struct engine_stats stats;
	struct lateness fast;
	struct clock_anchor clocks;
};
void summary_moment(struct summary_moment *m, const struct engine *g);

struct summary {
	const struct tally *tally;
	const char *file; /* its name, or names */
	uint64_t bytes;
	uint64_t rows[TIERS]; /* that are in it */
	uint64_t marks;
	uint64_t lost_marks;
	uint64_t lost; /* rows that the recorder could not keep */
	struct summary_moment before, after;
	uint64_t holes;     /* how often nothing could be written for a while */
	int64_t hole_ns;    /* how long, together */
	char priority[160]; /* how the samplers were scheduled */
	struct engine *engine; /* source of the sensors that did not answer; NULL: not reported */
};

/* Why it is not complete then; false: it is. */
bool summary_incomplete(const struct summary *s, char *buf, size_t size);

/* "nvmtop: recorded ..." and a line for each thing that was, or was not, measured. */
void summary_print(const struct summary *s, FILE *out);

/* What fits on one line of the screen: "3 late; mean 23.4 W, ...".  May be "". */
void summary_line(const struct summary *s, char *buf, size_t size);

#endif
