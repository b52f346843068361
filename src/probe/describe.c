/* Derives a channel's properties from its name, so that a board file need not state them, and writes the
 * sentence for a channel that is missing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"
#include "probe/open.h"

static const struct form {
	enum unit unit;
	enum family family;
	double lo, hi; /* NAN: scale to the values */
	enum { WHOLE, STEM, REST } label; /* the part of the name before the last dot, or after the first */
	/* Kinds that are counted together; those of one rail or engine share an index. */
	enum { RAILS = 1, ENGINES, ZONES, FANS } group;
} forms[CHANNEL_KINDS] = {
	[CHANNEL_OTHER] = {UNIT_NONE, FAMILY_OTHER, NAN, NAN, WHOLE, 0},
	[CHANNEL_GPU_UTIL] = {UNIT_PERCENT, FAMILY_GPU, 0, 100, WHOLE, 0},
	[CHANNEL_CPU_UTIL] = {UNIT_PERCENT, FAMILY_CPU, 0, 100, WHOLE, 0},
	[CHANNEL_CORE_UTIL] = {UNIT_PERCENT, FAMILY_CPU, 0, 100, STEM, 0},
	[CHANNEL_RAM_USED] = {UNIT_KB, FAMILY_MEMORY, 0, NAN, WHOLE, 0},
	[CHANNEL_RAM_AVAILABLE] = {UNIT_KB, FAMILY_MEMORY, 0, NAN, WHOLE, 0},
	[CHANNEL_EMC_UTIL] = {UNIT_PERCENT, FAMILY_MEMORY, 0, 100, WHOLE, 0},
	[CHANNEL_RAIL_VOLTAGE] = {UNIT_MILLIVOLT, FAMILY_POWER, NAN, NAN, STEM, RAILS},
	[CHANNEL_RAIL_CURRENT] = {UNIT_MILLIAMPERE, FAMILY_POWER, NAN, NAN, STEM, RAILS},
	[CHANNEL_RAIL_POWER] = {UNIT_MILLIWATT, FAMILY_POWER, NAN, NAN, STEM, RAILS},
	[CHANNEL_POWER_TOTAL] = {UNIT_MILLIWATT, FAMILY_POWER, NAN, NAN, WHOLE, 0},
	[CHANNEL_TEMPERATURE] = {UNIT_CELSIUS, FAMILY_HEAT, NAN, NAN, REST, ZONES},
	[CHANNEL_HOTTEST] = {UNIT_CELSIUS, FAMILY_HEAT, NAN, NAN, WHOLE, 0},
	[CHANNEL_GPU_FREQ] = {UNIT_HZ, FAMILY_GPU, NAN, NAN, WHOLE, 0},
	[CHANNEL_CPU_FREQ] = {UNIT_HZ, FAMILY_CPU, NAN, NAN, STEM, 0},
	[CHANNEL_EMC_RATE] = {UNIT_HZ, FAMILY_MEMORY, NAN, NAN, WHOLE, 0},
	[CHANNEL_FAN] = {UNIT_RPM, FAMILY_HEAT, NAN, NAN, REST, FANS},
	[CHANNEL_ENGINE_UTIL] = {UNIT_PERCENT, FAMILY_OTHER, 0, 100, STEM, ENGINES},
	[CHANNEL_ENGINE_FREQ] = {UNIT_HZ, FAMILY_OTHER, 0, NAN, STEM, ENGINES},
	[CHANNEL_THROTTLE] = {UNIT_NONE, FAMILY_HEAT, 0, NAN, WHOLE, 0},
	[CHANNEL_THROTTLE_COUNT] = {UNIT_NONE, FAMILY_HEAT, NAN, NAN, WHOLE, 0},
	[CHANNEL_FREQ_LIMIT] = {UNIT_HZ, FAMILY_OTHER, 0, NAN, WHOLE, 0},
	[CHANNEL_GATED] = {UNIT_NONE, FAMILY_OTHER, 0, 1, WHOLE, 0},
	[CHANNEL_COUNTER] = {UNIT_NONE, FAMILY_OTHER, 0, NAN, WHOLE, 0},
	[CHANNEL_NOTICE] = {UNIT_NONE, FAMILY_HEAT, 0, NAN, WHOLE, 0},
};

