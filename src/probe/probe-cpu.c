/* Measures CPU utilisation from the best source that this kernel permits.
 *
 * Context switches are exact at every tick, except for interrupts on an idle core, which are not switches, as
 * the channel's note states; cpuidle and /proc/stat are means over a window; see cpu-perf.c, cpu-idle.c and
 * cpu-stat.c. The source in use is compared with /proc/stat over whole seconds: one that contradicts it,
 * loses records or costs too much is replaced by the next one, and is tried again later. The channel
 * cpu.window records at every moment which kind of number this is, because notes are written once.
 *
 * A core that is offline has no value, and no line in /proc/stat, where lines are identified by the N of
 * cpuN: they are not consecutive. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/cpu.h"
#include "model/missing.h"
#include "util/intl.h"
#include "util/num.h"

#define CHECK_NS      NS_PER_S
#define CHECK_PERCENT 15
#define CHECK_STRIKES 3 /* in a row, of one core */
#define REST_NS       (10 * NS_PER_S)
#define REST_MAX_NS   (320 * NS_PER_S)
#define SOURCES       3
#define WAIT_READ_NS  (100 * NS_PER_MS)
#define WAIT_NS       NS_PER_S
#define WAIT_PAST     16

static const struct cpu_source_ops *const all_sources[SOURCES] = {&cpu_by_perf, &cpu_by_idle, &cpu_by_stat};

/* The kernel's files about all cores, kept open. */
struct cpu_look {
	const struct root *root;
	struct attr stat_file, online_file;
	size_t size; /* the part of /proc/stat with the cpu lines */
	struct cores cores;
	struct cpu_stat stat;
	bool set[CORES_MAX];
	char buf[64 * 1024];
};
/* Comparison of a source with /proc/stat since begin_ns. */
struct check {
	int64_t begin_ns, total, last_ns;
	int64_t idle[CORES_MAX]; /* at begin_ns */
	double busy_ns[CORES_MAX];
	uint8_t strikes[CORES_MAX];
};

/* Readings of the time in which cores waited for a disk. The kernel counts it in hundredths of a second for
 * the core on which the wait began, so it is a hint and not a measurement: it may even decrease. Over a second,
 * over all online cores, it is good enough to distinguish waiting from idling. */
struct iowait {
	uint64_t reads;
	int64_t t_ns[WAIT_PAST], total[WAIT_PAST], waited[WAIT_PAST];
	double percent;
};

struct cpu {
	struct probe probe;
	struct cpu_look look;
	struct cpu_source *source[SOURCES]; /* those that opened, the best one first */
	unsigned n_sources, use;
	int64_t stat_due_ns, online_due_ns;
	int64_t began_ns; /* when the source in use was started; 0: not yet */
	int64_t retry_ns, rest_ns;
	struct check check;
	struct iowait iowait;
	bool denied; /* more privileges would give an exact source */
	int64_t tick_ns;
	double busy[CORES_MAX];
};

struct line {
	int64_t total, idle, waited;
};

/* Parses the fields after "cpuN": "user nice system idle iowait irq softirq steal guest ..."; idle includes the
 * I/O wait, and user the guests. Returns the next line, or NULL. */
static const char *parse_line(const char *p, const char *end, struct line *out)
{
	int field = 0;
	int64_t v;

	*out = (struct line) {0, 0, 0};
	while (p < end && *p != '\n') {
		p = num_i64(p, end, &v);
		if (!p || v < 0 || v > INT64_MAX / 16 || field >= 16)
			return NULL;
		if (field < 8)
			out->total += v;
		if (field == 3 || field == 4)
			out->idle += v;
		if (field == 4)
			out->waited = v;
		field++;
	}
	return field >= 4 && p < end ? p + 1 : NULL;
}

