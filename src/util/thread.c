/* Creates threads. Each starts with all signals blocked except synchronous faults, has an alternate
 * signal stack for those, and waits by CLOCK_MONOTONIC, which cannot be set. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/thread.h"

/* Faults of the thread. If such a signal is blocked, the kernel kills the process at once, without
 * restoring the terminal or repairing a map that shrank. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

/* A handler cannot run on an overflowed stack. The pages of this one take no memory until they are used,
 * except the one with the arguments. */
struct aside {
	char stack[64 * 1024];
	void *(*run)(void *);
	void *arg;
};

static struct aside *aside_new(void *(*run)(void *), void *arg)
{
	struct aside *a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (a == MAP_FAILED)
		return NULL;
	a->run = run;
	a->arg = arg;
	return a;
}

/* Keeps an existing alternate stack, such as the one that a sanitizer sets up for each thread. */
static bool aside_use(struct aside *a)
{
	stack_t ours = {.ss_sp = a->stack, .ss_size = sizeof a->stack}, was;

	return sigaltstack(NULL, &was) == 0 && (was.ss_flags & SS_DISABLE) && sigaltstack(&ours, NULL) == 0;
}

/* The thread frees its stack: a detached thread is not joined, and one that never ends needs it until the
 * process ends. */
static void *begin(void *arg)
{
	const stack_t none = {.ss_flags = SS_DISABLE};
	struct aside *a = arg;
	bool used = aside_use(a);
	void *result = a->run(a->arg);

	if (used)
		sigaltstack(&none, NULL);
	munmap(a, sizeof *a);
	return result;
}

int thread_start(pthread_t *out, void *(*run)(void *), void *arg)
{
	struct aside *a = aside_new(run, arg);
	sigset_t others, before;
	int failed;

	if (!a)
		return errno;
	sigfillset(&others);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&others, faults[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before);
	failed = pthread_create(out, NULL, begin, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		munmap(a, sizeof *a);
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
