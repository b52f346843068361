/* Reads one number from one file: a row of the table below says where it may be, what the file has, and in which unit.
 * Sensors, clocks, their limits, the load of engines, what throttles: all kinds of probes that are a number in a file of
 * their own have the same opener: the candidates of the statement, the reason if there is none, the channel.
 *
 * A unit that is powered down returns EAGAIN until it is powered up: its value is missing at that tick, and
 * it is never read twice in one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"
#include "model/missing.h"
#include "probe/open.h"
#include "probe/rail.h"

/* clang-format off */
static const struct value_row rows[] = {
	{"temp",   "temp.", "",          SETTINGS_PLACE,   "temp",  .scale = 1e-3},
	{"fan",    "fan.",  "",          SETTINGS_PLACE,   "fan",   .scale = 1, .gate = GATE_TACHOMETER},
	{"pwm",    "fan.",  "",          SETTINGS_PLACE,   "pwm",   .scale = 100 / 255.0, .unit = UNIT_PERCENT},
	{"power",  "",      ".power",    SETTINGS_PLACE,   "power", .scale = 1e-3},
	{"value",  "",      "",          SETTINGS_PLACE,   "",      .scale = 1},
	{"gated",  "",      ".gated",    " dir devfreq ",  "",      .scale = 1, .text = VALUE_STATE,
	 .kind = CHANNEL_GATED, .label = N_("powered down")},
	{"limits", "",      ".freq_min", " devfreq ",      "",      .scale = 1, .file = "min_freq", .period_ns = NS_PER_S,
	 .kind = CHANNEL_FREQ_LIMIT, .label = N_("lowest clock")},
	{"limits", "",      ".freq_max", " devfreq ",      "",      .scale = 1, .file = "max_freq", .period_ns = NS_PER_S,
	 .kind = CHANNEL_FREQ_LIMIT, .label = N_("highest clock")},
	/* Without power the registers of an engine keep their last value; it is unknown whether reading them is safe. */
	{"engine", "",      ".freq",     " devfreq path ", "",      .scale = 1, .file = "cur_freq", .gate = GATE_POWER,
	 .kind = CHANNEL_ENGINE_FREQ},
	{"engine", "",      ".util",     " load ",         "",      .scale = 0.1, .gate = GATE_NEEDED,
	 .kind = CHANNEL_ENGINE_UTIL},
};
/* clang-format on */

enum { NUMBER, GATE, FILES };

struct value {
	struct probe probe;
	struct place place;
	const struct value_row *row;
	enum channel_kind kind;
	double scale;
	unsigned core; /* whose clock it is */
};

static void value_read(struct probe *p, int64_t t_ns, double *row)
{
	struct value *v = (struct value *)p;
	struct attr *a = &p->attrs[NUMBER], *gate = &p->attrs[GATE];
	bool off = gate->path[0] && gate_read(gate, p->root, t_ns) > 0, clock = v->row->text == VALUE_CLOCK;
	double number;

	if (off)
		number = v->row->gate == GATE_TACHOMETER ? missing_value(MISSING_OFF, 0) : 0;
	else if (v->row->text == VALUE_STATE)
		number = gate_read(a, p->root, t_ns);
	else
		number = attr_number(a, p->root, t_ns, v->scale, v->kind);
	if (clock && !attr_is_open(a) && a->error == ENOENT)
		number = missing_value(MISSING_OFFLINE, v->core);
	else if (clock && number <= 0) /* some drivers report 0 if it is unknown */
		number = missing_said(MISSING_RANGE, "0", 1);
	row[p->column] = channel_round(v->kind, number);
}

static const struct probe_ops value_ops = {value_read, probe_free};

void value_describe(const struct probe_ctx *o, struct channel *ch, const struct value_row *row, const char *what,
		    bool wild)
{
	bool gpu = !strcmp(what, "gpu");
	char name[64];

	text_join(name, sizeof name, row->prefix, what, row->suffix);
	channel_describe_as(o, ch, name, row->kind, wild);
	if (row->kind && gpu)
		ch->family = FAMILY_GPU;
	if (row->unit == UNIT_PERCENT && !setting_get(o->s, "unit")) {
		ch->unit = UNIT_PERCENT;
		ch->lo = 0;
		ch->hi = 100;
	}
	if (row->label && !setting_get(o->s, "label"))
		snprintf(ch->label, sizeof ch->label, "%.12s %.18s", gpu ? "GPU" : what, _(row->label));
	if (!ch->period_ns)
		ch->period_ns = row->period_ns;
}