/* Returns false if the text is malformed, or ends within the cpu lines without being the whole file. */
static bool parse(struct cpu_look *c, const char *p, const char *end, bool whole)
{
	struct line all, one;
	int64_t n;

	for (unsigned i = 0; i < c->cores.n; i++)
		c->stat.idle[i] = -1;
	if (end - p < 5 || memcmp(p, "cpu ", 4) != 0 || !(p = parse_line(p + 4, end, &all)))
		return false;
	c->stat.total = all.total;
	c->stat.waited = all.waited;
	while (end - p >= 3 && !memcmp(p, "cpu", 3)) {
		p += 3;
		if (p == end || *p < '0' || *p > '9' || !(p = num_i64(p, end, &n)) ||
		    !(p = parse_line(p, end, &one)))
			return false;
		if (n < CORES_MAX && c->cores.slot[n] >= 0)
			c->stat.idle[c->cores.slot[n]] = one.idle;
	}
	return whole || p < end;
}

/* Reads /proc/stat into stat. Returns true if it is fresh. */
static bool look_stat(struct cpu_look *c, int64_t t_ns)
{
	ssize_t n = attr_read(&c->stat_file, c->root, c->buf, c->size);

	c->stat.t_ns = t_ns;
	c->stat.fresh = n > 0 && parse(c, c->buf, c->buf + n, (size_t)n < c->size);
	if (c->stat.fresh || n < 0 || c->size == sizeof c->buf)
		return c->stat.fresh;
	c->size = sizeof c->buf; /* more cores than when it was opened */
	n = attr_read(&c->stat_file, c->root, c->buf, c->size);
	c->stat.fresh = n > 0 && parse(c, c->buf, c->buf + n, (size_t)n < c->size);
	return c->stat.fresh;
}

/* Finds the cores that are online; without the file, from the lines of /proc/stat. */
static void look_online(struct cpu_look *c)
{
	char text[256];
	ssize_t n = -1;

	if (attr_is_open(&c->online_file))
		n = attr_read(&c->online_file, c->root, text, sizeof text - 1);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\0'))
		n--;
	text[n > 0 ? n : 0] = '\0';
	bool known = n > 0 && cpulist_parse(text, c->set, CORES_MAX) > 0;
	for (unsigned i = 0; i < c->cores.n; i++)
		c->cores.online[i] = known ? c->set[c->cores.id[i]] : c->stat.idle[i] >= 0;
}

static void add_cores(struct cores *k, const bool *set)
{
	k->n = 0;
	for (unsigned i = 0; i < CORES_MAX; i++) {
		k->slot[i] = -1;
		if (!set[i])
			continue;
		k->slot[i] = (int16_t)k->n;
		k->id[k->n++] = (uint16_t)i;
	}
}

/* Finds all present cores: those that are offline now have channels, too. */
static void find_cores(struct cpu_look *c)
{
	static const char *const lists[] = {"/sys/devices/system/cpu/present",
					    "/sys/devices/system/cpu/possible"};

	for (int i = 0; i < 2; i++)
		if (cpulist_read(c->root, lists[i], c->set, CORES_MAX)) {
			add_cores(&c->cores, c->set);
			return;
		}
	memset(c->set, true, sizeof c->set);
	add_cores(&c->cores, c->set);
	bool taken = look_stat(c, 0);
	for (unsigned i = 0; i < CORES_MAX; i++)
		c->set[i] = taken && c->stat.idle[i] >= 0;
	add_cores(&c->cores, c->set);
}

/* Returns 0, or -1 with errno if /proc/stat cannot be opened. */
static int look_open(struct cpu_look *c, const struct root *r)
{
	c->root = r;
	c->stat.tick_ns = (double)NS_PER_S / (double)sysconf(_SC_CLK_TCK);
	c->size = sizeof c->buf;
	c->online_file.fd = -1;
	if (attr_open(&c->stat_file, r, "/proc/stat") < 0)
		return -1;
	attr_open(&c->online_file, r, "/sys/devices/system/cpu/online");
	find_cores(c);
	if (look_stat(c, 0)) {
		/* Only the cpu lines, with room for longer numbers; the line of interrupts after them can
		 * have many kilobytes. */
		const char *rest = memmem(c->buf, sizeof c->buf, "\nintr", 5);
		if (rest)
			c->size = (size_t)(rest - c->buf) * 5 / 4 + 512;
		if (c->size > sizeof c->buf)
			c->size = sizeof c->buf;
	}
	look_online(c);
	return 0;
}

static void look_close(struct cpu_look *c)
{
	attr_close(&c->stat_file);
	attr_close(&c->online_file);
}

