/* nvmtop mark: what mark.h does for a program, with time to wait and a
 * sentence when it fails. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "record/mark-folder.h"
#include "util/clock.h"
#include "util/intl.h"
#include "nvmtop/mark.h"
#include "record/marks.h"

#define WAIT_S 1 /* for a receiver whose queue is full */

/* A mark on its way to all receivers, or the query for their processes. */
struct post {
	int fd; /* -1: they are only listed */
	const char *text;
	size_t len;
	int taken, failed;
	long failed_pid;
	char *list; /* "1234, 1240" */
	size_t size, used;
};

static void note(struct post *p, long pid)
{
	const char *between = p->taken++ ? ", " : "";

	if (p->used < p->size)
		p->used += (size_t)snprintf(p->list + p->used, p->size - p->used, "%s%ld", between, pid);
}

static void deliver(void *to, const struct sockaddr_un *at)
{
	struct post *p = to;
	bool there = p->fd < 0 ? folder_listens(at)
			       : sendto(p->fd, p->text, p->len, MSG_NOSIGNAL, (const struct sockaddr *)at,
					sizeof(*at)) >= 0;
	int num = errno;

	if (there) {
		note(p, folder_pid(at->sun_path));
	} else if (num == ECONNREFUSED || num == ENOENT) {
		folder_sweep(at);
	} else {
		p->failed = num;
		p->failed_pid = folder_pid(at->sun_path);
	}
}

static int nobody(long to, struct err *e)
{
	char pids[128] = "";
	struct post all = {.fd = -1, .list = pids, .size = sizeof(pids)};

	if (folder_each(deliver, &all, e) < 0)
		return -1;
	if (all.taken)
		return err_set(e, ERR_FAILED,
			       _("process %ld is not one of your recorders or live screens; running: %s"), to,
			       pids);
	return err_set(e, ERR_FAILED,
		       _("none of your recorders or live screens is running: nothing to mark (mark a "
			 "recorder of another user, such as one started with sudo, as that user)"));
}

int marks_send(int64_t t_ns, const char *label, long to, char *whom, size_t size, struct err *e)
{
	const struct timespec at = {(time_t)(t_ns / NS_PER_S), (long)(t_ns % NS_PER_S)};
	const struct timeval patience = {WAIT_S, 0};
	struct post p = {.list = whom, .size = whom ? size : 0};
	struct sockaddr_un one;
	char text[256];
	int r = 0;

	if (p.size)
		whom[0] = '\0';
	p.text = text;
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
	else if (folder_of(to, &one))
		deliver(&p, &one);
	close(p.fd);
	if (r < 0)
		return -1;
	if (p.failed)
		return err_sys(e, ERR_FAILED, p.failed == EAGAIN ? ETIMEDOUT : p.failed,
			       _("process %ld did not accept the mark"), p.failed_pid);
	return p.taken ? p.taken : nobody(to, e);
}
