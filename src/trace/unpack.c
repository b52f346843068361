/* A stream is a journal with the fast rows in it.  So it is taken apart into what
 * a recorder would have left (the part and the journal beside it), and those are
 * repaired and joined like any others. */
#include "trace/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nvmtop/intl.h"
#include "nvmtop/trace.h"
#include "trace/framer.h"
#include "trace/output.h"

#define FOREIGN 65536 /* bytes without a chunk: this is something else */

struct unpack {
	int part, side;
	off_t part_end, side_end;
	uint64_t rows;                   /* fast rows so far */
	uint64_t foreign;                /* bytes before the stream */
	uint64_t broken;                 /* of the stream, when its latest fast rows came */
	uint64_t told;                   /* of it, in the side file */
	uint64_t end[TIERS], runs;       /* rows and runs in the side file's words */
	bool has[TIERS], doubted[TIERS]; /* channels in that tier; a run of its next rows may be lost */
	size_t torn;                     /* bytes at its end */
	bool opened, closed, described;
	bool another; /* stream began behind it */
	struct framer framer;
	uint8_t piece[BLOCK_BYTES];
	uint8_t chunk[BLOCK_BYTES];
};

static int add(int fd, off_t *end, const void *p, size_t n)
{
	if (write_at(fd, p, n, *end) < 0)
		return -1;
	*end += (off_t)n;
	return 0;
}

/* Rows that are known to have been there and are lost are zeroes, which the repair
 * finds; as many as the bytes that are lost can have held. */
static int add_hole(struct unpack *u, uint64_t rows)
{
	static const uint8_t none[64 * FAST_SIZE];

	for (; rows > 0; rows -= rows < 64 ? rows : 64)
		if (add(u->part, &u->part_end, none, (rows < 64 ? (size_t)rows : 64) * FAST_SIZE) < 0)
			return -1;
	return 0;
}

/* Vouch for the rows so far.  With `lost` for none of those since the last time. */
static int cover(struct unpack *u, bool lost)
{
	uint8_t p[CHUNK_HEAD + COVER_SIZE + CHUNK_CRC];

	u->runs += lost; /* one that nobody has seen */
	for (int t = 0; t < TIERS; t++)
		put_u64(p + CHUNK_HEAD + 8 * t, u->end[t]);
	put_u64(p + CHUNK_HEAD + 8 * TIERS, u->runs);
	return add(u->side, &u->side_end, p, chunk_seal(p, CHUNK_COVER, COVER_SIZE));
}

static bool in_doubt(const struct unpack *u)
{
	return u->doubted[TIER_FAST] || u->doubted[TIER_MEDIUM] || u->doubted[TIER_SLOW];
}

/* Rows come behind all that belongs to them: after a damage those are in doubt that
 * come first in each tier, and no others. */
static int note_rows(struct unpack *u, enum tier t, uint64_t end)
{
	bool was = in_doubt(u);

	if (end > u->end[t])
		u->end[t] = end;
	u->doubted[t] = false;
	return was && !in_doubt(u) ? cover(u, true) : 0;
}

static void note_channels(struct unpack *u, const uint8_t *p, size_t n)
{
	struct channel c;
	struct place place;

	for (size_t used; n > 0; p += used, n -= used) {
		used = channel_decode(p, n, &c, &place);
		if (used == 0)
			return;
		u->has[c.tier] = true;
	}
}

/* What is damaged here is damaged there, too. */
static int tell_broken(struct unpack *u)
{
	static const uint8_t none[4096];

	if (u->opened && u->told < u->framer.broken) {
		if (!in_doubt(u) && cover(u, false) < 0)
			return -1;
		memcpy(u->doubted, u->has, sizeof(u->doubted));
	}
	while (u->told < u->framer.broken) {
		uint64_t n = u->framer.broken - u->told;

		n = n < sizeof(none) ? n : sizeof(none);
		/* Text before the stream is no damage. */
		if (u->opened && add(u->side, &u->side_end, none, (size_t)n) < 0)
			return -1;
		u->told += n;
	}
	return 0;
}

