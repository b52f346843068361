/* A thread can handle its own stack overflow, and frees its resources when it ends. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/thread.h"

#define THREADS 400
#define HANDLED 42

static int overflow(int depth)
{
	volatile char room[4096];

	room[0] = (char)depth;
	return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void *overflow_run(void *arg)
{
	*(int *)arg = overflow(1);
	return NULL;
}

static void on_fault(int sig)
{
	_exit(sig == SIGSEGV ? HANDLED : 1);
}

static void test_overflow_is_handled(void **state)
{
	struct sigaction act = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	int status, result;
	pid_t child;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		pthread_t thread;

		setrlimit(RLIMIT_CORE, &(struct rlimit) {0, 0});
		sigaction(SIGSEGV, &act, NULL);
		if (thread_start(&thread, overflow_run, &result) == 0)
			pthread_join(thread, NULL);
		_exit(2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), HANDLED);
}

static void *twice(void *arg)
{
	return (void *)((uintptr_t)arg * 2);
}

static sem_t ended;

static void *post(void *arg)
{
	(void)arg;
	sem_post(&ended);
	return NULL;
}

/* Address space in pages. */
static long mapped(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld", &pages), 1);
	fclose(f);
	return pages;
}

static void run_joined(int n)
{
	for (uintptr_t i = 0; i < (uintptr_t)n; i++) {
		pthread_t thread;
		void *result;

		assert_int_equal(thread_start(&thread, twice, (void *)i), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_int_equal((uintptr_t)result, 2 * i);
	}
}

static void run_detached(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_t thread;

		assert_int_equal(thread_start(&thread, post, NULL), 0);
		pthread_detach(thread);
		while (sem_wait(&ended) < 0)
			;
	}
}

/* The C library caches stacks of ended threads, as many as existed at once: several of 8 MB on a busy
 * machine, which must not count here. */
static void small_stacks(void)
{
	pthread_attr_t small;

	assert_int_equal(pthread_attr_init(&small), 0);
	assert_int_equal(pthread_attr_setstacksize(&small, 256 * 1024), 0);
	assert_int_equal(pthread_setattr_default_np(&small), 0);
	pthread_attr_destroy(&small);
}

/* A leak of 64 KiB each would be 25 MB; a sanitizer keeps a third of that. */
static void test_nothing_stays(void **state)
{
	const long most = 16 * 1024 * 1024 / sysconf(_SC_PAGESIZE);
	const char *emulator = getenv("EMU");
	long before;

	(void)state;
	if (emulator && *emulator) {
		print_message("# an emulator keeps 280 kB of its own for each thread that ever was\n");
		return;
	}
	small_stacks();
	sem_init(&ended, 0, 0);
	run_joined(20);
	run_detached(20);
	before = mapped();
	run_joined(THREADS);
	assert_true(mapped() - before < most);
	run_detached(THREADS);
	/* The last ones have announced their end, but need a moment. */
	for (int i = 0; i < 2000 && mapped() - before >= most; i++)
		usleep(10000);
	assert_true(mapped() - before < most);
	sem_destroy(&ended);
}

static void *stack_aside(void *arg)
{
	return sigaltstack(NULL, arg) == 0 ? arg : NULL;
}

/* A signal frame takes up to 17 KiB on processors with the widest registers. */
static void test_room_for_a_handler(void **state)
{
	stack_t there = {.ss_flags = SS_DISABLE}, here;
	pthread_t thread;

	(void)state;
	assert_int_equal(sigaltstack(NULL, &here), 0);
	assert_int_equal(thread_start(&thread, stack_aside, &there), 0);
	pthread_join(thread, NULL);
	assert_false(there.ss_flags & SS_DISABLE);
	assert_true(there.ss_size >= 32768);
	assert_ptr_not_equal(there.ss_sp, here.ss_sp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow_is_handled),
		cmocka_unit_test(test_room_for_a_handler),
		cmocka_unit_test(test_nothing_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
