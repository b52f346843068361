/* Reading a thousand files takes milliseconds, and a name of a user may come from
 * a network: a thread of its own does it, only while somebody looks. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/syscall.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/thread.h"
#include "probe/process-read.h"

#define PACE_NS (3 * NS_PER_S / 2)

struct procs {
	struct reader *reader;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool running, wanted, end;
	struct procs_list shown; /* under the lock */
	struct procs_list next;  /* the reader's */
	size_t shown_room, next_room;
	uint64_t serial;
};

struct procs *procs_open(const struct root *root, struct err *e)
{
	struct procs *p = calloc(1, sizeof(*p));

	if (p)
		p->reader = reader_open(root);
	if (!p || !p->reader) {
		free(p);
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	thread_cond_init(&p->wake);
	return p;
}

/* What was read becomes what is shown, and its memory is used for the next. */
static void publish(struct procs *p)
{
	struct procs_list was = p->shown;
	size_t room = p->shown_room;

	p->shown = p->next;
	p->shown_room = p->next_room;
	p->next = was;
	p->next_room = room;
	p->serial++;
}

int procs_read(struct procs *p)
{
	int rc = reader_read(p->reader, &p->next, &p->next_room);

	pthread_mutex_lock(&p->lock);
	if (rc == 0)
		publish(p);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static void *loop(void *arg)
{
	struct procs *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->end) {
		struct timespec until;

		if (!p->wanted) {
			pthread_cond_wait(&p->wake, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		procs_read(p);
		/* The first says nothing about the CPU yet. */
		int64_t next = clock_now_ns() + (p->serial == 1 ? PACE_NS / 5 : PACE_NS);
		until = (struct timespec) {next / NS_PER_S, next % NS_PER_S};
		pthread_mutex_lock(&p->lock);
		while (!p->end && p->wanted &&
		       pthread_cond_timedwait(&p->wake, &p->lock, &until) != ETIMEDOUT)
			;
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void procs_want(struct procs *p, bool wanted)
{
	pthread_mutex_lock(&p->lock);
	if (p->wanted != wanted) {
		p->wanted = wanted;
		pthread_cond_signal(&p->wake);
	}
	pthread_mutex_unlock(&p->lock);
	if (wanted && !p->running)
		p->running = thread_start(&p->thread, loop, p) == 0;
}

int procs_get(struct procs *p, struct procs_list *out, uint64_t *serial)
{
	int rc = 0;

	pthread_mutex_lock(&p->lock);
	if (out->procs && *serial == p->serial) {
		pthread_mutex_unlock(&p->lock);
		return 0;
	}
	struct proc *mine = realloc(out->procs, (p->shown.n + 1) * sizeof(*mine));
	if (mine) {
		*out = p->shown;
		out->procs = mine;
		if (p->shown.n)
			memcpy(mine, p->shown.procs, p->shown.n * sizeof(*mine));
		*serial = p->serial;
	} else {
		rc = -1;
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

void procs_close(struct procs *p)
{
	if (!p)
		return;
	if (p->running) {
		pthread_mutex_lock(&p->lock);
		p->end = true;
		pthread_cond_signal(&p->wake);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->thread, NULL);
	}
	reader_close(p->reader);
	free(p->shown.procs);
	free(p->next.procs);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
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
