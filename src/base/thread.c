/* Every thread begins without signals, and every wait ends by CLOCK_MONOTONIC, which
 * nobody sets: neither is for each of those who have a thread to remember. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "nvmtop/clock.h"
#include "nvmtop/thread.h"

int thread_start(pthread_t *out, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(out, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

int thread_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t monotonic;
	int failed = pthread_condattr_init(&monotonic);

	if (failed)
		return failed;
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	failed = pthread_cond_init(c, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return failed;
}

bool thread_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns)
{
	struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};

	return pthread_cond_timedwait(c, lock, &until) != ETIMEDOUT;
}
