/* Marks from other programs. Each receiver has a socket in a folder of its user. The engine thread reads it: the kernel
 * may queue only ten datagrams, while the main thread is drawing. The kernel attaches the time of sending and the
 * sender's user. */
#include "record/marks.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/mark.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"

/* So many are taken at a time: senders then block, so that nothing grows without bound. */
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
	int64_t scale = NS_PER_S;
	const char *from;

	if (p == end || *p < '0' || *p > '9' || !(p = num_i64(p, end, ns)) || *ns > INT64_MAX / NS_PER_S - 1)
		return NULL;
	*ns *= NS_PER_S;
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
	return err_set(e, ERR_FAILED,
		       _("%s is not a folder that only you can access (chmod 700, or remove it)"), folder);
}

int runtime_folder(char *out, size_t size, struct err *e)
{
	const char *run = getenv("NVMTOP_RUNTIME_DIR");

	if (run && *run && folder_path(FOLDER_SERVICE, out, size) && nvmtop_mark_safe(out, true))
		return 1;
	if (!folder_path(FOLDER_OWN, out, size))
		return err_set(e, ERR_FAILED, "%s",
			       _("there is no folder for a socket: set XDG_RUNTIME_DIR"));
	if (mkdir(out, 0700) < 0 && errno != EEXIST)
		return err_sys(e, ERR_FAILED, errno, _("cannot create the folder %s"), out);
	return nvmtop_mark_safe(out, false) ? 0 : folder_unsafe(out, e);
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
static void folder_sweep(const struct sockaddr_un *at)
{
	long pid = folder_pid(at->sun_path);

	if (pid && !folder_listens(at) && errno == ECONNREFUSED && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		unlink(at->sun_path);
}

/* Lists the sockets of this user and of services; the caller frees the list. Returns -1 and sets *e if the folder of the
 * user exists but is not private. */
static int folder_list(struct sockaddr_un **list, size_t *n, struct err *e)
{
	struct sockaddr_un at, *added;
	char folder[sizeof(at.sun_path)];
	struct dirent *d;
	struct stat st;
	bool safe;
	DIR *dir;

	*list = NULL;
	*n = 0;
	for (enum folder i = 0; i < FOLDERS; i++) {
		if (!folder_path(i, folder, sizeof(folder)) || lstat(folder, &st) < 0)
			continue;
		safe = nvmtop_mark_safe(folder, i == FOLDER_SERVICE);
		if (!safe && i == FOLDER_OWN)
			return folder_unsafe(folder, e);
		dir = safe ? opendir(folder) : NULL;
		while (dir && (d = readdir(dir)))
			if (folder_pid(d->d_name) && folder_address(&at, folder, d->d_name) &&
			    (added = array_add(list, n, sizeof(at))))
				*added = at;
		if (dir)
			closedir(dir);
	}
	return 0;
}

/* --- receiving --- */

struct inbox {
	struct engine_feed feed; /* its descriptor is the socket, or -1 */
	struct sockaddr_un at;
	bool service;          /* members of its group may send */
	struct engine *engine; /* that reads it; NULL: none */
	int64_t offset_ns;     /* wall clock minus CLOCK_MONOTONIC, when last read */
	uint64_t refused;
};

/* Receives one datagram, and takes the mark. Returns false if there is none. */
static bool inbox_receive(struct inbox *b)
{
	/* There is no room for descriptors: the kernel closes those that come. */
	_Alignas(struct cmsghdr) char
		notes[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(struct ucred))];
	char text[2 * LONGEST], label[MARK_LABEL];
	struct iovec io = {text, sizeof(text)};
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = notes, .msg_controllen = sizeof(notes)};
	ssize_t len = recvmsg(b->feed.fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int64_t sent_ns, t_ns, offset_ns;
	struct clock_anchor now;
	bool trusted = false;

	if (len < 0)
		return false;
	clock_anchor(&now);
	sent_ns = now.mono_ns;
	offset_ns = now.real_ns - now.mono_ns;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		struct timespec note;
		struct ucred who;

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPNS && llabs(offset_ns - b->offset_ns) <= STEP_NS) {
			memcpy(&note, CMSG_DATA(c), sizeof(note));
			sent_ns = (int64_t)note.tv_sec * NS_PER_S + note.tv_nsec - offset_ns;
			sent_ns = sent_ns < now.mono_ns ? sent_ns : now.mono_ns;
		} else if (c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&who, CMSG_DATA(c), sizeof(who));
			trusted = b->service || who.uid == geteuid() || who.uid == 0;
		}
	}
	b->offset_ns = offset_ns;
	if (m.msg_flags & MSG_TRUNC || !trusted ||
	    !mark_parse(text, (size_t)len, sent_ns, now.mono_ns, &t_ns, label))
		b->refused++;
	else if (b->engine)
		engine_mark(b->engine, t_ns, label);
	return true;
}

