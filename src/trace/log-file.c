/* Names and creates the files of a recording. Errors are found before the first sample, and an existing file
 * is only replaced on request, and only by a recording if it was one: the name may be a mistake. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/text.h"
#include "trace/log-reader.h"
#include "trace/log-writer.h"

#define ROOM_MIN (UINT64_C(4) << 20)

/* Returns 0 or an errno. Where locks are unsupported, O_EXCL alone must suffice. */
static int lock(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &l) == 0 || (errno != EAGAIN && errno != EACCES))
		return 0;
	return EBUSY;
}

/* May the file be replaced, if it exists? Only one that is empty or begins as ours. Returns 0 or an errno. */
static int replaceable(const char *path)
{
	struct stat st;
	int fd, num;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : errno;
	bool link = S_ISLNK(st.st_mode); /* the link is replaced, not its target */
	if (link && stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
	fd = open(path, (link ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	num = link ? 0 : lock(fd);
	if (!num && st.st_size > 0 && !nvmt1_begins(fd) && !log_begins(fd))
		num = EEXIST;
	close(fd);
	return num;
}

static int cannot(const char *path, int num, struct err *e)
{
	char shown[PATH_MAX];

	text_printable(shown, sizeof(shown), path, strlen(path));
	if (num == EEXIST && replaceable(path) == 0)
		return err_num(e, ERR_FAILED, EEXIST,
			       _("%s already exists: choose another name, or use --force"), shown);
	if (num == EEXIST)
		return err_num(e, ERR_FAILED, EEXIST,
			       _("%s exists and is not a recording of nvmtop, so it is not replaced: choose "
				 "another name"),
			       shown);
	if (num == EISDIR)
		return err_num(e, ERR_FAILED, EISDIR, _("%s is a folder: give the name of a file in it"),
			       shown);
	if (num == ENOSPC)
		return err_num(e, ERR_FAILED, ENOSPC,
			       _("cannot record to %s: the disk is full (less than %d MB are free)"), shown,
			       (int)(ROOM_MIN >> 20));
	if (num == EBUSY)
		return err_num(e, ERR_FAILED, EBUSY,
			       _("%s is being recorded by another process: choose another name"), shown);
	return err_sys(e, ERR_FAILED, num, _("cannot record to %s"), shown);
}

/* Creates the file under another name and renames it: readers of the old file keep it. */
static int replace(const char *path, int *num)
{
	char name[PATH_MAX];
	int fd;

	*num = replaceable(path);
	if (*num)
		return -1;
	if (snprintf(name, sizeof(name), "%s.%d.new", path, (int)getpid()) >= (int)sizeof(name)) {
		*num = ENAMETOOLONG;
		return -1;
	}
	unlink(name);
	fd = open(name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0 && (lock(fd) || rename(name, path) == 0))
		return fd;
	*num = errno;
	if (fd >= 0) {
		unlink(name);
		close(fd);
	}
	return -1;
}

int log_file_check(const char *path, bool force, struct err *e)
{
	struct stat st;
	int num = force                 ? replaceable(path)
		  : stat(path, &st) < 0 ? errno
		  : S_ISDIR(st.st_mode) ? EISDIR
					: EEXIST;

	return num == 0 || num == ENOENT ? 0 : cannot(path, num, e);
}

static int folder_open(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Called before the file is created, because the folder may not respond. */
static bool has_room(const char *path)
{
	struct statvfs v;
	bool room = true;
	int fd = folder_open(path);

	if (fd < 0)
		return true;
	if (fstatvfs(fd, &v) == 0 && v.f_blocks > 0)
		room = (uint64_t)v.f_bavail * v.f_frsize >= ROOM_MIN;
	close(fd);
	return room;
}

int log_file_make(const char *path, bool force, struct err *e)
{
	struct stat st;
	int fd, num = 0;

	if (!*path)
		return err_set(e, ERR_USAGE, _("the name of the file to record to is empty"));
	if (!has_room(path))
		return cannot(path, ENOSPC, e);
	if (force) {
		fd = replace(path, &num);
	} else {
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		num = errno;
		if (fd < 0 && num == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			num = EISDIR;
		if (fd < 0 && num == EEXIST && replaceable(path) == EBUSY)
			num = EBUSY;
		if (fd >= 0)
			lock(fd);
	}
	if (fd < 0)
		return cannot(path, num, e);
	return fd;
}

int log_file_name(const char *path, char *out, size_t size)
{
	int n = snprintf(out, size, "%s%s", path, text_ends_in(path, ".bin") ? ".nvmt" : "");

	return n >= 0 && (size_t)n < size ? 0 : -1;
}

bool log_file_final(const char *log, char *out, size_t size)
{
	int n = snprintf(out, size, "%.*s", (int)(strlen(log) - strlen(".nvmt")), log);

	return text_ends_in(log, ".bin.nvmt") && n >= 0 && (size_t)n < size;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

bool trace_name_free(const char *path, bool over)
{
	char name[PATH_MAX];

	if (log_file_name(path, name, sizeof(name)) < 0 || (!over && exists(path)))
		return false;
	return !strcmp(path, name) || !exists(name);
}

int part_path(const char *path, unsigned number, char *out, size_t size)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	int n;

	if (!dot || dot == base)
		dot = base + strlen(base);
	if (number == 1)
		n = snprintf(out, size, "%s", path);
	else
		n = snprintf(out, size, "%.*s.%u%s", (int)(dot - path), path, number, dot);
	return n >= 0 && (size_t)n < size ? 0 : -1;
}

bool part_path_free(const char *path, bool over, unsigned *number, char *out, size_t size)
{
	while (part_path(path, *number, out, size) == 0) {
		if (trace_name_free(out, over))
			return true;
		++*number;
	}
	return false;
}

void log_file_list(const char *path)
{
	int fd = folder_open(path);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}
