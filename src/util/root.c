/* Paths below another root are walked by hand: a tree that a user sent contains absolute links that must
 * stay inside it, openat2() is missing on the kernels of older boards, and chroot() needs root. For "/"
 * itself the kernel walks. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/descriptors.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/root.h"
#include "util/read-timeout.h"

#define LINKS_MAX 40

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
	struct root *r = malloc(sizeof *r + len + 1);
	char shown[256];
	text_printable(shown, sizeof shown, dir, strlen(dir));
	if (!r) {
		err_sys(e, ERR_FAILED, errno, _("cannot open \"%s\" as the root of the kernel's files"),
			shown);
		return NULL;
	}
	atomic_init(&r->holders, 1);
	memcpy(r->dir, dir, len);
	r->dir[len] = '\0';
	r->live = !strcmp(r->dir, "/");
	r->fd = open(len ? r->dir : "", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot open \"%s\" as the root of the kernel's files"),
			shown);
		free(r);
		return NULL;
	}
	return r;
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

static _Thread_local bool gives_up;

void root_give_up(bool hanging)
{
	gives_up = hanging;
}

unsigned root_given_up(void)
{
	return timed_reads_abandoned();
}

ssize_t root_read_at(int fd, void *buf, size_t size, off_t at)
{
	if (gives_up && size <= TIMED_READ_MAX)
		return timed_read(fd, buf, size, at);
	return at < 0 ? read(fd, buf, size) : pread(fd, buf, size, at);
}

const char *root_error(int error)
{
	if (error == ERANGE) /* never of reading a file */
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

/* The path still to walk, with room for a link's text before its rest. */
struct walk {
	char rest[PATH_MAX];
	int links;
};

/* Put the text of a link in front of what is left to walk. */
static int walk_link(struct walk *w, const char *rest, const char *text, size_t len)
{
	char joined[PATH_MAX];

	if (++w->links > LINKS_MAX) {
		errno = ELOOP;
		return -1;
	}
	int n = snprintf(joined, sizeof joined, "%.*s/%s", (int)len, text, rest);
	if (n < 0 || (size_t)n >= sizeof joined) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w->rest, joined, (size_t)n + 1);
	return 0;
}

/* A stack of directories, so that ".." never climbs above the root. */
struct climb {
	int fd[64];
	int depth;
};

static void climb_to(struct climb *c, int depth)
{
	while (c->depth > depth)
		close(c->fd[c->depth--]);
}

static int climb_into(struct climb *c, const char *name)
{
	if (c->depth + 1 == (int)(sizeof c->fd / sizeof *c->fd)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = openat(c->fd[c->depth], name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	c->fd[++c->depth] = fd;
	return 0;
}

/* One component; 1 with *out when it was the last one, 0 to go on, -1. */
static int walk_step(struct walk *w, struct climb *c, int flags, int *out)
{
	char *name = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(name, "/");
	bool last = !name[len + strspn(name + len, "/")];
	char target[PATH_MAX];

	if (len == 0 || (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.')) {
		if (len == 2 && c->depth)
			climb_to(c, c->depth - 1);
		if (last) {
			*out = openat(c->fd[c->depth], ".", flags | O_CLOEXEC);
			return *out < 0 ? -1 : 1;
		}
		memmove(w->rest, name + len, strlen(name + len) + 1);
		return 0;
	}
	char *rest = name + len + strspn(name + len, "/");
	name[len] = '\0';
	ssize_t n = readlinkat(c->fd[c->depth], name, target, sizeof target);
	if (n >= 0) {
		if (n && target[0] == '/')
			climb_to(c, 0);
		return walk_link(w, rest, target, (size_t)n);
	}
	if (errno != EINVAL)
		return -1;
	if (last) {
		*out = openat(c->fd[c->depth], name, flags | O_NOFOLLOW | O_CLOEXEC);
		return *out < 0 ? -1 : 1;
	}
	if (climb_into(c, name) < 0)
		return -1;
	memmove(w->rest, rest, strlen(rest) + 1);
	return 0;
}

static int open_file(const struct root *r, const char *path, int flags)
{
	if (r->live)
		return open(path, flags | O_CLOEXEC);

	struct walk w = {.links = 0};
	struct climb c = {.depth = 0};
	int out = -1, done;

	if (strlen(path) >= sizeof w.rest) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(w.rest, path);
	c.fd[0] = r->fd;
	while (!(done = walk_step(&w, &c, flags, &out)))
		;
	int saved = errno;
	climb_to(&c, 0);
	errno = saved;
	return done < 0 ? -1 : out;
}

int root_open_file(const struct root *r, const char *path, int flags)
{
	int fd = open_file(r, path, flags);

	if (fd < 0)
		descriptors_note(errno);
	return fd;
}

/* "hwmon2" before "hwmon10". */
static int natural(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Pointers first, then the strings they point to, in one allocation. */
static int pack(char *text, size_t used, size_t count, char ***names)
{
	char **list = malloc(count * sizeof *list + used + 1);

	if (!list)
		return -1;
	char *p = (char *)(list + count);
	if (used)
		memcpy(p, text, used);
	for (size_t i = 0; i < count; i++, p += strlen(p) + 1)
		list[i] = p;
	qsort(list, count, sizeof *list, natural);
	*names = list;
	return 0;
}

int root_list(const struct root *r, const char *path, char ***names, size_t *n)
{
	int fd = root_open_file(r, path, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char *text = NULL;
	size_t used = 0, room = 0, count = 0;
	int result = -1;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (errno = 0, (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		size_t len = strlen(entry->d_name) + 1;
		if (room - used < len) {
			char *more = realloc(text, room = room * 2 + len + 256);
			if (!more)
				goto out;
			text = more;
		}
		memcpy(text + used, entry->d_name, len);
		used += len;
		count++;
	}
	if (!errno && !(result = pack(text, used, count, names)))
		*n = count;
out:
	free(text);
	closedir(dir);
	return result;
}

ssize_t root_read(const struct root *r, const char *path, char *buf, size_t size)
{
	int fd = root_open_file(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
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
