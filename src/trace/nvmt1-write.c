/* Writes a trace as a file of version 1, for programs that read only that. Version 1 has no room for all that a log
 * has: see layout.c. */
#include "trace/nvmt1.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/io.h"
#include "trace/layout.h"
#include "trace/trace.h"

#define BATCH 256

struct output {
	struct trace *t;
	struct layout layout;
	nvmt1_progress *progress;
	void *arg;
	uint64_t done, total; /* bytes */
	int fd;
	int error; /* errno of a failed write */
	bool stopped;
	double values[MAX_CELLS * BATCH], by[BATCH]; /* a column for each cell of a tier; one more */
	uint8_t rows[BATCH * MEDIUM_SIZE];
};

static struct output *output_new(struct trace *t)
{
	struct output *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->t = t;
	layout_make(&o->layout, trace_session(t));
	return o;
}

static void output_write(struct output *o, const void *p, size_t n)
{
	if (o->error || o->stopped)
		return;
	if (write_all(o->fd, p, n) < 0)
		o->error = errno;
	o->done += n;
	o->stopped = o->progress && !o->progress(o->arg, (double)o->done / (double)o->total);
}

/* A field that cannot encode "missing" keeps the value of the row before. */
static void output_rows(struct output *o, enum tier tier)
{
	const struct layout *l = &o->layout;
	int64_t start = trace_session(o->t)->start.mono_ns, t_ns[BATCH];
	uint64_t rows = trace_rows(o->t, tier);
	uint8_t row[MEDIUM_SIZE];

	row_blank(row, l, tier);
	for (uint64_t first = 0; first < rows && !o->error && !o->stopped; first += BATCH) {
		size_t n = rows - first < BATCH ? (size_t)(rows - first) : BATCH;

		trace_row_times(o->t, tier, first, n, t_ns);
		for (size_t c = 0; c < l->n[tier]; c++) {
			const struct cell *cell = &l->cells[tier][c];

			trace_row_values(o->t, cell->channel, first, n, o->values + c * BATCH);
			if (cell->by == SIZE_MAX)
				continue;
			trace_row_values(o->t, cell->by, first, n, o->by);
			for (size_t i = 0; i < n; i++)
				o->values[c * BATCH + i] = o->values[c * BATCH + i] * o->by[i] / 1000;
		}
		for (size_t i = 0; i < n; i++) {
			row_time_put(row, t_ns[i] - start);
			for (size_t c = 0; c < l->n[tier]; c++)
				cell_encode(row, l->cells[tier][c].field, l->cells[tier][c].slot,
					    o->values[c * BATCH + i]);
			memcpy(o->rows + i * row_size[tier], row, row_size[tier]);
		}
		output_write(o, o->rows, n * row_size[tier]);
	}
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The rows and the numbers of the sync points, both increasing: readers of version 1 expect that, even if marks arrived
 * out of order. */
static void output_points(struct output *o, const struct mark *marks, size_t n)
{
	uint64_t *ids = calloc(n + 1, sizeof(*ids));
	uint8_t point[SYNC_SIZE];

	o->error = !o->error && !ids ? ENOMEM : o->error;
	for (size_t i = 0; ids && i < n; i++)
		ids[i] = marks[i].id;
	if (ids)
		qsort(ids, n, sizeof(*ids), by_number);
	for (size_t i = 0; ids && i < n; i++) {
		put_u64(point, ids[i]);
		put_u64(point + 8, trace_row_from(o->t, TIER_FAST, marks[i].t_ns));
		output_write(o, point, SYNC_SIZE);
	}
	free(ids);
}

static void output_all(struct output *o)
{
	uint8_t header[HEADER_SIZE];
	size_t n;
	const struct mark *marks = trace_marks(o->t, &n);

	header_encode(header, trace_session(o->t), &o->layout);
	o->total = HEADER_SIZE + n * SYNC_SIZE;
	for (enum tier t = 0; t < TIERS; t++) {
		put_u64(header + H_COUNTS + 8 * t, trace_rows(o->t, t));
		o->total += trace_rows(o->t, t) * row_size[t];
	}
	put_u64(header + H_COUNTS + 8 * TIERS, n);
	output_write(o, header, HEADER_SIZE);
	for (enum tier t = 0; t < TIERS; t++)
		output_rows(o, t);
	output_points(o, marks, n);
}

int nvmt1_rows(struct trace *t, int fd)
{
	struct output *o = output_new(t);
	int error;

	if (!o)
		return -1;
	o->fd = fd;
	for (enum tier i = 0; i < TIERS; i++)
		output_rows(o, i);
	error = o->error;
	free(o);
	errno = error;
	return error ? -1 : 0;
}

/* Creates a file beside path with an unused name. Returns -1 and sets errno on error. */
static int temporary_make(const char *path, char name[PATH_MAX])
{
	int fd = -1;

	errno = EEXIST;
	for (unsigned i = 1; fd < 0 && errno == EEXIST; i++) {
		int n = i == 1 ? snprintf(name, PATH_MAX, "%s.tmp", path) : snprintf(name, PATH_MAX, "%s.%u.tmp", path, i);

		errno = ENAMETOOLONG;
		if (n < PATH_MAX)
			fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	return fd;
}

int nvmt1_write(struct trace *t, const char *path, bool force, nvmt1_progress *progress, void *arg, struct err *e)
{
	char temporary[PATH_MAX], shown[512];
	struct output *o;
	int rc = -1;

	text_printable(shown, sizeof(shown), path, strlen(path));
	if (log_file_check(path, force, e) < 0)
		return -1;
	o = output_new(t);
	if (!o)
		return err_set(e, ERR_FAILED, _("out of memory"));
	o->progress = progress;
	o->arg = arg;
	o->fd = temporary_make(path, temporary);
	o->error = o->fd < 0 ? errno : 0;
	output_all(o);
	if (!o->error && !o->stopped && (fsync(o->fd) < 0 || rename(temporary, path) < 0))
		o->error = errno;
	if (o->error) {
		err_sys(e, ERR_FAILED, o->error, _("cannot write %s"), shown);
	} else if (o->stopped) {
		err_set(e, ERR_FAILED, _("interrupted: nothing was written"));
	} else {
		log_file_list(path);
		rc = 0;
	}
	if (o->fd >= 0) {
		close(o->fd);
		if (rc < 0)
			unlink(temporary);
	}
	free(o);
	return rc;
}
