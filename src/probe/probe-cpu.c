/* Measures the load of each core from the best source that this kernel permits: context switches (cpu-perf.c),
 * else cpuidle's counters (cpu-idle.c), else the idle column of /proc/stat. The user and system columns are
 * sampled at the kernel's tick: a task in step with the tick can look idle while it uses half a core. The idle
 * column of a NO_HZ kernel is measured time, only printed in hundredths of a second.
 *
 * Each source tells how long a core has been idle so far. The load is the time of a window that was not idle:
 * 1 - d(idle) / d(CLOCK_MONOTONIC), over a window long enough for the source's unit.
 *
 * A core that is offline has no value, and no line in /proc/stat, where lines are identified by the N of
 * cpuN: they are not consecutive. cpu.util has no value while an online core has none, and at first until
 * cpu.iowait has one, too: a recording begins with it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/cpu.h"
#include "model/missing.h"
#include "util/intl.h"
#include "util/num.h"

#define STAT_WINDOW_NS (100 * NS_PER_MS)
#define NEAR_NS        (5 * NS_PER_MS) /* a window may be shorter by this much */
#define PAST           16
#define WAIT_FIRST_NS  (100 * NS_PER_MS)
#define WAIT_NS        NS_PER_S

/* /proc/stat is read here: other sources need it, too. */
static void stat_read(void *none, const struct cores *c, const struct cpu_stat *stat, int64_t t_ns, int64_t *idle_ns)
{
	(void)none;
	(void)t_ns;
	for (unsigned i = 0; i < c->n; i++)
		idle_ns[i] = stat->idle[i] < 0 ? -1 : stat->idle[i] * (int64_t)stat->tick_ns;
}

static const struct cpu_source by_stat = {
	.name = "stat",
	.all = "/proc/stat",
	.one = "/proc/stat cpu",
	.after = "",
	.period_ns = STAT_WINDOW_NS / 5,
	.window_ns = STAT_WINDOW_NS,
	.read = stat_read,
};
static const struct cpu_source *const sources[] = {&cpu_by_perf, &cpu_by_idle, &by_stat};

/* The time in which cores waited for a disk. The kernel counts it in hundredths of a second for the core on
 * which the wait began, so it is a hint and not a measurement: it may even decrease. Over a second, over all
 * online cores, it is good enough to distinguish waiting from idling. */
struct iowait {
	int64_t t_ns, total, waited; /* the last reading used; t_ns 0: none */
	double percent;
};

enum { STAT, ONLINE, FILES };

struct cpu {
	struct probe probe;
	struct cores cores;
	struct cpu_stat stat;
	const struct cpu_source *by;
	void *source;
	int64_t online_due_ns;
	bool whole;  /* every online core has a load */
	bool begun;  /* and all channels had a value together */
	bool denied; /* more privileges would give an exact source */
	struct iowait iowait;
	uint64_t reads;
	int64_t t_ns[PAST], total[PAST];  /* by reading: its time; /proc/stat's total */
	int64_t idle_ns[PAST][CORES_MAX]; /* by reading and slot; -1: of no use for a window */
	double busy[CORES_MAX];           /* percent, by slot */
	bool set[CORES_MAX];
	char buf[64 * 1024];
};

/* "cpuN user nice system idle iowait irq softirq steal guest ...", whose user includes the guests. */
bool stat_line_next(const char **p, const char *end, struct stat_line *out)
{
	const char *at = *p, *stop = end > at ? memchr(at, '\n', (size_t)(end - at)) : NULL;
	int field = 0;
	int64_t v = -1;

	if (!stop || stop - at < 4 || memcmp(at, "cpu", 3) != 0)
		return false;
	*out = (struct stat_line) {.text = at, .len = (size_t)(stop - at)};
	*p = stop + 1;
	at += 3;
	if (*at != ' ' && (*at < '0' || *at > '9' || !(at = num_i64(at, stop, &v)) || v >= CORES_MAX))
		v = CORES_MAX;
	out->core = (int)v;
	for (; at && at < stop; field++) {
		at = num_i64(at, stop, &v);
		if (!at || v < 0 || v > INT64_MAX / 16)
			return true;
		if (field >= STAT_COLUMNS)
			continue;
		out->v[field] = v;
		out->total += v;
	}
	out->good = at && field > STAT_IDLE;
	return true;
}

