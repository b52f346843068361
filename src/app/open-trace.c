/* Opening and drawing a trace for the first time read from the disk, and so does the search for the next
 * or previous file of a split recording. A job does this before the screen uses the trace, and another
 * one closes it. */
#include "app/open-trace.h"

#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/job.h"
#include "util/intl.h"

#define LEFT_MOST 8 /* maximum of abandoned jobs */
#define COLUMNS   256

struct fetch {
	struct job job;
	int by;                   /* path is that of an open trace: offset of the file to open; 0: path itself */
	bool waits, none;
	struct fetched got;
	const char *const *paths; /* of n files, or NULL: only path */
	size_t n;
	char path[4096];
};

/* Reads the data of the first frame, so that it is in memory. */
static void look(struct trace *t)
{
	struct timeline *tl = trace_timeline(t);
	struct bin *bins = malloc(COLUMNS * sizeof *bins);
	int64_t first, last;
	int zoom = ZOOM_MIN;

	if (bins && trace_extent(t, &first, &last)) {
		while (zoom < ZOOM_MAX && (last >> zoom) - (first >> zoom) >= COLUMNS)
			zoom++;
		for (size_t i = 0; i < trace_session(t)->n_channels; i++) {
			int64_t n = (last >> zoom) - (first >> zoom) + 1;

			tl->ops->columns(tl, i, zoom, first >> zoom, n < COLUMNS ? (size_t)n : COLUMNS, bins);
			tl->ops->value(tl, i, last, NULL);
		}
	}
	free(bins);
}

static void fetch_run(struct job *a)
{
	struct fetch *f = (struct fetch *)a;
	char path[sizeof f->path];
	const char *const one = path;
	int64_t soon_ns = clock_now_ns() + 50 * NS_PER_MS;

	memcpy(path, f->path, sizeof path);
	f->none = f->by && !part_beside(f->path, f->by, path, sizeof path);
	if (f->none || job_is_cancelled(a))
		return;
	f->got.trace = trace_open_files(f->paths ? f->paths : &one, f->paths ? f->n : 1, true, NULL, NULL, &f->got.err);
	if (!f->got.trace || job_is_cancelled(a))
		return;
	/* The first picture has the ranges if they are soon read. */
	while (trace_ranges_more(trace_timeline(f->got.trace)) && clock_now_ns() < soon_ns)
		;
	if (!f->waits)
		look(f->got.trace);
	if (!part_beside(trace_last_path(f->got.trace), 1, f->got.next, sizeof f->got.next))
		f->got.next[0] = '\0';
}

static void fetch_drop(struct job *a)
{
	struct fetch *f = (struct fetch *)a;

	trace_close(f->got.trace);
	free(f);
}

static struct fetch *begin(struct fetch *f, const char *path, struct err *e)
{
	if (!f) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	if (strlen(path) >= sizeof f->path) {
		err_set(e, ERR_FAILED, _("the name of this file is too long"));
	} else if (jobs_abandoned(0) >= LEFT_MOST) {
		err_set(e, ERR_FAILED,
			_("too many files do not answer: no other file can be opened until they "
			  "do"));
	} else {
		strcpy(f->path, path);
		if (job_start(&f->job, fetch_run, fetch_drop, e) == 0)
			return f;
	}
	free(f);
	return NULL;
}

struct fetch *fetch_start(const char *const *paths, size_t n, bool waits, struct err *e)
{
	struct fetch *f = calloc(1, sizeof *f);

	if (f) {
		f->waits = waits;
		f->paths = n > 1 ? paths : NULL;
		f->n = n;
	}
	return begin(f, paths[0], e);
}

struct fetch *fetch_beside(const struct trace *t, int by, struct err *e)
{
	struct fetch *f = calloc(1, sizeof *f);

	if (f)
		f->by = by;
	return begin(f, by > 0 ? trace_last_path(t) : trace_path(t), e);
}

bool fetch_done(struct fetch *f, int64_t until_ns)
{
	return job_done(&f->job, until_ns);
}

bool fetch_take(struct fetch *f, struct fetched *out)
{
	bool none = f->none;

	*out = f->got;
	free(f);
	return !none;
}

void fetch_leave(struct fetch *f)
{
	job_cancel(&f->job);
}

static void close_run(struct job *a)
{
	struct fetch *f = (struct fetch *)a;

	trace_close(f->got.trace);
	f->got.trace = NULL;
}

void fetch_close(struct trace *t)
{
	struct fetch *f = t ? calloc(1, sizeof *f) : NULL;
	struct err e;

	if (f)
		f->got.trace = t;
	if (f && job_start(&f->job, close_run, fetch_drop, &e) == 0) {
		job_cancel(&f->job);
	} else {
		free(f);
		trace_close(t);
	}
}

struct trace *open_trace(const char *const *paths, size_t n, struct err *e)
{
	struct trace *t = trace_open_files(paths, n, false, progress_step, NULL, e);

	progress_show(1);
	return t;
}

struct trace *with_aligned(const struct options *o, struct trace *shown, struct trace *t,
			   struct ui_align *align, struct err *e)
{
	struct err damage = *e;

	if (!t)
		return NULL;
	if (ui_align(trace_timeline(shown), trace_timeline(t), o->align, align, e) < 0) {
		trace_close(t);
		return NULL;
	}
	*e = damage;
	return t;
}
