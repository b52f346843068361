/* Marks from other programs. Each receiver has a socket in a folder of its user. The engine thread reads it: the kernel
 * may queue only ten datagrams, while the main thread is drawing. The kernel attaches the time of sending and the
 * sender's user. */
#include "record/marks.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/mark.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"

/* Limit per burst: senders then block, so that nothing grows without bound. */
#define BURST_MARKS 512
#define BURST_NS    (10 * NS_PER_MS)
#define STEP_NS     (5 * NS_PER_MS) /* more: the wall clock was set, it did not drift */
#define LONGEST     512
#define AHEAD_NS    NS_PER_MS /* tolerance for clocks that are rounded up */
#define WAIT_S      1         /* maximum wait for a receiver with a full queue */

/* --- one datagram --- */

/* Parses "12345.678901234" with nanosecond resolution; further digits are ignored.
 * Returns the end, or NULL. */
static const char *mark_seconds(const char *p, const char *end, int64_t *ns)
{
	const char *from = p;
	int64_t scale = NS_PER_S;

	for (*ns = 0; p < end && *p >= '0' && *p <= '9' && p - from < 10; p++)
		*ns = *ns * 10 + (*p - '0');
	if (p == from)
		return NULL;
	*ns = *ns > INT64_MAX / NS_PER_S - 1 ? INT64_MAX - NS_PER_S : *ns * NS_PER_S;
	if (p == end || *p != '.')
		return p;
	for (from = ++p; p < end && *p >= '0' && *p <= '9'; p++) {
		scale /= 10;
		*ns += (*p - '0') * scale;
	}
	return p > from ? p : NULL;
}

/* The text can come from any process of this user: a program, a shell script, a mistake. It is
 * accepted or rejected as a whole. */
bool mark_parse(const char *text, size_t len, int64_t sent_ns, int64_t now_ns, int64_t *t_ns,
		char label[MARK_LABEL])
{
	static const char head[] = "nvmtop-mark 1 ";
	const size_t n = sizeof(head) - 1;
	const char *end = text + len, *p;

	if (len <= n || len > LONGEST || memcmp(text, head, n) != 0)
		return false;
	if (end[-1] == '\n')
		end--;
	p = mark_seconds(text + n, end, t_ns);
	if (!p || (p < end && *p != ' '))
		return false;
	if (*t_ns == 0)
		*t_ns = sent_ns;
	if (*t_ns > now_ns + AHEAD_NS || *t_ns < sent_ns - MARK_OLDEST_S * NS_PER_S)
		return false;
	if (*t_ns > now_ns)
		*t_ns = now_ns;
	p += p < end;
	text_printable(label, MARK_LABEL, p, (size_t)(end - p));
	return true;
}

/* --- the folder --- */

static bool folder_address(struct sockaddr_un *out, const char *folder, const char *name)
{
	int n;

	*out = (struct sockaddr_un) {.sun_family = AF_UNIX};
	n = snprintf(out->sun_path, sizeof(out->sun_path), "%s/%s", folder, name);
	return n > 0 && (size_t)n < sizeof(out->sun_path);
}

enum folder { FOLDER_OWN, FOLDER_SERVICE, FOLDERS };

/* Returns false if there is none, or it is that of services and this user's as well. */
static bool folder_path(enum folder i, char *out, size_t size)
{
	char own[sizeof(((struct sockaddr_un *)0)->sun_path)] = "";

	if (i == FOLDER_OWN)
		return nvmtop_mark_folder(out, size) > 0;
	nvmtop_mark_folder(own, sizeof(own));
	return nvmtop_mark_service(out, size) > 0 && strcmp(own, out) != 0;
}

static int folder_unsafe(const char *folder, struct err *e)
{
	return err_set(e, ERR_FAILED, _("%s is not a folder that only you can access (chmod 700, or remove it)"), folder);
}

int runtime_folder(char *out, size_t size, struct err *e)
{
	const char *run = getenv("NVMTOP_RUNTIME_DIR");

	if (run && *run && folder_path(FOLDER_SERVICE, out, size) && nvmtop_mark_safe(out, true))
		return 1;
	if (!folder_path(FOLDER_OWN, out, size))
		return err_set(e, ERR_FAILED, "%s", _("there is no folder for a socket: set XDG_RUNTIME_DIR"));
	if (mkdir(out, 0700) < 0 && errno != EEXIST)
		return err_sys(e, ERR_FAILED, errno, _("cannot create the folder %s"), out);
	return nvmtop_mark_safe(out, false) ? 0 : folder_unsafe(out, e);
}

