/* report: numbers out of saved traces, and other files made of them. */
#ifndef NVMTOP_REPORT_REPORT_H
#define NVMTOP_REPORT_REPORT_H

#include <stdio.h>

#include "trace/trace.h"

/* What of a trace is wanted. */
struct selection {
	const char *select; /* names with * and ?, separated by commas; NULL: all signals */
	const char *epoch;  /* a number or a label, n:NUMBER, label:LABEL; NULL: all */
	int tier;           /* enum tier, or -1: all */
	bool has_from, has_to;
	int64_t from_ns, to_ns; /* since the start of the recording */
};

/* Called with the progress, 0 .. 1.  False: stop, which whatever writes
 * a file does, with an error. */
typedef bool report_progress(double done);

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV, REPORT_MARKDOWN };

/* Statistics of each epoch of a trace and of the whole; of several traces also
 * their differences.  per > 0: each epoch did so many items.  summary: only the table by
 * phase of each.  -1 when something
 * that was selected does not exist, or memory ran out.  When f cannot be written, that
 * is 0, with ferror(f) and errno. */
int report_write(struct trace *const *traces, size_t n, const struct selection *p, double per, bool summary,
		 enum report_format format, FILE *f, report_progress *progress, struct err *e);

/* The forms of an export; form_NAME (report/export.h) writes each. */
#define EXPORT_FORMS(X) X(csv) X(jsonl) X(perfetto)
#define EXPORT_ENUM(name) EXPORT_##name,
#define EXPORT_NAME(name) #name,
#define EXPORT_LIST(name) #name ", "
enum export_form { EXPORT_FORMS(EXPORT_ENUM) EXPORT_NVMT1 };

/* Samples, marks and gaps, in the order of time; tiers as they were sampled, or
 * with hz > 0 all on one time base: each row the mean of the samples from its
 * time to that of the next one, or the last sample where that is not longer ago
 * than five periods.  Of that more than RESAMPLED_MOST rows for each that is read are
 * refused, unless force.  Memory does not depend on the length of the trace.  When f
 * cannot be written it stops early and returns 0, with ferror(f) and errno. */
#define RESAMPLED_MOST 100
int export_write(struct trace *t, const struct selection *p, enum export_form form, double hz, bool force,
		 FILE *f, report_progress *progress, struct err *e);

/* A range of a trace (from_ns, to_ns since its start) as a trace of its own,
 * and several traces of one board as one; path is as for log_writer_new().
 * Marks are numbered anew from 1.  join: note (may be NULL) is called with a
 * sentence about what of the time between the parts is not known.  With 0 e->code is
 * ERR_NONE, or e says which file beside it could not be removed. */
int trace_cut(struct trace *t, const struct selection *p, const char *path, bool force,
	      report_progress *progress, struct err *e);
int trace_join_files(struct trace *const *traces, size_t n, const char *path, bool force,
		     report_progress *progress, void (*note)(const char *text), struct err *e);

#endif
