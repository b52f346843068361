/* summary: prints a finished recording in a few lines. */
#ifndef NVMTOP_RECORD_SUMMARY_H
#define NVMTOP_RECORD_SUMMARY_H

#include <stdio.h>

#include "engine/engine.h"
#include "model/energy.h"
#include "trace/log-out.h"
#include "util/clock.h"

/* What no file tells, at the beginning or end of a recording. */
struct summary_moment {
	struct engine_stats stats;
	struct clock_anchor clocks;
	int64_t cpu_ns; /* of the whole process */
};
void summary_moment(struct summary_moment *m, const struct engine *g);

struct summary {
	const char *file; /* file name, or names */
	const struct session *about;
	struct log_out *writer; /* after its end() */
	struct log_out_stats written;
	struct summary_moment before, after;
	char priority[160]; /* how the samplers were scheduled */
	struct engine *engine; /* reports sensors that did not answer; NULL: not reported */

	/* By summary_read(): */
	struct trace *trace; /* all of the files as one; NULL: there are none, as of a stream */
	int64_t from_ns, to_ns;
	struct power_parts parts;
	struct energy_result energy[POWER_PARTS];
};

/* Reads the files that were written. What never reached the disk is in no sum. */
void summary_read(struct summary *s);
void summary_free(struct summary *s);

/* Duration of the recording. */
int64_t summary_lasted_ns(const struct summary *s);

/* Says what of the time of a recording is in no file; "" if it has all. Returns whether something is lost. */
bool lost_text(const struct log_out_stats *w, char *buf, size_t size);

/* Prints "nvmtop: recorded ..." and a line for each quantity that was measured, or could not be. */
void summary_print(const struct summary *s, FILE *out);

/* What fits on one line of the screen: "3 late; mean 23.4 W, ...". May be "". */
void summary_line(const struct summary *s, char *buf, size_t size);

#endif
