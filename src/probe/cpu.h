/* cpu: how busy each core is, by one of several sources behind one statement.
 *
 * Cores are known by slot: the nth of those that are present.  Everything here
 * is used on the sampling path: a source that has been opened allocates nothing. */
#ifndef NVMTOP_PROBE_CPU_H
#define NVMTOP_PROBE_CPU_H

#include "util/clock.h"
#include "probe/open.h"

#define CORES_MAX   256
#define CPU_READ_NS (10 * NS_PER_MS) /* as often as /proc/stat and cpuidle have new values */

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
	int64_t total;           /* of all columns of the first line: stands still in a tree of plain files */
	int64_t idle[CORES_MAX]; /* by slot: idle + iowait, in ticks; -1: no line */
	double tick_ns;          /* one unit of the file */
	bool fresh;              /* was read at this tick */
};

/* The files of the kernel that are about all cores, held open. */
struct cpu_look {
	const struct root *root;
	struct attr stat_file, online_file;
	size_t size; /* how much of /proc/stat holds the cpu lines */
	struct cores cores;
	struct cpu_stat stat;
	bool set[CORES_MAX];
	char buf[64 * 1024];
};
int look_open(struct cpu_look *l, const struct root *r); /* 0, or -1 with errno: no /proc/stat */
void look_close(struct cpu_look *l);
bool look_stat(struct cpu_look *l, int64_t t_ns); /* renews stat; is it fresh? */
void look_online(struct cpu_look *l);             /* renews cores.online */

struct cpu_source;
struct cpu_source_ops {
	const char *name;  /* as source= has it */
	int64_t period_ns; /* how often it is worth a read; 0: at every tick */
	int64_t window_ns; /* what its values are the mean of; 0: of the time since the last read */
	int64_t stat_ns;   /* how often it wants to see /proc/stat */
	bool online;       /* checks which cores are online */
	/* NULL with a few words in why.  tick_ns: how often it is read at best. */
	struct cpu_source *(*open)(const struct root *r, const struct cores *c, int64_t tick_ns, char *why,
				   size_t size);
	/* Where core N is read from, for people. */
	void (*tell)(unsigned core, char *out, size_t size);
	/* Reset: it is used from now on, perhaps again. */
	void (*start)(struct cpu_source *s);
	/* It is not used for a while: cost nothing. */
	void (*stop)(struct cpu_source *s);
	/* Percent by slot, NaN: offline, or not known.  False: it can no longer be believed. */
	bool (*read)(struct cpu_source *s, const struct cpu_stat *stat, int64_t t_ns, double *busy);
	void (*close)(struct cpu_source *s);
};

/* Embedded as the first member of each. */
struct cpu_source {
	const struct cpu_source_ops *ops;
	bool curious; /* wants to see /proc/stat at every CPU_READ_NS for now */
};

extern const struct cpu_source_ops cpu_by_perf, cpu_by_idle, cpu_by_stat;

#endif
