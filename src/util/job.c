/* Keys must be handled within milliseconds, but a disk may block for any time, and the kernel does not
 * release a blocked thread. So each job has a thread, which takes the next one if that comes soon: jobs never wait for
 * each other, and one that hangs keeps its thread. */
#include "util/job.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"

#define IDLE_NS NS_PER_S /* how long a thread waits for the next job */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects everything below, and all jobs */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER, queued = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct job *first, **end = &first;
static unsigned n_queued, idle; /* jobs that do not run yet, threads that wait for one */
static unsigned abandoned;      /* cancelled jobs that run */
static int fd = -1;

/* After fork() there are no threads, and the lock may be held forever. Queued jobs are lost. */
static void init_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	ended = queued = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	first = NULL;
	end = &first;
	abandoned = n_queued = idle = 0;
	if (fd >= 0)
		close(fd);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static void init_first(void)
{
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_atfork(NULL, NULL, init_child);
}

static void unqueue(struct job *j)
{
	struct job **p = &first;

	while (*p != j)
		p = &(*p)->next;
	*p = j->next;
	n_queued--;
	if (end == &j->next)
		end = p;
}

static void job_ended(struct job *j)
{
	uint64_t one = 1;

	j->state = JOB_DONE;
	if (j->cancelled) {
		abandoned--;
		pthread_mutex_unlock(&lock);
		j->drop(j);
		pthread_mutex_lock(&lock);
	}
	pthread_cond_broadcast(&ended);
	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: already readable */
}

static void *work(void *arg)
{
	prctl(PR_SET_NAME, "nvmtop-job");
	pthread_mutex_lock(&lock);
	for (;;) {
		int64_t until = clock_now_ns() + IDLE_NS;
		struct job *j;

		idle++;
		while (!first && thread_wait(&queued, &lock, until))
			continue;
		idle--;
		j = first;
		if (!j)
			break;
		unqueue(j);
		j->state = JOB_RUNS;
		abandoned += j->cancelled;
		pthread_mutex_unlock(&lock);
		j->run(j);
		pthread_mutex_lock(&lock);
		job_ended(j);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

int job_start(struct job *j, void (*run)(struct job *j), void (*drop)(struct job *j), struct err *e)
{
	pthread_t thread;
	int num = 0;

	pthread_once(&once, init_first);
	*j = (struct job) {.run = run, .drop = drop};
	pthread_mutex_lock(&lock);
	*end = j;
	end = &j->next;
	if (++n_queued <= idle)
		pthread_cond_signal(&queued);
	else if ((num = thread_start(&thread, work, NULL)))
		unqueue(j);
	else
		pthread_detach(thread);
	pthread_mutex_unlock(&lock);
	return num ? err_sys(e, ERR_FAILED, num, _("cannot start a thread")) : 0;
}

bool job_done(struct job *j, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&lock);
	while (j->state != JOB_DONE && thread_wait(&ended, &lock, until_ns))
		continue;
	done = j->state == JOB_DONE;
	pthread_mutex_unlock(&lock);
	return done;
}

bool job_is_cancelled(struct job *j)
{
	bool cancelled;

	pthread_mutex_lock(&lock);
	cancelled = j->cancelled;
	pthread_mutex_unlock(&lock);
	return cancelled;
}

/* run: also run it if it is still queued */
static void abandon(struct job *j, bool run)
{
	pthread_mutex_lock(&lock);
	if (j->state == JOB_QUEUED && !run) {
		unqueue(j);
		j->state = JOB_DONE;
	}
	j->cancelled = j->state != JOB_DONE;
	abandoned += j->state == JOB_RUNS;
	if (j->cancelled)
		j = NULL; /* its thread owns it now */
	pthread_mutex_unlock(&lock);
	if (j)
		j->drop(j);
}

void job_cancel(struct job *j)
{
	abandon(j, false);
}

void job_detach(struct job *j)
{
	abandon(j, true);
}

int jobs_fd(void)
{
	pthread_once(&once, init_first);
	return fd;
}

void jobs_fd_clear(void)
{
	uint64_t n;

	if (fd >= 0 && read(fd, &n, sizeof(n)) < 0)
		return; /* already clear */
}

unsigned jobs_abandoned(int64_t until_ns)
{
	unsigned n;

	pthread_once(&once, init_first);
	pthread_mutex_lock(&lock);
	while (abandoned && thread_wait(&ended, &lock, until_ns))
		continue;
	n = abandoned;
	pthread_mutex_unlock(&lock);
	return n;
}
