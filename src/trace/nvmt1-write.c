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
	int error; /* errno of a failed write; ECANCELED: progress() stopped it */
	double values[MAX_CELLS * BATCH]; /* a column for each cell of a tier */
	uint8_t rows[BATCH * MEDIUM_SIZE];
};

static void output_write(struct output *o, const void *p, size_t n)
{
	if (!o->error && write_all(o->fd, p, n) < 0)
		o->error = errno;
	o->done += n;
	if (!o->error && o->progress && !o->progress(o->arg, (double)o->done / (double)o->total))
		o->error = ECANCELED;
}

/* A field that cannot encode "missing" keeps the value of the row before. */
static void output_rows(struct output *o, enum tier tier)
{
	const struct layout *l = &o->layout;
	int64_t start = trace_session(o->t)->start.mono_ns, t_ns[BATCH];
	uint64_t rows = trace_rows(o->t, tier);
	uint8_t row[MEDIUM_SIZE];

	row_blank(row, l, tier);
	for (uint64_t first = 0; first < rows && !o->error; first += BATCH) {
		size_t n = rows - first < BATCH ? (size_t)(rows - first) : BATCH;

		trace_row_times(o->t, tier, first, n, t_ns);
		for (size_t c = 0; c < l->n[tier]; c++)
			trace_row_values(o->t, l->cells[tier][c].channel, first, n, o->values + c * BATCH);
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

int nvmt1_put(struct trace *t, int fd, nvmt1_progress *progress, void *arg)
{
	struct output *o = calloc(1, sizeof(*o));
	uint8_t header[HEADER_SIZE];
	const struct mark *marks;
	int error;
	size_t n;

	if (!o)
		return ENOMEM;
	o->t = t;
	o->fd = fd;
	o->progress = progress;
	o->arg = arg;
	layout_make(&o->layout, trace_session(t));
	header_encode(header, trace_session(t), &o->layout);
	marks = trace_marks(t, &n);
	o->total = HEADER_SIZE + n * SYNC_SIZE;
	for (enum tier i = 0; i < TIERS; i++) {
		put_u64(header + H_COUNTS + 8 * i, trace_rows(t, i));
		o->total += trace_rows(t, i) * row_size[i];
	}
	put_u64(header + H_COUNTS + 8 * TIERS, n);
	output_write(o, header, HEADER_SIZE);
	for (enum tier i = 0; i < TIERS; i++)
		output_rows(o, i);
	output_points(o, marks, n);
	error = o->error;
	free(o);
	return error;
}

int nvmt1_write(struct trace *t, const char *path, bool force, nvmt1_progress *progress, void *arg, struct err *e)
{
	char temporary[PATH_MAX], shown[512];
	int fd = -1, error = ENAMETOOLONG;

	text_printable(shown, sizeof(shown), path, strlen(path));
	if (log_file_check(path, force, e) < 0)
		return -1;
	if (snprintf(temporary, sizeof(temporary), "%s.%d.new", path, (int)getpid()) < (int)sizeof(temporary)) {
		unlink(temporary);
		fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		error = fd < 0 ? errno : nvmt1_put(t, fd, progress, arg);
	}
	if (!error && (fsync(fd) < 0 || rename(temporary, path) < 0))
		error = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && error)
		unlink(temporary);
	if (error == ECANCELED)
		return err_set(e, ERR_FAILED, _("interrupted: nothing was written"));
	if (error)
		return err_sys(e, ERR_FAILED, error, _("cannot write %s"), shown);
	log_file_list(path);
	return 0;
}
