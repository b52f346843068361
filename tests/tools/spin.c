/* A defined load: one core, busy for part of each period and asleep for the rest.
 *
 *   spin CORE PERCENT PERIOD_MS SECONDS     prints the percentage it used, how busy the
 *                                           core was according to /proc/stat, and from when
 *                                           to when: ns of CLOCK_MONOTONIC
 *   spin storm CORE SECONDS                 prints how often per second two processes
 *                                           on that core switched
 *
 * Exit status 77: not permitted to run on that core. */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* Idle and iowait time of a core in seconds; 0 if unreadable. */
static double idle_s(unsigned core)
{
	unsigned long long v[5];
	char name[16], line[256];
	double idle = 0;
	FILE *f = fopen("/proc/stat", "r");

	snprintf(name, sizeof name, "cpu%u ", core);
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line + strlen(name), "%llu %llu %llu %llu %llu", v, v + 1, v + 2, v + 3, v + 4) ==
			    5)
			idle = (double)(v[3] + v[4]) / (double)sysconf(_SC_CLK_TCK);
	if (f)
		fclose(f);
	return idle;
}

static void spin(unsigned core, double percent, int64_t period_ns, int64_t end_ns)
{
	int64_t begin = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	double idle = idle_s(core);

	for (int64_t at = begin; at < end_ns; at += period_ns) {
		int64_t busy_until = at + (int64_t)((double)period_ns * percent / 100);
		while (now_ns(CLOCK_MONOTONIC) < busy_until)
			;
		if (busy_until < at + period_ns)
			sleep_until(at + period_ns);
	}
	double took = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	int64_t end = now_ns(CLOCK_MONOTONIC);
	double passed = (double)(end - begin);
	idle = idle_s(core) - idle;
	printf("%.2f %.2f %lld %lld\n", 100 * took / passed, 100 * (1 - 1e9 * idle / passed), (long long)begin, (long long)end);
}

/* Pass a byte back and forth: each pass is two context switches. */
static int storm(int64_t end_ns)
{
	int there[2], back[2];
	long passes = 0;
	char byte = 'x';

	if (pipe(there) < 0 || pipe(back) < 0)
		return 1;
	pid_t other = fork();
	if (other < 0)
		return 1;
	if (!other) {
		close(there[1]);
		close(back[0]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	int64_t begin = now_ns(CLOCK_MONOTONIC);
	while (now_ns(CLOCK_MONOTONIC) < end_ns) {
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
		passes++;
	}
	printf("%.0f\n", 2e9 * (double)passes / (double)(now_ns(CLOCK_MONOTONIC) - begin));
	close(there[1]);
	waitpid(other, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	int is_storm = argc == 4 && !strcmp(argv[1], "storm");
	cpu_set_t set;

	if (!is_storm && argc != 5) {
		fprintf(stderr, "usage: spin CORE PERCENT PERIOD_MS SECONDS | spin storm CORE SECONDS\n");
		return 2;
	}
	unsigned core = (unsigned)atoi(argv[is_storm ? 2 : 1]);
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		return 77;
	prctl(PR_SET_TIMERSLACK, 1UL);
	int64_t end = now_ns(CLOCK_MONOTONIC) + (int64_t)(1e9 * atof(argv[argc - 1]));
	if (is_storm)
		return storm(end);
	spin(core, atof(argv[2]), (int64_t)(1e6 * atof(argv[3])), end);
	return 0;
}