/* What names imply; the first that fits. */
static const struct known {
	const char *begin, *end; /* end NULL: the whole name */
	enum channel_kind kind;
	const char *label; /* NULL: part of the name */
} knowns[] = {
	{"gpu.util", NULL, CHANNEL_GPU_UTIL, "GPU"},
	{"cpu.util", NULL, CHANNEL_CPU_UTIL, "CPU"},
	{"emc.util", NULL, CHANNEL_EMC_UTIL, "EMC"},
	{"ram.used", NULL, CHANNEL_RAM_USED, "RAM"},
	{"ram.available", NULL, CHANNEL_RAM_AVAILABLE, N_("RAM available")},
	{"power.total", NULL, CHANNEL_POWER_TOTAL, N_("Power")},
	{"temp.hottest", NULL, CHANNEL_HOTTEST, N_("Hottest")},
	{"gpu.freq", NULL, CHANNEL_GPU_FREQ, N_("GPU clock")},
	{"emc.rate", NULL, CHANNEL_EMC_RATE, N_("EMC clock")},
	{"swap.used", NULL, CHANNEL_OTHER, N_("Swap")},
	{"fan.rpm", NULL, CHANNEL_FAN, N_("Fan")},
	{"throttle", NULL, CHANNEL_THROTTLE, NULL},
	{"throttle.", "", CHANNEL_THROTTLE, NULL},
	{"notice.", "", CHANNEL_NOTICE, NULL},
	{"temp.", "", CHANNEL_TEMPERATURE, NULL},
	{"fan.", "", CHANNEL_FAN, NULL},
	{"cpu", ".util", CHANNEL_CORE_UTIL, NULL}, /* with a number */
	{"cpu", ".freq", CHANNEL_CPU_FREQ, NULL},
	{"", ".voltage", CHANNEL_RAIL_VOLTAGE, NULL},
	{"", ".current", CHANNEL_RAIL_CURRENT, NULL},
	{"", ".power", CHANNEL_RAIL_POWER, NULL},
	{"", "", CHANNEL_OTHER, NULL},
};

/* Returns N of "cpuN.", or -1. */
static int core_of(const char *name)
{
	int64_t n;

	if (strncmp(name, "cpu", 3) != 0 || name[3] < '0' || name[3] > '9')
		return -1;
	const char *p = num_i64(name + 3, name + strlen(name), &n);
	return p && *p == '.' && n < 1024 ? (int)n : -1;
}

static const struct known *known_find(const char *name)
{
	const struct known *k = knowns;

	for (;; k++) {
		bool of_core = !strcmp(k->begin, "cpu");

		if (k->end ? !strncmp(name, k->begin, strlen(k->begin)) && text_ends_in(name, k->end) &&
				     (!of_core || core_of(name) >= 0)
			   : !strcmp(name, k->begin))
			return k;
	}
}

