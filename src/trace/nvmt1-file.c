/* The header states how many rows there should be, the size of the file how many there can be: the
 * smaller number is used. */
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

#define SYNCS_ONCE 256

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
	if (f->found)
		f->found(f->to, text);
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

static void lay_out(struct nvmt1 *f)
{
	static const size_t sizes[4] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};
	static const char *const names[4] = {"fast", "medium", "slow", "sync point"};
	uint64_t at = HEADER_SIZE, counts[4], closing[4];
	bool cut = false;
	uint32_t crc;

	for (int i = 0; i < 4; i++)
		counts[i] = get_u64(f->header + H_COUNTS + 8 * i);
	if (nvmt1_closing(f, closing, &crc) && crc != log_crc(f->header, HEADER_SIZE)) {
		nvmt1_damage(f, _("the header, at offset 0, has a wrong checksum; the counts are taken from "
				  "the end of the file"));
		memcpy(counts, closing, sizeof(closing));
	}
	if (!counts[0] && !counts[1] && !counts[2] && !counts[3] && f->size > HEADER_SIZE + FAST_SIZE &&
	    !nvmt1_log(f->fd)) {
		counts[0] = (f->size - HEADER_SIZE) / FAST_SIZE;
		nvmt1_damage(f,
			     _("the recording was interrupted, its header has no counts; "
			       "the fast section is shown, %llu rows up to offset %llu"),
			     (unsigned long long)counts[0], (unsigned long long)(HEADER_SIZE + counts[0] * FAST_SIZE));
	}
	for (int i = 0; i < 4; i++) {
		uint64_t fit = cut ? 0 : (f->size - at) / sizes[i];
		uint64_t rows = counts[i] < fit ? counts[i] : fit;

		if (rows < counts[i]) {
			nvmt1_damage(f,
				     _("it ends at offset %llu, in the %s section, with %llu of %llu rows; "
				       "what is there is shown"),
				     (unsigned long long)f->size, names[i], (unsigned long long)rows,
				     (unsigned long long)counts[i]);
			cut = true;
		}
		if (i < TIERS) {
			f->section[i].at = at;
			f->section[i].rows = rows;
		} else {
			f->sync_at = at;
			f->n_sync = rows;
		}
		at += rows * sizes[i];
	}
	f->end = cut ? f->size : at;
}

/* Marks out of the sync points: the time of a mark is that of its row. */
static int sync_marks(struct nvmt1 *f)
{
	uint64_t rows = f->section[TIER_FAST].rows;
	uint8_t p[SYNCS_ONCE * SYNC_SIZE], time[8];

	free(f->marks);
	f->n_marks = 0;
	f->marks = calloc((size_t)f->n_sync + 1, sizeof(*f->marks));
	if (!f->marks)
		return -1;
	for (uint64_t i = 0; i < f->n_sync && rows > 0; i++) {
		struct mark *m = &f->marks[f->n_marks];
		uint64_t row, n = f->n_sync - i < SYNCS_ONCE ? f->n_sync - i : SYNCS_ONCE;
		int64_t ns;

		if (i % SYNCS_ONCE == 0 && !nvmt1_read(f, p, (size_t)n * SYNC_SIZE, f->sync_at + i * SYNC_SIZE))
			return 0;
		row = get_u64(p + i % SYNCS_ONCE * SYNC_SIZE + 8);
		if (row > rows) {
			nvmt1_damage(f, _("sync point %llu, at offset %llu, is behind the last fast row"),
				     (unsigned long long)i, (unsigned long long)(f->sync_at + i * SYNC_SIZE));
			continue;
		}
		row = row < rows ? row : rows - 1;
		if (!nvmt1_read(f, time, 8, HEADER_SIZE + row * FAST_SIZE) || !row_time(time, &ns))
			continue;
		m->id = get_u64(p + i % SYNCS_ONCE * SYNC_SIZE);
		m->t_ns = f->session.start.mono_ns + ns;
		f->n_marks++;
	}
	return 0;
}

struct nvmt1 *nvmt1_open(int fd, const char *shown, void (*found)(void *to, const char *text), void *to,
			 struct err *e)
{
	struct nvmt1 *f = calloc(1, sizeof(*f));
	bool ok = f != NULL;

	if (ok) {
		f->fd = fd;
		f->shown = shown;
		f->found = found;
		f->to = to;
		if (read_header(f, e) < 0) {
			free(f);
			return NULL;
		}
		lay_out(f);
		check_header(f);
		ok = nvmt1_extension(f) == 0 && (f->extended || nvmt1_session(f) == 0) &&
		     (f->n_marks > 0 || sync_marks(f) == 0);
	}
	if (ok)
		return f;
	err_set(e, ERR_FAILED, _("out of memory while reading %s"), shown);
	nvmt1_close(f);
	return NULL;
}

void nvmt1_close(struct nvmt1 *f)
{
	if (!f)
		return;
	for (int t = 0; t < TIERS; t++)
		free(f->columns[t]);
	free(f->channels);
	free(f->places);
	free(f->facts);
	free(f->runs);
	free(f->first_run);
	free(f->marks);
	free(f->gaps);
	free(f->changes);
	free(f->anchors);
	free(f);
}

/* Where the sync points end, as the header has it; 0: beyond the file. */
static uint64_t sections_end(const uint8_t *header, uint64_t size)
{
	static const size_t sizes[4] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};
	uint64_t at = HEADER_SIZE;

	for (int i = 0; i < 4; i++) {
		uint64_t n = get_u64(header + H_COUNTS + 8 * i);

		if (n > (size - at) / sizes[i])
			return 0;
		at += n * sizes[i];
	}
	return at;
}

bool nvmt1_complete(int fd)
{
	uint8_t header[HEADER_SIZE];
	struct stat st;

	return fstat(fd, &st) == 0 && read_all(fd, header, HEADER_SIZE, 0) == HEADER_SIZE &&
	       sections_end(header, (uint64_t)st.st_size) > HEADER_SIZE;
}

off_t nvmt1_log(int fd)
{
	uint8_t header[HEADER_SIZE], head[LOG_HEAD];
	struct log_head h;
	struct stat st;
	uint64_t at;

	if (fstat(fd, &st) < 0 || read_all(fd, header, HEADER_SIZE, 0) != HEADER_SIZE)
		return 0;
	at = sections_end(header, (uint64_t)st.st_size);
	return at && read_all(fd, head, LOG_HEAD, at) == LOG_HEAD && log_head_get(head, &h) ? (off_t)at : 0;
}

bool nvmt1_peek(int fd, struct nvmt1_summary *out)
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
