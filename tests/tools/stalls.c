/* Measures stalls of the machine: a thread on each processor sleeps 2 ms in a loop, another writes to
 * FILE. Each sleep that took 4 ms too long gives a line with its end and its excess, both in ns of
 * CLOCK_MONOTONIC. Ends at the end of stdin. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 2000000
#define LATE_NS 4000000

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void tell(int64_t from, int64_t to, int64_t should)
{
	char line[64];
	int n = snprintf(line, sizeof line, "%lld %lld\n", (long long)to, (long long)(to - from - should));

	if (to - from - should > LATE_NS && write(STDOUT_FILENO, line, (size_t)n) < 0)
		_exit(1);
}

static void *sleeps(void *arg)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(intptr_t)arg, &set);
	sched_setaffinity(0, sizeof set, &set); /* if not permitted, it measures another one */
	for (;;) {
		int64_t from = now_ns();

		nanosleep(&step, NULL);
		tell(from, now_ns(), STEP_NS);
	}
	return NULL;
}

static void *writes(void *arg)
{
	const struct timespec step = {.tv_nsec = 10 * STEP_NS};
	static char bytes[16384];
	int fd = open(arg, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (;;) {
		int64_t from = now_ns();

		if (pwrite(fd, bytes, sizeof bytes, 0) < 0)
			return NULL;
		tell(from, now_ns(), 0);
		nanosleep(&step, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	pthread_t thread;
	char c;

	if (argc == 1) {
		fputs("usage: stalls FILE\n", stderr);
		return 2;
	}
	if (pthread_create(&thread, NULL, writes, argv[1]))
		return 1;
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, sleeps, (void *)(intptr_t)i))
			return 1;
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
