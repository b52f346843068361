/* A thread of its own receives marks: the kernel queues as few as ten datagrams for a
 * socket, and the main thread may be drawing or detecting the board.  The kernel adds the
 * time of sending and the sender's user. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/mark-folder.h"
#include "util/clock.h"
#include "util/intl.h"
#include "record/marks.h"
#include "util/thread.h"

/* So many at most in such a time: then the senders wait, and nothing grows. */
#define BURST_MARKS 512
#define BURST_NS    (10 * NS_PER_MS)
#define STEP_NS     (5 * NS_PER_MS) /* the wall clock was set, and did not just drift */

struct inbox {
	struct sockaddr_un at;
	int fd, quit, signals;
	pthread_t thread;
	inbox_take *take;
	void *to;
	int64_t offset_ns; /* of the wall clock, when it was last read */
	int64_t burst_ns;  /* when the burst began */
	int burst;         /* marks in it */
	_Atomic uint64_t taken, refused;
};

struct letter {
	char text[1024];
	size_t len;
	bool whole, trusted;
	int64_t sent_ns, now_ns;
};

/* The kernel's wall clock timestamp, as CLOCK_MONOTONIC. */
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

/* Descriptors that a sender passes are closed. */
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
			l->trusted = who.uid == geteuid() || who.uid == 0;
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

	if (l->whole && l->trusted && mark_parse(l->text, l->len, l->sent_ns, l->now_ns, &t_ns, label)) {
		b->take(b->to, t_ns, label);
		atomic_fetch_add_explicit(&b->taken, 1, memory_order_relaxed);
	} else {
		atomic_fetch_add_explicit(&b->refused, 1, memory_order_relaxed);
	}
}

static void wait_for_the_next_burst(struct inbox *b)
{
	int64_t rest = b->burst_ns + BURST_NS - clock_now_ns();

	if (rest > 0)
		nanosleep(&(struct timespec) {.tv_nsec = (long)rest}, NULL);
}

static void take_all(struct inbox *b)
{
	struct letter l;

	while (receive(b, &l)) {
		if (l.now_ns - b->burst_ns >= BURST_NS) {
			b->burst_ns = l.now_ns;
			b->burst = 0;
		}
		take_one(b, &l);
		if (++b->burst < BURST_MARKS)
			continue;
		wait_for_the_next_burst(b);
		return; /* a sender that never stops must not keep the thread here */
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
	/* Without the kernel's note the time of reading stands for that of sending. */
	setsockopt(b->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	if (bind(b->fd, (const struct sockaddr *)&b->at, sizeof(b->at)) < 0)
		return -1;
	chmod(b->at.sun_path, 0600);
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
	if (folder_own(&b->at, e) < 0) {
		discard(b, false);
		return NULL;
	}
	num = listen_at(b) < 0 ? errno : 0;
	if (!num)
		num = thread_start(&b->thread, inbox_main, b);
	if (num) {
		char shown[sizeof(b->at.sun_path)];

		text_printable(shown, sizeof(shown), b->at.sun_path, strlen(b->at.sun_path));
		err_sys(e, ERR_FAILED, num, _("cannot accept marks from other programs at %s"), shown);
		discard(b, true);
		return NULL;
	}
	return b;
}

void inbox_stats(const struct inbox *b, struct inbox_stats *out)
{
	out->taken = atomic_load_explicit(&b->taken, memory_order_relaxed);
	out->refused = atomic_load_explicit(&b->refused, memory_order_relaxed);
}

void inbox_close(struct inbox *b)
{
	const uint64_t one = 1;

	if (!b)
		return;
	/* First the name, so that no mark is sent that would not be read. */
	unlink(b->at.sun_path);
	while (write(b->quit, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
	pthread_join(b->thread, NULL);
	discard(b, false);
}