size_t cores_present(const struct root *r, bool set[CORES_MAX])
{
	char buf[64 * 1024];
	size_t n = cpulist_read(r, "/sys/devices/system/cpu/present", set, CORES_MAX);
	ssize_t size = n ? 0 : root_read(r, "/proc/stat", buf, sizeof buf);
	struct stat_line line;

	if (n || size <= 0)
		return n;
	memset(set, 0, CORES_MAX * sizeof *set);
	buf[size++] = '\n';
	for (const char *p = buf; stat_line_next(&p, buf + size, &line);) {
		if (line.core < 0 || line.core >= CORES_MAX)
			continue;
		n += !set[line.core];
		set[line.core] = true;
	}
	return n;
}

/* Reads /proc/stat into stat. It is not fresh if it is malformed, or ends within its cpu lines. */
static void look_stat(struct cpu *c, int64_t t_ns)
{
	ssize_t size = attr_read(&c->probe.attrs[STAT], c->probe.root, 0, c->buf, sizeof c->buf);
	const char *p = c->buf, *end = p + (size > 0 ? size : 0);
	int64_t idle_max = INT64_MAX / (int64_t)c->stat.tick_ns;
	struct stat_line line;

	c->stat.t_ns = t_ns;
	c->stat.fresh = false;
	for (unsigned i = 0; i < c->cores.n; i++)
		c->stat.idle[i] = -1;
	if (!stat_line_next(&p, end, &line) || !line.good || line.core >= 0)
		return;
	c->stat.total = line.total;
	c->stat.waited = line.v[STAT_IOWAIT];
	while (stat_line_next(&p, end, &line)) {
		int64_t idle = line.v[STAT_IDLE] + line.v[STAT_IOWAIT];
		if (!line.good || line.core < 0)
			return;
		if (line.core < CORES_MAX && c->cores.slot[line.core] >= 0 && idle < idle_max)
			c->stat.idle[c->cores.slot[line.core]] = idle;
	}
	bool cut = end - p >= 3 && !memcmp(p, "cpu", 3);
	c->stat.fresh = !cut && (p < end || size < (ssize_t)sizeof c->buf);
}

/* Finds the cores that are online; without the file, from the lines of /proc/stat. */
static void look_online(struct cpu *c)
{
	char text[256];
	ssize_t n = -1;

	if (attr_is_open(&c->probe.attrs[ONLINE]))
		n = attr_read(&c->probe.attrs[ONLINE], c->probe.root, 0, text, sizeof text - 1);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\0'))
		n--;
	text[n > 0 ? n : 0] = '\0';
	bool known = n > 0 && cpulist_parse(text, c->set, CORES_MAX) > 0;
	for (unsigned i = 0; i < c->cores.n; i++)
		c->cores.online[i] = known ? c->set[c->cores.id[i]] : c->stat.idle[i] >= 0;
}

/* Finds all present cores: those that are offline now have channels, too. Returns 0, or -1 with errno if
 * /proc/stat cannot be opened. */
static int look_open(struct cpu *c)
{
	const struct root *r = c->probe.root;

	c->stat.tick_ns = (double)NS_PER_S / (double)sysconf(_SC_CLK_TCK);
	if (attr_open(&c->probe.attrs[STAT], r, "/proc/stat") < 0)
		return -1;
	attr_open(&c->probe.attrs[ONLINE], r, "/sys/devices/system/cpu/online");
	cores_present(r, c->set);
	for (unsigned i = 0; i < CORES_MAX; i++) {
		c->cores.slot[i] = c->set[i] ? (int16_t)c->cores.n : -1;
		if (c->set[i])
			c->cores.id[c->cores.n++] = (uint16_t)i;
	}
	look_stat(c, 0);
	look_online(c);
	return 0;
}

static void take_iowait(struct iowait *w, const struct cpu_stat *now)
{
	int64_t passed = now->t_ns - w->t_ns, all = now->total - w->total, waited = now->waited - w->waited;

	if (!now->fresh || all < 0 || waited < 0) { /* it ran backwards: start over */
		w->t_ns = 0;
		w->percent = missing_value(MISSING_SECOND, 0);
	}
	if (!now->fresh || (w->t_ns && passed < (isnan(w->percent) ? WAIT_FIRST_NS : WAIT_NS) - NEAR_NS))
		return;
	if (w->t_ns)
		w->percent = all > 0 && waited <= all ? 100 * (double)waited / (double)all : missing_value(MISSING_SECOND, 0);
	*w = (struct iowait) {now->t_ns, now->total, now->waited, w->percent};
}

