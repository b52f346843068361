/* Reads the header, sections and sync points of a version 1 file. The header states how many rows there
 * should be, and the size of the file limits how many there can be: the smaller number is used. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/io.h"
#include "trace/log.h"
#include "trace/nvmt1-file.h"
#include "trace/trace.h"

void *nvmt1_add(struct nvmt1_list *list, size_t size)
{
	void *bigger = list->p;

	if (!(list->n & (list->n - 1))) /* capacity doubles */
		bigger = reallocarray(list->p, list->n ? 2 * list->n : 1, size);
	if (!bigger)
		return NULL;
	list->p = bigger;
	return memset((char *)bigger + list->n * size, 0, size);
}

bool nvmt1_read(const struct nvmt1 *f, void *to, size_t n, uint64_t at)
{
	return read_all(f->fd, to, n, at) == (ssize_t)n;
}

bool nvmt1_begins(int fd)
{
	uint8_t magic[4];

	return read_all(fd, magic, 4, 0) == 4 && get_u32(magic) == NVMT_MAGIC;
}

void nvmt1_damage(struct nvmt1 *f, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (f->import->found)
		f->import->found(f->import->of, text);
	if (f->damage.code != ERR_NONE)
		return;
	err_set(&f->damage, ERR_DAMAGED, _("%s is damaged: %s"), f->shown, text);
}

static int read_header(struct nvmt1 *f, struct err *e)
{
	ssize_t n = read_all(f->fd, f->header, HEADER_SIZE, 0);
	struct stat st;

	if (n < 0 || fstat(f->fd, &st) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), f->shown);
	if (n < HEADER_SIZE)
		return err_set(e, ERR_FAILED,
			       _("%s is truncated in its header, at byte %zd of %d: nothing can be read"), f->shown, n,
			       HEADER_SIZE);
	if (get_u32(f->header + H_VERSION) != NVMT_VERSION)
		return err_set(e, ERR_FAILED, _("%s is a trace of version %u: this program reads version %d"),
			       f->shown, get_u32(f->header + H_VERSION), NVMT_VERSION);
	f->size = (uint64_t)st.st_size;
	return 0;
}

static void check_header(struct nvmt1 *f)
{
	const uint8_t *h = f->header;

	if (h[H_CORES] > MAX_CORES || h[H_RAILS] > MAX_RAILS || h[H_ZONES] > MAX_ZONES)
		nvmt1_damage(f,
			     _("the header, at offset 40, has %u cores, %u rails and %u zones; "
			       "at most %d, %d and %d can be"),
			     h[H_CORES], h[H_RAILS], h[H_ZONES], MAX_CORES, MAX_RAILS, MAX_ZONES);
	for (int i = 0; i < TIERS; i++) {
		static const double usual[TIERS] = {1000, 100, 10};
		uint32_t hz = get_u32(h + H_HZ + 4 * i);

		f->session.hz[i] = hz > 0 && hz <= 1000000 ? hz : usual[i];
		if (hz == 0 || hz > 1000000)
			nvmt1_damage(f, _("the header, at offset %d, has a rate of %u Hz"), H_HZ + 4 * i, hz);
	}
}

static void find_sections(struct nvmt1 *f)
{
	static const char *const names[] = {"fast", "medium", "slow", "sync point"};
	uint64_t at = HEADER_SIZE, counts[TIERS + 1];
	bool cut = false;

	for (int i = 0; i <= TIERS; i++)
		counts[i] = get_u64(f->header + H_COUNTS + 8 * i);
	if (nvmt1_other_counts(f, counts))
		nvmt1_damage(f, _("the header, at offset 0, has a wrong checksum; the counts are taken from "
				  "the end of the file"));
	if (!counts[0] && !counts[1] && !counts[2] && !counts[3] && f->size > HEADER_SIZE + FAST_SIZE &&
	    !nvmt1_log(f->fd)) {
		counts[0] = (f->size - HEADER_SIZE) / FAST_SIZE;
		nvmt1_damage(f,
			     _("the recording was interrupted, its header has no counts; "
			       "the fast section is shown, %llu rows up to offset %llu"),
			     (unsigned long long)counts[0], (unsigned long long)(HEADER_SIZE + counts[0] * FAST_SIZE));
	}
	for (int i = 0; i <= TIERS; i++) {
		uint64_t fit = cut ? 0 : (f->size - at) / row_size[i];

		f->at[i] = at;
		f->rows[i] = counts[i] < fit ? counts[i] : fit;
		at += f->rows[i] * row_size[i];
		if (f->rows[i] == counts[i])
			continue;
		nvmt1_damage(f,
			     _("it ends at offset %llu, in the %s section, with %llu of %llu rows; "
			       "what is there is shown"),
			     (unsigned long long)f->size, names[i], (unsigned long long)f->rows[i],
			     (unsigned long long)counts[i]);
		cut = true;
	}
	f->end = cut ? f->size : at;
}

