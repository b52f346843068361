/* cpu: the load of each core, from one of several sources with one interface.
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

/* Returns the newest of the last `past` readings at t_ns[], of `reads` in all, that was made at before_ns or
 * earlier; UINT64_MAX if there is none. */
static inline uint64_t cpu_window_start(const int64_t *t_ns, uint64_t past, uint64_t reads, int64_t before_ns)
{
	uint64_t oldest = reads > past - 1 ? reads - (past - 1) : 0;

	for (uint64_t i = reads; i-- > oldest;)
		if (t_ns[i % past] <= before_ns)
			return i;
	return UINT64_MAX;
}

struct cpu_source;
struct cpu_source_ops {
	const char *name;  /* the value of source= */
	int64_t period_ns; /* how often a read is useful; 0: at every tick */
	int64_t window_ns; /* its values are means over it; 0: over the time since the last read */
	int64_t stat_ns;   /* how often it needs /proc/stat */
	bool online;       /* it needs to know which cores are online */
	/* Returns NULL with a few words in why on error. tick_ns is the shortest time between two reads. */
	struct cpu_source *(*open)(const struct root *r, const struct cores *c, int64_t tick_ns, char *why,
				   size_t size);
	/* Writes where core N is read from, for the user. */
	void (*tell)(unsigned core, char *out, size_t size);
	/* Resets the source: it is used from now on, perhaps again. */
	void (*start)(struct cpu_source *s);
	/* Called when it is not used for a while: it must cost nothing. NULL: it never costs anything. */
	void (*stop)(struct cpu_source *s);
	/* Stores percent by slot; NaN: offline or unknown. Returns false if the source has become
	 * unreliable. */
	bool (*read)(struct cpu_source *s, const struct cpu_stat *stat, int64_t t_ns, double *busy);
	void (*close)(struct cpu_source *s);
};

/* Embedded as the first member of each source. */
struct cpu_source {
	const struct cpu_source_ops *ops;
	bool curious; /* needs /proc/stat every CPU_READ_NS for now */
};

extern const struct cpu_source_ops cpu_by_perf, cpu_by_idle, cpu_by_stat;

#endif
