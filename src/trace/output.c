/* A typing error in the name, a missing folder, a full disk: all of it is found
 * here, before the first sample, and an earlier good file is never touched
 * before there is a better one to take its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/output.h"

#define ROOM_MIN (UINT64_C(4) << 20) /* a recording is about 110 kB a second */

/* Split the path, make the three names. */
static int names_make(struct output *o, struct err *e)
{
	const char *slash = strrchr(o->path, '/');
	const char *base = slash ? slash + 1 : o->path;
	size_t n = strlen(base);

	if (n == 0 || !strcmp(base, ".") || !strcmp(base, ".."))
		return err_num(e, ERR_FAILED, EISDIR, _("%s is a folder: give the name of a file in it"),
			       o->shown);
	if (n + sizeof(".part.side") > sizeof(o->side))
		return err_set(e, ERR_FAILED, _("%s: the name is too long: use at most %zu bytes"), o->shown,
			       sizeof(o->side) - sizeof(".part.side"));
	memcpy(o->name, base, n + 1);
	memcpy(o->part, base, n);
	strcpy(o->part + n, ".part");
	memcpy(o->side, base, n);
	strcpy(o->side + n, ".part.side");
	return 0;
}

static int folder_open(struct output *o, struct err *e)
{
	const char *slash = strrchr(o->path, '/');
	char folder[PATH_MAX] = ".", shown[PATH_MAX];

	if (slash) {
		size_t n = slash == o->path ? 1 : (size_t)(slash - o->path);

		memcpy(folder, o->path, n);
		folder[n] = '\0';
	}
	/* A folder may be writable and not readable; then it cannot be synced. */
	o->dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (o->dir_fd < 0 && errno == EACCES)
		o->dir_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o->dir_fd >= 0)
		return 0;
	text_printable(shown, sizeof(shown), folder, strlen(folder));
	if (errno == ENOENT)
		return err_num(e, ERR_FAILED, ENOENT, _("cannot record to %s: there is no folder %s"),
			       o->shown, shown);
	return err_sys(e, ERR_FAILED, errno, _("cannot record to %s: folder %s"), o->shown, shown);
}

static int target_check(const struct output *o, struct err *e)
{
	struct stat st;

	if (fstatat(o->dir_fd, o->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return 0;
		return err_sys(e, ERR_FAILED, errno, _("cannot record to %s"), o->shown);
	}
	if (S_ISLNK(st.st_mode) && fstatat(o->dir_fd, o->name, &st, 0) < 0)
		return err_set(e, ERR_FAILED,
			       _("%s is a dangling symbolic link: choose another name"), o->shown);
	if (S_ISDIR(st.st_mode))
		return err_num(e, ERR_FAILED, EISDIR, _("%s is a folder: give the name of a file in it"),
			       o->shown);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FAILED, _("%s is not a regular file: a recording needs one"),
			       o->shown);
	if (!o->force)
		return err_num(e, ERR_FAILED, EEXIST,
			       _("%s already exists: choose another name, or use --force"), o->shown);
	return 0;
}

static int room_check(const struct output *o, struct err *e)
{
	struct statvfs v;

	if (fstatvfs(o->dir_fd, &v) < 0 || v.f_blocks == 0) /* some file systems do not say */
		return 0;
	if ((uint64_t)v.f_bavail * v.f_frsize < ROOM_MIN)
		return err_num(e, ERR_FAILED, ENOSPC,
			       _("cannot record to %s: the disk is full (less than %d MB are free)"),
			       o->shown, (int)(ROOM_MIN >> 20));
	return 0;
}

/* Is somebody at it?  One that is empty may have been made this moment, by a
 * recorder that is about to lock it. */
