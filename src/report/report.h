/* report: statistics of saved traces, and other files made from them. */
#ifndef NVMTOP_REPORT_REPORT_H
#define NVMTOP_REPORT_REPORT_H

#include <stdio.h>

#include "trace/trace.h"

/* The selected part of a trace, or of several. */
struct selection {
	size_t n_first; /* the first n_first traces are runs of one program, the others of another; 0: all are of one */
	const char *select; /* names with * and ?, separated by commas; NULL: all signals */
	const char *epoch;  /* a number or a label, n:NUMBER, label:LABEL; NULL: all */
	int tier;           /* enum tier, or -1: all */
	bool has_from, has_to;
	int64_t from_ns, to_ns; /* since the start of the recording */
};

/* Called with the progress, 0 .. 1. Returns false to stop; a function that writes a file then fails. */
typedef bool report_progress(double done);

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV, REPORT_MARKDOWN };

/* What a table has, or Markdown: the table of phases of each trace; with it the table of the whole, or of several
 * traces time and energy; or everything about each phase. JSON and CSV have everything, too, unless
 * it is only the phases. */
enum report_part { REPORT_FIRST, REPORT_PHASES, REPORT_ALL };

/* Writes statistics of each phase of a trace and of the whole; of several traces, which are runs, their mean and spread, or
 * the differences of two sides. per > 0: number of items per phase. A terminal decides the width of tables. Returns -1 if a
 * selected item does not exist, or if out of memory. If writing to f fails it returns 0, with ferror(f)
 * and errno set. */
int report_write(struct trace *const *traces, size_t n, const struct selection *p, double per, enum report_part part,
		 enum report_format format, FILE *f, report_progress *progress, struct err *e);

/* Writes statistics of ranges by name, thread or domain. Arguments and result are those of report_write(); if
 * p->select names a power signal, the joules are its. */
enum report_by { REPORT_BY_PHASE, REPORT_BY_RANGE, REPORT_BY_THREAD, REPORT_BY_DOMAIN };
extern const char *const by_names[]; /* NULL ends the list */
int report_ranges(struct trace *const *traces, size_t n, const struct selection *p, enum report_by by,
		  enum report_format format, FILE *f, report_progress *progress, struct err *e);

/* Makes the NVTX ranges, kernels and copies in an export of Nsight Systems (SQLite) the ranges of the trace, at the
 * times of the trace, and writes to note how they are aligned. Returns -1 and sets *e on error, or if built without
 * SQLite. */
#define NSYS_MARK "nsys-" /* begins the label of a mark that the recorder and nsys get at the same time */
int report_nsys(struct trace *t, const char *path, char *note, size_t size, struct err *e);

/* The export formats; form_NAME (report/export.h) writes each. */
#define EXPORT_FORMS(X) X(csv) X(jsonl) X(perfetto)
#define EXPORT_ENUM(name) EXPORT_##name,
#define EXPORT_NAME(name) #name,
#define EXPORT_LIST(name) #name ", "
enum export_form { EXPORT_FORMS(EXPORT_ENUM) EXPORT_NVMT1 };

/* Exports samples, marks and gaps in time order; tiers as they were sampled, or with hz > 0 resampled to
 * one time base: each row has the mean of the samples from its time to that of the next row, or else the
 * last sample if it is at most five periods old. More than RESAMPLED_MOST rows per row read are refused
 * without force. Memory use does not depend on the length of the trace. If writing to f fails it stops
 * early and returns 0, with ferror(f) and errno set. */
#define RESAMPLED_MOST 100
int export_write(struct trace *t, const struct selection *p, enum export_form form, double hz, bool force,
		 FILE *f, report_progress *progress, struct err *e);

/* Writes [from, to) of a timeline as CSV: a row for each column of that zoom, or of a longer one if they are
 * too many; of each signal the mean, "" where there is no sample. Returns the number of rows; if writing to
 * f fails, ferror(f) is set. */
size_t export_columns(struct timeline *t, int64_t from_ns, int64_t to_ns, int zoom, FILE *f);

/* Copies a range of a trace (from_ns, to_ns since its start) to a new recording; path is as for log_out_new().
 * Marks keep their numbers. Returns 0, with e->code ERR_NONE or a sentence about another file that could not
 * be removed; or -1. */
int trace_cut(struct trace *t, const struct selection *p, const char *path, bool force,
	      report_progress *progress, struct err *e);

#endif
