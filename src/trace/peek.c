/* A few words about a trace out of its header, without opening it: for lists of files. */
#include <stdlib.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/output.h"
#include "trace/log-trace.h"

/* The time of the last row of the finest tier that has one. */
static int64_t peek_duration(int fd, const struct trace_summary *s)
{
	uint64_t at = HEADER_SIZE;
	int64_t longest = 0;

	for (int i = 0; i < TIERS; i++) {
		uint8_t row[8];
		int64_t ns;

		if (s->rows[i] > 0 &&
		    read_at(fd, row, 8, (off_t)(at + (s->rows[i] - 1) * row_size[i])) == 8 &&
		    row_time(row, &ns) && ns > longest)
			longest = ns;
		at += s->rows[i] * row_size[i];
	}
	return longest;
}

int trace_peek(const char *path, struct trace_summary *out, struct err *e)
{
	uint8_t header[HEADER_SIZE];
	uint64_t left, at = HEADER_SIZE, syncs;
	struct clock_anchor start;
	char *shown = malloc(strlen(path) + 1);
	off_t size = 0;
	int fd;

	memset(out, 0, sizeof(*out));
	if (!shown)
		return err_set(e, ERR_FAILED, _("out of memory"));
	text_printable(shown, strlen(path) + 1, path, strlen(path));
	fd = log_trace_fd(path);
	if (fd >= 0) {
		fd = log_trace_peek(fd, shown, out, e);
		free(shown);
		return fd;
	}
	fd = header_read(header_file(path), shown, header, &size, e);
	free(shown);
	if (fd < 0)
		return -1;
	out->bytes = size;
	left = (uint64_t)size - HEADER_SIZE;
	for (int i = 0; i < TIERS; i++) {
		uint64_t rows = get_u64(header + H_COUNTS + 8 * i), fit = left / row_size[i];

		out->rows[i] = rows < fit ? rows : fit;
		left -= out->rows[i] * row_size[i];
		at += out->rows[i] * row_size[i];
	}
	syncs = get_u64(header + H_COUNTS + 24);
	out->marks = syncs < left / SYNC_SIZE ? syncs : left / SYNC_SIZE;
	at += out->marks * SYNC_SIZE;
	text_printable(out->board, sizeof(out->board), (const char *)header + H_BOARD,
		       strnlen((const char *)header + H_BOARD, H_CORES - H_BOARD));
	if (extension_peek(fd, at, &start))
		out->real_ns = start.real_ns;
	else if (at == HEADER_SIZE) /* a recording that was interrupted */
		out->rows[TIER_FAST] = left / FAST_SIZE;
	out->duration_ns = peek_duration(fd, out);
	close(fd);
	return 0;
}
