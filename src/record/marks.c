/* Marks from other programs. Each receiver has a socket in a folder of its user,
 * and a thread that reads it. */
#include "record/marks.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
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
#include "util/thread.h"

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
static const char *seconds(const char *p, const char *end, int64_t *ns)
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
	p = seconds(text + n, end, t_ns);
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

static bool address(struct sockaddr_un *out, const char *folder, const char *name)
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
	       address(out, folder, name);
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
			if (folder_pid(d->d_name) && address(&at, folder, d->d_name))
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
	if (found >= 0 && !address(out, folder, name))
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

/* Marks are received by a separate thread: the kernel may queue only ten datagrams per socket,
 * and the main thread may be drawing or probing the board. The kernel attaches the time of
 * sending and the sender's user. */
struct inbox {
	struct sockaddr_un at;
	bool service; /* members of its group may send */
	int fd, quit, signals;
	pthread_t thread;
	inbox_take *take;
	void *to;
	int64_t offset_ns; /* wall clock minus CLOCK_MONOTONIC, when last read */
	int64_t burst_ns;  /* when the current burst began */
	int burst;         /* marks in it */
	uint64_t refused;
};

struct letter {
	char text[1024];
	size_t len;
	bool whole, trusted;
	int64_t sent_ns, now_ns;
};

/* Converts the kernel's wall clock timestamp to CLOCK_MONOTONIC. */
static int64_t sent_at(struct inbox *b, const struct timespec *note, int64_t now_ns)
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

/* Closes descriptors that a sender passed. */
static void close_all(const struct cmsghdr *c)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < n; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		close(fd);
	}
}

static void read_notes(struct inbox *b, struct letter *l, struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPNS && c->cmsg_len >= CMSG_LEN(sizeof(struct timespec))) {
			struct timespec note;

			memcpy(&note, CMSG_DATA(c), sizeof(note));
			l->sent_ns = sent_at(b, &note, l->now_ns);
		} else if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
			struct ucred who;

			memcpy(&who, CMSG_DATA(c), sizeof(who));
			l->trusted = b->service || who.uid == geteuid() || who.uid == 0;
		} else if (c->cmsg_type == SCM_RIGHTS) {
			close_all(c);
		}
	}
}

