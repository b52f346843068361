/* Whatever moment a recorder died at, the names say how far it had come:
 *
 *   part, side              while recording, or within the join: join (again)
 *   part complete           before the rename: rename
 *   part and FILE the same  within a rename on a file system without renameat2
 *   FILE complete, side     behind the rename: remove the side file
 *
 * Nothing is removed before what it holds is complete under another name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/trace.h"
#include "trace/chunk.h"
#include "trace/join.h"
#include "trace/names.h"
#include "trace/output.h"
#include "trace/repair.h"

/* A tier that ends so much earlier than the fast one is known to be cut. */
#define LAG_NS (2 * NS_PER_S)

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

/* The final name, when one of the others was given. */
static void name_final(const char *path, char *out, size_t size)
{
	static const char *const suffixes[] = {".part.side", ".part"};

	snprintf(out, size, "%s", path);
	for (size_t i = 0; i < 2 && !name_exists(path, ".part"); i++)
		if (ends_with(path, suffixes[i]) && strlen(path) < size) {
			out[strlen(path) - strlen(suffixes[i])] = '\0';
			return;
		}
}

bool trace_interrupted(const char *path)
{
	char name[4096 + 16];
	bool recorded;
	int fd;

	if (name_exists(path, "") || !name_exists(path, ".part"))
		return false;
	snprintf(name, sizeof(name), "%s.part", path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	recorded = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	return !recorded;
}

static int cannot(const struct output *o, struct err *e)
{
	return err_sys(e, ERR_FAILED, errno, _("cannot recover %s"), o->shown);
}

/* One of the two files, for reading and writing; -1 in *fd: it is not there. */
static int file_open(const struct output *o, const char *name, int *fd, struct err *e)
{
	struct stat st;

	*fd = openat(o->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0)
		return errno == ENOENT ? 0 : cannot(o, e);
	if (fstat(*fd, &st) < 0)
		return cannot(o, e);
	if (S_ISREG(st.st_mode))
		return 0;
	return err_set(e, ERR_FAILED, _("%s%s is not a regular file: a trace must be one"), o->shown,
		       name + strlen(o->name));
}

/* Nobody else may be at it, neither a recorder nor a second recovery. */
static int part_lock(const struct output *o, struct err *e)
{
	struct stat mine, named;

	if (flock(o->part_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(e, ERR_FAILED, _("%s is still being recorded: stop that recording first"),
			       o->shown);
	if (fstat(o->part_fd, &mine) < 0)
		return cannot(o, e);
	/* It may have been completed between the two calls. */
	if (fstatat(o->dir_fd, o->part, &named, AT_SYMLINK_NOFOLLOW) == 0 && mine.st_ino == named.st_ino &&
	    mine.st_dev == named.st_dev)
		return 0;
	return err_set(e, ERR_FAILED, _("nothing to recover: there is no %s.part"), o->shown);
}

/* Whether the join of a part was finished: 1 or 0; -1 with errno when that cannot be
 * read.  One that was must not be taken for one that was not: a second join would keep
 * no more of it than its fast rows. */
static int part_complete(int fd)
{
	static const size_t sizes[4] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE, SYNC_SIZE};
	uint8_t header[HEADER_SIZE], p[CHUNK_HEAD + CLOSE_SIZE + CHUNK_CRC];
	uint64_t left, any = 0;
	struct chunk c;
	struct stat st;
	ssize_t n = read_at(fd, header, HEADER_SIZE, 0);

	if (n < 0 || fstat(fd, &st) < 0)
		return -1;
	if (n < HEADER_SIZE)
		return 0;
	left = (uint64_t)st.st_size - HEADER_SIZE;
	for (int i = 0; i < 4; i++) {
		uint64_t rows = get_u64(header + H_COUNTS + 8 * i);

		if (rows > left / sizes[i])
			return 0;
		left -= rows * sizes[i];
		any |= rows;
	}
	if (any == 0 || left == 0)
		return any != 0;
	if (left < sizeof(p))
		return 0;
	n = read_at(fd, p, sizeof(p), st.st_size - (off_t)sizeof(p));
	if (n < 0)
		return -1;
	return n == (ssize_t)sizeof(p) && chunk_head_decode(p, &c) && c.id == CHUNK_CLOSE &&
	       c.length == CLOSE_SIZE &&
	       get_u32(p + CHUNK_HEAD + CLOSE_SIZE) == chunk_crc(p + CHUNK_HEAD, CLOSE_SIZE) &&
	       get_u32(p + CHUNK_HEAD + 48) == chunk_crc(header, HEADER_SIZE);
}

/* A trace that is complete: what is in it. */
static int describe(const char *path, struct trace_recovery *out, struct err *e)
{
	struct trace *t = trace_open(path, e);
	struct trace_summary s;

	if (!t)
		return -1;
	trace_summary(t, &s);
	memcpy(out->rows, s.rows, sizeof(out->rows));
	out->bytes = (uint64_t)s.bytes;
	out->marks = s.marks;
	out->last_ns = s.duration_ns;
	out->described = true;
	trace_close(t);
	return 0;
}

/* No part: the recording was complete, or there was none. */
/* The file in which a recording went on, and where it was interrupted. */
static bool next_interrupted(const char *path, char *out, size_t size)
{
	for (unsigned n = 2; part_path(path, n, out, size) == 0; n++) {
		if (trace_interrupted(out))
			return true;
		if (!name_exists(out, "") && !name_exists(out, ".part"))
			break;
	}
	return false;
}

static int nothing_left(const struct output *o, struct err *e)
{
	char next[4096], shown[4096];

	if (!next_interrupted(o->path, next, sizeof(next)))
		return err_set(e, ERR_FAILED, _("nothing to recover: %s is complete"), o->shown);
	text_printable(shown, sizeof(shown), next, strlen(next));
	return err_set(e, ERR_FAILED,
		       _("%s is complete, but %s of the same recording was interrupted: "
			 "nvmtop --recover %s completes it"),
		       o->shown, shown, shown);
}

static int without_part(struct output *o, struct trace_recovery *out, struct err *e)
{
	struct stat st;
	int fd = openat(o->dir_fd, o->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool complete = fd >= 0 && part_complete(fd) > 0;
	bool side = fstatat(o->dir_fd, o->side, &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (fd >= 0)
		close(fd);
	if (complete && !side)
		return nothing_left(o, e);
	if (!complete)
		return err_set(e, ERR_FAILED, _("nothing to recover: there is no %s.part"), o->shown);
	out->left_over = true;
	if (describe(o->path, out, e) < 0)
		return -1;
	return unlinkat(o->dir_fd, o->side, 0) < 0 ? cannot(o, e) : 0;
}

/* FILE is there as well.  True when it is another name of the part. */
static bool same_file(const struct output *o)
{
	struct stat part, file;

	return fstat(o->part_fd, &part) == 0 &&
	       fstatat(o->dir_fd, o->name, &file, AT_SYMLINK_NOFOLLOW) == 0 && part.st_ino == file.st_ino &&
	       part.st_dev == file.st_dev;
}

/* One sentence on what is lost, if anything is. */
static int say_lost(const struct output *o, bool had_side, const struct joined *j,
		    const struct trace_recovery *out, struct err *e)
{
	uint64_t holes = out->holes[TIER_FAST] + out->holes[TIER_MEDIUM] + out->holes[TIER_SLOW];

	if (!had_side)
		err_set(e, ERR_DAMAGED,
			_("%s.part.side is not there: only the fast samples could be recovered"), o->shown);
	else if (!out->described)
		err_set(e, ERR_DAMAGED,
			_("%s.part.side was damaged: the channels beyond version 1 of the format are lost"),
			o->shown);
	else if (out->doubted > 0)
		err_set(e, ERR_DAMAGED,
			_("the recording was damaged: %llu bytes could not be used, %llu samples are without "
			  "values; %llu zeros could not be verified and were marked missing"),
			(unsigned long long)out->unused_bytes, (unsigned long long)holes,
			(unsigned long long)out->doubted);
	else if (out->unused_bytes > 0 || holes > 0 || out->header)
		err_set(e, ERR_DAMAGED,
			_("the recording was damaged: %llu bytes could not be used, %llu samples are "
			  "without values"),
			(unsigned long long)out->unused_bytes, (unsigned long long)holes);
	for (int t = TIER_MEDIUM; out->described && t < TIERS; t++)
		if (e->code == ERR_NONE && j->rows[t] > 0 && j->last_ns[t] + LAG_NS < j->last_ns[TIER_FAST])
			err_set(e, ERR_DAMAGED,
				_("%s.part.side was truncated: the rest of the recording ends %.1f s earlier "
				  "than the fast samples"),
				o->shown, (double)(j->last_ns[TIER_FAST] - j->last_ns[t]) / 1e9);
	return 0;
}

/* The part becomes a complete trace under its own name. */
static int complete(struct output *o, struct trace_recovery *out, struct err *e)
{
	struct joined j = {.bytes = 0};
	struct clock_anchor now;
	struct repair fixed;
	bool had_side = o->side_fd >= 0;
	int r = part_repair(o->part_fd, o->side_fd, o->shown, &fixed, e);

	/* The join notes in it where the fast rows end. */
	if (r == 0 && !had_side) {
		o->side_fd =
			openat(o->dir_fd, o->side, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (o->side_fd < 0)
			r = cannot(o, e);
	}
	if (r == 0)
		r = trace_join_repaired(o->part_fd, o->side_fd, o->shown, fixed.bad, fixed.n_bad, &j, e);
	free(fixed.bad);
	if (r < 0)
		return -1;
	if (j.rows[TIER_FAST] + j.rows[TIER_MEDIUM] + j.rows[TIER_SLOW] == 0)
		return err_set(e, ERR_FAILED,
			       _("nothing was recorded to %s before it was interrupted; "
				 "%s.part and %s.part.side can be removed"),
			       o->shown, o->shown, o->shown);
	out->last_ns = -1;
	for (int t = 0; t < TIERS; t++) {
		out->rows[t] = j.rows[t];
		out->late[t] = j.late[t];
		out->lost[t] = j.lost[t];
		out->holes[t] = j.holes[t];
		if (j.last_ns[t] > out->last_ns)
			out->last_ns = j.last_ns[t];
	}
	out->holes[TIER_FAST] = fixed.rows;
	out->header = fixed.header;
	out->unused_bytes = j.broken + fixed.cut;
	out->bytes = j.bytes;
	out->marks = j.marks;
	out->described = j.described;
	out->doubted = j.doubted;
	clock_anchor(&now);
	out->restarted = j.boot_ns > 0 && out->last_ns > 0 && now.boot_ns < j.boot_ns + out->last_ns;
	return say_lost(o, had_side, &j, out, e);
}

static int recover(struct output *o, struct trace_recovery *out, struct err *e)
{
	struct stat st;
	int joined;

	if (file_open(o, o->part, &o->part_fd, e) < 0)
		return -1;
	if (o->part_fd < 0)
		return without_part(o, out, e);
	if (part_lock(o, e) < 0)
		return -1;
	if (fstatat(o->dir_fd, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!same_file(o))
			return err_set(e, ERR_FAILED,
				       _("%s already exists: move it away, then the recording in %s.part can "
					 "be recovered"),
				       o->shown, o->shown);
		out->left_over = true;
		output_side_remove(o);
		return unlinkat(o->dir_fd, o->part, 0) < 0 ? cannot(o, e) : describe(o->path, out, e);
	}
	if (file_open(o, o->side, &o->side_fd, e) < 0)
		return -1;
	joined = part_complete(o->part_fd);
	if (joined < 0)
		return cannot(o, e);
	if (!joined) {
		if (complete(o, out, e) < 0)
			return -1;
	} else if (fdatasync(o->part_fd) < 0) {
		return cannot(o, e);
	} else {
		return output_publish(o, e) < 0 ? -1 : describe(o->path, out, e);
	}
	return output_publish(o, e);
}

int trace_recover(const char *path, struct trace_recovery *out, struct err *e)
{
	struct output *o = malloc(sizeof(*o));
	struct err ignored;
	int r;

	if (!e)
		e = &ignored;
	*e = (struct err) {.code = ERR_NONE};
	memset(out, 0, sizeof(*out));
	if (!o)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (strlen(path) >= sizeof(out->path)) {
		text_printable(o->shown, sizeof(o->shown), path, strlen(path));
		err_set(e, ERR_FAILED, _("%.60s...: the path is too long"), o->shown);
		free(o);
		return -1;
	}
	name_final(path, out->path, sizeof(out->path));
	errno = 0; /* else there is nothing wrong but the name */
	r = output_find(o, out->path, e);
	if (r < 0 && errno == ENOENT && *path)
		err_set(e, ERR_FAILED, _("nothing to recover: there is no %s.part"), o->shown);
	else if (r < 0 && errno != 0)
		cannot(o, e);
	if (r == 0)
		r = recover(o, out, e);
	if (r == 0)
		output_left(o, &out->left);
	output_close(o);
	free(o);
	return r;
}
