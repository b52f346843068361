/* Reads the header of a version 1 file and finds its sections. The header states how many rows there should be, and
 * the size of the file limits how many there can be: the smaller number is used. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/intl.h"
#include "util/io.h"
#include "util/text.h"
#include "trace/nvmt1-file.h"
#include "trace/trace.h"

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
		f->found(f->of, text);
	if (f->damage.code == ERR_NONE)
		err_set(&f->damage, ERR_DAMAGED, _("%s is damaged: %s"), f->shown, text);
}

bool nvmt1_log_name(const char *path, char *out, size_t size)
{
	int n = snprintf(out, size, "%.*s.nvmt", (int)(strlen(path) - strlen(".bin")), path);

	return text_ends_in(path, ".bin") && n >= 0 && (size_t)n < size;
}

static void header_check(struct nvmt1 *f)
{
	static const double usual[TIERS] = {1000, 100, 10};
	const uint8_t *h = f->header;

	if (h[H_CORES] > MAX_CORES || h[H_RAILS] > MAX_RAILS || h[H_ZONES] > MAX_ZONES)
		nvmt1_damage(f,
			     _("the header, at offset 40, has %u cores, %u rails and %u zones; "
			       "at most %d, %d and %d can be"),
			     h[H_CORES], h[H_RAILS], h[H_ZONES], MAX_CORES, MAX_RAILS, MAX_ZONES);
	for (int i = 0; i < TIERS; i++) {
		uint32_t hz = get_u32(h + H_HZ + 4 * i);

		f->session.hz[i] = hz > 0 && hz <= 1000000 ? hz : usual[i];
		if (hz == 0 || hz > 1000000)
			nvmt1_damage(f, _("the header, at offset %d, has a rate of %u Hz"), H_HZ + 4 * i, hz);
	}
}

static void sections_find(struct nvmt1 *f)
{
	uint64_t at = HEADER_SIZE, counts[TIERS + 1], all = 0;
	bool cut = false;

	for (int i = 0; i <= TIERS; i++)
		all |= counts[i] = get_u64(f->header + H_COUNTS + 8 * i);
	if (!all && f->size > HEADER_SIZE + FAST_SIZE) {
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
			     (unsigned long long)f->size, i < TIERS ? tier_name((enum tier)i) : "sync point",
			     (unsigned long long)f->rows[i],
			     (unsigned long long)counts[i]);
		cut = true;
	}
}

struct nvmt1 *nvmt1_open(int fd, const char *shown, void (*found)(void *of, const char *text), void *of, struct err *e)
{
	struct nvmt1 *f = calloc(1, sizeof(*f));
	ssize_t n = f ? read_all(fd, f->header, HEADER_SIZE, 0) : -1;
	struct stat st;

	if (!f) {
		err_set(e, ERR_FAILED, _("out of memory while reading %s"), shown);
	} else if (n < 0 || fstat(fd, &st) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	} else if (n < HEADER_SIZE) {
		err_set(e, ERR_FAILED, _("%s is truncated in its header, at byte %zd of %d: nothing can be read"), shown, n,
			HEADER_SIZE);
	} else if (get_u32(f->header + H_VERSION) != NVMT_VERSION) {
		err_set(e, ERR_FAILED, _("%s is a trace of version %u: this program reads version %d"), shown,
			get_u32(f->header + H_VERSION), NVMT_VERSION);
	} else {
		f->fd = fd;
		f->shown = shown;
		f->found = found;
		f->of = of;
		f->size = (uint64_t)st.st_size;
		sections_find(f);
		header_check(f);
		nvmt1_session(f);
		return f;
	}
	free(f);
	return NULL;
}

bool nvmt1_peek(int fd, struct trace_summary *out)
{
	struct err unheard;
	struct nvmt1 *f = nvmt1_open(fd, "", NULL, NULL, &unheard);
	uint8_t row[8];
	int64_t ns;

	memset(out, 0, sizeof(*out));
	if (!f)
		return false;
	out->bytes = (int64_t)f->size;
	snprintf(out->board, sizeof(out->board), "%.31s", f->board.value);
	for (int i = 0; i < TIERS; i++) {
		out->rows[i] = f->rows[i];
		if (f->rows[i] > 0 && nvmt1_read(f, row, 8, f->at[i] + (f->rows[i] - 1) * row_size[i]) &&
		    row_time(row, &ns) && ns > out->duration_ns)
			out->duration_ns = ns;
	}
	out->marks = f->rows[TIERS];
	free(f);
	return true;
}