/* The address of a process. Returns false if there is none that is safe. */
static bool folder_of(enum folder i, long pid, struct sockaddr_un *out)
{
	char folder[sizeof(out->sun_path)], name[32];

	snprintf(name, sizeof(name), "%ld.sock", pid);
	return folder_path(i, folder, sizeof(folder)) && nvmtop_mark_safe(folder, i == FOLDER_SERVICE) &&
	       folder_address(out, folder, name);
}

/* The process id in the name of a socket; 0 if it is not such a name. */
static long folder_pid(const char *path)
{
	const char *name = strrchr(path, '/'), *end;
	int64_t pid;

	name = name ? name + 1 : path;
	end = num_i64(name, name + strlen(name), &pid);
	return end && !strcmp(end, ".sock") && name[0] >= '1' && name[0] <= '9' && pid <= INT32_MAX
		       ? (long)pid
		       : 0;
}

/* Does a process listen there? If false, errno has the reason. */
static bool folder_listens(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool yes = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0;
	int why = errno;

	if (fd >= 0)
		close(fd);
	errno = why;
	return yes;
}

/* Removes the socket if nothing listens there and its process has ended. Both are checked because
 * the process may be in another container, with another pid, and because a socket that was just
 * created does not listen yet. */
static void folder_sweep(void *unused, const struct sockaddr_un *at)
{
	long pid = folder_pid(at->sun_path);

	(void)unused;
	if (pid && !folder_listens(at) && errno == ECONNREFUSED && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		unlink(at->sun_path);
}

/* Calls `call` for each socket of this user and of services. Returns -1 and sets *e if the folder of the user
 * exists but is not private. */
static int folder_each(void (*call)(void *to, const struct sockaddr_un *at), void *to, struct err *e)
{
	struct sockaddr_un at;
	char folder[sizeof(at.sun_path)];
	struct dirent *d;
	struct stat st;
	bool safe;
	DIR *dir;

	for (enum folder i = 0; i < FOLDERS; i++) {
		if (!folder_path(i, folder, sizeof(folder)) || lstat(folder, &st) < 0)
			continue;
		safe = nvmtop_mark_safe(folder, i == FOLDER_SERVICE);
		if (!safe && i == FOLDER_OWN)
			return folder_unsafe(folder, e);
		dir = safe ? opendir(folder) : NULL;
		while (dir && (d = readdir(dir)))
			if (folder_pid(d->d_name) && folder_address(&at, folder, d->d_name))
				call(to, &at);
		if (dir)
			closedir(dir);
	}
	return 0;
}

/* Sets the address of this process, and whether it is a service; creates the folder and removes sockets of
 * processes that have ended. */
static int folder_own(struct sockaddr_un *out, bool *service, struct err *e)
{
	char folder[sizeof(out->sun_path)], name[32];
	int found = runtime_folder(folder, sizeof(folder), e);

	snprintf(name, sizeof(name), "%ld.sock", (long)getpid());
	if (found >= 0 && !folder_address(out, folder, name))
		found = err_sys(e, ERR_FAILED, ENAMETOOLONG, "%s", folder);
	if (found < 0)
		return err_set(e, ERR_FAILED, _("cannot accept marks from other programs: %s"), e->text);
	*service = found;
	folder_each(folder_sweep, NULL, NULL);
	if (folder_listens(out))
		return err_set(e, ERR_FAILED,
			       _("cannot accept marks from other programs: another nvmtop has the socket %s"),
			       out->sun_path);
	unlink(out->sun_path); /* left by an earlier process with this pid */
	return 0;
}

/* --- receiving --- */

struct inbox {
	struct engine_feed feed; /* its descriptors are the socket and a signalfd, -1: none */
	struct sockaddr_un at;
	bool service; /* members of its group may send */
	struct engine *engine; /* that reads it; NULL: none */
	atomic_bool discards;
	int64_t offset_ns; /* wall clock minus CLOCK_MONOTONIC, when last read */
	int64_t burst_ns;  /* when the current burst began */
	int burst;         /* marks in it */
	uint64_t refused;
};

/* Converts the kernel's wall clock timestamp to CLOCK_MONOTONIC. */
static int64_t inbox_sent_ns(struct inbox *b, const struct timespec *note, int64_t now_ns)
{
	struct timespec wall;
	int64_t offset, sent;

	clock_gettime(CLOCK_REALTIME, &wall);
	offset = (int64_t)wall.tv_sec * NS_PER_S + wall.tv_nsec - now_ns;
	sent = (int64_t)note->tv_sec * NS_PER_S + note->tv_nsec - offset;
	if (llabs(offset - b->offset_ns) > STEP_NS || sent > now_ns)
		sent = now_ns;
	b->offset_ns = offset;
	return sent;
}

/* Receives one datagram, closes the descriptors that came with it, and takes the mark. Returns false if there is none. */
static bool inbox_receive(struct inbox *b)
{
	union {
		struct cmsghdr head;
		char room[256];
	} notes;
	char text[2 * LONGEST], label[MARK_LABEL];
	struct iovec io = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = notes.room,
			   .msg_controllen = sizeof(notes.room)};
	ssize_t len = recvmsg(b->feed.fd[0], &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int64_t now_ns = clock_now_ns(), sent_ns = now_ns, t_ns;
	bool trusted = false;

	if (len < 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		size_t size = c->cmsg_len - CMSG_LEN(0);
		struct timespec note;
		struct ucred who;
		int fd;

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPNS && size >= sizeof(note)) {
			memcpy(&note, CMSG_DATA(c), sizeof(note));
			sent_ns = inbox_sent_ns(b, &note, now_ns);
		} else if (c->cmsg_type == SCM_CREDENTIALS && size >= sizeof(who)) {
			memcpy(&who, CMSG_DATA(c), sizeof(who));
			trusted = b->service || who.uid == geteuid() || who.uid == 0;
		}
		for (size_t i = 0; c->cmsg_type == SCM_RIGHTS && i < size / sizeof(fd); i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			close(fd);
		}
	}
	if (!(m.msg_flags & MSG_TRUNC) && trusted && mark_parse(text, (size_t)len, sent_ns, now_ns, &t_ns, label))
		inbox_mark(b, t_ns, label);
	else
		b->refused++;
	if (now_ns - b->burst_ns >= BURST_NS) {
		b->burst_ns = now_ns;
		b->burst = 0;
	}
	b->burst++;
	return true;
}