static void begin_check(struct cpu *c)
{
	struct check *k = &c->check;

	k->begin_ns = k->last_ns = c->look.stat.t_ns;
	k->total = c->look.stat.total;
	for (unsigned i = 0; i < c->look.cores.n; i++) {
		k->idle[i] = c->look.stat.idle[i];
		k->busy_ns[i] = 0;
	}
}

/* Returns true if a core has contradicted /proc/stat in CHECK_STRIKES checks in a row. */
static bool contradicted(struct cpu *c, int64_t t_ns)
{
	struct check *k = &c->check;
	bool bad = false;

	for (unsigned i = 0; k->begin_ns && i < c->look.cores.n; i++)
		k->busy_ns[i] += c->busy[i] * (double)(t_ns - k->last_ns);
	k->last_ns = t_ns;
	if (!c->look.stat.fresh || (k->begin_ns && t_ns - k->begin_ns < CHECK_NS))
		return false;
	double passed = (double)(t_ns - k->begin_ns);
	for (unsigned i = 0; k->begin_ns && i < c->look.cores.n; i++) {
		double idle = (double)(c->look.stat.idle[i] - k->idle[i]) * c->look.stat.tick_ns;
		double apart = k->busy_ns[i] / passed - 100 * (1 - idle / passed);
		bool known = c->look.stat.idle[i] >= k->idle[i] && k->idle[i] >= 0 &&
			     c->look.stat.total != k->total;
		/* NaN, from a moment without a value, is no strike. */
		k->strikes[i] = known && fabs(apart) > CHECK_PERCENT ? k->strikes[i] + 1 : 0;
		bad |= k->strikes[i] >= CHECK_STRIKES;
	}
	begin_check(c);
	return bad;
}

static void use_source(struct cpu *c, unsigned use)
{
	if (c->use != use && c->source[c->use]->ops->stop)
		c->source[c->use]->ops->stop(c->source[c->use]);
	c->use = use;
	c->began_ns = c->check.begin_ns = c->stat_due_ns = 0;
	memset(c->check.strikes, 0, sizeof c->check.strikes);
	c->source[use]->ops->start(c->source[use]);
	c->probe.period_ns = c->source[use]->ops->period_ns;
}

/* Replaces a source that has failed by the next one, and schedules a retry of the best. */
static void step_down(struct cpu *c, int64_t t_ns)
{
	bool lasted = t_ns - c->began_ns > 6 * REST_NS;

	if (c->use + 1 == c->n_sources) {
		use_source(c, c->use);
		return;
	}
	c->rest_ns = lasted || !c->rest_ns ? REST_NS : c->rest_ns * 2;
	if (c->rest_ns > REST_MAX_NS)
		c->rest_ns = REST_MAX_NS;
	c->retry_ns = t_ns + c->rest_ns;
	use_source(c, c->use + 1);
}

static void take_iowait(struct iowait *w, const struct cpu_stat *now)
{
	uint64_t at = w->reads % WAIT_PAST, last = (w->reads - 1) % WAIT_PAST;

	/* It ran backwards: the earlier readings are discarded. */
	if (!now->fresh || (w->reads && (now->total < w->total[last] || now->waited < w->waited[last])))
		at = w->reads = 0;
	if (!w->reads)
		w->percent = missing_value(MISSING_SECOND, 0);
	if (!now->fresh || (w->reads && now->t_ns - w->t_ns[last] < WAIT_READ_NS))
		return;
	if (w->reads) {
		uint64_t from = cpu_window_start(w->t_ns, WAIT_PAST, w->reads, now->t_ns - WAIT_NS);
		from = from == UINT64_MAX ? 0 : from % WAIT_PAST; /* at first the window is shorter */
		double all = (double)(now->total - w->total[from]);
		double share = (double)(now->waited - w->waited[from]) / all;
		w->percent = all > 0 && share <= 1 ? 100 * share : missing_value(MISSING_SECOND, 0);
	}
	w->t_ns[at] = now->t_ns;
	w->total[at] = now->total;
	w->waited[at] = now->waited;
	w->reads++;
}