/* Returns the length of the part before the last dot: "VDD_IN" of "VDD_IN.voltage". */
static size_t stem_length(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

static uint16_t next_index(const struct probe_set *r, const struct channel *c)
{
	const struct form *form = &forms[c->kind];
	size_t stem = stem_length(c->name);
	int next = 0;

	for (size_t i = 0; i < r->n_channels && form->group; i++) {
		const struct channel *o = &r->channels[i];
		if (forms[o->kind].group != form->group)
			continue;
		if (form->label == STEM && !strncmp(o->name, c->name, stem + 1))
			return o->index;
		if (o->index >= next)
			next = o->index + 1;
	}
	return (uint16_t)next;
}

static void label_by_name(struct channel *c)
{
	const struct known *k = known_find(c->name);
	const char *dot = strchr(c->name, '.'), *from = c->name;

	if (k->label)
		from = _(k->label);
	else if (forms[c->kind].label == REST && dot)
		from = dot + 1;
	text_printable(c->label, sizeof c->label, from,
		       !k->label && forms[c->kind].label == STEM ? stem_length(from) : strlen(from));
}

static void by_settings(const struct statement *s, struct channel *c)
{
	const struct {
		const char *key;
		double *to;
	} limits[] = {{"lo", &c->lo}, {"hi", &c->hi}, {"warn", &c->warn}, {"crit", &c->crit}};
	const char *v;
	double number;

	if ((v = setting_get(s, "unit")))
		c->unit = (enum unit)unit_find(v);
	if ((v = setting_get(s, "family")))
		c->family = (enum family)family_find(v);
	if ((v = setting_get(s, "index")) && num_double(v, &number))
		c->index = (uint16_t)number;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if ((v = setting_get(s, limits[i].key)))
			num_double(v, limits[i].to);
	if ((v = setting_get(s, "period")))
		num_duration_ns(v, &c->period_ns);
	if ((v = setting_get(s, "label"))) {
		v = *v ? _(v) : v; /* those of the boards that come with nvmtop are translated */
		text_printable(c->label, sizeof c->label, v, strlen(v));
	}
	if ((v = setting_get(s, "note")))
		text_printable(c->note, sizeof c->note, v, strlen(v));
	if ((v = setting_get(s, "kernel")))
		text_printable(c->kernel, sizeof c->kernel, v, strlen(v));
}

/* Numbers a name that is in use: the second "temp.nvme.Composite" becomes "temp.nvme.Composite.2", and
 * "VDD.power" becomes "VDD_2.power". */
static void make_unique(const struct probe_set *r, struct channel *c)
{
	bool rail = forms[c->kind].group == RAILS;
	size_t stem = rail ? stem_length(c->name) : strlen(c->name);
	char text[96], base[sizeof c->name], ending[sizeof c->name];

	text_join(base, stem + 1, c->name);
	text_join(ending, sizeof ending, c->name + stem);
	for (unsigned n = 2; probe_set_find(r, c->name) && n < 1000; n++) {
		char number[16];
		snprintf(number, sizeof number, "%c%u", rail ? '_' : '.', n);
		size_t room = sizeof c->name - 1 - strlen(number) - strlen(ending);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(room < stem ? room : stem), base, number,
			 ending);
		text_printable(c->name, sizeof c->name, text, strlen(text));
	}
}

void channel_describe(const struct probe_ctx *o, struct channel *c, const char *name, bool wild)
{
	channel_describe_as(o, c, name, CHANNEL_OTHER, wild);
}

void channel_describe_as(const struct probe_ctx *o, struct channel *c, const char *name, enum channel_kind fixed,
			 bool wild)
{
	const char *kind = setting_get(o->s, "kind");

	memset(c, 0, sizeof *c);
	text_printable(c->name, sizeof c->name, name, strlen(name));
	for (char *p = c->name; *p; p++)
		if (*p == ' ')
			*p = '_';
	c->tier = o->s->tier;
	c->kind = kind ? (enum channel_kind)channel_kind_find(kind) : fixed ? fixed : known_find(c->name)->kind;
	if (wild)
		make_unique(o->probes, c);
	c->unit = forms[c->kind].unit;
	c->family = forms[c->kind].family;
	c->lo = forms[c->kind].lo;
	c->hi = forms[c->kind].hi;
	c->warn = c->crit = NAN;
	int core = core_of(c->name);
	c->index = core >= 0 ? (uint16_t)core : next_index(o->probes, c);
	label_by_name(c);
	by_settings(o->s, c);
}

