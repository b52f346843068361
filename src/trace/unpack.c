/* A stream is taken apart into what a recorder would have left (the part and the
 * journal beside it), and those are repaired and joined like any others. */
#include "trace/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/trace.h"
#include "trace/apart.h"
#include "trace/output.h"

static int take_all(struct apart *u, int in, const char *shown, struct err *e)
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
				       _("%s is a trace, not a stream: give its name to --replay"), shown);
		bytes += (uint64_t)n;
		if (framer_feed(&u->framer, u->piece, (size_t)n, apart_visit, u) < 0)
			return err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
		if (!u->framer.any && bytes >= FOREIGN)
			break;
	}
	if (apart_end(u) < 0)
		return err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
	if (bytes == 0)
		return err_set(e, ERR_FAILED, _("no data on %s: the recorder did not start"), shown);
	if (!u->framer.any)
		return err_set(e, ERR_FAILED, _("%s is not an nvmtop stream"), shown);
	return 0;
}

struct unpacked {
	struct joined joined;
	struct repair fixed; /* free fixed.bad */
	uint64_t broken;     /* bytes of the stream that could not be used */
	bool closed;         /* it was ended by its recorder */
	struct front front;  /* what is lost of it before the first rows */
};

static void say_lost(const struct apart *u, const struct unpacked *out, const char *shown, struct err *e)
{
	uint64_t holes = out->fixed.rows + out->joined.holes[TIER_MEDIUM] + out->joined.holes[TIER_SLOW];

	if (u->another)
		err_set(e, ERR_DAMAGED, _("only the first of the streams in %s was used"), shown);
	else if (!u->headed)
		err_set(e, ERR_DAMAGED,
			_("the beginning of %s is lost, and %llu samples with it; of the rest %llu bytes "
			  "could "
			  "not be used, %llu samples are without values%s"),
			shown, (unsigned long long)apart_lost(u), (unsigned long long)out->broken,
			(unsigned long long)holes, u->closed ? "" : _("; its end is missing"));
	else if (out->broken > u->torn || holes > 0 || out->joined.broken > 0)
		err_set(e, ERR_DAMAGED,
			_("%s is damaged: %llu bytes could not be used, %llu samples are without values%s"),
			shown, (unsigned long long)out->broken, (unsigned long long)holes,
			u->closed ? "" : _("; its end is missing"));
	else if (!u->closed)
		err_set(e, ERR_DAMAGED, _("%s is truncated: its recorder did not end it"), shown);
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

/* The description to the beginning of the side file, where it is not there yet. */
static int settle(struct apart *u, const char *shown, struct err *e)
{
	const struct again_in *about = u->known ? &u->again : &u->about;
	int spare, r;

	if (u->settled)
		return 0;
	if (!u->known && !u->likely)
		return err_set(e, ERR_FAILED,
			       _("the beginning of %s is damaged: its list of channels is lost"), shown);
	spare = nameless();
	r = spare < 0 ? -1 : side_resettle(u->side, spare, about, &u->front);
	if (r < 0)
		err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
	if (spare >= 0)
		close(spare);
	return r;
}

/* Read `in` (a pipe or a file, from where it is) into the two empty files and join
 * them.  0 with e->code ERR_NONE or ERR_DAMAGED and a sentence about what is
 * missing; -1 with ERR_FAILED when there is nothing. */
static int stream_unpack(int in, int part, int side, const char *shown, struct unpacked *out, struct err *e)
{
	struct apart *u = calloc(1, sizeof(*u));
	int r = -1;

	memset(out, 0, sizeof(*out));
	*e = (struct err) {.code = ERR_NONE};
	if (!u)
		return err_set(e, ERR_FAILED, _("out of memory"));
	apart_init(u, part, side);
	if (take_all(u, in, shown, e) == 0) {
		if (u->end[TIER_FAST] + u->end[TIER_MEDIUM] + u->end[TIER_SLOW] == 0)
			err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), shown);
		else if (settle(u, shown, e) < 0)
			r = -1;
		else if (u->part_end == HEADER_SIZE && ftruncate(part, HEADER_SIZE) < 0)
			err_sys(e, ERR_FAILED, errno, _("%s could not be unpacked"), shown);
		else if (part_repair(part, side, shown, &out->fixed, e) == 0)
			r = trace_join_repaired(part, side, shown, out->fixed.bad, out->fixed.n_bad,
						&out->joined, e);
	}
	out->broken = u->framer.broken - u->foreign;
	out->closed = u->closed;
	out->front = u->front;
	if (r == 0 && !out->joined.described)
		r = err_set(e, ERR_FAILED, _("the beginning of %s is damaged: its list of channels is lost"),
			    shown);
	else if (r == 0 &&
		 out->joined.rows[TIER_FAST] + out->joined.rows[TIER_MEDIUM] + out->joined.rows[TIER_SLOW] ==
			 0)
		r = err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), shown);
	else if (r == 0)
		say_lost(u, out, shown, e);
	apart_free(u);
	free(u);
	return r;
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
	int64_t first = 0;

	out->last_ns = -1;
	for (int t = 0; t < TIERS; t++) {
		out->rows[t] = u->joined.rows[t];
		out->late[t] = u->joined.late[t];
		out->lost[t] = u->joined.lost[t];
		out->holes[t] = u->joined.holes[t];
		if (u->joined.last_ns[t] > out->last_ns)
			out->last_ns = u->joined.last_ns[t];
	}
	for (int t = 0; t < TIERS; t++)
		if (u->front.base[t] > 0 && u->front.first_ns[t] > first)
			first = u->front.first_ns[t];
	if (out->last_ns > first) /* how long what is there is */
		out->last_ns -= first;
	out->holes[TIER_FAST] = u->fixed.rows;
	out->unused_bytes = u->broken;
	out->bytes = u->joined.bytes;
	out->marks = u->joined.marks;
	out->described = u->joined.described;
	out->doubted = u->joined.doubted;
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
		err_set(e, ERR_FAILED, _("%s is not an nvmtop stream"), shown);
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