static void renew(struct cpu *c, int64_t t_ns)
{
	const struct cpu_source *s = c->source[c->use];

	c->look.stat.fresh = false;
	if (t_ns >= c->stat_due_ns) {
		look_stat(&c->look, t_ns);
		take_iowait(&c->iowait, &c->look.stat);
		/* The probe's period is enough for sources that need it as often. */
		c->stat_due_ns = s->ops->stat_ns > s->ops->period_ns ? t_ns + s->ops->stat_ns : 0;
	}
	if (c->iowait.reads < 2 && c->stat_due_ns > t_ns + WAIT_READ_NS) /* soon a first value */
		c->stat_due_ns = t_ns + WAIT_READ_NS;
	if (s->curious && c->stat_due_ns > t_ns + CPU_READ_NS)
		c->stat_due_ns = t_ns + CPU_READ_NS;
	if (s->ops->online && t_ns >= c->online_due_ns) {
		look_online(&c->look);
		c->online_due_ns = t_ns + CPU_READ_NS;
	}
}

/* Returns the time over which values are means if they are read at every tick. */
static int64_t window_ns(const struct cpu_source_ops *ops, int64_t tick_ns)
{
	return ops->window_ns > tick_ns ? ops->window_ns : tick_ns;
}

static void cpu_read(struct probe *p, int64_t t_ns, double *row)
{
	struct cpu *c = (struct cpu *)p;

	if (c->use && t_ns >= c->retry_ns)
		use_source(c, 0);
	if (!c->began_ns)
		c->began_ns = t_ns;
	renew(c, t_ns);
	struct cpu_source *s = c->source[c->use];
	bool fine = s->ops->read(s, &c->look.stat, t_ns, c->busy);
	if (fine && c->n_sources > 1 && c->use + 1 < c->n_sources)
		fine = !contradicted(c, t_ns);
	double sum = 0;
	int count = 0;
	row += p->column; /* cpu.util, the cores by slot, cpu.iowait, cpu.window */
	for (unsigned i = 0; i < c->look.cores.n; i++) {
		double busy = fine ? c->busy[i] : NAN;
		if (isnan(busy)) {
			bool offline = s->ops->online ? !c->look.cores.online[i] : c->look.stat.idle[i] < 0;
			busy = missing_value(offline ? MISSING_OFFLINE : MISSING_SECOND, c->look.cores.id[i]);
		} else {
			busy = fmin(fmax(busy, 0), 100);
			sum += busy;
			count++;
		}
		row[1 + i] = channel_round(CHANNEL_CORE_UTIL, busy);
	}
	row[0] = channel_round(CHANNEL_CPU_UTIL, count ? sum / count : missing_value(MISSING_SECOND, 0));
	row[1 + c->look.cores.n] = c->iowait.percent;
	if (c->n_sources > 1)
		row[2 + c->look.cores.n] =
			fine ? (double)window_ns(s->ops, c->tick_ns) / (double)NS_PER_MS : NAN;
	if (!fine)
		step_down(c, t_ns);
}

static void cpu_close(struct probe *p)
{
	struct cpu *c = (struct cpu *)p;

	for (unsigned i = 0; i < c->n_sources; i++)
		c->source[i]->ops->close(c->source[i]);
	look_close(&c->look);
	probe_free(p);
}

static const struct probe_ops cpu_ops = {cpu_read, cpu_close};

/* Opens the sources that may come into use. fact gets the name of the first, and what is wrong with those
 * before it. */
static void open_sources(struct probe_ctx *o, struct cpu *c, char *fact, size_t size)
{
	const char *only = setting_get(o->s, "source");
	char why[80], missing[160] = "", one[120];

	for (unsigned i = 0; i < SOURCES; i++) {
		const struct cpu_source_ops *ops = all_sources[i];
		if (only && strcmp(only, ops->name) != 0)
			continue;
		errno = 0;
		struct cpu_source *s = ops->open(o->root, &c->look.cores, o->tick_ns, why, sizeof why);
		c->denied |= !s && ops == &cpu_by_perf && (errno == EACCES || errno == EPERM);
		if (s) {
			c->source[c->n_sources++] = s;
			continue;
		}
		snprintf(one, sizeof one, "; %s: %s", ops->name, why);
		if (!c->n_sources)
			text_join(missing, sizeof missing, missing, one);
	}
	text_join(fact, size, c->n_sources ? c->source[0]->ops->name : "", missing);
}

