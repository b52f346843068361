/* Measures the cost of a mark to the program that sets it. Not a test.
 *
 *   bench-mark [MARKS [PAUSE_US]]
 *
 * Median, 99th percentile and maximum of MARKS (100000) calls of nvmtop_mark(), with an
 * optional pause of PAUSE_US between them; run it with and without a recorder. Calls that
 * found the receiver's queue full count as failed. */
#include <nvmtop/mark.h>

static int by_value(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100000, i, taken = 0;
	long pause_us = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	long *ns = malloc(sizeof(*ns) * (size_t)(n > 0 ? n : 1));

	if (n < 1 || !ns)
		return 2;
	for (i = 0; i < n; i++) {
		struct timespec a, b, pause = {0, 0};

		clock_gettime(CLOCK_MONOTONIC, &a);
		taken += nvmtop_mark("bench");
		clock_gettime(CLOCK_MONOTONIC, &b);
		ns[i] = (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec;
		pause.tv_nsec = pause_us * 1000;
		if (pause_us)
			nanosleep(&pause, NULL);
	}
	qsort(ns, (size_t)n, sizeof(*ns), by_value);
	printf("%ld marks, %ld taken: median %.2f us, p99 %.2f us, longest %.1f us\n", n, taken,
	       (double)ns[n / 2] / 1e3, (double)ns[n - n / 100 - 1] / 1e3, (double)ns[n - 1] / 1e3);
	free(ns);
	return 0;
}
