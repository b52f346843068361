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
static unsigned abandoned;      /* cancelled jobs that are not done */
static int fd = -1;

/* After fork() there are no threads, and the lock may be held forever. Queued jobs are lost. */
static void job_forked(void)
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

static void job_first(void)
{
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_atfork(NULL, NULL, job_forked);
}

static void *job_run(void *arg)
{
	const uint64_t one = 1;

	prctl(PR_SET_NAME, "nvmtop-job");
	pthread_mutex_lock(&lock);
	for (;;) {
		int64_t until = clock_now_ns() + IDLE_NS;
		struct job *j;

		idle++;
		while (!first && thread_wait(&queued, &lock, until))
			continue;
		idle--;
		if (!(j = first))
			break;
		if (!(first = j->next))
			end = &first;
		n_queued--;
		pthread_mutex_unlock(&lock);
		j->run(j);
		pthread_mutex_lock(&lock);
		j->done = true;
		if (j->cancelled) {
			abandoned--;
			pthread_mutex_unlock(&lock);
			j->drop(j);
			pthread_mutex_lock(&lock);
		}
		pthread_cond_broadcast(&ended);
		if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
			continue; /* the counter is full: already readable */
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

int job_start(struct job *j, void (*run)(struct job *j), void (*drop)(struct job *j), struct err *e)
{
	pthread_t thread;
	int num = 0;

	pthread_once(&once, job_first);
	*j = (struct job) {.run = run, .drop = drop};
	pthread_mutex_lock(&lock);
	if (n_queued >= idle && !(num = thread_start(&thread, job_run, NULL)))
		pthread_detach(thread);
	if (!num) {
		*end = j;
		end = &j->next;
		n_queued++;
		pthread_cond_signal(&queued);
	}
	pthread_mutex_unlock(&lock);
	return num ? err_sys(e, ERR_FAILED, num, _("cannot start a thread")) : 0;
}

bool job_done(struct job *j, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&lock);
	while (!j->done && thread_wait(&ended, &lock, until_ns))
		continue;
	done = j->done;
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

void job_cancel(struct job *j)
{
	pthread_mutex_lock(&lock);
	bool done = j->done;
	j->cancelled = !done;
	abandoned += !done;
	pthread_mutex_unlock(&lock);
	if (done)
		j->drop(j);
}

int jobs_fd(void)
{
	pthread_once(&once, job_first);
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

	pthread_once(&once, job_first);
	pthread_mutex_lock(&lock);
	while (abandoned && thread_wait(&ended, &lock, until_ns))
		continue;
	n = abandoned;
	pthread_mutex_unlock(&lock);
	return n;
}
