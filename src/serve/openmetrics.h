/* openmetrics: the values of a machine as text for Prometheus. */
#ifndef NVMTOP_SERVE_OPENMETRICS_H
#define NVMTOP_SERVE_OPENMETRICS_H

#include <stdio.h>

#include "model/stream.h"
#include "model/timeline.h"

#define OPENMETRICS_WINDOWS 2
struct metrics {
	const struct session *about; /* channels are numbered as in it */
	const size_t *channels;	     /* of which n are written */
	size_t n;
	const double *values; /* of all channels; NaN: missing */
	const double *totals; /* joules of a power channel, busy seconds of one in percent; NaN: none. NULL: none at all */
	void (*reason)(void *arg, size_t channel, char *out, size_t size); /* of a missing value */
	void *arg;
	struct metric_window {
		const char *label; /* such as "15s" */
		const struct bin *bins; /* of all channels */
	} windows[OPENMETRICS_WINDOWS];
	size_t n_windows;
	/* As node_exporter reads it from a file, and promtool checks it: a counter is described by the name of its
	 * sample, with _total. OpenMetrics 1.0 has it without. */
	bool textfile;
};
/* Writes all of it, up to the line "# EOF". The caller looks at ferror(f). */
void openmetrics_write(FILE *f, const struct metrics *m);

#endif
