/* Every thread begins without signals but its own faults, and every wait ends by
 * CLOCK_MONOTONIC, which nobody sets: neither is for each of those who have a thread
 * to remember. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "nvmtop/clock.h"
#include "nvmtop/thread.h"

/* What a thread does to itself.  The kernel ends the program at once where such a signal
 * is blocked: past who puts the terminal back, and past who mends a file that shrank. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

int thread_start(pthread_t *out, void *(*run)(void *), void *arg)
{
	sigset_t others, before;
	int failed;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&others, faults[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before);
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
