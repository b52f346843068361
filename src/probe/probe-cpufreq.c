/* Reads the clock of each group of cores that share one, and its limits. Uses scaling_cur_freq, never
 * cpuinfo_cur_freq: that one queries the firmware, for milliseconds on some boards, and needs root.
 * scaling_cur_freq is the requested clock, unless the driver measures; a clock that the hardware throttles is
 * lower.
 *
 * The group disappears with its last core and comes back with another inode, so a file that fails is
 * reopened, once a second. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "model/missing.h"
#include "probe/open.h"

#define CPU       "/sys/devices/system/cpu"
#define CORES_MAX 256
#define PERIOD_NS (20 * NS_PER_MS)
#define LIMIT_NS  NS_PER_S

struct clock {
	struct probe probe;
	unsigned first; /* core */
};

static void freq_read(struct probe *p, int64_t t_ns, double *row)
{
	double khz = attr_poll(p->attrs, p->root, t_ns);

	if (!attr_is_open(p->attrs) && p->attrs->error == ENOENT)
		khz = missing_value(MISSING_OFFLINE, ((struct clock *)p)->first);
	else if (khz <= 0) /* some drivers report 0 if it is unknown */
		khz = missing_said(MISSING_RANGE, "0", 1);
	row[p->column] = isnan(khz) ? khz : khz * 1000;
}

static const struct probe_ops freq_ops = {freq_read, probe_free};

/* late: the file does not exist now, and may appear. */
static int add_file(struct probe_ctx *o, struct channel *ch, const char *path, bool late, struct err *e)
{
	struct clock *c = probe_new(o, sizeof *c, 1, &freq_ops, ch->period_ns, e);
	struct probe *p = &c->probe;

	if (!c)
		return -1;
	c->first = ch->index;
	text_join(ch->source, sizeof ch->source, path);
	bool open = attr_open(p->attrs, o->root, path) == 0;
	if (!open && !late)
		reason_one(o, ch, path, errno);
	return probe_ctx_finish(o, p, probe_ctx_add(o, ch, e), open || late, e);
}

/* "cpu4", "cpu4-7", or with a gap "cpu0,3-5". */
static void label_group(char *out, size_t size, const bool *group)
{
	size_t used = (size_t)snprintf(out, size, "cpu");

	for (unsigned i = 0, last; i < CORES_MAX; i = last + 1) {
		last = i;
		if (!group[i])
			continue;
		while (last + 1 < CORES_MAX && group[last + 1])
			last++;
		const char *comma = used > 3 ? "," : "";
		int n = last > i ? snprintf(out + used, size - used, "%s%u-%u", comma, i, last)
				 : snprintf(out + used, size - used, "%s%u", comma, i);
		used += (size_t)n;
		if (used >= size)
			return; /* cut */
	}
}

static int add_limits(struct probe_ctx *o, const char *dir, unsigned first, const char *label, struct err *e)
{
	static const struct {
		const char *file, *suffix, *word, *note;
	} limits[] = {{"scaling_min_freq", "freq_min", N_("min"), N_("lowest clock that is allowed now")},
		      {"scaling_max_freq", "freq_max", N_("max"), N_("highest clock that is allowed now")}};
	char path[192], name[32];
	struct channel ch;

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%.120s/%s", dir, limits[i].file);
		if (!file_exists(o->root, path))
			continue;
		snprintf(name, sizeof name, "cpu%u.%s", first, limits[i].suffix);
		channel_describe(o, &ch, name, false);
		ch.kind = CHANNEL_FREQ_LIMIT;
		ch.unit = UNIT_HZ;
		ch.family = FAMILY_CPU;
		ch.period_ns = LIMIT_NS;
		snprintf(ch.label, sizeof ch.label, "%.16s %.12s", label, _(limits[i].word));
		snprintf(ch.note, sizeof ch.note, "%s", _(limits[i].note));
		if (add_file(o, &ch, path, false, e) < 0)
			return -1;
	}
	return 0;
}

/* Returns true if scaling_cur_freq is measured, as on PCs; other drivers repeat the request. */
static bool measures(const struct probe_ctx *o, const char *dir)
{
	static const char *const drivers[] = {"intel_pstate", "intel_cpufreq", "amd-pstate", "amd-pstate-epp",
					      "acpi-cpufreq"};
	char driver[64];

	if (!file_line_of(o->root, driver, sizeof driver, dir, "/scaling_driver"))
		return false;
	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
		if (!strcmp(driver, drivers[i]))
			return true;
	return false;
}