static int visit(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct unpack *u = to;
	uint64_t first, rows = n / FAST_SIZE;

	u->another |= id == CHUNK_STREAM && u->opened;
	if (u->another)
		return 0;
	if (tell_broken(u) < 0)
		return -1;
	if (id == CHUNK_STREAM) {
		u->opened = true;
		u->foreign = u->framer.broken;
	}
	if (id == CHUNK_STREAM || id == CHUNK_JOIN || u->closed)
		return 0;
	if (id == CHUNK_END) {
		u->closed = true;
		return 0;
	}
	if (id == CHUNK_CHANNELS) {
		note_channels(u, p, n);
		u->described = true;
	}
	if (id == CHUNK_RUNS)
		u->runs += n / RUN_SIZE;
	if (id == CHUNK_COVER)
		return 0; /* no stream has it */
	if (id != CHUNK_FAST) {
		memcpy(u->chunk + CHUNK_HEAD, p, n);
		if (add(u->side, &u->side_end, u->chunk, chunk_seal(u->chunk, id, n)) < 0)
			return -1;
		if (id == CHUNK_MEDIUM && n % MEDIUM_SIZE == 8)
			return note_rows(u, TIER_MEDIUM, get_u64(p + n - 8) + n / MEDIUM_SIZE);
		if (id == CHUNK_SLOW && n % SLOW_SIZE == 8)
			return note_rows(u, TIER_SLOW, get_u64(p + n - 8) + n / SLOW_SIZE);
		return 0;
	}
	if (n % FAST_SIZE != 8)
		return 0;
	first = get_u64(p + n - 8);
	if (first < u->rows || first - u->rows > (u->framer.broken - u->broken) / FAST_SIZE)
		return 0;
	if (add_hole(u, first - u->rows) < 0 || add(u->part, &u->part_end, p, n - 8) < 0)
		return -1;
	u->rows = first + rows;
	u->broken = u->framer.broken;
	return note_rows(u, TIER_FAST, u->rows);
}

static int take_all(struct unpack *u, int in, const char *shown, struct err *e)
{
	uint64_t bytes = 0;
	ssize_t n;

	while ((n = read(in, u->piece, sizeof(u->piece))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
		if (bytes == 0 && n >= 4 && get_u32(u->piece) == NVMT_MAGIC)
			return err_set(e, ERR_FAILED,
				       _("%s is a trace and no stream: give its name to --replay"), shown);
		bytes += (uint64_t)n;
		if (framer_feed(&u->framer, u->piece, (size_t)n, visit, u) < 0)
			return err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
		if (!u->framer.any && bytes >= FOREIGN)
			break;
	}
	u->torn = framer_end(&u->framer, visit, u);
	if (u->framer.broken - u->foreign > u->torn && cover(u, in_doubt(u)) < 0)
		return err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
	if (bytes == 0)
		return err_set(e, ERR_FAILED, _("nothing came on %s: the recorder did not start"), shown);
	if (!u->framer.any)
		return err_set(e, ERR_FAILED, _("%s is no stream of nvmtop"), shown);
	return 0;
}

struct unpacked {
	struct joined joined;
	struct repair fixed; /* free fixed.bad */
	uint64_t broken;     /* bytes of the stream that could not be used */
	bool closed;         /* it was ended by its recorder */
};

static void say_lost(const struct unpack *u, const struct unpacked *out, const char *shown, struct err *e)
{
	uint64_t holes = out->fixed.rows + out->joined.holes[TIER_MEDIUM] + out->joined.holes[TIER_SLOW];

	if (u->another)
		err_set(e, ERR_DAMAGED, _("only the first of the streams in %s was used"), shown);
	else if (out->broken > u->torn || holes > 0 || out->joined.broken > 0)
		err_set(e, ERR_DAMAGED,
			_("%s is damaged: %llu bytes could not be used, %llu samples are without values%s"),
			shown, (unsigned long long)out->broken, (unsigned long long)holes,
			u->closed ? "" : _("; its end is missing"));
	else if (!u->closed)
		err_set(e, ERR_DAMAGED, _("%s is cut: its recorder did not end it"), shown);
}

/* Read `in` (a pipe or a file, from where it is) into the two empty files and join
 * them.  0 with e->code ERR_NONE or ERR_DAMAGED and a sentence about what is
 * missing; -1 with ERR_FAILED when there is nothing. */
static int stream_unpack(int in, int part, int side, const char *shown, struct unpacked *out, struct err *e)
{
	struct unpack *u = calloc(1, sizeof(*u));
	int r = -1;

	memset(out, 0, sizeof(*out));
	*e = (struct err) {ERR_NONE, ""};
	if (!u)
		return err_set(e, ERR_FAILED, _("out of memory"));
	u->part = part;
	u->side = side;
	u->part_end = HEADER_SIZE;
	if (take_all(u, in, shown, e) == 0) {
		if (!u->described && !u->rows)
			err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), shown);
		else if (u->part_end == HEADER_SIZE && ftruncate(part, HEADER_SIZE) < 0)
			err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
		else if (part_repair(part, side, shown, &out->fixed, e) == 0)
			r = trace_join_repaired(part, side, shown, out->fixed.bad, out->fixed.n_bad,
						&out->joined, e);
	}
	out->broken = u->framer.broken - u->foreign;
	out->closed = u->closed;
	if (r == 0 && !out->joined.described)
		r = err_set(e, ERR_FAILED,
			    _("the beginning of %s is damaged: it does not say which channels it has"),
			    shown);
	else if (r == 0 &&
		 out->joined.rows[TIER_FAST] + out->joined.rows[TIER_MEDIUM] + out->joined.rows[TIER_SLOW] ==
			 0)
		r = err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), shown);
	else if (r == 0)
		say_lost(u, out, shown, e);
	free(u);
	return r;
}