static void describe_source(const struct cpu_source_ops *ops, int64_t tick_ns, struct channel *ch,
			    const char *of)
{
	char what[64];

	ch->period_ns = ops->period_ns;
	ch->window_ns = window_ns(ops, tick_ns);
	if (ops->window_ns)
		snprintf(what, sizeof what, _("mean of the last %d ms"),
			 (int)(window_ns(ops, tick_ns) / NS_PER_MS));
	else
		snprintf(what, sizeof what, "%s", _("from context switches, without interrupts"));
	text_join(ch->note, sizeof ch->note, what, of);
}

static int add_window(struct probe_ctx *o, struct cpu *c, struct err *e)
{
	struct channel ch;

	channel_describe(o, &ch, "cpu.window", false);
	ch.family = FAMILY_CPU;
	ch.lo = 0;
	ch.period_ns = c->source[0]->ops->period_ns;
	snprintf(ch.label, sizeof ch.label, "%s", _("CPU mean, ms"));
	snprintf(ch.source, sizeof ch.source, "%s", c->source[0]->ops->name);
	for (unsigned i = 1; i < c->n_sources; i++)
		text_join(ch.source, sizeof ch.source, ch.source, ", ", c->source[i]->ops->name);
	snprintf(ch.note, sizeof ch.note, "%s", _("current averaging time of cpu*.util in ms"));
	return probe_ctx_add(o, &ch, e);
}

static int add_channels(struct probe_ctx *o, struct cpu *c, struct err *e)
{
	static const struct channel_form iowait = {
		"cpu.iowait", N_("I/O wait"), "/proc/stat",
		N_("idle while a task waits for a disk; mean of 1 s, of all cores"), UNIT_PERCENT, FAMILY_CPU,
		100, WAIT_READ_NS};
	const struct cpu_source_ops *ops = c->source[0]->ops;
	struct channel ch;
	char name[32];

	channel_describe(o, &ch, "cpu.util", false);
	describe_source(ops, o->tick_ns, &ch, _(", of all online cores"));
	if (c->denied)
		text_join(ch.note, sizeof ch.note, ch.note, _("; exact with sudo"));
	snprintf(ch.source, sizeof ch.source, "%s",
		 ops == &cpu_by_perf   ? _("perf: context switches")
		 : ops == &cpu_by_idle ? "/sys/devices/system/cpu/cpu*/cpuidle/state*/time"
				       : "/proc/stat");
	if (probe_ctx_add(o, &ch, e) < 0)
		return -1;
	for (unsigned i = 0; i < c->look.cores.n; i++) {
		snprintf(name, sizeof name, "cpu%u.util", c->look.cores.id[i]);
		channel_describe(o, &ch, name, false);
		describe_source(ops, o->tick_ns, &ch, "");
		ops->tell(c->look.cores.id[i], ch.source, sizeof ch.source);
		if (probe_ctx_add(o, &ch, e) < 0)
			return -1;
	}
	channel_form(o, &ch, &iowait);
	ch.window_ns = WAIT_NS;
	if (probe_ctx_add(o, &ch, e) < 0)
		return -1;
	return c->n_sources > 1 ? add_window(o, c, e) : 0;
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
	struct cpu *c = probe_new(o, sizeof *c, 0, &cpu_ops, CPU_READ_NS, e);
	if (!c)
		return -1;
	c->tick_ns = o->tick_ns;
	if (look_open(&c->look, o->root) < 0)
		return add_missing(o, c, "/proc/stat", "", errno, e);
	open_sources(o, c, fact, sizeof fact);
	if (!c->n_sources)
		return add_missing(o, c, only, fact[0] ? fact : "", 0, e);
	use_source(c, 0);
	if (add_channels(o, c, e) < 0 || probe_set_add_fact(o->probes, "cpu.source", fact) < 0) {
		cpu_close(&c->probe);
		return -1;
	}
	return probe_ctx_add_probe(o, &c->probe, e);
}

const struct probe_kind probe_kind_cpu = {"cpu", 0, 0, " source hint ", false, false, open_cpu};
