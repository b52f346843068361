/* Reads the state of a unit: powered down or not, the limits of its clock, and whether the clock is pinned.
 * Reading these files wakes nothing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/missing.h"
#include "probe/open.h"
#include "util/clock.h"
#include "util/intl.h"

#define STATE_NS NS_PER_S
#define FILES    72 /* for pinned: the GPU and 35 clusters */

/* The files with the power state, and their texts for off and on. */
static const struct gate_file {
	const char *name;
	const char *off[2], *on[4];
} gate_files[] = {
	{"gpu_powered_on", {"0", "off"}, {"1", "on"}},
	{"is_railgated", {"yes"}, {"no"}},
	{"power/runtime_status", {"suspended"}, {"active", "suspending", "resuming", "error"}},
};

/* Returns 1 for off, 0 for on, or NaN with the reason for other texts ("unsupported"). */
static double gate_meaning(const char *text)
{
	for (size_t i = 0; i < sizeof gate_files / sizeof *gate_files; i++) {
		const struct gate_file *f = &gate_files[i];
		for (int k = 0; k < 2 && f->off[k]; k++)
			if (!strcmp(text, f->off[k]))
				return 1;
		for (int k = 0; k < 4 && f->on[k]; k++)
			if (!strcmp(text, f->on[k]))
				return 0;
	}
	return missing_said(MISSING_TEXT, text, strlen(text));
}

double gate_read(struct attr *a, const struct root *r)
{
	char text[24];
	ssize_t n = attr_read(a, r, text, sizeof text - 1);

	if (n < 0)
		return missing_value(MISSING_ERROR, (unsigned)errno);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	return gate_meaning(text);
}

static void gated_read(struct probe *p, int64_t t_ns, double *row)
{
	double v = missing_value(MISSING_ERROR, (unsigned)p->attrs->error);

	if (attr_reopen(p->attrs, p->root, t_ns)) {
		errno = 0;
		v = gate_read(p->attrs, p->root);
		if (isnan(v) && attr_gone(errno)) {
			p->attrs->error = errno;
			attr_close(p->attrs);
		}
	}
	row[p->column] = v;
}

static const struct probe_ops gated_ops = {gated_read, probe_free};

static bool gate_in(struct attr *a, const struct root *r, const char *dir, struct reason *why)
{
	char path[192];

	for (size_t i = 0; i < sizeof gate_files / sizeof *gate_files; i++) {
		if (text_join(path, sizeof path, dir, "/", gate_files[i].name) >= sizeof path)
			continue;
		if (attr_open(a, r, path) == 0 && !isnan(gate_read(a, r)))
			return true;
		attr_close(a);
	}
	text_join(path, sizeof path, dir, "/power/runtime_status");
	reason_add(why, path, file_exists(r, path) ? ENODATA : ENOENT);
	return false;
}

bool device_dir(const struct root *r, const char *key, const char *value, char dir[192], struct reason *why)
{
	char text[160];
	struct place place;

	if (!strcmp(key, "dir"))
		return text_join(dir, 192, value) < 192;
	if (strcmp(key, "devfreq") != 0)
		return false;
	text_join(text, sizeof text, value, "/device");
	if (place_set(&place, "devfreq", text) && place_find(&place, r, "") == 0)
		return text_join(dir, 192, place.dir, "/device") < 192;
	text_join(text, sizeof text, "devfreq ", value);
	reason_add(why, text, ENOENT);
	return false;
}

bool gate_open(struct attr *a, const struct root *r, const struct statement *s, struct reason *why)
{
	char dir[192];

	for (size_t i = 0; i < s->n_settings; i++)
		if (device_dir(r, s->settings[i].key, s->settings[i].value, dir, why) &&
		    gate_in(a, r, dir, why))
			return true;
	return false;
}

/* Fills in a channel for a state of the unit that the statement's first word names. */
static void describe(struct probe_ctx *o, struct channel *ch, enum channel_kind kind, const char *suffix,
		     const char *label)
{
	const char *unit = o->s->words[0];
	char name[64];
	bool gpu = !strcmp(unit, "gpu");

	snprintf(name, sizeof name, "%.36s.%s", unit, suffix);
	channel_describe(o, ch, name, false);
	ch->kind = kind;
	ch->family = gpu ? FAMILY_GPU : FAMILY_OTHER;
	ch->unit = kind == CHANNEL_FREQ_LIMIT ? UNIT_HZ : UNIT_NONE;
	ch->lo = 0;
	ch->hi = kind == CHANNEL_FREQ_LIMIT ? (double)NAN : 1;
	if (!setting_get(o->s, "label"))
		snprintf(ch->label, sizeof ch->label, "%.12s %.18s", gpu ? "GPU" : unit, label);
}

static int open_gated(struct probe_ctx *o, struct err *e)
{
	struct probe *p = probe_new(o, sizeof *p, 1, &gated_ops, 0, e);
	struct reason why = {.denied = false};
	struct channel ch;

	if (!p)
		return -1;
	describe(o, &ch, CHANNEL_GATED, "gated", _("powered down"));
	bool found = gate_open(p->attrs, o->root, o->s, &why);
	channel_source(o, &ch, found ? p->attrs->path : NULL, &why);
	return probe_ctx_finish(o, p, probe_ctx_add(o, &ch, e), found, e);
}

const struct probe_kind probe_kind_gated = {
	"gated", 1, 1, " dir devfreq label note hint ", false, false, open_gated};

