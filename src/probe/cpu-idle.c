/* Measures CPU utilisation from cpuidle's counters of the time in each idle state, in microseconds, which
 * every user can read.
 *
 * A state's time grows only when the core leaves it: a gain D seen at a read was idle time up to just before
 * it, however long ago it began. A core that shows no gain is either busy or has been idle since the last
 * one; /proc/stat shows which, and for how long, to a hundredth of a second. So the idle time up to now is
 *
 *     gains so far  +  idle time since the last gain
 *
 * and a mean is the difference of two such sums. The second part is an estimate, but the next gain replaces
 * it: errors do not add up. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/cpu.h"
#include "util/intl.h"
#include "util/num.h"

#define WINDOW_NS  (50 * NS_PER_MS)
#define NEAR_NS    (5 * NS_PER_MS)
#define OPEN_NS    (15 * NS_PER_MS) /* without a gain for two reads */
#define PAST       8
#define STATES_MAX 10 /* the kernel's own limit */
#define RETRY_NS   NS_PER_S
#define PATIENCE   3              /* retries of a core that is online */
#define STILL_NS   (5 * NS_PER_S) /* idle time of all cores that no counter shows */

struct core {
	int fd[STATES_MAX];
	int states;           /* 0: closed */
	int64_t counter_us;   /* the sum of its states, at the last read */
	int64_t gained_ns;    /* idle time since the start */
	int64_t last_gain_ns; /* when the last gain was read; or the start */
	int64_t before_ns;    /* the read before that one: the next gain began after it */
	int64_t stat_then;    /* its idle ticks in /proc/stat then */
	int64_t retry_ns;
	int failed;            /* failed retries */
	uint64_t since;        /* the first read that its window may include */
	int64_t idle_ns[PAST]; /* idle time so far, by read */
};

struct by_idle {
	struct cpu_source source;
	const struct root *root;
	const struct cores *cores;
	uint64_t reads;
	int64_t still; /* idle ticks of all cores before any counter moved */
	int64_t t_ns[PAST], total[PAST]; /* by read: its time; /proc/stat's total */
	struct core core[];
};

static void core_close(struct core *c)
{
	while (c->states)
		close(c->fd[--c->states]);
}