/* On L4T 28 to 32 a file next to the fan's speed turns its measurement on. Returns true if it is off. */
static bool tachometer_off(struct probe *p, struct reason *why)
{
	static const char speed[] = "/rpm_measured";
	struct attr *gate = &p->attrs[GATE];
	const char *file = p->attrs[NUMBER].path;
	char path[sizeof gate->path];

	if (!text_ends_in(file, speed))
		return false;
	text_join(path, strlen(file) - strlen(speed) + 1, file);
	text_join(path, sizeof path, path, "/tach_enable");
	if (attr_open(gate, p->root, path) < 0)
		gate->path[0] = '\0';
	if (!(gate_read(gate, p->root, 0) > 0))
		return false;
	why->tried[0] = '\0';
	reason_add_text(why, file, _("the tachometer is off"));
	snprintf(why->cure, sizeof why->cure,
		 _("to turn it on: echo 1 | sudo tee %.64s"), path);
	return true;
}

/* A chip whose driver has an average says over which time; any other is asked as one of a rail. */
static void power_window(const struct probe_ctx *o, const struct place *place, struct channel *ch)
{
	char note[sizeof ch->note] = "";
	long long ms;

	if (ch->kind != CHANNEL_RAIL_POWER || (place->kind != PLACE_HWMON && place->kind != PLACE_IIO))
		return;
	if (text_ends_in(place->path, "_average"))
		ch->window_ns = file_number_of(o->root, &ms, place->path, "_interval") < 0 || ms <= 0 || ms > 60000
					? WINDOW_UNKNOWN
					: ms * NS_PER_MS;
	else
		ch->window_ns = rail_window(o->root, place, note, sizeof note);
	if (!ch->note[0])
		text_join(ch->note, sizeof ch->note, note);
}

int value_add(struct probe_ctx *o, const struct value_row *row, const struct place *place, struct channel *ch,
	      struct reason *why, struct err *e)
{
	struct value *v = probe_new(o, sizeof *v, FILES, &value_ops, ch->period_ns, e);
	const char *scale = setting_get(o->s, "scale");
	struct reason unheard = {.denied = false};

	if (!v)
		return -1;
	struct attr *a = v->probe.attrs;
	v->row = row;
	v->kind = ch->kind;
	v->core = ch->index;
	v->scale = row->scale;
	if (scale)
		num_double(scale, &v->scale);
	bool found = place != NULL;
	if (place) {
		v->place = *place;
		v->probe.waits = place->took_ns > QUICK_NS;
		if (place->kind != PLACE_PATH && place->kind != PLACE_DEVFREQ) /* whose search allocates */
			a[NUMBER].place = &v->place;
		a[NUMBER].attribute = row->attribute;
		if (attr_open(&a[NUMBER], o->root, place->path) < 0 && why) {
			reason_add_place(why, place, errno);
			found = false;
		}
	}
	if (found && row->gate == GATE_TACHOMETER)
		found = !tachometer_off(&v->probe, why);
	else if (found && row->gate)
		gate_open(&a[GATE], o->root, o->s, &unheard);
	if (found) {
		text_join(ch->source, sizeof ch->source, place->path);
		heat_describe(o->root, place, ch);
		power_window(o, place, ch);
		if (row->gate == GATE_NEEDED && !ch->note[0] && !strstr(place->path, "host1x/actmon/"))
			snprintf(ch->note, sizeof ch->note, "%s", _("not validated: taken as permille"));
	} else {
		reason_set(why, o, ch);
	}
	return probe_ctx_finish(o, &v->probe, probe_ctx_add(o, ch, e), found, e);
}

