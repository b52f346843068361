/* Two ways in.  A stream is fed to the framer as it comes.  The files of a recorder
 * at work are looked at again and again: first how far the part goes, then what
 * the journal says, then the rows, so that whatever says that a value is missing
 * is known before the row. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/framer.h"
#include "trace/output.h"
#include "trace/stream-in.h"

#define PIECE      65536
#define PIECES     4     /* in one call */
#define ROWS       512   /* fast rows read at once */
#define FOREIGN    65536 /* bytes without a chunk: this is something else */
#define NAME_BYTES 4096

struct trace_tail {
	struct stream_in *in;
	struct err *err; /* of the call */
	char shown[512];
	int fd, part; /* the stream or the journal; the fast rows, or -1 */
	bool growing; /* no end of file is the end */
	bool ended;
	bool opened;                 /* what is damaged from here on is part of it */
	bool another;                /* stream began behind it */
	uint64_t bytes, fast, noted; /* taken; fast rows taken; of how many, when it has ended */
	uint64_t broken;             /* bytes, when the latest chunk came */
	struct framer framer;
	uint8_t piece[PIECE];
	uint8_t rows[ROWS * FAST_SIZE];
};

static int visit(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct trace_tail *t = to;
	int r;

	t->another |= id == CHUNK_STREAM && t->opened;
	if (t->another)
		return 0;
	if (t->framer.broken > t->broken && t->opened)
		stream_in_damage(t->in);
	t->opened = true;
	t->broken = t->framer.broken;
	if (id == CHUNK_JOIN && n == JOIN_SIZE)
		t->noted = get_u64(p);
	r = stream_in_chunk(t->in, id, p, n, t->err);
	t->another |= stream_in_other(t->in);
	return r;
}

static int end_sentence(struct trace_tail *t, struct err *e)
{
	struct trace_tail_state s;

	trace_tail_state(t, &s);
	if (t->part >= 0)
		return -1;
	if (t->another)
		err_set(e, ERR_DAMAGED, _("only the first of the streams in %s was used"), t->shown);
	else if (s.missed > 0)
		err_set(e, ERR_DAMAGED, _("the beginning of the stream is lost, and %llu samples with it"),
			(unsigned long long)s.missed);
	else if (!stream_in_closed(t->in))
		err_set(e, ERR_DAMAGED, _("the stream was truncated: its recorder did not end it"));
	else if (s.damaged > 0)
		err_set(e, ERR_DAMAGED, _("the stream was damaged: %llu bytes could not be used"),
			(unsigned long long)s.damaged);
	return -1;
}

static int finish(struct trace_tail *t, struct err *e)
{
	bool begun;

	framer_end(&t->framer, visit, t);
	begun = stream_in_begun(t->in);
	if (begun)
		end_sentence(t, e);
	else if (t->bytes == 0)
		err_set(e, ERR_FAILED, _("no data on %s: the recorder did not start"), t->shown);
	else if (stream_in_late(t->in))
		err_set(e, ERR_FAILED,
			_("the beginning of the stream is damaged: its list of channels is lost"));
	else if (t->framer.any)
		err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), t->shown);
	else
		err_set(e, ERR_FAILED, _("%s is not a recording that nvmtop can follow"), t->shown);
	stream_in_finish(t->in);
	t->ended = true;
	return -1;
}

static int feed(struct trace_tail *t, size_t n, struct err *e)
{
	if (t->bytes == 0 && n >= 4 && get_u32(t->piece) == NVMT_MAGIC) {
		t->ended = true;
		return err_set(e, ERR_FAILED, _("%s is a trace, not a stream: give its name to --replay"),
			       t->shown);
	}
	t->bytes += n;
	if (framer_feed(&t->framer, t->piece, n, visit, t) < 0) {
		t->ended = true;
		return -1;
	}
	if (t->framer.any || t->bytes < FOREIGN)
		return 0;
	t->ended = true;
	return err_set(e, ERR_FAILED, _("%s is not a recording that nvmtop can follow"), t->shown);
}

static int take_stream(struct trace_tail *t, struct err *e)
{
	struct pollfd p = {.fd = t->fd, .events = POLLIN};

	for (int i = 0; i < PIECES; i++) {
		ssize_t n;

		if (!t->growing && poll(&p, 1, 0) <= 0)
			return 0;
		n = read(t->fd, t->piece, sizeof(t->piece));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return 0;
		if (n < 0) {
			err_sys(e, ERR_DAMAGED, errno, _("cannot read %s"), t->shown);
			stream_in_finish(t->in);
			t->ended = true;
			return -1;
		}
		if (n > 0 && feed(t, (size_t)n, e) < 0)
			return -1;
		if (t->another || (t->growing && stream_in_closed(t->in)))
			return finish(t, e);
		if (n == 0)
			return t->growing ? 0 : finish(t, e);
	}
	return 1;
}

