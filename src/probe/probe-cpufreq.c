/* Reads the clock of each group of cores that share one, its limits, and whether all clocks are pinned. Uses
 * scaling_cur_freq, never cpuinfo_cur_freq: that one queries the firmware, for milliseconds on some boards, and needs
 * root. scaling_cur_freq is the requested clock, unless the driver measures; a clock that the hardware throttles is
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
#define FILES     72 /* for pinned: the GPU and 35 groups */

/* clang-format off */
static const struct value_row rows[] = {
	{"cpufreq", "cpu", ".freq",     "", "", .scale = 1000, .text = VALUE_CLOCK, .file = "scaling_cur_freq", .period_ns = PERIOD_NS},
	{"cpufreq", "cpu", ".freq_min", "", "", .scale = 1000, .text = VALUE_CLOCK, .file = "scaling_min_freq", .period_ns = NS_PER_S,
	 .kind = CHANNEL_FREQ_LIMIT, .label = N_("min")},
	{"cpufreq", "cpu", ".freq_max", "", "", .scale = 1000, .text = VALUE_CLOCK, .file = "scaling_max_freq", .period_ns = NS_PER_S,
	 .kind = CHANNEL_FREQ_LIMIT, .label = N_("max")},
};
/* clang-format on */

/* "cpu4", "cpu4-7", or with a gap "cpu0,3-5". */
static void label_group(char *out, size_t size, const bool *group)
{
	size_t used = (size_t)snprintf(out, size, "cpu");

	for (unsigned i = 0, last; i < CORES_MAX && used < size; i = last + 1) {
		last = i;
		if (!group[i])
			continue;
		while (last + 1 < CORES_MAX && group[last + 1])
			last++;
		used += (size_t)snprintf(out + used, size - used, "%s%u", used > 3 ? "," : "", i);
		if (last > i && used < size)
			used += (size_t)snprintf(out + used, size - used, "-%u", last);
	}
}

/* Returns true if scaling_cur_freq is measured, as on PCs; other drivers repeat the request. */
static bool measures(const struct root *r, const char *dir)
{
	static const char *const drivers[] = {"intel_pstate", "intel_cpufreq", "amd-pstate", "amd-pstate-epp",
					      "acpi-cpufreq"};
	char driver[64];

	if (!file_line_of(r, driver, sizeof driver, dir, "/scaling_driver"))
		return false;
	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
		if (!strcmp(driver, drivers[i]))
			return true;
	return false;
}

/* late: the files do not exist now, and the clock may appear. */
static int add_group(struct probe_ctx *o, const char *dir, unsigned first, const bool *group, bool late, struct err *e)
{
	const char *notes[] = {late			? _("offline when nvmtop started")
			       : measures(o->root, dir) ? ""
							: _("requested clock; lower while the hardware throttles"),
			       _("lowest clock that is allowed now"), _("highest clock that is allowed now")};
	char what[16], label[32];

	text_number(what, sizeof what, "", first);
	label_group(label, sizeof label, group);
	for (int i = 0; i < 3; i++) {
		struct place place = {.kind = PLACE_PATH};
		struct reason why = {.denied = false};
		struct channel ch;

		text_join(place.path, sizeof place.path, dir, "/", rows[i].file);
		if (i && !file_exists(o->root, place.path))
			continue;
		value_describe(o, &ch, &rows[i], what, false);
		ch.family = FAMILY_CPU;
		ch.period_ns = i ? rows[i].period_ns : ch.period_ns;
		text_join(ch.label, i ? 17 : sizeof ch.label, label);
		if (i)
			text_join(ch.label, sizeof ch.label, ch.label, " ", _(rows[i].label));
		snprintf(ch.note, sizeof ch.note, "%s", notes[i]);
		if (value_add(o, &rows[i], &place, &ch, late ? NULL : &why, e) < 0)
			return -1;
	}
	return 0;
}

/* Cores that are offline have no group yet: each run of them gets a channel, which has values once its first
 * core is online. */
