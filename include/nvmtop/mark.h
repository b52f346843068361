/* mark: put a mark into every nvmtop recording and live screen of this user.
 *
 *     #include <nvmtop/mark.h>
 *     nvmtop_mark("epoch 3");
 *
 * Nothing to link; C99 or C++98, with POSIX.  From any thread, not from a signal
 * handler.  A mark costs a microsecond or two; it never blocks, prints, allocates
 * in the common case or raises a signal, and while nothing records it does nothing.
 * It reaches up to 8 receivers, which are searched again at most four
 * times a second.
 *
 * A mark is one datagram of text, at most 512 bytes, to each socket PID.sock
 * in $XDG_RUNTIME_DIR/nvmtop; if that is not set, or not a directory of this user, in
 * /run/user/UID/nvmtop, or else in /tmp/nvmtop-UID; and, of recorders that are services, in
 * $NVMTOP_RUNTIME_DIR or else /run/nvmtop, for the members of its group:
 *
 *     nvmtop-mark 1 SECONDS[.FRACTION][ LABEL]
 *
 * with the seconds of CLOCK_MONOTONIC, at most 5 s ago, or 0 for the time of
 * sending.  LABEL is UTF-8; 63 bytes of it are kept. */
#ifndef NVMTOP_MARK_H
#define NVMTOP_MARK_H

#if defined __STRICT_ANSI__ && !defined _POSIX_C_SOURCE && !defined _XOPEN_SOURCE &&                         \
	!defined _DEFAULT_SOURCE && !defined _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOCK_MONOTONIC
#error "include <nvmtop/mark.h> first, or compile with -D_POSIX_C_SOURCE=200809L"
#endif

#define NVMTOP_MARK_MOST 8

/* A cast without warnings in C++. */
#ifdef __cplusplus
#define NVMTOP_MARK_AS(type, value) static_cast<type>(value)
#else
#define NVMTOP_MARK_AS(type, value) ((type)(value))
#endif

/* The type of the socket calls, and the real one. */
union nvmtop_mark_address {
	struct sockaddr any;
	struct sockaddr_un path;
};

/* The known receivers of a thread. */
struct nvmtop_mark_peers {
	union nvmtop_mark_address at[NVMTOP_MARK_MOST];
	int n, looked;
	struct timespec when; /* of the last search */
};

/* The directory of the sockets, which need not exist.  Returns its length, 0: none. */
static inline size_t nvmtop_mark_folder(char *out, size_t size)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	unsigned long user = geteuid();
	struct stat st;
	int n;

	if (run && run[0] == '/' && strlen(run) + sizeof "/nvmtop/1234567890.sock" <= size &&
	    stat(run, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid()) {
		n = snprintf(out, size, "%s/nvmtop", run);
	} else {
		n = snprintf(out, size, "/run/user/%lu", user);
		if (n > 0 && NVMTOP_MARK_AS(size_t, n) < size && stat(out, &st) == 0 && st.st_uid == geteuid())
			n = snprintf(out, size, "/run/user/%lu/nvmtop", user);
		else
			n = snprintf(out, size, "/tmp/nvmtop-%lu", user);
	}
	return n > 0 && NVMTOP_MARK_AS(size_t, n) < size ? NVMTOP_MARK_AS(size_t, n) : 0;
}

/* The same for the recorders that are services. */
static inline size_t nvmtop_mark_service(char *out, size_t size)
{
	const char *run = getenv("NVMTOP_RUNTIME_DIR");
	int n = snprintf(out, size, "%s", run && run[0] == '/' ? run : "/run/nvmtop");

	return n > 0 && NVMTOP_MARK_AS(size_t, n) < size ? NVMTOP_MARK_AS(size_t, n) : 0;
}

/* May its sockets be used?  Other users must not have access to that of a user, nor create files in that of
 * services. */
static inline int nvmtop_mark_safe(const char *folder, int service)
{
	struct stat st;

	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) &&
	       (service ? !(st.st_mode & 022) : st.st_uid == geteuid() && !(st.st_mode & 077));
}