/* Fast rows up to `rows`, and not later than that time.  -1 with *e. */
static int take_fast(struct trace_tail *t, uint64_t rows, int64_t until_ns, struct err *e)
{
	for (int i = 0; i < 64 && t->fast < rows; i++) {
		size_t n = rows - t->fast < ROWS ? (size_t)(rows - t->fast) : ROWS, use = 0;
		ssize_t got =
			read_at(t->part, t->rows, n * FAST_SIZE, (off_t)(HEADER_SIZE + t->fast * FAST_SIZE));
		int64_t ns;

		if (got < (ssize_t)FAST_SIZE)
			return 0;
		n = (size_t)got / FAST_SIZE;
		while (use < n && (!row_time(t->rows + use * FAST_SIZE, &ns) || ns <= until_ns))
			use++;
		if (stream_in_fast(t->in, t->fast, t->rows, use, e) < 0)
			return -1;
		t->fast += use;
		if (use < n)
			break;
	}
	return 0;
}

static int take_files(struct trace_tail *t, struct err *e)
{
	struct trace_tail_state before;
	struct stat st;
	uint64_t rows;
	ssize_t n;

	trace_tail_state(t, &before);
	if (fstat(t->part, &st) < 0)
		return err_sys(e, ERR_DAMAGED, errno, _("cannot read %s"), t->shown);
	rows = st.st_size > HEADER_SIZE ? (uint64_t)(st.st_size - HEADER_SIZE) / FAST_SIZE : 0;
	n = read(t->fd, t->piece, sizeof(t->piece));
	if (n < 0 && errno != EINTR)
		return err_sys(e, ERR_DAMAGED, errno, _("cannot read %s"), t->shown);
	if (n > 0 && feed(t, (size_t)n, e) < 0)
		return -1;
	if (rows > t->noted)
		rows = t->noted;
	/* Far behind, the journal leads: what belongs to a row may be anywhere in a piece. */
	if (n == (ssize_t)sizeof(t->piece)) {
		int64_t last =
			stream_in_only_fast(t->in) ? INT64_MAX : before.newest_ns - before.start.mono_ns;

		return before.begun && take_fast(t, rows, last, e) < 0 ? -1 : 1;
	}
	if (rows > t->fast && take_fast(t, rows, INT64_MAX, e) < 0)
		return -1;
	if (t->fast < rows)
		return 1;
	return t->fast == t->noted ? finish(t, e) : 0;
}

int trace_tail_take(struct trace_tail *t, struct err *e)
{
	*e = (struct err) {.code = ERR_NONE};
	if (t->ended)
		return -1;
	t->err = e;
	return t->part >= 0 ? take_files(t, e) : take_stream(t, e);
}

static int open_file(const char *path, const char *suffix)
{
	char name[NAME_BYTES + 16];
	int n = snprintf(name, sizeof(name), "%s%s", path, suffix);

	if (n < 0 || (size_t)n >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* FILE.part was given: FILE. */
static void name_final(const char *path, char *out, size_t size)
{
	size_t n = strlen(path), m = strlen(".part");

	snprintf(out, size, "%s", path);
	if (n > m && n < size && strcmp(path + n - m, ".part") == 0)
		out[n - m] = '\0';
}

static int open_path(struct trace_tail *t, const char *path, struct err *e)
{
	char name[NAME_BYTES];
	uint8_t magic[4] = {0};
	struct stat st;

	if (strcmp(path, "-") == 0) {
		t->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		snprintf(t->shown, sizeof(t->shown), "%s", _("standard input"));
		return t->fd < 0 ? err_sys(e, ERR_FAILED, errno, _("cannot read %s"), t->shown) : 0;
	}
	text_printable(t->shown, sizeof(t->shown), path, strlen(path));
	name_final(path, name, sizeof(name));
	t->growing = true;
	t->part = open_file(name, ".part");
	if (t->part >= 0) {
		t->opened = true;
		t->fd = open_file(name, ".part.side");
		return t->fd < 0 ? err_sys(e, ERR_FAILED, errno, _("cannot read %s.part.side"), t->shown) : 0;
	}
	t->fd = open_file(path, "");
	if (t->fd < 0 || fstat(t->fd, &st) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), t->shown);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_FAILED, _("%s is a folder, not a trace"), t->shown);
	if (!S_ISREG(st.st_mode)) {
		t->growing = false; /* a FIFO has an end */
		return 0;
	}
	if (read_at(t->fd, magic, 4, 0) == 4 && get_u32(magic) == NVMT_MAGIC) {
		errno = ENODATA;
		err_set(e, ERR_FAILED, _("%s is complete: it does not grow"), t->shown);
		errno = ENODATA;
		return -1;
	}
	return 0;
}

struct trace_tail *trace_tail_open(const char *path, struct sink *to, struct err *e)
{
	struct trace_tail *t = calloc(1, sizeof(*t));
	int num;

	if (!t) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	t->fd = t->part = -1;
	t->noted = UINT64_MAX;
	t->in = stream_in_new(to, e);
	if (t->in && open_path(t, path, e) == 0)
		return t;
	num = errno;
	trace_tail_close(t);
	errno = num;
	return NULL;
}

int trace_tail_fd(const struct trace_tail *t)
{
	return t->growing || t->ended ? -1 : t->fd;
}

void trace_tail_state(const struct trace_tail *t, struct trace_tail_state *out)
{
	stream_in_state(t->in, out);
	out->begun = stream_in_begun(t->in);
	out->waits = stream_in_late(t->in);
	out->damaged += t->framer.broken;
}

void trace_tail_close(struct trace_tail *t)
{
	if (!t)
		return;
	stream_in_free(t->in);
	if (t->fd >= 0)
		close(t->fd);
	if (t->part >= 0)
		close(t->part);
	free(t);
}