static int add_offline(struct probe_ctx *o, const bool *left, struct err *e)
{
	char dir[64];
	bool run[CORES_MAX];

	for (unsigned i = 0, next; i < CORES_MAX; i = next + 1) {
		memset(run, 0, sizeof run);
		for (next = i; next < CORES_MAX && left[next]; next++)
			run[next] = true;
		snprintf(dir, sizeof dir, CPU "/cpu%u/cpufreq", i);
		if (next > i && add_group(o, dir, i, run, true, e) < 0)
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
		snprintf(dir, sizeof dir, CPU "/cpufreq/%.32s/related_cpus", names[i]);
		cpulist_read(o->root, dir, group, CORES_MAX); /* online or not */
		*strrchr(dir, '/') = '\0';
		group[first] = true;
		for (unsigned k = 0; k < CORES_MAX; k++)
			left[k] &= !group[k];
		result = add_group(o, dir, (unsigned)first, group, false, e);
		groups++;
	}
	free(names);
	for (unsigned i = 0; i < CORES_MAX; i++)
		left[i] = left[i] && !up[i]; /* online without a group: its clock is unknown */
	return result || !groups ? result : add_offline(o, left, e);
}

const struct probe_kind probe_kind_cpufreq = {"cpufreq", 0, 0, " period hint ", false, false, open_cpufreq};

/* Reads pairs of the lowest and the highest clock of a unit: the value is 1 if the two are equal for all that
 * can be read. A core that is offline has none. */
static void pinned_read(struct probe *p, int64_t t_ns, double *row)
{
	double value = missing_value(MISSING, 0);

	for (size_t i = 0; i < p->n_attrs && !(value <= 0); i += 2) {
		double lowest = attr_number(&p->attrs[i], p->root, t_ns, 1, CHANNEL_OTHER);
		double highest = attr_number(&p->attrs[i + 1], p->root, t_ns, 1, CHANNEL_OTHER);

		if (!isnan(lowest) && highest > 0)
			value = lowest < highest ? 0 : 1;
		else if (isnan(value))
			value = isnan(lowest) ? lowest : highest;
	}
	row[p->column] = value;
}

static const struct probe_ops pinned_ops = {pinned_read, probe_free};

/* Opens the pair in dir, if it is there, as the next two of *n files. */
static void pinned_pair(struct probe *p, size_t *n, const char *dir, const char *prefix)
{
	struct attr *a = &p->attrs[*n];
	char path[192];

	if (*n == FILES)
		return;
	text_join(path, sizeof path, dir, prefix, "min_freq");
	bool found = attr_open(&a[0], p->root, path) == 0;
	text_join(path, sizeof path, dir, prefix, "max_freq");
	*n += found && attr_open(&a[1], p->root, path) == 0 ? 2 : 0;
}

static int open_pinned(struct probe_ctx *o, struct err *e)
{
	static const struct channel_form form = {"clocks.pinned", N_("Clocks pinned"), NULL, NULL,
						 UNIT_NONE,       FAMILY_OTHER,        1,    NS_PER_S,           0,                    0};
	static const struct value_row of_gpu = {.keys = " devfreq ", .attribute = "", .file = "min_freq"};
	struct probe *p = probe_new(o, sizeof *p, FILES, &pinned_ops, NS_PER_S, e);
	struct reason why = {.denied = false};
	struct channel ch;
	struct place place;
	char **names = NULL, dir[160];
	size_t n = 0, files = 0;

	if (!p)
		return -1;
	channel_form(o, &ch, &form);
	bool gpu = value_find(o, &of_gpu, &place, &why);
	if (gpu)
		pinned_pair(p, &files, place.dir, "/");
	root_list(o->root, CPU "/cpufreq", &names, &n);
	for (size_t i = 0; i < n; i++) {
		snprintf(dir, sizeof dir, CPU "/cpufreq/%.60s", names[i]);
		if (!strncmp(names[i], "policy", 6))
			pinned_pair(p, &files, dir, "/scaling_");
	}
	free(names);
	for (size_t i = files; i < FILES; i++)
		attr_close(&p->attrs[i]);
	p->n_attrs = files;
	snprintf(ch.source, sizeof ch.source, "%s",
		 gpu ? _("GPU: min_freq = max_freq, cores: scaling_min_freq = scaling_max_freq")
		     : _("cores: scaling_min_freq = scaling_max_freq"));
	if (!files) {
		reason_add(&why, CPU "/cpufreq", ENOENT);
		reason_set(&why, o, &ch);
	}
	return probe_ctx_finish(o, p, probe_ctx_add(o, &ch, e), files > 0, e);
}

const struct probe_kind probe_kind_pinned = {
	"pinned", 0, 0, " devfreq label note hint ", false, false, open_pinned};
