/* Measures CPU utilisation from /proc/stat alone.
 *
 * The user and system columns are sampled at the kernel's tick: a task in step with the tick can look idle
 * while it uses half a core. The idle column of a NO_HZ kernel is measured time, only printed in hundredths
 * of a second. So the load is the time that was not idle: 1 - d(idle + iowait) / d(CLOCK_MONOTONIC) over a
 * window long enough for that unit; the value is kept in between. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/cpu.h"
#include "util/intl.h"

#define WINDOW_NS (100 * NS_PER_MS)
#define READ_NS   (WINDOW_NS / 5) /* reading such a mean more often gives nothing new */
#define NEAR_NS   (5 * NS_PER_MS) /* the window may be shorter by this much */
#define PAST      16

struct reading {
	int64_t total;
	int64_t idle[CORES_MAX];
};

struct by_stat {
	struct cpu_source source;
	const struct cores *cores;
	uint64_t reads;
	uint64_t since[CORES_MAX]; /* the first reading that a core's window may include */
	int64_t t_ns[PAST];        /* of each reading; together, because they are searched */
	struct reading past[PAST];
};

static void stat_start(struct cpu_source *s)
{
	struct by_stat *b = (struct by_stat *)s;

	b->reads = 0;
	memset(b->since, 0, sizeof b->since);
}

/* A core that comes back may have another idle time, and on some kernels that jumps: an impossible step
 * begins a new window for that core. */
static void rebase(struct by_stat *b, const struct reading *now, int64_t now_ns, double tick_ns)
{
	const struct reading *last = &b->past[(b->reads - 1) % PAST];
	double most = 1.5 * (double)(now_ns - b->t_ns[(b->reads - 1) % PAST]) / tick_ns + 4;

	for (unsigned i = 0; i < b->cores->n; i++) {
		int64_t step = now->idle[i] - last->idle[i];
		if (now->idle[i] < 0 || last->idle[i] < 0 || step < 0 || (double)step > most)
			b->since[i] = b->reads;
	}
}

static bool stat_read(struct cpu_source *s, const struct cpu_stat *stat, int64_t t_ns, double *busy)
{
	struct by_stat *b = (struct by_stat *)s;
	struct reading *now = &b->past[b->reads % PAST];
	unsigned n = b->cores->n;

	(void)t_ns;
	for (unsigned i = 0; i < n; i++)
		busy[i] = NAN;
	if (!stat->fresh) {
		stat_start(s);
		return true;
	}
	b->t_ns[b->reads % PAST] = stat->t_ns;
	now->total = stat->total;
	memcpy(now->idle, stat->idle, n * sizeof *now->idle);
	if (b->reads)
		rebase(b, now, stat->t_ns, stat->tick_ns);
	uint64_t from = cpu_window_start(b->t_ns, PAST, b->reads, stat->t_ns - WINDOW_NS + NEAR_NS);
	const struct reading *then = &b->past[from % PAST];
	b->reads++;
	if (from == UINT64_MAX || then->total == now->total)
		return true; /* too early; or a file that does not change */
	double ticks = (double)(stat->t_ns - b->t_ns[from % PAST]) / stat->tick_ns;
	for (unsigned i = 0; i < n; i++)
		if (now->idle[i] >= 0 && b->since[i] <= from)
			busy[i] = 100 * (1 - (double)(now->idle[i] - then->idle[i]) / ticks);
	return true;
}

static void stat_close(struct cpu_source *s)
{
	free(s);
}

static void stat_tell(unsigned core, char *out, size_t size)
{
	snprintf(out, size, "/proc/stat cpu%u", core);
}

static struct cpu_source *stat_open(const struct root *r, const struct cores *c, int64_t tick_ns, char *why,
				    size_t size)
{
	struct by_stat *b = calloc(1, sizeof *b);

	(void)r;
	(void)tick_ns;
	if (!b) {
		snprintf(why, size, "%s", _("out of memory"));
		return NULL;
	}
	b->source.ops = &cpu_by_stat;
	b->cores = c;
	return &b->source;
}

const struct cpu_source_ops cpu_by_stat = {
	.name = "stat",
	.period_ns = READ_NS,
	.window_ns = WINDOW_NS,
	.stat_ns = READ_NS,
	.open = stat_open,
	.tell = stat_tell,
	.start = stat_start,
	.read = stat_read,
	.close = stat_close,
};