static int64_t inbox_poll(void *inbox, bool last)
{
	struct inbox *b = inbox;
	struct signalfd_siginfo si;

	(void)last;
	while (b->feed.fd[1] >= 0 && read(b->feed.fd[1], &si, sizeof(si)) == (ssize_t)sizeof(si))
		inbox_mark(b, clock_now_ns(), "");
	while (b->feed.fd[0] >= 0 && inbox_receive(b))
		if (b->burst >= BURST_MARKS)
			return b->burst_ns + BURST_NS;
	return INT64_MAX;
}

struct inbox *inbox_open(bool signals, struct err *e)
{
	struct inbox *b = calloc(1, sizeof(*b));
	struct clock_anchor now;
	const int on = 1;
	sigset_t set;
	int fd;

	if (!b) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	b->feed = (struct engine_feed) {.poll = inbox_poll, .fd = {-1, -1}, .due_ns = 0};
	clock_anchor(&now);
	b->offset_ns = now.real_ns - now.mono_ns;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (signals)
		b->feed.fd[1] = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (folder_own(&b->at, &b->service, e) < 0)
		return b;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Without the timestamp, the time of reading is used as the time of sending. */
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&b->at, sizeof(b->at)) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot accept marks from other programs at %s"), b->at.sun_path);
		if (fd >= 0)
			close(fd);
		return b;
	}
	chmod(b->at.sun_path, b->service ? 0660 : 0600);
	b->feed.fd[0] = fd;
	e->code = ERR_NONE;
	return b;
}

void inbox_attach(struct inbox *b, struct engine *g)
{
	b->engine = g;
	engine_add_feed(g, &b->feed);
}