static bool receive(struct inbox *b, struct letter *l)
{
	union {
		struct cmsghdr head;
		char room[256];
	} notes;
	struct iovec io = {l->text, sizeof(l->text)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = notes.room,
			   .msg_controllen = sizeof(notes.room)};
	ssize_t n = recvmsg(b->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return false;
	l->len = (size_t)n;
	l->whole = !(m.msg_flags & MSG_TRUNC);
	l->trusted = false;
	l->now_ns = l->sent_ns = clock_now_ns();
	read_notes(b, l, &m);
	return true;
}

static void take_one(struct inbox *b, const struct letter *l)
{
	char label[MARK_LABEL];
	int64_t t_ns;

	if (l->whole && l->trusted && mark_parse(l->text, l->len, l->sent_ns, l->now_ns, &t_ns, label))
		b->take(b->to, t_ns, label);
	else
		b->refused++;
}

static void take_all(struct inbox *b)
{
	struct letter l;
	int64_t rest;

	while (receive(b, &l)) {
		if (l.now_ns - b->burst_ns >= BURST_NS) {
			b->burst_ns = l.now_ns;
			b->burst = 0;
		}
		take_one(b, &l);
		if (++b->burst < BURST_MARKS)
			continue;
		rest = b->burst_ns + BURST_NS - clock_now_ns();
		if (rest > 0)
			nanosleep(&(struct timespec) {.tv_nsec = (long)rest}, NULL);
		return; /* return to poll(), so that a continuous sender cannot prevent quitting */
	}
}

static void *inbox_main(void *arg)
{
	struct inbox *b = arg;
	struct pollfd p[3] = {{.fd = b->fd, .events = POLLIN},
			      {.fd = b->quit, .events = POLLIN},
			      {.fd = b->signals, .events = POLLIN}};
	struct signalfd_siginfo si;

	prctl(PR_SET_NAME, "nvmtop-marks");
	while (!p[1].revents) {
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			break;
		while (b->signals >= 0 && read(b->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
			b->take(b->to, clock_now_ns(), "");
		take_all(b);
	}
	return NULL;
}

static int listen_at(struct inbox *b)
{
	const int on = 1;

	b->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	b->quit = eventfd(0, EFD_CLOEXEC);
	if (b->fd < 0 || b->quit < 0 || setsockopt(b->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return -1;
	/* Without this timestamp, the time of reading is used as the time of sending. */
	setsockopt(b->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	if (bind(b->fd, (const struct sockaddr *)&b->at, sizeof(b->at)) < 0)
		return -1;
	chmod(b->at.sun_path, b->service ? 0660 : 0600);
	return 0;
}

static void discard(struct inbox *b, bool bound)
{
	if (bound)
		unlink(b->at.sun_path);
	if (b->fd >= 0)
		close(b->fd);
	if (b->quit >= 0)
		close(b->quit);
	free(b);
}

struct inbox *inbox_open(inbox_take *take, void *to, int signals, struct err *e)
{
	struct inbox *b = calloc(1, sizeof(*b));
	struct clock_anchor now;
	int num;

	if (!b) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	b->fd = b->quit = -1;
	b->take = take;
	b->to = to;
	b->signals = signals;
	clock_anchor(&now);
	b->offset_ns = now.real_ns - now.mono_ns;
	if (folder_own(&b->at, &b->service, e) < 0) {
		discard(b, false);
		return NULL;
	}
	num = listen_at(b) < 0 ? errno : 0;
	if (!num)
		num = thread_start(&b->thread, inbox_main, b);
	if (num) {
		err_sys(e, ERR_FAILED, num, _("cannot accept marks from other programs at %s"),
			b->at.sun_path);
		discard(b, true);
		return NULL;
	}
	return b;
}

uint64_t inbox_close(struct inbox *b)
{
	uint64_t one = 1, refused;

	if (!b)
		return 0;
	/* Remove the name first, so that no mark is sent that would not be read. */
	unlink(b->at.sun_path);
	while (write(b->quit, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
	pthread_join(b->thread, NULL);
	refused = b->refused;
	discard(b, false);
	return refused;
}

/* --- before a recording begins --- */

/* Probing the board and waiting for the first samples takes a moment. A script that started the recorder may
 * send marks meanwhile: they are queued until the recording begins. */
struct marker {
	pthread_mutex_t lock; /* for the following members */
	struct engine *engine; /* NULL: marks are queued */
	bool drops;
	struct mark *waiting;
	size_t n_waiting;

	struct inbox *inbox; /* NULL: no marks from other programs */
	int signals;
};

void marker_take(void *marker, int64_t t_ns, const char *label)
{
	struct marker *m = marker;
	struct mark *more;

	pthread_mutex_lock(&m->lock);
	if (m->engine) {
		engine_mark(m->engine, t_ns, label);
	} else if (!m->drops && (more = reallocarray(m->waiting, m->n_waiting + 1, sizeof(*more)))) {
		m->waiting = more;
		more += m->n_waiting++;
		*more = (struct mark) {.t_ns = t_ns};
		strncpy(more->label, label, sizeof(more->label) - 1);
	}
	pthread_mutex_unlock(&m->lock);
}

struct marker *marker_open(struct err *told)
{
	struct marker *m = calloc(1, sizeof(*m));
	sigset_t set;

	if (!m) {
		err_set(told, ERR_FAILED, "%s", _("out of memory"));
		return NULL;
	}
	pthread_mutex_init(&m->lock, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	m->inbox = inbox_open(marker_take, m, m->signals, told);
	if (m->inbox)
		told->code = ERR_NONE;
	return m;
}

/* g: NULL to discard queued and future marks. */
void marker_begin(struct marker *m, struct engine *g)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; g && i < m->n_waiting; i++)
		engine_mark(g, m->waiting[i].t_ns, m->waiting[i].label);
	m->n_waiting = 0;
	m->engine = g;
	m->drops = !g;
	pthread_mutex_unlock(&m->lock);
}

void marker_drop(struct marker *m)
{
	marker_begin(m, NULL);
}

uint64_t marker_end(struct marker *m)
{
	uint64_t refused = inbox_close(m->inbox);

	m->inbox = NULL;
	marker_drop(m);
	return refused;
}

void marker_free(struct marker *m)
{
	if (!m)
		return;
	marker_end(m);
	if (m->signals >= 0)
		close(m->signals);
	pthread_mutex_destroy(&m->lock);
	free(m->waiting);
	free(m);
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

static void deliver(void *to, const struct sockaddr_un *at)
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

static int no_receiver(long to, struct err *e)
{
	char pids[128] = "";
	struct post all = {.fd = -1, .list = pids, .size = sizeof(pids)};

	if (folder_each(deliver, &all, e) < 0)
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
		r = folder_each(deliver, &p, e);
	for (enum folder i = 0; to && i < FOLDERS; i++)
		if (folder_of(i, to, &one))
			deliver(&p, &one);
	close(p.fd);
	if (r < 0)
		return -1;
	if (p.failed)
		return err_sys(e, ERR_FAILED, p.failed == EAGAIN ? ETIMEDOUT : p.failed,
			       _("process %ld did not accept the mark"), p.failed_pid);
	return p.taken ? p.taken : no_receiver(to, e);
}