static int64_t inbox_poll(void *inbox, bool last)
{
	struct inbox *b = inbox;

	(void)last;
	for (int i = 0; i < BURST_MARKS; i++)
		if (b->feed.fd < 0 || !inbox_receive(b))
			return INT64_MAX;
	return clock_now_ns() + BURST_NS;
}

struct inbox *inbox_open(struct err *e)
{
	struct inbox *b = calloc(1, sizeof(*b));
	char folder[sizeof(b->at.sun_path)], name[32];
	struct sockaddr_un *others;
	struct clock_anchor now;
	const int on = 1;
	int found, fd;
	size_t n;

	if (!b) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	b->feed = (struct engine_feed) {.poll = inbox_poll, .fd = -1, .due_ns = 0};
	clock_anchor(&now);
	b->offset_ns = now.real_ns - now.mono_ns;
	snprintf(name, sizeof(name), "%ld.sock", (long)getpid());
	found = runtime_folder(folder, sizeof(folder), e);
	if (found >= 0 && !folder_address(&b->at, folder, name))
		found = err_sys(e, ERR_FAILED, ENAMETOOLONG, "%s", folder);
	if (found < 0) {
		err_set(e, ERR_FAILED, _("cannot accept marks from other programs: %s"), e->text);
		return b;
	}
	b->service = found;
	folder_list(&others, &n, e);
	while (n > 0)
		folder_sweep(&others[--n]);
	free(others);
	if (folder_listens(&b->at)) {
		err_set(e, ERR_FAILED,
			_("cannot accept marks from other programs: another nvmtop has the socket %s"),
			b->at.sun_path);
		return b;
	}
	unlink(b->at.sun_path); /* left by an earlier process with this pid */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&b->at, sizeof(b->at)) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot accept marks from other programs at %s"),
			b->at.sun_path);
		if (fd >= 0)
			close(fd);
		return b;
	}
	chmod(b->at.sun_path, b->service ? 0660 : 0600);
	b->feed.fd = fd;
	e->code = ERR_NONE;
	return b;
}

void inbox_attach(struct inbox *b, struct engine *g)
{
	b->engine = g;
	engine_add_feed(g, &b->feed);
}

int inbox_fd(const struct inbox *b)
{
	return b->engine ? -1 : b->feed.fd;
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
	if (b->feed.fd >= 0)
		unlink(b->at.sun_path);
	if (b->engine)
		engine_drop_feed(b->engine, &b->feed);
	/* Two bursts are more than the kernel keeps, of a sender that goes on. */
	inbox_poll(b, true);
	inbox_poll(b, true);
	if (b->feed.fd >= 0)
		close(b->feed.fd);
	refused = b->refused;
	free(b);
	return refused;
}

/* --- sending --- */

int marks_send(int64_t t_ns, const char *label, long to, char *whom, size_t size, struct err *e)
{
	const struct timespec at = {(time_t)(t_ns / NS_PER_S), (long)(t_ns % NS_PER_S)};
	const struct timeval patience = {WAIT_S, 0};
	size_t n, len, used = 0;
	struct sockaddr_un *list;
	int taken = 0, failed = 0, fd;
	long failed_pid = 0;
	char text[256];

	whom[0] = '\0';
	len = nvmtop_mark_text(text, sizeof(text), &at, label);
	if (folder_list(&list, &n, e) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		failed = errno;
	for (size_t i = 0; fd >= 0 && i < n; i++) {
		const struct sockaddr *each = (const struct sockaddr *)&list[i];
		long pid = folder_pid(list[i].sun_path);
		bool asked = !to || to == pid;

		if (asked ? sendto(fd, text, len, MSG_NOSIGNAL, each, sizeof(list[i])) >= 0
			  : folder_listens(&list[i])) {
			taken += asked;
			if (used < size)
				used += (size_t)snprintf(whom + used, size - used, "%s%ld", used ? ", " : "",
							 pid);
		} else if (errno == ECONNREFUSED || errno == ENOENT) {
			folder_sweep(&list[i]);
		} else if (asked) {
			failed = errno;
			failed_pid = pid;
		}
	}
	if (fd >= 0)
		close(fd);
	free(list);
	if (failed_pid)
		return err_sys(e, ERR_FAILED, failed == EAGAIN ? ETIMEDOUT : failed,
			       _("process %ld did not accept the mark"), failed_pid);
	if (failed)
		return err_sys(e, ERR_FAILED, failed, _("cannot open a socket for a mark"));
	if (!taken && to && *whom)
		err_set(e, ERR_FAILED,
			_("process %ld is not one of your recorders or live screens; running: %s"), to, whom);
	else if (!taken)
		err_set(e, ERR_FAILED,
			_("nothing to mark: no nvmtop of yours is recording or showing a live screen (one "
			  "started with sudo? use sudo nvmtop mark; a service? join the group nvmtop)"));
	return taken;
}