void inbox_discard(struct inbox *b, bool discard)
{
	atomic_store(&b->discards, discard);
}

void inbox_mark(struct inbox *b, int64_t t_ns, const char *label)
{
	if (b->engine && !atomic_load(&b->discards))
		engine_mark(b->engine, t_ns, label);
}

int inbox_fd(const struct inbox *b)
{
	return b->engine ? -1 : b->feed.fd[0];
}

void inbox_read(struct inbox *b)
{
	if (!b->engine)
		inbox_poll(b, false);
}

uint64_t inbox_close(struct inbox *b)
{
	uint64_t refused;

	if (!b)
		return 0;
	/* Remove the name first, so that no mark is sent that would not be read. */
	if (b->feed.fd[0] >= 0)
		unlink(b->at.sun_path);
	if (b->engine)
		engine_drop_feed(b->engine, &b->feed);
	/* Two bursts are more than the kernel keeps, of a sender that goes on. */
	for (int i = 0; i < 2; i++) {
		b->burst = 0;
		inbox_poll(b, true);
	}
	for (int i = 0; i < 2; i++)
		if (b->feed.fd[i] >= 0)
			close(b->feed.fd[i]);
	refused = b->refused;
	free(b);
	return refused;
}

/* --- sending --- */

/* A mark on its way to all receivers, or a query that only lists them. */
struct post {
	int fd; /* -1: only list the receivers */
	const char *text;
	size_t len;
	int taken, failed;
	long failed_pid;
	char *list; /* "1234, 1240" */
	size_t size, used;
};

static void post_deliver(void *to, const struct sockaddr_un *at)
{
	struct post *p = to;
	bool there = p->fd < 0 ? folder_listens(at)
			       : sendto(p->fd, p->text, p->len, MSG_NOSIGNAL, (const struct sockaddr *)at,
					sizeof(*at)) >= 0;
	int num = errno;
	long pid = folder_pid(at->sun_path);

	if (there) {
		const char *between = p->taken++ ? ", " : "";

		if (p->used < p->size)
			p->used += (size_t)snprintf(p->list + p->used, p->size - p->used, "%s%ld", between,
						    pid);
	} else if (num == ECONNREFUSED || num == ENOENT) {
		folder_sweep(NULL, at);
	} else {
		p->failed = num;
		p->failed_pid = pid;
	}
}

static int post_refused(long to, struct err *e)
{
	char pids[128] = "";
	struct post all = {.fd = -1, .list = pids, .size = sizeof(pids)};

	if (folder_each(post_deliver, &all, e) < 0)
		return -1;
	if (all.taken)
		err_set(e, ERR_FAILED, _("process %ld is not one of your recorders or live screens; running: %s"), to, pids);
	else
		err_set(e, ERR_FAILED,
			_("nothing to mark: no nvmtop of yours is recording or showing a live screen (one "
			  "started with sudo? use sudo nvmtop mark; a service? join the group nvmtop)"));
	return 0;
}

int marks_send(int64_t t_ns, const char *label, long to, char *whom, size_t size, struct err *e)
{
	const struct timespec at = {(time_t)(t_ns / NS_PER_S), (long)(t_ns % NS_PER_S)};
	const struct timeval patience = {WAIT_S, 0};
	char text[256];
	struct post p = {.text = text, .list = whom, .size = size};
	struct sockaddr_un one;
	int r = 0;

	whom[0] = '\0';
	p.len = nvmtop_mark_text(text, sizeof(text), &at, label);
	p.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p.fd < 0 || setsockopt(p.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot open a socket for a mark"));
		if (p.fd >= 0)
			close(p.fd);
		return -1;
	}
	if (!to)
		r = folder_each(post_deliver, &p, e);
	for (enum folder i = 0; to && i < FOLDERS; i++)
		if (folder_of(i, to, &one))
			post_deliver(&p, &one);
	close(p.fd);
	if (r < 0)
		return -1;
	if (p.failed)
		return err_sys(e, ERR_FAILED, p.failed == EAGAIN ? ETIMEDOUT : p.failed,
			       _("process %ld did not accept the mark"), p.failed_pid);
	return p.taken ? p.taken : post_refused(to, e);
}