/* Gets the place for that row which a setting names, if it does. */
static bool candidate(const struct value_row *row, const struct setting *t, struct place *p)
{
	char text[160];
	bool node = row->file && !strcmp(t->key, "devfreq");
	bool file = setting_listed(" load activity rate ", t->key);

	text_join(text, sizeof text, t->value, node ? "/" : "", node ? row->file : "");
	return setting_listed(row->keys, t->key) && place_set(p, file ? "path" : t->key, text);
}

/* Returns 0 if the file can be opened and read now, or is of a unit that is powered down; else an errno. */
static int try_file(const struct root *r, struct place *p, bool reads)
{
	struct attr a = {.fd = -1};

	if (attr_open(&a, r, p->path) < 0)
		return errno;
	int64_t begin_ns = clock_now_ns();
	int error = !reads || !isnan(attr_number(&a, r, 0, 1, CHANNEL_OTHER)) || errno == EAGAIN ? 0 : errno;
	p->took_ns = clock_now_ns() - begin_ns;
	attr_close(&a);
	return error;
}

bool value_find(const struct probe_ctx *o, const struct value_row *row, struct place *p, struct reason *why)
{
	struct place first = {.path = ""};
	struct attr gate = {.fd = -1};
	struct reason unheard = {.denied = false};
	bool state = row->text == VALUE_STATE, blind = row->gate == GATE_NEEDED;
	bool known = (state || blind) && gate_open(&gate, o->root, o->s, state ? why : &unheard);

	attr_close(&gate);
	if (state)
		return place_set(p, "path", gate.path) && known;
	for (size_t i = 0; i < o->s->n_settings; i++) {
		if (!candidate(row, &o->s->settings[i], p))
			continue;
		int error = place_find(p, o->root, row->attribute) < 0 ? errno : try_file(o->root, p, !blind);
		if (!error && blind && !known && strstr(p->path, "/actmon/") && !setting_get(o->s, "gate")) {
			reason_add(why, _("its power state"), ENODATA);
			continue;
		}
		if (!error)
			return true;
		if (error != ENOENT && error != EACCES && error != ETIME && !first.path[0])
			first = *p;
		reason_add_place(why, p, error);
	}
	*p = first;
	return first.path[0] != '\0';
}

/* The kernel exposes most zones a second time as a hwmon chip, with - as _. */
bool value_is_zone(const struct probe_set *probes, const char *chip)
{
	for (size_t i = 0; i < probes->n_channels; i++) {
		const char *zone = probes->channels[i].kernel;
		size_t n = 0;

		while (zone[n] && (zone[n] == chip[n] || (zone[n] == '-' && chip[n] == '_')))
			n++;
		if (n && !zone[n] && !chip[n])
			return true;
	}
	return false;
}

/* A statement above may read the same file. */
static bool is_read(const struct probe_set *probes, const char *path)
{
	for (size_t i = 0; i < probes->n_channels; i++)
		if (!strcmp(probes->channels[i].source, path))
			return true;
	return false;
}

int value_add_wild(struct probe_ctx *o, const struct value_row *row, struct place p, const char *what,
		   const char *label, struct err *e)
{
	struct reason why = {.denied = false};
	struct channel ch;
	int error = try_file(o->root, &p, true);

	for (size_t i = 0; i < o->probes->n_probes; i++) {
		const struct value *v = (const struct value *)o->probes->probes[i];
		p.nth += v->probe.ops == &value_ops && place_equal(&v->place, &p);
	}
	value_describe(o, &ch, row, what, true);
	if (label)
		text_printable(ch.label, sizeof ch.label, label, strlen(label));
	if (error == ETIME) /* it would delay all that is sampled in its tier */
		reason_add_place(&why, &p, error);
	return value_add(o, row, error == ETIME ? NULL : &p, &ch, &why, e);
}