static void limits_read(struct probe *p, int64_t t_ns, double *row)
{
	for (int i = 0; i < 2; i++)
		row[p->column + i] = attr_poll(&p->attrs[i], p->root, t_ns);
}

static const struct probe_ops limits_ops = {limits_read, probe_free};

/* Finds the devfreq directory that contains min_freq. */
static bool limits_dir(struct probe_ctx *o, char dir[112], struct reason *why)
{
	const char *node;
	char text[128];
	struct place place;

	for (size_t i = 0; (node = setting_nth(o->s, "devfreq", i)); i++) {
		text_join(text, sizeof text, node, "/min_freq");
		if (place_set(&place, "devfreq", text) && place_find(&place, o->root, "") == 0) {
			text_join(dir, 112, place.dir);
			return true;
		}
		text_join(text, sizeof text, "devfreq ", node, "/min_freq");
		reason_add(why, text, ENOENT);
	}
	return false;
}

static int open_limits(struct probe_ctx *o, struct err *e)
{
	static const struct {
		const char *file, *name, *label;
	} limits[2] = {{"min_freq", "freq_min", N_("lowest clock")},
		       {"max_freq", "freq_max", N_("highest clock")}};
	struct probe *p = probe_new(o, sizeof *p, 2, &limits_ops, STATE_NS, e);
	struct reason why = {.denied = false};
	char dir[112] = "", path[192];
	int added = 0;

	if (!p)
		return -1;
	bool found = limits_dir(o, dir, &why);
	for (int i = 0; i < 2 && found; i++) {
		text_join(path, sizeof path, dir, "/", limits[i].file);
		found = attr_open(&p->attrs[i], o->root, path) == 0;
		if (!found)
			reason_add(&why, path, errno);
	}
	for (int i = 0; i < 2 && added == 0; i++) {
		struct channel ch;
		describe(o, &ch, CHANNEL_FREQ_LIMIT, limits[i].name, _(limits[i].label));
		ch.period_ns = STATE_NS;
		channel_source(o, &ch, found ? p->attrs[i].path : NULL, &why);
		added = probe_ctx_add(o, &ch, e);
	}
	return probe_ctx_finish(o, p, added, found, e);
}

const struct probe_kind probe_kind_limits = {
	"limits", 1, 1, " devfreq label note hint ", false, false, open_limits};

/* Reads pairs of the lowest and the highest clock of a unit: the value is 1 if the two are equal for all that
 * can be read. A core that is offline has none. */
static void pinned_read(struct probe *p, int64_t t_ns, double *row)
{
	double value = missing_value(MISSING, 0);

	for (size_t i = 0; i + 1 < p->n_attrs && p->attrs[i].path[0]; i += 2) {
		double lowest = attr_poll(&p->attrs[i], p->root, t_ns);
		double highest = attr_poll(&p->attrs[i + 1], p->root, t_ns);

		if (isnan(lowest) || !(highest > 0)) {
			if (isnan(value))
				value = isnan(lowest) ? lowest : highest;
			continue;
		}
		value = lowest < highest ? 0 : 1;
		if (lowest < highest)
			break;
	}
	row[p->column] = value;
}

static const struct probe_ops pinned_ops = {pinned_read, probe_free};

/* Opens a pair as the next two of *n files. */
static void pinned_pair(struct probe *p, size_t *n, const char *dir, const char *lowest, const char *highest)
{
	struct attr *pair = &p->attrs[*n];
	char path[192];

	if (*n + 2 > FILES)
		return;
	text_join(path, sizeof path, dir, "/", lowest);
	bool open = attr_open(&pair[0], p->root, path) == 0;
	text_join(path, sizeof path, dir, "/", highest);
	if (open && attr_open(&pair[1], p->root, path) == 0) {
		*n += 2;
		return;
	}
	attr_close(&pair[0]);
	pair[0].path[0] = '\0';
}

static int open_pinned(struct probe_ctx *o, struct err *e)
{
	static const struct channel_form form = {"clocks.pinned", N_("Clocks pinned"), NULL, NULL,
						 UNIT_NONE,       FAMILY_OTHER,        1,    STATE_NS};
	static const char base[] = "/sys/devices/system/cpu/cpufreq";
	struct probe *p = probe_new(o, sizeof *p, FILES, &pinned_ops, STATE_NS, e);
	struct reason why = {.denied = false};
	struct channel ch;
	char **names = NULL, dir[160];
	size_t n = 0, files = 0;

	if (!p)
		return -1;
	channel_form(o, &ch, &form);
	bool gpu = limits_dir(o, dir, &why);
	if (gpu)
		pinned_pair(p, &files, dir, "min_freq", "max_freq");
	root_list(o->root, base, &names, &n);
	for (size_t i = 0; i < n; i++) {
		snprintf(dir, sizeof dir, "%s/%.60s", base, names[i]);
		if (!strncmp(names[i], "policy", 6))
			pinned_pair(p, &files, dir, "scaling_min_freq", "scaling_max_freq");
	}
	free(names);
	snprintf(ch.source, sizeof ch.source, "%s",
		 gpu ? _("GPU: min_freq = max_freq, cores: scaling_min_freq = scaling_max_freq")
		     : _("cores: scaling_min_freq = scaling_max_freq"));
	if (!files) {
		reason_add(&why, base, ENOENT);
		reason_set(&why, o, &ch);
	}
	return probe_ctx_finish(o, p, probe_ctx_add(o, &ch, e), files > 0, e);
}

const struct probe_kind probe_kind_pinned = {
	"pinned", 0, 0, " devfreq label note hint ", false, false, open_pinned};
