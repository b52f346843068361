/* Creates threads. Each starts with all signals blocked except synchronous faults, and waits by CLOCK_MONOTONIC, which
 * cannot be set. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/thread.h"

/* Faults of the thread. If such a signal is blocked, the kernel kills the process at once, without
 * restoring the terminal or repairing a map that shrank. */
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

bool thread_sleeps(pid_t thread)
{
	char path[64], text[256], *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return true;
	text[n] = '\0';
	state = strrchr(text, ')'); /* after the thread's name, which may contain anything */
	return !state || state[1] != ' ' || state[2] != 'R';
}

void thread_flag_set(_Atomic uint32_t *flag)
{
	atomic_store_explicit(flag, 1, memory_order_release);
	syscall(SYS_futex, flag, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void thread_flag_wait(const _Atomic uint32_t *flag, int64_t until_ns)
{
	struct timespec at = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};

	syscall(SYS_futex, flag, FUTEX_WAIT_BITSET_PRIVATE, 0, &at, NULL, FUTEX_BITSET_MATCH_ANY);
}

bool thread_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns)
{
	struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};

	return pthread_cond_clockwait(c, lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}