/* Adds all zones or all inputs of chips that are not read yet, by what they are called. */
static int open_wild(struct probe_ctx *o, const struct value_row *row, enum place_kind kind, struct err *e)
{
	struct place p = {.kind = kind};
	char what[96], label[128];

	for (unsigned at = 0; place_next(&p, o->root, row->attribute, &at);) {
		bool zone = kind == PLACE_ZONE;

		if (is_read(o->probes, p.path) || (!zone && value_is_zone(o->probes, p.name)))
			continue;
		snprintf(what, sizeof what, "%.30s%s%.40s", p.name, zone ? "" : ".", zone ? "" : p.which);
		snprintf(label, sizeof label, "%.60s %.60s", p.name, p.which);
		for (char *dot = what; row->suffix[0] && (dot = strchr(dot, '.'));)
			*dot = '_'; /* the part before the dot names the rail */
		if (value_add_wild(o, row, p, what, zone ? NULL : label, e) < 0)
			return -1;
	}
	return 0;
}

/* Returns true if one of the nodes is a device of this machine ("15480000.nvdec"), so that its driver may come later. */
static bool awaits_driver(const struct probe_ctx *o)
{
	char **names;
	size_t n;
	bool found = false;

	if (root_list(o->root, "/sys/bus/platform/devices", &names, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *node, *dot = strchr(names[i], '.');
		for (size_t k = 0; (node = setting_nth(o->s, "devfreq", k)); k++)
			found |= !strcmp(names[i], node) || (dot && !strcmp(dot + 1, node));
	}
	free(names);
	return found;
}

/* Adds the channel of a row, and further ones for the other fans of that name. */
static int open_row(struct probe_ctx *o, const struct value_row *row, struct place *place, struct reason *why,
		    struct err *e)
{
	bool all = place && place->kind == PLACE_HWMON && !strcmp(row->prefix, "fan.");
	struct channel ch;
	int result;

	do {
		value_describe(o, &ch, row, o->s->words[0], place && place->nth);
		result = value_add(o, row, place, &ch, why, e);
	} while (all && !result && (place->nth++, place_find(place, o->root, row->attribute) == 0));
	return result;
}

static int open_values(struct probe_ctx *o, struct err *e)
{
	const struct statement *s = o->s;
	const bool optional = s->n_words > 1, wild = !strcmp(s->words[0], "*");
	bool first = true, lost = false;
	struct reason why = {.denied = false};
	int result = 0;

	if (optional && strcmp(s->words[1], "optional") != 0)
		return statement_error(s, e, _("unexpected \"%s\"; only \"optional\" is allowed there"),
				       s->words[1]);
	for (const struct value_row *row = rows; row < rows + sizeof rows / sizeof *rows && !result; row++) {
		struct place place;
		size_t given = 0;

		for (size_t i = 0; i < s->n_settings && !strcmp(row->probe, s->probe) && !result; i++) {
			const struct setting *t = &s->settings[i];
			given += setting_listed(row->keys, t->key);
			if (wild && !strcmp(t->value, "*"))
				result = open_wild(o, row, strcmp(t->key, "zone") != 0 ? PLACE_HWMON : PLACE_ZONE, e);
		}
		if (!given || wild)
			continue;
		/* The second channel of an optional unit is not looked for if the first is not to be had. */
		if (!lost)
			why = (struct reason) {.denied = false};
		bool found = !lost && value_find(o, row, &place, &why);
		if (!found && first && optional && !why.there && !awaits_driver(o))
			return 0;
		lost |= !found && first && optional;
		first = false;
		result = open_row(o, row, found ? &place : NULL, &why, e);
	}
	return result;
}

#define VALUE_KIND(name, words, settings) \
	const struct probe_kind probe_kind_##name = {#name, 1, words, settings, true, false, open_values}
VALUE_KIND(power, 1, SETTINGS_CHANNEL SETTINGS_PLACE);
VALUE_KIND(temp, 1, SETTINGS_CHANNEL SETTINGS_PLACE " scale ");
VALUE_KIND(fan, 1, SETTINGS_CHANNEL SETTINGS_PLACE);
VALUE_KIND(pwm, 1, SETTINGS_CHANNEL SETTINGS_PLACE);
VALUE_KIND(value, 1, SETTINGS_CHANNEL SETTINGS_PLACE " scale ");
VALUE_KIND(gated, 1, " dir devfreq label note hint ");
VALUE_KIND(limits, 1, " devfreq label note hint ");
VALUE_KIND(engine, 2, " dir devfreq path load gate label note hint ");
