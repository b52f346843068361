/* Keys must be handled within milliseconds, but a disk may block for any time, and the kernel does not
 * release a blocked thread. So a cancelled job that hangs keeps its thread, and another worker replaces
 * it. */
#include "util/job.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"

#define IDLE_NS NS_PER_S /* how long an idle worker waits for a job */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects everything below, and all jobs */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER, queued = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct job *first, **end = &first;
static unsigned n_queued, idle;     /* waiting jobs, idle workers */
static unsigned workers, abandoned; /* abandoned: workers running a cancelled job */
static int fd = -1;

/* After fork() there are no workers, and the lock may be held forever. Queued jobs are lost. */
static void init_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	ended = queued = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	first = NULL;
	end = &first;
	workers = abandoned = n_queued = idle = 0;
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

/* Waits for the next job, and takes it. Returns NULL after IDLE_NS, or if there are enough other workers. */
static struct job *wait_first(void)
{
	int64_t until = clock_now_ns() + IDLE_NS;
	struct job *j = NULL;
	bool waits = true;

	idle++;
	while (workers - abandoned <= JOBS_MAX && !(j = first) && waits)
		waits = thread_wait(&queued, &lock, until);
	idle--;
	if (j)
		unqueue(j);
	return j;
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
	struct job *j;

	prctl(PR_SET_NAME, "nvmtop-job");
	pthread_mutex_lock(&lock);
	while ((j = wait_first()) != NULL) {
		j->state = JOB_RUNS;
		abandoned += j->cancelled;
		pthread_mutex_unlock(&lock);
		j->run(j);
		pthread_mutex_lock(&lock);
		job_ended(j);
	}
	workers--;
	pthread_mutex_unlock(&lock);
	return arg;
}

/* With the lock held: wake an idle worker or add one, up to the maximum. Returns 0, or an error number. */
static int add_worker(void)
{
	pthread_t thread;
	int num;

	if (n_queued <= idle) {
		pthread_cond_signal(&queued);
		return 0;
	}
	if (workers - abandoned >= JOBS_MAX)
		return 0;
	num = thread_start(&thread, work, NULL);
	if (!num) {
		pthread_detach(thread);
		workers++;
	}
	return workers > abandoned ? 0 : num;
}

int job_start(struct job *j, void (*run)(struct job *j), void (*drop)(struct job *j), struct err *e)
{
	int num;

	pthread_once(&once, init_first);
	*j = (struct job) {.run = run, .drop = drop};
	pthread_mutex_lock(&lock);
	*end = j;
	end = &j->next;
	n_queued++;
	num = add_worker();
	if (num)
		unqueue(j);
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
	if (j->state == JOB_RUNS) {
		abandoned++;
		add_worker();
	}
	if (j->cancelled)
		j = NULL; /* the worker owns it now */
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
