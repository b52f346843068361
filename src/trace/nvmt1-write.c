/* A log becomes a file of version 1: header, rows of the three tiers and sync points as its
 * readers know them, and behind them the log, byte for byte, with all that they have no room
 * for. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/image.h"
#include "trace/layout.h"
#include "trace/nvmt1.h"
#include "util/intl.h"
#include "util/text.h"

#define BLOCK 1024 /* rows that are read at a time */
#define COPY  65536

struct output {
	struct trace *t;
	const char *path;
	char temp[PATH_MAX];
	FILE *file;
	struct layout layout;
	nvmt1_progress *progress;
	void *arg;
	double done, all; /* rows */
	bool stopped;
	struct err *err;
};

static int failed(struct output *o, int num)
{
	char shown[PATH_MAX];

	text_printable(shown, sizeof(shown), o->path, strlen(o->path));
	return err_sys(o->err, ERR_FAILED, num, _("cannot write %s"), shown);
}

static int put(struct output *o, const void *p, size_t n)
{
	return fwrite(p, 1, n, o->file) == n ? 0 : failed(o, errno);
}

/* False: whoever waits for it has had enough. */
static bool proceed(struct output *o, size_t rows)
{
	o->done += (double)rows;
	o->stopped = o->progress && !o->progress(o->arg, o->all > 0 ? o->done / o->all : 1);
	return !o->stopped;
}

static int write_header(struct output *o)
{
	uint8_t header[HEADER_SIZE];
	size_t n_marks;

	trace_marks(o->t, &n_marks);
	header_encode(header, trace_session(o->t), &o->layout);
	for (enum tier tier = 0; tier < TIERS; tier++)
		put_u64(header + H_COUNTS + 8 * tier, trace_rows(o->t, tier));
	put_u64(header + H_COUNTS + 8 * TIERS, n_marks);
	return put(o, header, sizeof(header));
}

struct columns {
	int64_t t_ns[BLOCK];
	double column[BLOCK];
	double *rows;
};

/* n rows of a tier: the values of all channels that version 1 has a field for. */
static int write_block(struct output *o, struct columns *c, struct image *image, uint64_t first, size_t n)
{
	const struct session *about = trace_session(o->t);
	enum tier tier = image->tier;

	trace_row_times(o->t, tier, first, n, c->t_ns);
	for (size_t i = 0; i < o->layout.n_fields[tier]; i++) {
		const struct cell *cell = &o->layout.cells[tier][i];

		trace_row_values(o->t, cell->channel, first, n, c->column);
		for (size_t row = 0; row < n; row++)
			c->rows[row * image->width + cell->column] = c->column[row];
	}
	for (size_t row = 0; row < n; row++) {
		image_set(image, c->rows + row * image->width);
		row_time_put(image->row, c->t_ns[row] - about->start.mono_ns);
		if (put(o, image->row, row_size[tier]) < 0)
			return -1;
	}
	return 0;
}

static int write_tier(struct output *o, enum tier tier)
{
	size_t width = trace_session(o->t)->width[tier];
	uint64_t rows = trace_rows(o->t, tier);
	struct columns *c = calloc(1, sizeof(*c));
	struct image image;
	int r = 0;

	if (c)
		c->rows = calloc(BLOCK * width + 1, sizeof(*c->rows));
	if (!c || !c->rows || image_init(&image, &o->layout, tier, width) < 0) {
		r = err_set(o->err, ERR_FAILED, _("out of memory"));
	} else {
		for (uint64_t at = 0; r == 0 && at < rows; at += BLOCK) {
			size_t n = rows - at < BLOCK ? (size_t)(rows - at) : BLOCK;

			r = write_block(o, c, &image, at, n);
			if (r == 0 && !proceed(o, n))
				r = -1;
		}
		image_free(&image);
	}
	if (c)
		free(c->rows);
	free(c);
	return r;
}

static int write_syncs(struct output *o)
{
	size_t n;
	const struct mark *marks = trace_marks(o->t, &n);

	for (size_t i = 0; i < n; i++) {
		uint8_t sync[SYNC_SIZE];

		put_u64(sync, i + 1);
		put_u64(sync + 8, trace_row_from(o->t, TIER_FAST, marks[i].t_ns));
		if (put(o, sync, sizeof(sync)) < 0)
			return -1;
	}
	return 0;
}

static int write_log(struct output *o)
{
	FILE *from = fopen(trace_path(o->t), "re");
	char bytes[COPY];
	size_t n;
	int r = 0;

	if (!from)
		return err_sys(o->err, ERR_FAILED, errno, _("cannot read %s"), trace_path(o->t));
	while (r == 0 && (n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		r = put(o, bytes, n);
	if (r == 0 && ferror(from))
		r = err_sys(o->err, ERR_FAILED, EIO, _("cannot read %s"), trace_path(o->t));
	fclose(from);
	return r;
}

static int write_all(struct output *o)
{
	if (write_header(o) < 0)
		return -1;
	for (enum tier tier = 0; tier < TIERS; tier++)
		if (write_tier(o, tier) < 0)
			return -1;
	if (write_syncs(o) < 0 || write_log(o) < 0)
		return -1;
	return fflush(o->file) == 0 && fsync(fileno(o->file)) == 0 ? 0 : failed(o, errno);
}

static int publish(struct output *o, bool force)
{
	if (force ? rename(o->temp, o->path) == 0
		  : renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (!force && (errno == EINVAL || errno == ENOSYS) && link(o->temp, o->path) == 0) {
		unlink(o->temp);
		return 0;
	}
	return failed(o, errno);
}

static int open_temp(struct output *o)
{
	int n = snprintf(o->temp, sizeof(o->temp), "%s.tmp", o->path), fd;

	if (n < 0 || (size_t)n >= sizeof(o->temp))
		return failed(o, ENAMETOOLONG);
	unlink(o->temp);
	fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	o->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (o->file)
		return 0;
	if (fd >= 0)
		close(fd);
	return failed(o, errno);
}

int nvmt1_write(struct trace *t, const char *path, bool force, nvmt1_progress *progress, void *arg,
		struct err *e)
{
	struct output o = {.t = t, .path = path, .progress = progress, .arg = arg, .err = e};
	int r;

	if (layout_make(&o.layout, trace_session(t), e) < 0)
		return -1;
	for (enum tier tier = 0; tier < TIERS; tier++)
		o.all += (double)trace_rows(t, tier);
	r = open_temp(&o);
	if (r == 0) {
		r = write_all(&o);
		if (fclose(o.file) != 0 && r == 0)
			r = failed(&o, errno);
		if (r == 0)
			r = publish(&o, force);
		if (r < 0)
			unlink(o.temp);
	}
	layout_free(&o.layout);
	if (o.stopped)
		err_set(e, ERR_FAILED, _("interrupted: nothing was written"));
	return r;
}
