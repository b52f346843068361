/* Measures CPU utilisation from cpuidle's counters of the time in each idle state, in microseconds, which
 * every user can read.
 *
 * A state's time grows only when the core leaves it: a gain seen at a read was idle time up to just before
 * it, however long ago it began. A core that shows no gain is either busy or has been idle since the last
 * one; /proc/stat shows which, and for how long, to a hundredth of a second. So the idle time up to now is
 *
 *     gains so far  +  idle time since the last gain
 *
 * and a load is the difference of two such sums. The second part is an estimate, but the next gain replaces
 * it: errors do not add up. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/cpu.h"
#include "util/intl.h"
#include "util/num.h"

#define WINDOW_NS  (50 * NS_PER_MS)
#define OPEN_NS    (15 * NS_PER_MS) /* without a gain for two reads */
#define STATES_MAX 10               /* the kernel's own limit */
#define RETRY_NS   NS_PER_S

struct core {
	int fd[STATES_MAX];
	int states;           /* 0: closed */
	int64_t counter_us;   /* the sum of its states, at the last read */
	int64_t gained_ns;    /* idle time since the first read */
	int64_t last_gain_ns; /* when the last gain was read, or the first read; 0: none since it was opened */
	int64_t stat_then;    /* its idle ticks in /proc/stat then */
	int64_t retry_ns;
};

struct by_idle {
	const struct root *root;
	unsigned n;
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
	c->last_gain_ns = c->counter_us = c->gained_ns = 0;
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

/* Returns the idle time up to now, or -1 if it is unknown. */
static int64_t core_idle(struct core *c, const struct cpu_stat *stat, unsigned slot)
{
	int64_t counter = core_counter(c), gain = (counter - c->counter_us) * 1000,
		tick = (int64_t)stat->tick_ns;
	int64_t passed = stat->t_ns - c->last_gain_ns, idle = (stat->idle[slot] - c->stat_then) * tick;
	bool begins = c->last_gain_ns == 0 || gain < 0; /* the latter: its driver was bound again */

	if (counter < 0) {
		core_close(c);
		return -1;
	}
	if (begins || gain > 0) {
		/* The first gain may have begun before the first read. */
		if (!begins)
			c->gained_ns += c->gained_ns == 0 && gain > passed ? passed : gain;
		c->counter_us = counter;
		c->last_gain_ns = stat->t_ns;
		c->stat_then = stat->idle[slot];
		return gain < 0 ? -1 : c->gained_ns;
	}
	if (passed < OPEN_NS || idle < 0)
		return c->gained_ns;
	return c->gained_ns +
	       (idle + tick + tick / 8 >= passed ? passed : idle); /* equal within a tick: use all */
}

static void idle_read(void *source, const struct cores *c, const struct cpu_stat *stat, int64_t t_ns, int64_t *idle_ns)
{
	struct by_idle *b = source;

	for (unsigned i = 0; i < b->n; i++) {
		struct core *core = &b->core[i];
		if (stat->idle[i] < 0) { /* offline */
			core_close(core);
			core->retry_ns = 0;
		} else if (!core->states && t_ns >= core->retry_ns) {
			core->retry_ns = t_ns + RETRY_NS;
			core_open(core, b->root, c->id[i]);
		}
		idle_ns[i] = core->states ? core_idle(core, stat, i) : -1;
	}
}

static void idle_close(void *source)
{
	struct by_idle *b = source;

	for (unsigned i = 0; i < b->n; i++)
		core_close(&b->core[i]);
	free(b);
}

static void *idle_open(const struct root *r, const struct cores *c, int64_t tick_ns, char *why, size_t size)
{
	struct by_idle *b = calloc(1, sizeof *b + c->n * sizeof b->core[0]);
	bool counts = false;
	int error = b ? 0 : ENOMEM;

	(void)tick_ns;
	if (b)
		*b = (struct by_idle) {.root = r, .n = c->n};
	for (unsigned i = 0; i < c->n && !error; i++) {
		if (c->online[i] && core_open(&b->core[i], r, c->id[i]) < 0)
			error = errno;
		else if (c->online[i])
			counts |= core_counter(&b->core[i]) != 0;
	}
	if (!error && counts)
		return b;
	snprintf(why, size, "%s",
		 !error            ? _("its times are 0 since the system started")
		 : error == ENOENT ? _("not there")
				   : strerror(error));
	if (b)
		idle_close(b);
	errno = error;
	return NULL;
}

const struct cpu_source cpu_by_idle = {
	.name = "cpuidle",
	.all = "/sys/devices/system/cpu/cpu*/cpuidle/state*/time",
	.one = "/sys/devices/system/cpu/cpu",
	.after = "/cpuidle/state*/time",
	.period_ns = CPU_READ_NS,
	.window_ns = WINDOW_NS,
	.open = idle_open,
	.read = idle_read,
	.close = idle_close,
};
