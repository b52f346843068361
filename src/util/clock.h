/* clock: the time of all samples, and its relation to other clocks. */
#ifndef NVMTOP_UTIL_CLOCK_H
#define NVMTOP_UTIL_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

/* The same instant on three clocks, in nanoseconds. */
struct clock_anchor {
	int64_t mono_ns;	/* CLOCK_MONOTONIC: the time of every sample */
	int64_t real_ns;	/* CLOCK_REALTIME: wall clock, since 1970-01-01 UTC */
	int64_t boot_ns;	/* CLOCK_BOOTTIME: as dmesg -T and perf count it */
};

int64_t clock_now_ns(void);	/* CLOCK_MONOTONIC */
int64_t clock_cpu_ns(void);	/* CPU time used by all threads of this process */

/* Reads all three as close together as possible: the tightest of a few attempts. */
void clock_anchor(struct clock_anchor *out);

/* The wall clock at t_ns; times in files may be so far apart that it saturates. */
int64_t clock_wall_ns(const struct clock_anchor *a, int64_t t_ns);

/* Returns the index of the first of n rising times that is at t_ns or later; n if there is none. The items of the
 * list have `each` bytes and their time, an int64_t, at offset `time`. */
size_t times_from(const void *list, size_t n, size_t each, size_t time, int64_t t_ns);

#endif
