/* report: numbers out of saved traces, and other files made of them. */
#ifndef NVMTOP_REPORT_H
#define NVMTOP_REPORT_H

#include <stdio.h>

#include "nvmtop/trace.h"

/* How far two samples of a channel can be apart for the time between them to count as
 * covered: so many periods of its tier. */
#define COVER_PERIODS 5

/* What of a trace is wanted. */
struct pick {
	const char *select;	/* names with * and ?, separated by commas; NULL: all signals */
	const char *epoch;	/* a label or a number; NULL: all */
	int tier;		/* enum tier, or -1: all */
	bool has_from, has_to;
	int64_t from_ns, to_ns;	/* since the start of the recording */
};

/* Told now and then how far the work is, 0 .. 1.  False: stop, which whatever writes
 * a file does, with an error. */
typedef bool report_progress(double done);

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV, REPORT_MARKDOWN };

/* Statistics of each epoch of a trace and of the whole; of several traces also
 * their differences.  per > 0: each epoch did so many items.  -1 when something
 * that was picked is not there, or memory ran out.  When f cannot be written, that
 * is 0, with ferror(f) and errno. */
int report_write(struct trace *const *traces, size_t n, const struct pick *p, double per,
		 enum report_format format, FILE *f, report_progress *progress, struct err *e);

enum export_form { EXPORT_CSV, EXPORT_JSONL, EXPORT_PERFETTO };

/* Samples, marks and gaps, in the order of time; tiers as they were sampled, or
 * with hz > 0 all on one time base: each row the mean of the samples from its
 * time to that of the next one, or the last sample where that is not longer ago
 * than five periods.  Memory does not depend on the length of the trace.  When f
 * cannot be written it stops early and returns 0, with ferror(f) and errno. */
int export_write(struct trace *t, const struct pick *p, enum export_form form, double hz, FILE *f,
		 report_progress *progress, struct err *e);

/* A stretch of a trace (from_ns, to_ns since its start) as a trace of its own,
 * and several traces of one board as one; path is as for trace_writer_new().
 * Marks are numbered anew from 1.  join: note (may be NULL) is called with a
 * sentence about what of the time between the parts is not known.  With 0 e->code is
 * ERR_NONE, or e says which file beside it could not be removed. */
int trace_cut(struct trace *t, const struct pick *p, const char *path, bool force,
	      report_progress *progress, struct err *e);
int trace_join_files(struct trace *const *traces, size_t n, const char *path, bool force,
		     report_progress *progress, void (*note)(const char *text), struct err *e);

#endif