/* Reads what the source needs: /proc/stat and which cores are online. */
static void renew(struct cpu *c, int64_t t_ns)
{
	int64_t every = c->by->period_ns ? 0 : !c->whole ? CPU_READ_NS : c->begun ? WAIT_NS : WAIT_FIRST_NS;

	c->stat.fresh = false;
	if (t_ns - c->stat.t_ns >= every) {
		look_stat(c, t_ns);
		take_iowait(&c->iowait, &c->stat);
	}
	for (unsigned i = 0; c->by->period_ns && i < c->cores.n; i++)
		c->cores.online[i] = c->stat.idle[i] >= 0;
	if (!c->by->period_ns && t_ns >= c->online_due_ns) {
		look_online(c);
		c->online_due_ns = t_ns + CPU_READ_NS;
	}
}

/* Takes a reading of the source, and computes the load of each core from it and the newest one that is a
 * window older. */
static void take_loads(struct cpu *c, int64_t t_ns)
{
	uint64_t k = c->reads++, first = k > PAST - 1 ? k - (PAST - 1) : 0, then = k;
	int64_t tick = (int64_t)c->stat.tick_ns, passed = k ? t_ns - c->t_ns[(k - 1) % PAST] : 0;
	int64_t *now = c->idle_ns[k % PAST];
	const int64_t *last = c->idle_ns[(k - 1) % PAST];

	c->t_ns[k % PAST] = t_ns;
	c->total[k % PAST] = c->stat.total;
	c->by->read(c->source, &c->cores, &c->stat, t_ns, now);
	while (then > first && (then == k || t_ns - c->t_ns[then % PAST] < c->by->window_ns - NEAR_NS))
		then--;
	const int64_t *old = c->idle_ns[then % PAST];
	double window = (double)(t_ns - c->t_ns[then % PAST]);
	bool full = window > 0 && window >= (double)(c->by->window_ns - NEAR_NS);
	if (c->by->period_ns && c->total[then % PAST] == c->stat.total)
		full = false; /* a file that does not change */
	for (unsigned i = 0; i < c->cores.n; i++) {
		int64_t step = k ? now[i] - last[i] : 0;
		/* A core that comes back may have another idle time, and on some kernels that jumps, as it does
		 * when a driver is bound again: an impossible step begins a new window. */
		if (k && (now[i] < 0 || last[i] < 0 || step < -2 * tick || step > passed * 3 / 2 + 4 * tick))
			for (uint64_t of = first; of < k; of++)
				c->idle_ns[of % PAST][i] = -1;
		c->busy[i] = full && now[i] >= 0 && old[i] >= 0 ? 100 * (1 - (double)(now[i] - old[i]) / window) : NAN;
	}
}

static void cpu_read(struct probe *p, int64_t t_ns, double *row)
{
	struct cpu *c = (struct cpu *)p;
	unsigned n = c->cores.n, count = 0;
	double sum = 0;

	renew(c, t_ns);
	/* Without /proc/stat an idle core and a busy one look the same to cpuidle, too. */
	bool known = !c->by->period_ns || c->stat.fresh;
	if (known)
		take_loads(c, t_ns);
	else
		c->reads = 0;
	row += p->column; /* cpu.util, the cores by slot, cpu.iowait */
	c->whole = true;
	for (unsigned i = 0; i < n; i++) {
		bool has = known && !isnan(c->busy[i]);
		double busy = has ? fmin(fmax(c->busy[i], 0), 100)
				  : missing_value(c->cores.online[i] ? MISSING_SECOND : MISSING_OFFLINE, c->cores.id[i]);
		c->whole &= has || !c->cores.online[i];
		sum += has ? busy : 0;
		count += has;
		row[1 + i] = channel_round(CHANNEL_CORE_UTIL, busy);
	}
	c->begun |= c->whole && count && !isnan(c->iowait.percent);
	row[0] = channel_round(CHANNEL_CPU_UTIL,
			       c->begun && c->whole && count ? sum / count : missing_value(MISSING_SECOND, 0));
	row[1 + n] = c->iowait.percent;
}

static void cpu_close(struct probe *p)
{
	struct cpu *c = (struct cpu *)p;

	if (c->source)
		c->by->close(c->source);
	probe_free(p);
}

static const struct probe_ops cpu_ops = {cpu_read, cpu_close};

