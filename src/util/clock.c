/* All times are of CLOCK_MONOTONIC: it does not jump when the wall clock is set during a recording. */
#include <string.h>
#include <time.h>

#include "util/clock.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_anchor(struct clock_anchor *out)
{
	int64_t tightest = INT64_MAX;

	/* Keep the attempt that was interrupted least. */
	for (int i = 0; i < 8; i++) {
		int64_t before = read_clock(CLOCK_MONOTONIC);
		int64_t real = read_clock(CLOCK_REALTIME);
		int64_t boot = read_clock(CLOCK_BOOTTIME);
		int64_t after = read_clock(CLOCK_MONOTONIC);
		if (after - before >= tightest)
			continue;
		tightest = after - before;
		out->mono_ns = before + (after - before) / 2;
		out->real_ns = real;
		out->boot_ns = boot;
	}
}

int64_t clock_wall_ns(const struct clock_anchor *a, int64_t t_ns)
{
	int64_t since = t_ns - a->mono_ns, wall;

	if (__builtin_add_overflow(a->real_ns, since, &wall))
		return since < 0 ? INT64_MIN : INT64_MAX;
	return wall;
}

size_t times_from(const void *list, size_t n, size_t each, size_t time, int64_t t_ns)
{
	const char *p = list;
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int64_t at;

		memcpy(&at, p + mid * each + time, sizeof(at));
		if (at < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
