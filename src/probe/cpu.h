/* cpu: how long each core has been idle, from one of several sources with one interface.
 *
 * Cores are known by slot: the nth of those that are present. Everything here is used on the sampling path: a
 * source that has been opened allocates nothing. */
#ifndef NVMTOP_PROBE_CPU_H
#define NVMTOP_PROBE_CPU_H

#include "util/clock.h"
#include "probe/open.h"

#define CORES_MAX   256
#define CPU_READ_NS (10 * NS_PER_MS) /* /proc/stat and cpuidle are updated this often */

struct cores {
	unsigned n;
	uint16_t id[CORES_MAX];  /* N of cpuN, by slot */
	bool online[CORES_MAX];  /* by slot */
	int16_t slot[CORES_MAX]; /* by N; -1: no such core */
};

/* Finds the cores that are present, also those that are offline; where that is not told, those that have a line in
 * /proc/stat. Returns how many. */
size_t cores_present(const struct root *r, bool set[CORES_MAX]);

/* A line of /proc/stat: what a core did, in ticks. */
enum { STAT_USER, STAT_NICE, STAT_SYSTEM, STAT_IDLE, STAT_IOWAIT, STAT_COLUMNS = 8 };
struct stat_line {
	int core;  /* -1: of all cores */
	bool good; /* it has only numbers, and those that all kernels have */
	int64_t v[STAT_COLUMNS], total;
	const char *text;
	size_t len;
};
/* Gets the line at *p, which moves on. Returns false if it is none of a core, or cut. */
bool stat_line_next(const char **p, const char *end, struct stat_line *out);

/* The last values of /proc/stat. Its idle column is measured time on a NO_HZ kernel, and advances while
 * a core is idle. */
struct cpu_stat {
	int64_t t_ns;
	int64_t total, waited;   /* of the first line, in ticks: all columns; iowait. Constant in a tree of
				  * plain files */
	int64_t idle[CORES_MAX]; /* by slot: idle + iowait, in ticks; -1: no line */
	double tick_ns;          /* one unit of the file */
	bool fresh;              /* was read at this tick */
};

struct cpu_source {
	const char *name;              /* the value of source= */
	const char *all, *one, *after; /* where all cores are read from; core N: what is before and after N */
	/* How often a read is useful. 0: at every tick, and it needs to know which cores are online, and /proc/stat
	 * only while one of them is unknown. */
	int64_t period_ns;
	int64_t window_ns; /* its loads are means over it; 0: over a tick */
	/* NULL: it needs nothing. Returns what the others get, or NULL with a few words in why on error, and errno if it is denied. tick_ns is the
	 * time between two reads. */
	void *(*open)(const struct root *r, const struct cores *c, int64_t tick_ns, char *why, size_t size);
	/* Stores by slot how long each core has been idle since some moment; -1: offline or unknown. */
	void (*read)(void *source, const struct cores *c, const struct cpu_stat *stat, int64_t t_ns, int64_t *idle_ns);
	void (*close)(void *source);
};

extern const struct cpu_source cpu_by_perf, cpu_by_idle;

#endif