/* Returns 0, or -1 with errno. */
static int core_open(struct core *c, const struct root *r, unsigned id)
{
	char path[96], dir[64];

	text_number(dir, sizeof dir, "/sys/devices/system/cpu/cpu", id);
	text_join(dir, sizeof dir, dir, "/cpuidle/state");
	while (c->states < STATES_MAX) {
		text_number(path, sizeof path, dir, (unsigned)c->states);
		text_join(path, sizeof path, path, "/time");
		int fd = root_open_file(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			break;
		c->fd[c->states++] = fd;
	}
	return c->states ? 0 : -1;
}

/* Returns the sum of its states in microseconds, or -1. */
static int64_t core_counter(const struct core *c)
{
	int64_t sum = 0, v;
	char buf[32];

	for (int i = 0; i < c->states; i++) {
		ssize_t n = pread(c->fd[i], buf, sizeof buf, 0);
		if (n <= 0 || !num_i64(buf, buf + n, &v) || v < 0 || v > INT64_MAX / 1000 / STATES_MAX)
			return -1;
		sum += v;
	}
	return sum;
}

/* Restarts with the current read. */
static void core_start(struct by_idle *b, struct core *c, int64_t counter, const struct cpu_stat *stat,
		       unsigned slot)
{
	c->counter_us = counter;
	c->gained_ns = 0;
	c->last_gain_ns = c->before_ns = stat->t_ns;
	c->stat_then = stat->idle[slot];
	c->since = b->reads;
}

/* Returns how long the core has been idle since the last gain. */
static int64_t core_open_ns(const struct core *c, const struct cpu_stat *stat, unsigned slot)
{
	int64_t passed = stat->t_ns - c->last_gain_ns, tick = (int64_t)stat->tick_ns;
	int64_t idle = (stat->idle[slot] - c->stat_then) * tick;

	if (passed < OPEN_NS || idle < 0)
		return 0;
	return idle + tick + tick / 8 >= passed ? passed : idle; /* equal within a tick: use all */
}

/* Returns the idle time up to now, or -1 if it is unknown. */
static int64_t core_idle(struct by_idle *b, struct core *c, const struct cpu_stat *stat, unsigned slot)
{
	int64_t counter = core_counter(c);

	if (counter < 0) {
		core_close(c);
		return -1;
	}
	int64_t gain = (counter - c->counter_us) * 1000, passed = stat->t_ns - c->last_gain_ns;
	bool first = c->gained_ns == 0;
	/* The first gain may have begun before the start. Any other that is impossibly long, or negative,
	 * means that the driver was rebound. */
	if (gain < 0 || (!first && gain > (stat->t_ns - c->before_ns) * 9 / 8 + CPU_READ_NS)) {
		core_start(b, c, counter, stat, slot);
		return 0;
	}
	if (gain > 0) {
		c->gained_ns += first && gain > passed ? passed : gain;
		c->counter_us = counter;
		c->before_ns = b->reads ? b->t_ns[(b->reads - 1) % PAST] : stat->t_ns;
		c->last_gain_ns = stat->t_ns;
		c->stat_then = stat->idle[slot];
	}
	return c->gained_ns + core_open_ns(c, stat, slot);
}

/* Returns true if the core is open; opens it if it is online and a retry is due. */
static bool core_follow(struct by_idle *b, struct core *c, const struct cpu_stat *stat, unsigned slot)
{
	int64_t counter;

	if (!b->cores->online[slot] || stat->idle[slot] < 0) {
		core_close(c);
		c->failed = 0;
		c->retry_ns = 0;
		return false;
	}
	if (c->states)
		return true;
	if (stat->t_ns < c->retry_ns)
		return false;
	c->retry_ns = stat->t_ns + RETRY_NS;
	c->failed++;
	if (core_open(c, b->root, b->cores->id[slot]) < 0 || (counter = core_counter(c)) < 0) {
		core_close(c);
		return false;
	}
	c->failed = 0;
	core_start(b, c, counter, stat, slot);
	return true;
}

/* Returns false if the counters do not advance, as with some drivers: the result would be that of /proc/stat
 * under another name. */
static bool counters_move(struct by_idle *b, const struct cpu_stat *stat)
{
	int64_t idle = 0;
	bool moved = b->reads == 0;

	for (unsigned i = 0; i < b->cores->n; i++) {
		idle += stat->idle[i] > 0 ? stat->idle[i] : 0;
		moved |= b->core[i].gained_ns > 0;
	}
	if (moved || idle < b->still)
		b->still = idle;
	return (double)(idle - b->still) * stat->tick_ns < STILL_NS;
}

static void idle_start(struct cpu_source *s)
{
	((struct by_idle *)s)->reads = 0;
}

static bool idle_read(struct cpu_source *s, const struct cpu_stat *stat, int64_t t_ns, double *busy)
{
	struct by_idle *b = (struct by_idle *)s;
	unsigned n = b->cores->n;
	bool fine = true;

	(void)t_ns;
	for (unsigned i = 0; i < n; i++)
		busy[i] = NAN;
	if (!stat->fresh)
		return false; /* without it an idle core and a busy one look the same */
	uint64_t from = cpu_window_start(b->t_ns, PAST, b->reads, stat->t_ns - WINDOW_NS + NEAR_NS);
	unsigned now = (unsigned)(b->reads % PAST), then = (unsigned)(from % PAST);
	bool moves = from != UINT64_MAX && b->total[then] != stat->total;
	double passed = from != UINT64_MAX ? (double)(stat->t_ns - b->t_ns[then]) : 0;
	b->t_ns[now] = stat->t_ns;
	b->total[now] = stat->total;
	for (unsigned i = 0; i < n; i++) {
		struct core *c = &b->core[i];
		if (!core_follow(b, c, stat, i)) {
			fine &= c->failed <= PATIENCE;
			continue;
		}
		if (!b->reads) {
			int64_t counter = core_counter(c);
			if (counter < 0)
				core_close(c);
			else
				core_start(b, c, counter, stat, i);
		}
		int64_t idle = c->states ? core_idle(b, c, stat, i) : -1;
		c->idle_ns[now] = idle;
		if (idle >= 0 && moves && c->since <= from)
			busy[i] = 100 * (1 - (double)(idle - c->idle_ns[then]) / passed);
	}
	fine &= counters_move(b, stat);
	b->reads++;
	return fine;
}

static void idle_close(struct cpu_source *s)
{
	struct by_idle *b = (struct by_idle *)s;

	for (unsigned i = 0; i < b->cores->n; i++)
		core_close(&b->core[i]);
	free(b);
}

static void idle_tell(unsigned core, char *out, size_t size)
{
	snprintf(out, size, "/sys/devices/system/cpu/cpu%u/cpuidle/state*/time", core);
}

static struct cpu_source *idle_open(const struct root *r, const struct cores *c, int64_t tick_ns, char *why,
				    size_t size)
{
	struct by_idle *b = calloc(1, sizeof *b + c->n * sizeof b->core[0]);

	(void)tick_ns;
	if (!b) {
		snprintf(why, size, "%s", _("out of memory"));
		return NULL;
	}
	b->source.ops = &cpu_by_idle;
	b->root = r;
	b->cores = c;
	int64_t counted = 0;
	for (unsigned i = 0; i < c->n; i++) {
		if (!c->online[i])
			continue;
		if (core_open(&b->core[i], r, c->id[i]) == 0) {
			counted |= core_counter(&b->core[i]);
			continue;
		}
		snprintf(why, size, "%s", errno == ENOENT ? _("not there") : strerror(errno));
		idle_close(&b->source);
		return NULL;
	}
	if (counted == 0) {
		snprintf(why, size, "%s", _("its times are 0 since the system started"));
		idle_close(&b->source);
		return NULL;
	}
	return &b->source;
}

const struct cpu_source_ops cpu_by_idle = {
	.name = "cpuidle",
	.period_ns = CPU_READ_NS,
	.window_ns = WINDOW_NS,
	.stat_ns = CPU_READ_NS,
	.online = true,
	.open = idle_open,
	.tell = idle_tell,
	.start = idle_start,
	.read = idle_read,
	.close = idle_close,
};