/* Opens the best source. fact gets its name, and what is wrong with those before it. */
static void open_source(struct probe_ctx *o, struct cpu *c, char *fact, size_t size)
{
	const char *only = setting_get(o->s, "source");
	char why[80], missing[160] = "", one[120];

	for (size_t i = 0; !c->by && i < sizeof sources / sizeof *sources; i++) {
		const struct cpu_source *by = sources[i];
		if (only && strcmp(only, by->name) != 0)
			continue;
		errno = 0;
		if (!by->open || (c->source = by->open(o->root, &c->cores, o->tick_ns, why, sizeof why))) {
			c->by = by;
			break;
		}
		c->denied |= errno == EACCES || errno == EPERM;
		snprintf(one, sizeof one, "; %s: %s", by->name, why);
		text_join(missing, sizeof missing, missing, one);
	}
	text_join(fact, size, c->by ? c->by->name : "", missing);
}

static int add_channels(struct probe_ctx *o, struct cpu *c, struct err *e)
{
	static const struct channel_form iowait = {
		"cpu.iowait", N_("I/O wait"),
		"/proc/stat", N_("idle while a task waits for a disk; mean of 1 s, of all cores"),
		UNIT_PERCENT, FAMILY_CPU,
		100,          WAIT_NS,
		WAIT_NS,      0};
	const struct cpu_source *by = c->by;
	int64_t window = by->window_ns > o->tick_ns ? by->window_ns : o->tick_ns;
	char name[32], core[8], what[64];
	struct channel ch;

	/* TRANSLATORS: the source is perf, cpuidle or stat */
	snprintf(what, sizeof what,
		 by->window_ns ? _("%s: mean of the last %g ms")
			       : _("%s: mean of each %g ms, without interrupts"),
		 by->name, (double)window / (double)NS_PER_MS);
	for (unsigned i = 0; i <= c->cores.n; i++) {
		if (i == 0) {
			channel_describe(o, &ch, "cpu.util", false);
			text_join(ch.source, sizeof ch.source, _(by->all));
			text_join(ch.note, sizeof ch.note, what, _(", of all online cores"),
				  c->denied ? _("; exact with sudo") : "");
		} else {
			text_number(core, sizeof core, "", c->cores.id[i - 1]);
			text_join(name, sizeof name, "cpu", core, ".util");
			channel_describe(o, &ch, name, false);
			text_join(ch.source, sizeof ch.source, _(by->one), core, by->after);
			text_join(ch.note, sizeof ch.note, what);
		}
		ch.period_ns = by->period_ns;
		ch.window_ns = window;
		if (probe_ctx_add(o, &ch, e) < 0)
			return -1;
	}
	channel_form(o, &ch, &iowait);
	return probe_ctx_add(o, &ch, e);
}

/* Adds the channel as missing, with the reason. */
static int add_missing(struct probe_ctx *o, struct cpu *c, const char *what, const char *why, int error,
		       struct err *e)
{
	struct channel ch;

	cpu_close(&c->probe);
	channel_describe(o, &ch, "cpu.util", false);
	if (error)
		reason_one(o, &ch, what, error);
	else
		text_join(ch.missing, sizeof ch.missing, "source=", what, why);
	return probe_ctx_add(o, &ch, e);
}

static int open_cpu(struct probe_ctx *o, struct err *e)
{
	const char *only = setting_get(o->s, "source");
	char fact[200];

	if (only && strcmp(only, "perf") != 0 && strcmp(only, "cpuidle") != 0 && strcmp(only, "stat") != 0)
		return statement_error(o->s, e, _("source= needs perf, cpuidle or stat, not \"%s\""), only);
	struct cpu *c = probe_new(o, sizeof *c, FILES, &cpu_ops, CPU_READ_NS, e);
	if (!c)
		return -1;
	if (look_open(c) < 0)
		return add_missing(o, c, "/proc/stat", "", errno, e);
	c->iowait.percent = missing_value(MISSING_SECOND, 0);
	open_source(o, c, fact, sizeof fact);
	if (!c->by)
		return add_missing(o, c, only, fact, 0, e);
	c->probe.period_ns = c->by->period_ns;
	if (add_channels(o, c, e) < 0 || probe_set_add_fact(o->probes, "cpu.source", fact) < 0) {
		cpu_close(&c->probe);
		return -1;
	}
	return probe_ctx_add_probe(o, &c->probe, e);
}

const struct probe_kind probe_kind_cpu = {"cpu", 0, 0, " source hint ", false, false, open_cpu};
