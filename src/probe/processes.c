/* Reading a thousand files takes milliseconds, and the name of a user may come from a
 * network: a job does it, only while a view shows them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/syscall.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"
#include "probe/process-read.h"

#define PACE_NS (3 * NS_PER_S / 2)

struct procs {
	struct job job;
	bool running;
	struct root *root;
	struct reader *reader;   /* with next: the job's while it runs */
	struct procs_list next, shown;
	size_t next_room, shown_room;
	int rc;
	int64_t due_ns;
};

struct procs *procs_open(struct root *root, struct err *e)
{
	struct procs *p = calloc(1, sizeof(*p));

	if (p)
		p->reader = reader_open(root);
	if (!p || !p->reader) {
		free(p);
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
		return NULL;
	}
	p->root = root_hold(root);
	return p;
}

static void run(struct job *j)
{
	struct procs *p = (struct procs *)j;

	p->rc = reader_read(p->reader, &p->next, &p->next_room);
}

static void drop(struct job *j)
{
	struct procs *p = (struct procs *)j;

	reader_close(p->reader);
	root_close(p->root);
	free(p->shown.procs);
	free(p->next.procs);
	free(p);
}

/* What was read is shown, and the memory of what was shown is used for the next reading. */
static void publish(struct procs *p)
{
	struct procs_list was = p->shown;
	size_t room = p->shown_room;

	p->shown = p->next;
	p->shown.serial = was.serial + 1;
	p->shown_room = p->next_room;
	p->next = was;
	p->next_room = room;
}

const struct procs_list *procs_poll(struct procs *p)
{
	int64_t now = clock_now_ns();
	struct err e;

	if (p->running && job_done(&p->job, 0)) {
		p->running = false;
		if (p->rc == 0)
			publish(p);
		/* The first has no CPU load yet. */
		p->due_ns = now + (p->shown.serial == 1 ? PACE_NS / 5 : PACE_NS);
	}
	if (!p->running && now >= p->due_ns) {
		p->running = job_start(&p->job, run, drop, &e) == 0;
		p->due_ns = now + PACE_NS;
	}
	return &p->shown;
}

const struct procs_list *procs_read(struct procs *p)
{
	if (reader_read(p->reader, &p->next, &p->next_room) < 0)
		return NULL;
	publish(p);
	return &p->shown;
}

void procs_close(struct procs *p)
{
	if (p && p->running)
		job_cancel(&p->job);
	else if (p)
		drop(&p->job);
}

/* Is it still the process that was meant? */
static bool is_same(int pid, uint64_t start)
{
	char path[64], text[1024];
	struct proc now;
	uint64_t ticks;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && proc_stat_parse(text, (size_t)n, &now, &ticks) && now.start == start;
}

/* Through a descriptor of the process where the kernel has those (5.3): what was
 * checked is then what is hit. */
int procs_signal(int pid, uint64_t start, int sig, struct err *e)
{
	int fd = -1, rc;

#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
	if (!is_same(pid, start)) {
		if (fd >= 0)
			close(fd);
		return err_set(e, ERR_FAILED, _("process %d has ended already"), pid);
	}
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
	if (fd >= 0) {
		rc = (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
		int why = errno;

		close(fd);
		errno = why;
	} else {
		rc = kill(pid, sig);
	}
#else
	rc = kill(pid, sig);
#endif
	return rc < 0 ? err_sys(e, ERR_FAILED, errno, _("cannot send signal %d to process %d"), sig, pid) : 0;
}