/* Makes marks from the sync points: the time of a mark is that of its row. */
static int sync_marks(struct nvmt1 *f)
{
	uint64_t rows = f->rows[TIER_FAST];

	for (uint64_t i = 0; i < f->rows[TIERS] && rows > 0; i++) {
		uint64_t at = f->at[TIERS] + i * SYNC_SIZE, row;
		struct mark *m = nvmt1_add(&f->marks, sizeof(*m));
		uint8_t p[SYNC_SIZE], time[8];
		int64_t ns;

		if (!m)
			return -1;
		if (!nvmt1_read(f, p, SYNC_SIZE, at))
			return 0;
		row = get_u64(p + 8);
		if (row > rows) {
			nvmt1_damage(f, _("sync point %llu, at offset %llu, is behind the last fast row"),
				     (unsigned long long)i, (unsigned long long)at);
			continue;
		}
		row = row < rows ? row : rows - 1;
		if (!nvmt1_read(f, time, 8, HEADER_SIZE + row * FAST_SIZE) || !row_time(time, &ns))
			continue;
		m->id = get_u64(p);
		m->t_ns = f->session.start.mono_ns + ns;
		f->marks.n++;
	}
	return 0;
}

struct nvmt1 *nvmt1_open(int fd, const char *shown, struct nvmt1_import *m, struct err *e)
{
	struct nvmt1 *f = calloc(1, sizeof(*f));

	if (!f) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	f->fd = fd;
	f->shown = shown;
	f->import = m;
	if (read_header(f, e) == 0) {
		find_sections(f);
		check_header(f);
		if (nvmt1_extension(f) == 0 && (f->extended || nvmt1_session(f) == 0) &&
		    (f->marks.n > 0 || sync_marks(f) == 0)) {
			f->session.channels = f->channels.p;
			f->session.n_channels = f->channels.n;
			f->session.facts = f->facts.p;
			f->session.n_facts = f->facts.n;
			return f;
		}
		err_set(e, ERR_FAILED, _("out of memory while reading %s"), shown);
	}
	nvmt1_close(f);
	return NULL;
}

void nvmt1_close(struct nvmt1 *f)
{
	free(f->channels.p);
	free(f->facts.p);
	free(f->marks.p);
	free(f->gaps.p);
	free(f->changes.p);
	free(f->anchors.p);
	free(f->runs.p);
	free(f->columns.p);
	free(f);
}

/* Returns where the sync points end according to the header, or 0 if the file is shorter. */
static uint64_t sections_end(int fd)
{
	uint8_t header[HEADER_SIZE];
	uint64_t at = HEADER_SIZE;
	struct stat st;

	if (fstat(fd, &st) < 0 || read_all(fd, header, HEADER_SIZE, 0) != HEADER_SIZE)
		return 0;
	for (int i = 0; i <= TIERS; i++) {
		uint64_t n = get_u64(header + H_COUNTS + 8 * i);

		if (n > ((uint64_t)st.st_size - at) / row_size[i])
			return 0;
		at += n * row_size[i];
	}
	return at;
}

bool nvmt1_complete(int fd)
{
	return sections_end(fd) > HEADER_SIZE;
}

off_t nvmt1_log(int fd)
{
	uint64_t at = sections_end(fd);
	uint8_t head[LOG_HEAD];
	struct log_head h;

	return at && read_all(fd, head, LOG_HEAD, at) == LOG_HEAD && log_head_get(head, &h) ? (off_t)at : 0;
}

bool nvmt1_peek(int fd, struct trace_summary *out)
{
	uint8_t header[HEADER_SIZE], row[8];
	struct clock_anchor start;
	uint64_t at = HEADER_SIZE;
	struct stat st;
	int64_t ns;

	memset(out, 0, sizeof(*out));
	if (fstat(fd, &st) < 0 || read_all(fd, header, HEADER_SIZE, 0) != HEADER_SIZE ||
	    get_u32(header + H_MAGIC) != NVMT_MAGIC || get_u32(header + H_VERSION) != NVMT_VERSION)
		return false;
	out->bytes = st.st_size;
	text_printable(out->board, sizeof(out->board), (const char *)header + H_BOARD,
		       strnlen((const char *)header + H_BOARD, H_CORES - H_BOARD));
	for (int i = 0; i < TIERS; i++) {
		uint64_t left = (uint64_t)st.st_size - at, n = get_u64(header + H_COUNTS + 8 * i);

		out->rows[i] = n < left / row_size[i] ? n : left / row_size[i];
		at += out->rows[i] * row_size[i];
		if (out->rows[i] > 0 && read_all(fd, row, 8, at - row_size[i]) == 8 && row_time(row, &ns) &&
		    ns > out->duration_ns)
			out->duration_ns = ns;
	}
	out->marks = get_u64(header + H_COUNTS + 24);
	if (out->marks > ((uint64_t)st.st_size - at) / SYNC_SIZE)
		out->marks = ((uint64_t)st.st_size - at) / SYNC_SIZE;
	if (nvmt1_start(fd, at + out->marks * SYNC_SIZE, &start))
		out->real_ns = start.real_ns;
	else if (at == HEADER_SIZE)
		out->rows[TIER_FAST] = ((uint64_t)st.st_size - at) / FAST_SIZE;
	return true;
}
