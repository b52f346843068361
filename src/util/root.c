/* Paths below another root are resolved in user space: a tree that a user sent contains absolute links
 * that must stay inside it, openat2() is missing on the kernels of older boards, and chroot() needs root.
 * For "/" the kernel resolves them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/descriptors.h"
#include "util/intl.h"
#include "util/job.h"
#include "util/num.h"
#include "util/root.h"

#define LINKS_MAX      40
#define MOUNT_ROOT     0x2000 /* STATX_ATTR_MOUNT_ROOT, which older headers lack */
#define TIMED_READ_MAX 4096 /* bytes */
#define FIRST_NS       NS_PER_S
#define THEN_NS        (NS_PER_S / 10) /* after the first read that hung */

struct root {
	atomic_int holders;
	int fd;
	bool live;
	char dir[];
};

struct root *root_open(const char *dir, struct err *e)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	struct root *r = calloc(1, sizeof *r + len + 1);
	char shown[256];
	if (r) {
		atomic_init(&r->holders, 1);
		memcpy(r->dir, dir, len);
		r->live = !strcmp(r->dir, "/");
		r->fd = open(r->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (r && r->fd >= 0)
		return r;
	text_printable(shown, sizeof shown, dir, strlen(dir));
	err_sys(e, ERR_FAILED, errno, _("cannot open \"%s\" as the root of the kernel's files"), shown);
	free(r);
	return NULL;
}

struct root *root_hold(struct root *r)
{
	atomic_fetch_add(&r->holders, 1);
	return r;
}

void root_close(struct root *r)
{
	if (!r || atomic_fetch_sub(&r->holders, 1) != 1)
		return;
	close(r->fd);
	free(r);
}

/* A driver can block a read for any time, and nothing interrupts a thread that is blocked in the kernel.
 * While a board is detected, each read is done by a job, which is abandoned when it hangs: nvmtop still
 * starts and reports the file. Not used on the sampling path. */
struct timed_read {
	struct job job;
	int fd; /* a duplicate: the caller may close its own before the read starts */
	size_t size;
	off_t at;
	ssize_t n;
	int error;
	char buf[TIMED_READ_MAX];
};

static _Atomic unsigned hung; /* number of abandoned reads */

static void timed_read_run(struct job *j)
{
	struct timed_read *r = (struct timed_read *)j;

	r->n = r->at < 0 ? read(r->fd, r->buf, r->size) : pread(r->fd, r->buf, r->size, r->at);
	r->error = errno;
}

static void timed_read_drop(struct job *j)
{
	close(((struct timed_read *)j)->fd);
	free(j);
}

/* Returns -1 with ETIME if the read does not finish in time; its thread is then abandoned. */
static ssize_t timed_read(int fd, void *buf, size_t size, off_t at)
{
	struct timed_read *r = malloc(sizeof(*r));
	int error = ETIME;
	ssize_t n = -1;
	struct err e;

	if (!r)
		return -1;
	r->size = size;
	r->at = at;
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0 || job_start(&r->job, timed_read_run, timed_read_drop, &e) < 0) {
		error = r->fd < 0 ? errno : e.num;
		descriptors_note(error);
		if (r->fd >= 0)
			close(r->fd);
		free(r);
		errno = error;
		return -1;
	}
	if (job_done(&r->job, clock_now_ns() + (hung ? THEN_NS : FIRST_NS))) {
		n = r->n;
		error = r->error;
		if (n > 0)
			memcpy(buf, r->buf, (size_t)n);
		timed_read_drop(&r->job);
	} else {
		hung++;
		job_cancel(&r->job);
	}
	errno = error;
	return n;
}

static _Thread_local bool gives_up;

void root_give_up(bool hanging)
{
	gives_up = hanging;
}

unsigned root_given_up(void)
{
	return hung;
}

ssize_t root_read_at(int fd, void *buf, size_t size, off_t at)
{
	if (gives_up && size <= TIMED_READ_MAX)
		return timed_read(fd, buf, size, at);
	return at < 0 ? read(fd, buf, size) : pread(fd, buf, size, at);
}

const char *root_error(int error)
{
	if (error == ERANGE) /* read() of a file never sets it */
		return _("its value is out of range");
	return error == ETIME ? _("it did not answer") : strerror(error);
}

const char *root_dir(const struct root *r)
{
	return r->dir;
}

bool root_is_live(const struct root *r)
{
	return r->live;
}

/* Resolves all links in a path, relative to the root; ".." does not leave it. Returns 0, or an error
 * number. */
