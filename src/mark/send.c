/* nvmtop --mark: what mark.h does for a program, with time to wait and a
 * sentence when it fails. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "mark/folder.h"
#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "nvmtop/mark.h"
#include "nvmtop/marks.h"

#define WAIT_S 1 /* for a receiver whose queue is full */

/* All that listen, without those that have gone. */
static void look(struct nvmtop_mark_peers *p)
{
	bool swept;

	do {
		nvmtop_mark_look(p);
		swept = false;
		for (int i = 0; i < p->n; i++)
			swept |= folder_stale(&p->at[i]);
	} while (swept);
}

static void look_for(struct nvmtop_mark_peers *p, long pid)
{
	p->n = folder_of(pid, &p->at[0]) && access(p->at[0].sun_path, F_OK) == 0;
}

/* "1234, 1240". */
static void list(const struct nvmtop_mark_peers *p, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < p->n && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%ld", i ? ", " : "",
					 folder_pid(p->at[i].sun_path));
}

static int nobody(long to, struct err *e)
{
	struct nvmtop_mark_peers all;
	char pids[128];

	look(&all);
	list(&all, pids, sizeof(pids));
	if (all.n)
		return err_set(e, ERR_FAILED,
			       _("process %ld is no recorder or live screen of yours; there is %s"), to,
			       pids);
	return err_set(e, ERR_FAILED,
		       _("no recorder and no live screen of yours is running: there is nothing to mark (what "
			 "another user started, sudo for instance, is marked as that user)"));
}

int marks_send(int64_t t_ns, const char *label, long to, char *whom, size_t size, struct err *e)
{
	const struct timespec at = {(time_t)(t_ns / NS_PER_S), (long)(t_ns % NS_PER_S)};
	const struct timeval patience = {WAIT_S, 0};
	struct nvmtop_mark_peers p, taken = {.n = 0};
	char text[256];
	size_t n = nvmtop_mark_text(text, sizeof(text), &at, label);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), failed = 0;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot open a socket for a mark"));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (to)
		look_for(&p, to);
	else
		look(&p);
	for (int i = 0; i < p.n; i++) {
		if (sendto(fd, text, n, MSG_NOSIGNAL, (struct sockaddr *)&p.at[i], sizeof(p.at[i])) >= 0) {
			taken.at[taken.n++] = p.at[i];
		} else if (errno != ECONNREFUSED && errno != ENOENT) {
			failed = errno;
			p.at[0] = p.at[i];
		}
	}
	close(fd);
	if (failed)
		return err_sys(e, ERR_FAILED, failed == EAGAIN ? ETIMEDOUT : failed,
			       _("process %ld did not take the mark"), folder_pid(p.at[0].sun_path));
	if (!taken.n)
		return nobody(to, e);
	if (whom)
		list(&taken, whom, size);
	return taken.n;
}