static bool in_use(int fd)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	struct stat st;

	for (int i = 0; i < 10; i++) {
		if (flock(fd, LOCK_SH | LOCK_NB) < 0)
			return errno == EWOULDBLOCK;
		flock(fd, LOCK_UN);
		if (fstat(fd, &st) < 0 || st.st_size > 0)
			return false;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* Somebody's files of that name are there: still being written, or left over? */
static int taken(const struct output *o, const char *name, struct err *e)
{
	int fd = openat(o->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool locked = fd >= 0 && in_use(fd);
	const char *suffix = name + strlen(o->name);

	if (fd >= 0)
		close(fd);
	if (locked)
		return err_num(e, ERR_FAILED, EBUSY,
			       _("%s is being recorded by another process: choose another name"), o->shown);
	return err_set(
		e, ERR_FAILED,
		_("%s%s is left from an interrupted recording: complete it with nvmtop --recover %s, or "
		  "choose another name"),
		o->shown, suffix, o->shown);
}

/* Others hold a lock on it for no more than a look, until it is ours. */
static void part_lock(int fd)
{
	const struct timespec moment = {.tv_nsec = 5000000};

	for (int i = 0; i < 100 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; i++)
		nanosleep(&moment, NULL);
}

static int part_make(const struct output *o, const char *name, int *fd, struct err *e)
{
	*fd = openat(o->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (*fd < 0 && errno == EEXIST)
		return taken(o, name, e);
	if (*fd < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot record to %s"), o->shown);
	part_lock(*fd); /* a file system without locks still has O_EXCL */
	return 0;
}

int output_find(struct output *o, const char *path, struct err *e)
{
	memset(o, 0, sizeof(*o));
	o->dir_fd = o->part_fd = o->side_fd = -1;
	if (!*path)
		return err_set(e, ERR_USAGE, _("the name of the file to record to is empty"));
	text_printable(o->shown, sizeof(o->shown), path, strlen(path));
	if (strlen(path) >= sizeof(o->path))
		return err_set(e, ERR_FAILED, _("%.60s...: the path is too long"), o->shown);
	strcpy(o->path, path);
	return names_make(o, e) < 0 || folder_open(o, e) < 0 ? -1 : 0;
}

int output_open(struct output *o, const char *path, bool force, struct err *e)
{
	if (output_find(o, path, e) < 0)
		return -1;
	o->force = force;
	if (target_check(o, e) < 0 || room_check(o, e) < 0 || part_make(o, o->part, &o->part_fd, e) < 0) {
		output_close(o);
		return -1;
	}
	/* Again: another recording of this name may have been completed between the two. */
	if (target_check(o, e) < 0 || part_make(o, o->side, &o->side_fd, e) < 0) {
		unlinkat(o->dir_fd, o->part, 0);
		output_close(o);
		return -1;
	}
	return 0;
}

/* 0, or errno. */
static int rename_new(const struct output *o)
{
	struct stat st;

	if (renameat2(o->dir_fd, o->part, o->dir_fd, o->name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (linkat(o->dir_fd, o->part, o->dir_fd, o->name, 0) == 0) {
		unlinkat(o->dir_fd, o->part, 0);
		return 0;
	}
	if (errno == EEXIST)
		return errno;
	/* Neither way on this file system: look, then rename. */
	if (fstatat(o->dir_fd, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(o->dir_fd, o->part, o->dir_fd, o->name) < 0 ? errno : 0;
}

void output_side_remove(struct output *o)
{
	o->side_left = unlinkat(o->dir_fd, o->side, 0) < 0 && errno != ENOENT ? errno : 0;
}

void output_left(const struct output *o, struct err *out)
{
	out->code = ERR_NONE;
	if (o->side_left)
		err_set(out, ERR_FAILED,
			_("%s is complete, but %s.part.side, which is no longer needed, could not be removed "
			  "(%s): remove it by hand"),
			o->shown, o->shown, strerror(o->side_left));
}

int output_publish(struct output *o, struct err *e)
{
	int num = 0;

	output_side_remove(o);
	if (!o->force)
		num = rename_new(o);
	else if (renameat(o->dir_fd, o->part, o->dir_fd, o->name) < 0)
		num = errno;
	if (num == EEXIST)
		return err_set(e, ERR_FAILED,
			       _("%s was created by another process: the recording is %s.part"),
			       o->shown, o->shown);
	if (num == ENOENT && output_removed(o))
		return err_set(e, ERR_FAILED, _("%s.part was removed while it was recorded: it is lost"),
			       o->shown);
	if (num)
		return err_sys(e, ERR_FAILED, num, _("the recording is %s.part: it cannot be renamed"),
			       o->shown);
	fsync(o->dir_fd);
	return 0;
}

bool output_removed(const struct output *o)
{
	struct stat st;

	return fstat(o->part_fd, &st) == 0 && st.st_nlink == 0;
}

bool output_moved(const struct output *o, const char *suffix)
{
	char name[PATH_MAX + sizeof(".part")];
	struct stat st;

	/* The current folder can be one that has no path any more. */
	if (o->path[0] != '/' && !getcwd(name, sizeof(name)) && errno == ENOENT)
		return true;
	snprintf(name, sizeof(name), "%s%s", o->path, suffix);
	return lstat(name, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

void output_discard(struct output *o)
{
	if (o->part_fd >= 0)
		unlinkat(o->dir_fd, o->part, 0);
	if (o->side_fd >= 0)
		unlinkat(o->dir_fd, o->side, 0);
	output_close(o);
}

void output_close(struct output *o)
{
	int *fds[] = {&o->part_fd, &o->side_fd, &o->dir_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int write_at(int fd, const void *bytes, size_t n, off_t offset)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = pwrite(fd, p, n, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			if (done == 0)
				errno = ENOSPC;
			return -1;
		}
		p += done;
		n -= (size_t)done;
		offset += done;
	}
	return 0;
}

ssize_t read_at(int fd, void *bytes, size_t n, off_t offset)
{
	char *p = bytes;
	size_t have = 0;

	while (have < n) {
		ssize_t done = pread(fd, p + have, n - have, offset + (off_t)have);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		if (done == 0)
			break;
		have += (size_t)done;
	}
	return (ssize_t)have;
}