void channel_form(const struct probe_ctx *o, struct channel *c, const struct channel_form *form)
{
	channel_describe_as(o, c, form->name, form->kind, false);
	c->unit = form->unit;
	c->family = form->family;
	c->lo = 0;
	c->hi = form->hi;
	c->period_ns = form->period_ns;
	c->window_ns = form->window_ns;
	snprintf(c->source, sizeof c->source, "%s", form->source ? _(form->source) : "");
	if (form->label && !setting_get(o->s, "label"))
		snprintf(c->label, sizeof c->label, "%s", _(form->label));
	if (form->note && !c->note[0])
		snprintf(c->note, sizeof c->note, "%s", _(form->note));
}

#define DEBUGFS "/sys/kernel/debug"

static bool has_debugfs(const struct root *r)
{
	char **names = NULL;
	size_t n = 0;
	bool any = root_list(r, DEBUGFS, &names, &n) == 0 && n > 0;

	free(names);
	return any;
}

void reason_add_text(struct reason *why, const char *what, const char *text)
{
	char one[sizeof why->tried];

	snprintf(one, sizeof one, "%s%.120s (%.60s)", *why->tried ? ", " : "", what, text);
	text_join(why->tried, sizeof why->tried, why->tried, one);
}

void reason_add(struct reason *why, const char *what, int error)
{
	reason_add_text(why, what, error == ENOENT ? _("not there") : root_error(error));
	bool denied = error == EACCES || error == EPERM;
	why->there |= error != ENOENT;
	why->denied |= denied;
	why->hidden |= denied && !strncmp(what, DEBUGFS "/", sizeof DEBUGFS);
	why->debugfs |= error == ENOENT && !strncmp(what, DEBUGFS "/", sizeof DEBUGFS);
}

void reason_add_place(struct reason *why, const struct place *p, int error)
{
	static const char *const drivers[] = {
		[PLACE_HWMON] = "hwmon", [PLACE_DEVFREQ] = "devfreq", [PLACE_IIO] = "IIO", [PLACE_BUS] = "I2C"};
	char what[192];

	if (p->kind == PLACE_PATH || p->kind == PLACE_COOLING || error != ENOENT)
		snprintf(what, sizeof what, "%s", p->path[0] ? p->path : p->name);
	else if (p->kind == PLACE_ZONE)
		snprintf(what, sizeof what, _("thermal zone %s"), p->name);
	else
		snprintf(what, sizeof what, "%s %s/%s", drivers[p->kind], p->name, p->which);
	reason_add(why, what, error);
}

void reason_set(const struct reason *why, const struct probe_ctx *o, struct channel *c)
{
	const char *hint = setting_get(o->s, "hint"), *cure = "";
	char text[512], told[sizeof c->missing], tail[160] = "";

	if (why->cure[0])
		cure = why->cure;
	else if (why->hidden)
		cure = _("sudo nvmtop-setup opens it, if it exists: only root can see that");
	else if (why->denied)
		cure = _("sudo nvmtop-setup opens it to all users; or run nvmtop with sudo");
	else if (why->debugfs && !has_debugfs(o->root))
		cure = _("debugfs is not mounted: sudo mount -t debugfs none /sys/kernel/debug "
			 "(a container: give it the host's)");
	else if (hint)
		cure = hint;
	if (*cure)
		snprintf(tail, sizeof tail, "; %.120s", cure);
	/* The end of a long list of paths is cut rather than the cure. */
	snprintf(text, sizeof text, _("tried %s"), why->tried);
	text_shortened(told, sizeof told - strlen(tail), text, strlen(text));
	text_join(text, sizeof text, told, tail);
	text_printable(c->missing, sizeof c->missing, text, strlen(text));
}

void channel_source(const struct probe_ctx *o, struct channel *c, const char *path, const struct reason *why)
{
	if (path)
		text_join(c->source, sizeof c->source, path);
	else
		reason_set(why, o, c);
}

void reason_one(const struct probe_ctx *o, struct channel *c, const char *what, int error)
{
	struct reason why = {.denied = false};

	reason_add(&why, what, error);
	reason_set(&why, o, c);
}