/* A file that nobody else sees and that goes with its descriptor. */
static int nameless(void)
{
	const char *tmp = getenv("TMPDIR");
	const char *const folders[] = {tmp && *tmp ? tmp : "/var/tmp", "/tmp"};
	char name[4096];

	for (size_t i = 0; i < 2; i++) {
		int fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		if (fd >= 0)
			return fd;
		if (snprintf(name, sizeof(name), "%s/nvmtop-XXXXXX", folders[i]) >= (int)sizeof(name))
			continue;
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0) {
			unlink(name);
			return fd;
		}
	}
	return memfd_create("nvmtop", MFD_CLOEXEC);
}

/* tee keeps what a remote shell printed before the stream, too. */
static bool begins_stream(int fd)
{
	uint8_t *p = malloc(FOREIGN);
	ssize_t n = p ? read_at(fd, p, FOREIGN, 0) : -1;
	struct chunk c;
	bool found = false;

	if (n >= 4 && get_u32(p) != NVMT_MAGIC)
		for (ssize_t i = 0; i + CHUNK_HEAD <= n && !found; i++)
			found = get_u32(p + i) == CHUNK_STREAM && chunk_head_decode(p + i, &c);
	free(p);
	return found;
}

static int stream_fd(const char *path)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0)
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && begins_stream(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool trace_is_stream(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? -1 : stream_fd(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int stream_open_trace(const char *path, const char *shown, struct err *e)
{
	int in = stream_fd(path), part, side, r = -1;
	struct unpacked out;

	if (in < 0)
		return -2;
	if (strcmp(path, "-") == 0)
		shown = _("standard input");
	part = nameless();
	side = part < 0 ? -1 : nameless();
	if (side < 0)
		err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
	else {
		r = stream_unpack(in, part, side, shown, &out, e);
		free(out.fixed.bad);
		close(side);
	}
	close(in);
	if (r < 0 && part >= 0)
		close(part);
	return r < 0 ? -1 : part;
}

/* The name of the trace that a stream becomes. */
static int name_beside(const char *path, char *out, size_t size)
{
	size_t n = strlen(path), m = strlen(".nvms");

	if (n > m && strcmp(path + n - m, ".nvms") == 0)
		n -= m;
	return snprintf(out, size, "%.*s.bin", (int)n, path) < (int)size ? 0 : -1;
}

static void report(const struct unpacked *u, struct trace_recovery *out)
{
	out->last_ns = -1;
	for (int t = 0; t < TIERS; t++) {
		out->rows[t] = u->joined.rows[t];
		out->late[t] = u->joined.late[t];
		out->lost[t] = u->joined.lost[t];
		out->holes[t] = u->joined.holes[t];
		if (u->joined.last_ns[t] > out->last_ns)
			out->last_ns = u->joined.last_ns[t];
	}
	out->holes[TIER_FAST] = u->fixed.rows;
	out->unused_bytes = u->broken;
	out->bytes = u->joined.bytes;
	out->marks = u->joined.marks;
	out->described = u->joined.described;
}

int trace_unpack(const char *path, const char *to, bool force, struct trace_recovery *out, struct err *e)
{
	struct output *o = calloc(1, sizeof(*o));
	char shown[512];
	struct unpacked u = {.broken = 0};
	int in = stream_fd(path), r = -1;

	memset(out, 0, sizeof(*out));
	text_printable(shown, sizeof(shown), path, strlen(path));
	if (strcmp(path, "-") == 0)
		snprintf(shown, sizeof(shown), "%s", _("standard input"));
	if (!o)
		err_set(e, ERR_FAILED, _("out of memory"));
	else if (in < 0)
		err_set(e, ERR_FAILED, _("%s is no stream of nvmtop"), shown);
	else if (!to && name_beside(path, out->path, sizeof(out->path)) < 0)
		err_set(e, ERR_FAILED, _("%.60s...: the path is too long"), shown);
	else {
		if (to)
			snprintf(out->path, sizeof(out->path), "%s", to);
		r = output_open(o, out->path, force, e);
		if (r == 0 && (r = stream_unpack(in, o->part_fd, o->side_fd, shown, &u, e)) < 0)
			output_discard(o);
		else if (r == 0) {
			struct err lost = *e;

			r = output_publish(o, e);
			output_left(o, &out->left);
			output_close(o);
			if (r == 0)
				*e = lost;
		}
	}
	report(&u, out);
	free(u.fixed.bad);
	if (in >= 0)
		close(in);
	free(o);
	return r;
}