static int resolve(const struct root *r, const char *path, char done[PATH_MAX])
{
	char rest[PATH_MAX], target[PATH_MAX], joined[PATH_MAX], *name;
	size_t n = 0, len, links = 0;

	if ((size_t)snprintf(rest, sizeof rest, "%s", path) >= sizeof rest)
		return ENAMETOOLONG;
	done[0] = '\0';
	for (name = rest; *(name += strspn(name, "/")); name += len) {
		size_t before = n;
		ssize_t got;

		len = strcspn(name, "/");
		if (len == 1 && name[0] == '.')
			continue;
		if (len == 2 && name[0] == '.' && name[1] == '.') {
			while (n && done[--n] != '/')
				continue;
			done[n] = '\0';
			continue;
		}
		n += (size_t)snprintf(done + n, PATH_MAX - n, "%s%.*s", n ? "/" : "", (int)len, name);
		if (n >= PATH_MAX)
			return ENAMETOOLONG;
		got = readlinkat(r->fd, done, target, sizeof target);
		if (got < 0 && errno != EINVAL)
			return errno;
		if (got < 0)
			continue;
		if (++links > LINKS_MAX)
			return ELOOP;
		/* Replace the component by the target of the link. */
		n = got && target[0] == '/' ? 0 : before;
		done[n] = '\0';
		if (snprintf(joined, sizeof joined, "%.*s%s", (int)got, target, name + len) >= PATH_MAX)
			return ENAMETOOLONG;
		strcpy(rest, joined);
		name = rest;
		len = 0;
	}
	return 0;
}

static int open_file(const struct root *r, const char *path, int flags)
{
	char done[PATH_MAX];

	if (r->live)
		return open(path, flags | O_CLOEXEC);
	errno = resolve(r, path, done);
	return errno ? -1 : openat(r->fd, done[0] ? done : ".", flags | O_NOFOLLOW | O_CLOEXEC);
}

int root_open_file(const struct root *r, const char *path, int flags)
{
	int fd = open_file(r, path, flags);

	if (fd < 0)
		descriptors_note(errno);
	return fd;
}

static int is_listed(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

int root_list(const struct root *r, const char *path, char ***names, size_t *n)
{
	int fd = root_open_file(r, path, O_RDONLY | O_DIRECTORY), error;
	struct dirent **list;
	int count = fd < 0 ? -1 : scandirat(fd, ".", &list, is_listed, versionsort);
	size_t used = 1;
	char *p;

	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	*n = 0;
	if (count < 0)
		return -1;
	for (int i = 0; i < count; i++)
		used += strlen(list[i]->d_name) + 1;
	/* pointers, then the strings they point to */
	*names = malloc((size_t)count * sizeof **names + used);
	p = *names ? (char *)(*names + count) : NULL;
	for (int i = 0; i < count; i++) {
		if (p)
			p = stpcpy((*names)[i] = p, list[i]->d_name) + 1;
		free(list[i]);
	}
	free(list);
	*n = *names ? (size_t)count : 0;
	return *names ? 0 : -1;
}

/* Reads all of a file, and closes it. */
static ssize_t read_text(int fd, char *buf, size_t size)
{
	size_t used = 0;

	if (fd < 0)
		return -1;
	while (used < size - 1) {
		size_t room = size - 1 - used;
		ssize_t n = root_read_at(fd, buf + used,
					 gives_up && room > TIMED_READ_MAX ? TIMED_READ_MAX : room, -1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int saved = errno;
			close(fd);
			errno = saved;
			return -1;
		}
		if (!n)
			break;
		used += (size_t)n;
	}
	close(fd);
	while (used && buf[used - 1] == '\n')
		used--;
	buf[used] = '\0';
	return (ssize_t)used;
}

ssize_t root_read(const struct root *r, const char *path, char *buf, size_t size)
{
	return read_text(root_open_file(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY), buf, size);
}

/* Is the file the root of a mount? Kernels before 5.8 do not say; there it is on another file system than its folder. */
static bool is_mount(int fd, const struct stat *st, const char *path)
{
	struct stat folder;
	struct statx x;
	char name[PATH_MAX];

	if (statx(fd, "", AT_EMPTY_PATH, 0, &x) == 0 && (x.stx_attributes_mask & MOUNT_ROOT))
		return x.stx_attributes & MOUNT_ROOT;
	snprintf(name, sizeof name, "%.*s", (int)(strrchr(path, '/') - path), path);
	return stat(name, &folder) == 0 && folder.st_dev != st->st_dev;
}

ssize_t root_read_trusted(const struct root *r, const char *path, char *buf, size_t size)
{
	struct stat st;
	int fd;

	if (!r->live || !strncmp(path, "/sys/", 5) || !strncmp(path, "/proc/", 6) || !strncmp(path, "/etc/", 5))
		return root_read(r, path, buf, size);
	fd = root_open_file(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0) {
		errno = errno == ELOOP ? EPERM : errno;
		return -1;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == geteuid() || is_mount(fd, &st, path)))
		return read_text(fd, buf, size);
	close(fd);
	errno = EPERM;
	return -1;
}

int root_read_i64(const struct root *r, const char *path, long long *out)
{
	char buf[64];
	int64_t v;

	ssize_t n = root_read(r, path, buf, sizeof buf);
	if (n < 0)
		return -1;
	if (!num_i64(buf, buf + n, &v)) {
		errno = EINVAL;
		return -1;
	}
	*out = v;
	return 0;
}