/* Adds the clock of the group whose first core is `first`. */
static int add_clock(struct probe_ctx *o, const char *path, unsigned first, const char *label,
		     const char *note, bool late, struct err *e)
{
	struct channel ch;
	char name[32];

	snprintf(name, sizeof name, "cpu%u.freq", first);
	channel_describe(o, &ch, name, false);
	snprintf(ch.label, sizeof ch.label, "%s", label);
	if (!ch.period_ns)
		ch.period_ns = PERIOD_NS;
	if (!ch.note[0])
		snprintf(ch.note, sizeof ch.note, "%s", note);
	return add_file(o, &ch, path, late, e);
}

static int add_group(struct probe_ctx *o, const char *dir, unsigned first, const bool *group, struct err *e)
{
	char path[192], label[32];
	const char *note = measures(o, dir) ? "" : _("requested clock; lower while the hardware throttles");

	label_group(label, sizeof label, group);
	snprintf(path, sizeof path, "%.120s/scaling_cur_freq", dir);
	return add_clock(o, path, first, label, note, false, e) < 0 ? -1
								    : add_limits(o, dir, first, label, e);
}

/* The cores of a group: "4 5 6 7", online or not. */
static void find_related(const struct probe_ctx *o, const char *dir, unsigned first, bool *group)
{
	char text[160];
	int64_t n;

	memset(group, 0, CORES_MAX * sizeof *group);
	group[first] = true;
	if (!file_line_of(o->root, text, sizeof text, dir, "/related_cpus"))
		return;
	const char *p = text, *end = text + strlen(text);
	while (p < end && (p = num_i64(p, end, &n)))
		if (n >= 0 && n < CORES_MAX)
			group[n] = true;
}

/* Cores that are offline have no group yet: each run of them gets a channel, which has values once its first
 * core is online. */
static int add_offline(struct probe_ctx *o, const bool *left, struct err *e)
{
	char path[192], label[32];
	bool run[CORES_MAX];

	for (unsigned i = 0, next; i < CORES_MAX; i = next) {
		memset(run, 0, sizeof run);
		for (next = i; next < CORES_MAX && left[next]; next++)
			run[next] = true;
		if (next++ == i)
			continue;
		snprintf(path, sizeof path, CPU "/cpu%u/cpufreq/scaling_cur_freq", i);
		label_group(label, sizeof label, run);
		if (add_clock(o, path, i, label, _("offline when nvmtop started"), true, e) < 0)
			return -1;
	}
	return 0;
}

static int open_cpufreq(struct probe_ctx *o, struct err *e)
{
	char **names, dir[128];
	bool left[CORES_MAX], up[CORES_MAX], group[CORES_MAX];
	size_t n;
	int result = 0, groups = 0;

	if (root_list(o->root, CPU "/cpufreq", &names, &n) < 0)
		return 0;
	if (!cpulist_read(o->root, CPU "/present", left, CORES_MAX))
		memset(left, 0, sizeof left);
	if (!cpulist_read(o->root, CPU "/online", up, CORES_MAX))
		memset(up, true, sizeof up);
	for (size_t i = 0; i < n && !result; i++) {
		const char *digits = names[i] + 6, *end = names[i] + strlen(names[i]);
		int64_t first;
		if (strncmp(names[i], "policy", 6) != 0 || num_i64(digits, end, &first) != end || first < 0 ||
		    first >= CORES_MAX)
			continue;
		snprintf(dir, sizeof dir, CPU "/cpufreq/%.32s", names[i]);
		find_related(o, dir, (unsigned)first, group);
		for (unsigned k = 0; k < CORES_MAX; k++)
			left[k] &= !group[k];
		result = add_group(o, dir, (unsigned)first, group, e);
		groups++;
	}
	free(names);
	for (unsigned i = 0; i < CORES_MAX; i++)
		left[i] = left[i] && !up[i]; /* online without a group: its clock is unknown */
	return result || !groups ? result : add_offline(o, left, e);
}

const struct probe_kind probe_kind_cpufreq = {"cpufreq", 0, 0, " period hint ", false, false, open_cpufreq};
