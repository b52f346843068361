/* Names, creates and removes the files of a recording. Errors are found before the first sample, and an existing
 * file is only replaced on request, and only by a recording if it was one: the name may be a mistake. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"
#include "trace/log-out.h"
#include "trace/log-source.h"
#include "trace/nvmt1.h"

#define ROOM_MIN (UINT64_C(4) << 20)

/* Returns 0 or an errno; EBUSY: another has it. Where locks are unsupported, O_EXCL alone must suffice. */
static int file_lock(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &l) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? EBUSY : errno;
}

static bool is_recording(int fd)
{
	struct log_head first;

	return nvmt1_begins(fd) || log_first(fd, &first);
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
	num = !link && file_lock(fd) == EBUSY ? EBUSY : 0;
	if (!num && st.st_size > 0 && !is_recording(fd))
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

int log_file_check(const char *path, bool force, struct err *e)
{
	struct stat st;
	int num = force                 ? replaceable(path)
		  : stat(path, &st) < 0 ? errno
		  : S_ISDIR(st.st_mode) ? EISDIR
					: EEXIST;

	return num == 0 || num == ENOENT ? 0 : cannot(path, num, e);
}

static int folder_open(const char *path, int flags)
{
	char folder[PATH_MAX];
	int n = (int)(basename(path) - path);

	snprintf(folder, sizeof(folder), "%.*s", n ? n : 1, n ? path : ".");
	return open(folder, flags | O_CLOEXEC, 0666);
}

int log_folder_open(const char *path)
{
	return folder_open(path, O_RDONLY | O_DIRECTORY);
}

/* Called before the file is created, because the folder may not respond. */
static bool has_room(const char *path)
{
	struct statvfs v;
	bool room = true;
	int fd = log_folder_open(path);

	if (fd < 0)
		return true;
	if (fstatvfs(fd, &v) == 0 && v.f_blocks > 0)
		room = (uint64_t)v.f_bavail * v.f_frsize >= ROOM_MIN;
	close(fd);
	return room;
}

int log_file_link(int fd, const char *path)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* A file that replaces another is created under another name and renamed: readers of the old one keep it. */
int log_file_make(const char *path, bool force, bool *unnamed, struct err *e)
{
	char other[PATH_MAX + 32];
	const char *name = force ? other : path;
	struct stat st;
	int fd = -1, num = force ? replaceable(path) : 0, why;

	if (!*path)
		return err_set(e, ERR_USAGE, _("the name of the file to record to is empty"));
	if (!has_room(path))
		return cannot(path, ENOSPC, e);
	snprintf(other, sizeof(other), "%s.%d.new", path, (int)getpid());
	if (force && !num)
		unlink(other);
	/* Not all file systems have files without a name. */
	if (!force && unnamed && *unnamed && lstat(path, &st) < 0)
		fd = folder_open(path, O_WRONLY | O_APPEND | O_TMPFILE);
	if (unnamed)
		*unnamed = fd >= 0;
	if (fd < 0 && !num) {
		fd = open(name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		num = errno;
	}
	if (fd >= 0)
		file_lock(fd);
	if (fd >= 0 && force && rename(other, path) < 0) {
		num = errno;
		unlink(other);
		close(fd);
		fd = -1;
	}
	why = fd < 0 && num == EEXIST ? replaceable(path) : 0;
	num = why == EISDIR || why == EBUSY ? why : num;
	return fd < 0 ? cannot(path, num, e) : fd;
}

bool trace_name_free(const char *path, bool over)
{
	struct stat st;

	return over || lstat(path, &st) < 0;
}

int part_path(const char *path, unsigned number, char *out, size_t size)
{
	const char *base = basename(path), *dot = strrchr(base, '.');
	int n;

	if (!dot || dot == base)
		dot = base + strlen(base);
	if (number == 1)
		n = snprintf(out, size, "%s", path);
	else
		n = snprintf(out, size, "%.*s.%u%s", (int)(dot - path), path, number, dot);
	return n >= 0 && (size_t)n < size ? 0 : -1;
}

unsigned part_number(const char *path, char *first, size_t size)
{
	const char *base = basename(path), *dot = strrchr(base, '.'), *p;
	int64_t number;

	snprintf(first, size, "%s", path);
	if (!dot || dot == base)
		dot = base + strlen(base);
	for (p = dot; p > base && p[-1] >= '0' && p[-1] <= '9'; p--)
		;
	if (p <= base + 1 || p == dot || p[-1] != '.' || *p == '0' || num_i64(p, dot, &number) != dot ||
	    number < 2 || number >= 1000000)
		return 1;
	snprintf(first, size, "%.*s%s", (int)(p - 1 - path), path, dot);
	return (unsigned)number;
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
	int fd = log_folder_open(path);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* --- files that are too many --- */

/* Is it a file of the recording `base`? dated: in which a digit is any digit. */
static bool is_part(const char *name, const char *base, bool dated)
{
	char first[NAME_MAX + 1];
	size_t i = 0;

	if (part_number(name, first, sizeof(first)) > 1 && !strcmp(name, base))
		return true;
	while (base[i] &&
	       (first[i] == base[i] || (dated && isdigit((uint8_t)base[i]) && isdigit((uint8_t)first[i]))))
		i++;
	return first[i] == base[i];
}

/* Finds the first part that ended after after_ns, and the size of all such parts. */
static bool part_oldest(DIR *dir, const char *base, bool dated, int64_t after_ns, char name[NAME_MAX + 1],
			int64_t *ended_ns, uint64_t *bytes)
{
	int64_t ns;
	struct dirent *d;
	struct stat st;

	*ended_ns = INT64_MAX;
	*bytes = 0;
	rewinddir(dir);
	while ((d = readdir(dir))) {
		if (!is_part(d->d_name, base, dated) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
		if (ns <= after_ns)
			continue;
		*bytes += (uint64_t)st.st_size;
		if (ns < *ended_ns) {
			*ended_ns = ns;
			strcpy(name, d->d_name);
		}
	}
	return *ended_ns < INT64_MAX;
}

/* Returns 0 or an errno; EBUSY: it is being recorded, EEXIST: it is no recording. The lock keeps others from
 * recording to it meanwhile. */
static int part_remove(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int num = fd < 0 ? errno : file_lock(fd);

	if (!num && !is_recording(fd))
		num = EEXIST;
	if (!num && unlinkat(folder, name, 0) < 0)
		num = errno;
	if (fd >= 0)
		close(fd);
	return num;
}

/* What could not be removed does not count from then on, or all others would be removed for it. */
void log_file_retain(const char *path, const struct trace_limits *l, struct err *removed, struct err *kept)
{
	const char *base = l->dated ? l->dated : basename(path);
	int fd = limit_is_set(&l->retain) ? log_folder_open(path) : -1, num;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char name[NAME_MAX + 1], shown[NAME_MAX + 1];
	int64_t ended_ns, kept_ns = INT64_MIN;
	size_t gone = 0, failed = 0;
	struct clock_anchor now;
	uint64_t bytes;

	clock_anchor(&now);
	while (dir && part_oldest(dir, base, l->dated, kept_ns, name, &ended_ns, &bytes) &&
	       ((l->retain.ns && now.real_ns - ended_ns > l->retain.ns) ||
		(l->retain.bytes && bytes > l->retain.bytes))) {
		num = part_remove(fd, name);
		text_printable(shown, sizeof(shown), name, strlen(name));
		if (!num) {
			gone++;
			err_set(removed, ERR_NONE,
				P_("--retain removed %zu file: %s", "--retain removed %zu files, up to %s", gone),
				gone, shown);
			continue;
		}
		kept_ns = ended_ns;
		if (num != EBUSY && num != EEXIST && !failed++)
			err_sys(kept, ERR_FAILED, num, _("--retain cannot remove %s"), shown);
	}
	if (dir)
		closedir(dir);
}