/* Adds the sockets in that directory that have a listener. */
static inline void nvmtop_mark_look_in(struct nvmtop_mark_peers *p, const char *folder, int fd)
{
	DIR *dir = opendir(folder);
	struct dirent *d;

	while (dir && p->n < NVMTOP_MARK_MOST && (d = readdir(dir))) {
		union nvmtop_mark_address *to = &p->at[p->n];
		size_t len = strlen(d->d_name);

		memset(to, 0, sizeof *to);
		to->path.sun_family = AF_UNIX;
		if (len > 5 && !strcmp(d->d_name + len - 5, ".sock") &&
		    snprintf(to->path.sun_path, sizeof to->path.sun_path, "%s/%s", folder, d->d_name) <
			    NVMTOP_MARK_AS(int, sizeof to->path.sun_path) &&
		    connect(fd, &to->any, sizeof to->path) == 0)
			p->n++;
	}
	if (dir)
		closedir(dir);
}

static inline void nvmtop_mark_look(struct nvmtop_mark_peers *p)
{
	char own[sizeof(p->at[0].path.sun_path)], service[sizeof(p->at[0].path.sun_path)];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	p->n = 0;
	if (fd < 0)
		return;
	if (nvmtop_mark_folder(own, sizeof own) && nvmtop_mark_safe(own, 0))
		nvmtop_mark_look_in(p, own, fd);
	if (nvmtop_mark_service(service, sizeof service) && strcmp(own, service) != 0 &&
	    nvmtop_mark_safe(service, 1))
		nvmtop_mark_look_in(p, service, fd);
	close(fd);
}

/* Writes the datagram to out and returns its length. */
static inline size_t nvmtop_mark_text(char *out, size_t size, const struct timespec *at, const char *label)
{
	int n = snprintf(out, size, "nvmtop-mark 1 %ld.%09ld%s%.160s", NVMTOP_MARK_AS(long, at->tv_sec),
			 NVMTOP_MARK_AS(long, at->tv_nsec), label && *label ? " " : "", label ? label : "");

	return n < 0 ? 0 : NVMTOP_MARK_AS(size_t, n) < size ? NVMTOP_MARK_AS(size_t, n) : size - 1;
}

/* A mark at a time of CLOCK_MONOTONIC; label may be NULL.  Returns the number of
 * receivers that accepted it.  errno is preserved. */
static inline int nvmtop_mark_at(const struct timespec *at, const char *label)
{
	static __thread struct nvmtop_mark_peers peers;
	static int shared_fd = -1; /* shared by all threads of this file */
	char text[256];
	size_t n = nvmtop_mark_text(text, sizeof text, at, label);
	int i, before = errno, fd = __sync_fetch_and_add(&shared_fd, 0), taken = 0;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!peers.looked ||
	    (now.tv_sec - peers.when.tv_sec) * 1000L + (now.tv_nsec - peers.when.tv_nsec) / 1000000L >= 250) {
		nvmtop_mark_look(&peers);
		peers.looked = 1;
		peers.when = now;
	}
	if (peers.n && fd < 0) {
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0 && !__sync_bool_compare_and_swap(&shared_fd, -1, fd)) {
			close(fd); /* another thread was faster */
			fd = __sync_fetch_and_add(&shared_fd, 0);
		}
	}
	for (i = 0; i < peers.n && fd >= 0; i++) {
		if (sendto(fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL, &peers.at[i].any,
			   sizeof peers.at[i].path) >= 0)
			taken++;
		else if (errno == ECONNREFUSED || errno == ENOENT) /* the receiver ended */
			peers.at[i--] = peers.at[--peers.n];
		else if (errno == EBADF || errno == ENOTSOCK) { /* the program closed it */
			__sync_bool_compare_and_swap(&shared_fd, fd, -1);
			fd = -1;
		}
	}
	errno = before;
	return taken;
}

/* A mark now. */
static inline int nvmtop_mark(const char *label)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return nvmtop_mark_at(&now, label);
}

#endif
