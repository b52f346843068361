/* What the first bytes of a file say: whether it is a trace, and where its rows are.
 * The header says how many rows there should be, the size of the file how many there
 * can be, and the smaller of the two is believed. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/output.h"
#include "trace/reader.h"

int header_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang */
}

int header_read(int fd, const char *shown, uint8_t header[HEADER_SIZE], off_t *size, struct err *e)
{
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	if (fstat(fd, &st) < 0)
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	else if (S_ISDIR(st.st_mode))
		err_num(e, ERR_FAILED, EISDIR, _("%s is a folder, not a trace"), shown);
	else if (S_ISFIFO(st.st_mode))
		err_set(e, ERR_FAILED,
			_("%s is a pipe, not a regular file: read a stream from standard input, with - as "
			  "FILE"),
			shown);
	else if (!S_ISREG(st.st_mode))
		err_set(e, ERR_FAILED, _("%s is not a regular file: a trace must be one"), shown);
	else if (st.st_size == 0)
		err_set(e, ERR_FAILED, _("%s is empty: it is not a trace"), shown);
	else if ((n = read_at(fd, header, HEADER_SIZE, 0)) < 0)
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	else if (n < 4 || get_u32(header + H_MAGIC) != NVMT_MAGIC)
		err_set(e, ERR_FAILED,
			_("%s is not a trace: it does not begin with the magic number of "
			  "NVMT"),
			shown);
	else if (n < HEADER_SIZE)
		err_set(e, ERR_FAILED,
			_("%s is truncated in its header, at byte %zd of %d: nothing can be read"), shown, n,
			HEADER_SIZE);
	else if (get_u32(header + H_VERSION) != NVMT_VERSION)
		err_set(e, ERR_FAILED, _("%s is a trace of version %u: this program reads version %d"), shown,
			get_u32(header + H_VERSION), NVMT_VERSION);
	else {
		*size = st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

bool extension_begins(const struct trace *t, size_t at)
{
	size_t left = t->size - at;
	uint8_t id[4];

	put_u32(id, CHUNK_OPEN);
	return left > 0 && memcmp(t->map + at, id, left < 4 ? left : 4) == 0;
}

bool header_interrupted(const struct trace *t, const uint64_t counts[4])
{
	return counts[0] == 0 && counts[1] == 0 && counts[2] == 0 && counts[3] == 0 &&
	       t->size > HEADER_SIZE && !extension_begins(t, HEADER_SIZE);
}

size_t header_sections(struct trace *t, const uint64_t counts[4])
{
	static const size_t sizes[4] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};
	static const char *const names[4] = {"fast", "medium", "slow", "sync point"};
	size_t at = HEADER_SIZE;
	bool cut = false;

	for (int i = 0; i < 4; i++) {
		uint64_t fit = cut ? 0 : (t->size - at) / sizes[i];
		uint64_t rows = counts[i] < fit ? counts[i] : fit;

		if (rows < counts[i]) {
			trace_damage(t,
				     _("it ends at offset %llu, in the %s section, with %llu of %llu rows; "
				       "what is there is shown"),
				     (unsigned long long)t->size, names[i], (unsigned long long)rows,
				     (unsigned long long)counts[i]);
			cut = true;
		}
		if (i < TIERS)
			t->section[i] = (struct section) {at, rows};
		else
			t->sync_at = at, t->n_sync = rows;
		at += (size_t)rows * sizes[i];
	}
	return cut ? t->size : at;
}

void header_check(struct trace *t, uint64_t counts[4])
{
	const uint8_t *h = t->map, *closing;

	for (int i = 0; i < 4; i++)
		counts[i] = get_u64(h + H_COUNTS + 8 * i);
	if (close_chunk(t->map, t->size, &closing) && get_u32(closing + 48) != chunk_crc(h, HEADER_SIZE)) {
		trace_damage(t, _("the header, at offset 0, has a wrong checksum; the counts are taken from "
				  "the end of the file"));
		for (int i = 0; i < 4; i++)
			counts[i] = get_u64(closing + 16 + 8 * i);
	}
	if (h[H_CORES] > MAX_CORES || h[H_RAILS] > MAX_RAILS || h[H_ZONES] > MAX_ZONES)
		trace_damage(t,
			     _("the header, at offset 40, has %u cores, %u rails and %u zones; "
			       "at most %d, %d and %d can be"),
			     h[H_CORES], h[H_RAILS], h[H_ZONES], MAX_CORES, MAX_RAILS, MAX_ZONES);
	for (int i = 0; i < TIERS; i++) {
		static const double usual[TIERS] = {1000, 100, 10};
		uint32_t hz = get_u32(h + H_HZ + 4 * i);

		t->session.hz[i] = hz > 0 && hz <= 1000000 ? hz : usual[i];
		if (hz == 0 || hz > 1000000)
			trace_damage(t, _("the header, at offset %d, has a rate of %u Hz"), H_HZ + 4 * i, hz);
	}
}
