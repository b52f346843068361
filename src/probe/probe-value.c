/* Reads one number from one file: temperatures, fans, clocks, power sensors, and anything else that a board
 * file names.
 *
 * A unit that is powered down returns EAGAIN until it is powered up: its value is missing at that tick, and
 * it is never read twice in one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"
#include "model/missing.h"
#include "probe/open.h"
#include "probe/rail.h"

#define TRIPS    32
#define BINDINGS 64

enum { NUMBER, COUNTING, FILES }; /* if COUNTING is 0, NUMBER means nothing */

struct value {
	struct probe probe;
	struct place place;
	const char *attribute;
	enum channel_kind kind;
	double scale;
	int64_t retry_ns;
};

/* How each probe word interprets a file. */
static const struct form {
	const char *probe, *prefix, *suffix; /* of the channel's name */
	const char *attribute;               /* of hwmon */
	double scale;                        /* to the channel's unit */
} forms[] = {
	/* the last one is the default */
	{"temp", "temp.", "", "temp", 1e-3},
	{"fan", "fan.", "", "fan", 1},
	{"pwm", "fan.", "", "pwm", 100 / 255.0},
	{"power", "", ".power", "power", 1e-3},
	{"value", "", "", "", 1},
};

static bool reopen(struct value *v, int64_t t_ns)
{
	if (t_ns < v->retry_ns)
		return false;
	v->retry_ns = t_ns + NS_PER_S;
	return (v->place.kind == PLACE_DEVFREQ || place_find(&v->place, v->probe.root, v->attribute) == 0) &&
	       attr_open(&v->probe.attrs[NUMBER], v->probe.root, v->place.path) == 0;
}

/* Returns true if the speed measurement of a fan is off: its driver then reports 0. */
static bool counts_nothing(const struct probe *p)
{
	struct attr *a = &p->attrs[COUNTING];
	double on;

	return attr_is_open(a) && attr_number(a, p->root, &on) && on <= 0;
}

static void value_read(struct probe *p, int64_t t_ns, double *row)
{
	struct value *v = (struct value *)p;
	struct attr *a = &p->attrs[NUMBER];
	double number;

	if (counts_nothing(p))
		number = missing_value(MISSING_OFF, 0);
	else if (!attr_is_open(a) && !reopen(v, t_ns))
		number = missing_value(MISSING_ERROR, (unsigned)a->error);
	else if (!attr_value(a, p->root, v->scale, v->kind, &number) && attr_gone(errno)) {
		a->error = errno;
		attr_close(a);
	}
	row[p->column] = channel_round(v->kind, number);
}

static const struct probe_ops value_ops = {value_read, probe_free};

/* Zones that measure nothing. */
static const struct {
	const char *type, *note;
} made_up[] = {
	{"PMIC-Die", N_("a constant, not measured")},
	{"thermal-fan-est", N_("an estimate for the fan, not measured")},
};

static const char *made_up_note(const struct place *place)
{
	for (size_t i = 0; place->kind == PLACE_ZONE && i < sizeof made_up / sizeof *made_up; i++)
		if (!strcmp(place->name, made_up[i].type))
			return _(made_up[i].note);
	return NULL;
}

bool value_is_made_up(const struct probe_set *r, const struct channel *c)
{
	for (size_t i = 0; i < r->n_probes; i++) {
		const struct value *v = (const struct value *)r->probes[i];
		if (r->probes[i]->ops == &value_ops && v->probe.tier == c->tier &&
		    v->probe.column == c->column)
			return made_up_note(&v->place) != NULL;
	}
	return false;
}

static const struct form *form_of(const struct statement *s)
{
	size_t i = 0;

	while (i < sizeof forms / sizeof *forms - 1 && strcmp(forms[i].probe, s->probe) != 0)
		i++;
	return &forms[i];
}

/* Corrects what the name implies: a fan.NAME that is a pwm is no speed. */
static void describe(const struct probe_ctx *o, const struct form *form, struct channel *ch, const char *name,
		     bool wild)
{
	channel_describe(o, ch, name, wild);
	if (strcmp(form->attribute, "pwm") != 0 || setting_get(o->s, "unit"))
		return;
	ch->unit = UNIT_PERCENT;
	ch->lo = 0;
	ch->hi = 100;
}

/* On L4T 28 to 32 a file next to the fan's speed turns its measurement on. Returns true if it is off. */
static bool tachometer_off(const struct probe *p, struct reason *why)
{
	static const char speed[] = "/rpm_measured";
	const char *file = p->attrs[NUMBER].path;
	char path[sizeof p->attrs->path];

	if (!text_ends_in(file, speed))
		return false;
	text_join(path, strlen(file) - strlen(speed) + 1, file);
	text_join(path, sizeof path, path, "/tach_enable");
	if (attr_open(&p->attrs[COUNTING], p->root, path) < 0 || !counts_nothing(p))
		return false;
	why->tried[0] = '\0';
	reason_add_text(why, file, _("the tachometer is off"));
	snprintf(why->cure, sizeof why->cure,
		 _("to turn it on: echo 1 | sudo tee %.64s; then start nvmtop again"), path);
	return true;
}

/* Returns the temperature in a file of the kernel, or NaN if it is out of range. */
static double limit_of(const struct probe_ctx *o, const char *dir, const char *stem, const char *ending)
{
	long long v;

	return file_number_of(o->root, &v, dir, stem, ending) == 0 && v > 0 && v <= 200000 ? (double)v / 1000
											   : NAN;
}

/* Returns the trip points (a bit each) at which a device that really throttles begins. The kernel has trips
 * for mere notices too, such as a hot surface. */
static uint32_t slowing_trips(const struct probe_ctx *o, const char *dir)
{
	char stem[128], type[72];
	uint32_t trips = 0;
	long long trip;

	for (unsigned n = 0; n < BINDINGS; n++) {
		text_join(stem, sizeof stem, dir, "/cdev");
		text_number(stem, sizeof stem, stem, n);
		if (file_number_of(o->root, &trip, stem, "_trip_point") < 0 || trip < 0 || trip >= TRIPS)
			continue;
		/* ACPI has a Processor for each core, which is slowed down, too. */
		if (file_line_of(o->root, type, sizeof type, stem, "/type") &&
		    (cooling_slows(type) || !strcmp(type, "Processor")))
			trips |= UINT32_C(1) << trip;
	}
	return trips;
}

/* Sets the limits from a zone's trip points: where the kernel begins to slow something down, and where it
 * switches off. Those called active are for fans. */
static void find_trips(const struct probe_ctx *o, const char *dir, struct channel *ch)
{
	char stem[32], type[24];
	double passive = NAN, hot = NAN;
	uint32_t slowing = slowing_trips(o, dir);

	for (unsigned n = 0; n < TRIPS; n++) {
		text_number(stem, sizeof stem, "/trip_point_", n);
		if (!file_line_of(o->root, type, sizeof type, dir, stem, "_type"))
			break;
		/* fmin(): the lower of two; ignores a NaN */
		if (!strcmp(type, "passive") && (slowing >> n & 1))
			passive = fmin(passive, limit_of(o, dir, stem, "_temp"));
		else if (!strcmp(type, "hot"))
			hot = fmin(hot, limit_of(o, dir, stem, "_temp"));
		else if (!strcmp(type, "critical"))
			ch->crit = fmin(ch->crit, limit_of(o, dir, stem, "_temp"));
	}
	ch->warn = fmin(ch->warn, fmin(passive, hot));
	if (!ch->note[0] && !isnan(passive) && !isnan(hot) && hot != passive)
		snprintf(ch->note, sizeof ch->note, _("trip points: passive %g, hot %g"), passive, hot);
}

/* Sets the warning and critical limits of a temperature: the trip points of a thermal zone, or the limits of
 * a hwmon chip. */
static void heat_limits(const struct probe_ctx *o, const struct place *place, struct channel *ch)
{
	char stem[80];

	if (place->kind == PLACE_ZONE)
		find_trips(o, place->dir, ch);
	if (place->kind != PLACE_HWMON || strncmp(place->stem, "temp", 4) != 0)
		return;
	text_join(stem, sizeof stem, "/", place->stem);
	ch->warn = limit_of(o, place->dir, stem, "_max");
	ch->crit = limit_of(o, place->dir, stem, "_crit");
}

/* A chip whose driver has an average says over which time; any other is asked as one of a rail. */
static void power_window(const struct probe_ctx *o, const struct place *place, struct channel *ch)
{
	size_t stem = strlen(place->path) - strlen("_average");
	char note[sizeof ch->note] = "";
	long long ms;

	if (place->kind != PLACE_HWMON && place->kind != PLACE_IIO)
		return;
	if (strlen(place->path) > strlen("_average") && !strcmp(place->path + stem, "_average"))
		ch->window_ns = file_number_of(o->root, &ms, place->path, "_interval") < 0 || ms <= 0 || ms > 60000
					? WINDOW_UNKNOWN
					: ms * NS_PER_MS;
	else
		ch->window_ns = rail_window(o->root, place, note, sizeof note);
	if (!ch->note[0])
		text_join(ch->note, sizeof ch->note, note);
}

/* Adds to a channel what its place provides. */
static void describe_place(const struct probe_ctx *o, const struct place *place, struct channel *ch)
{
	const char *note = made_up_note(place);

	text_join(ch->source, sizeof ch->source, place->path);
	if (note && !ch->note[0])
		text_printable(ch->note, sizeof ch->note, note, strlen(note));
	if (ch->kind == CHANNEL_TEMPERATURE && !note)
		heat_limits(o, place, ch);
	if (ch->kind == CHANNEL_RAIL_POWER)
		power_window(o, place, ch);
}

/* Opens place as the channel ch. If place is NULL the channel is missing, with why. */
static int add_value(struct probe_ctx *o, const struct place *place, const struct form *form,
		     struct channel *ch, double scale, struct reason *why, struct err *e)
{
	struct value *v = probe_new(o, sizeof *v, FILES, &value_ops, ch->period_ns, e);
	struct attr *a = v ? &v->probe.attrs[NUMBER] : NULL;
	double number;

	if (!v)
		return -1;
	v->attribute = form->attribute;
	v->kind = ch->kind;
	v->scale = scale;
	if (place)
		v->place = *place;
	if (place && place->kind == PLACE_ZONE)
		text_printable(ch->kernel, sizeof ch->kernel, place->name, strlen(place->name));
	bool open = place && attr_open(a, o->root, place->path) == 0;
	int error = open && attr_value(a, o->root, scale, ch->kind, &number) ? 0 : errno;
	/* A file that hangs would delay all that is sampled in its tier. */
	bool off = open && tachometer_off(&v->probe, why), found = open && !off && error != ETIME;
	if (found)
		describe_place(o, place, ch);
	else if (place && !off)
		reason_add_place(why, place, error);
	if (!found)
		reason_set(why, o, ch);
	if (!found || scale != 1 || !emc_reads(o->probes, place->path, ch->period_ns))
		return probe_ctx_finish(o, &v->probe, probe_ctx_add(o, ch, e), found, e);
	probe_free(&v->probe);
	return emc_add_rate(o, ch, place->path, e);
}

static double scale_of(const struct statement *s, const struct form *form)
{
	const char *text = setting_get(s, "scale");
	double scale = form->scale;

	if (text)
		num_double(text, &scale);
	return scale;
}

static unsigned place_count(const struct probe_set *probes, const struct place *place)
{
	unsigned n = 0;

	for (size_t i = 0; i < probes->n_probes; i++) {
		const struct value *v = (const struct value *)probes->probes[i];
		n += probes->probes[i]->ops == &value_ops && place_equal(&v->place, place);
	}
	return n;
}

int value_add(struct probe_ctx *o, struct place *place, struct channel *ch, struct err *e)
{
	struct reason why = {.denied = false};

	place->nth = place_count(o->probes, place);
	return add_value(o, place, form_of(o->s), ch, 1, &why, e);
}

static int add_wild(struct probe_ctx *o, const struct form *form, struct place *place, const char *stem,
		    const char *label, struct err *e)
{
	struct reason why = {.denied = false};
	struct channel ch;
	char name[64];

	place->nth = place_count(o->probes, place);
	snprintf(name, sizeof name, "%s%s%s", form->prefix, stem, form->suffix);
	describe(o, form, &ch, name, true);
	if (label)
		text_printable(ch.label, sizeof ch.label, label, strlen(label));
	return add_value(o, place, form, &ch, scale_of(o->s, form), &why, e);
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

/* Adds every thermal zone, by its type. */
static int wild_zones(struct probe_ctx *o, const struct form *form, struct err *e)
{
	for (unsigned n = 0; n < PLACES_MAX; n++) {
		struct place place = {.kind = PLACE_ZONE, .stem = "temp"};

		if (!place_number(&place, o->root, n, place.name))
			continue;
		text_join(place.path, sizeof place.path, place.dir, "/temp");
		if (file_exists(o->root, place.path) && !is_read(o->probes, place.path) &&
		    add_wild(o, form, &place, place.name, NULL, e) < 0)
			return -1;
	}
	return 0;
}

static int wild_chip(struct probe_ctx *o, const struct form *form, unsigned hwmon, struct err *e)
{
	struct place place = {.kind = PLACE_HWMON};
	char path[192], label[64], stem[96], shown[128];
	long long on;

	if (!place_number(&place, o->root, hwmon, place.name) || value_is_zone(o->probes, place.name))
		return 0;
	for (unsigned n = 0; n < 64; n++) {
		text_number(place.stem, sizeof place.stem, form->attribute, n);
		text_join(path, sizeof path, place.dir, "/", place.stem);
		text_join(place.path, sizeof place.path, path, strcmp(form->attribute, "pwm") ? "_input" : "",
			  "");
		if (!strcmp(form->attribute, "power") && !file_exists(o->root, place.path))
			text_join(place.path, sizeof place.path, path, "_average");
		text_join(path, sizeof path, path, "_label");
		if (!file_exists(o->root, place.path) || is_read(o->probes, place.path) ||
		    (strcmp(form->attribute, "pwm") != 0 &&
		     file_number_of(o->root, &on, place.dir, "/", place.stem, "_enable") == 0 && !on))
			continue;
		bool labelled = file_line(o->root, path, label, sizeof label) && *label;
		const char *which = labelled ? label : place.stem;
		text_join(place.which, sizeof place.which, which);
		snprintf(stem, sizeof stem, "%.30s.%.40s", place.name, which);
		snprintf(shown, sizeof shown, "%.60s %.60s", place.name, which);
		for (char *p = stem; form->suffix[0] && *p; p++)
			if (*p == '.')
				*p = '_'; /* the part before the dot names the rail */
		if (add_wild(o, form, &place, stem, shown, e) < 0)
			return -1;
	}
	return 0;
}

static int open_wild(struct probe_ctx *o, const struct form *form, struct err *e)
{
	for (size_t i = 0; i < o->s->n_settings; i++) {
		const struct setting *t = &o->s->settings[i];
		if (strcmp(t->value, "*") != 0)
			continue;
		if (!strcmp(t->key, "zone") && wild_zones(o, form, e) < 0)
			return -1;
		for (unsigned n = 0; n < PLACES_MAX && !strcmp(t->key, "hwmon"); n++)
			if (wild_chip(o, form, n, e) < 0)
				return -1;
	}
	return 0;
}

/* Adds the other fans of that name. */
static int add_others(struct probe_ctx *o, const struct form *form, struct place *place, const char *name,
		      struct err *e)
{
	struct reason why = {.denied = false};
	struct channel ch;
	int result = 0;

	if (strcmp(form->prefix, "fan.") != 0 || place->kind != PLACE_HWMON)
		return 0;
	for (place->nth = 1; !result && place_find(place, o->root, form->attribute) == 0; place->nth++) {
		describe(o, form, &ch, name, true);
		result = add_value(o, place, form, &ch, scale_of(o->s, form), &why, e);
	}
	return result;
}

static int open_value(struct probe_ctx *o, struct err *e)
{
	const struct form *form = form_of(o->s);
	struct reason why = {.denied = false};
	struct channel ch;
	struct place place;
	char name[64];

	if (!strcmp(o->s->words[0], "*"))
		return open_wild(o, form, e);
	text_join(name, sizeof name, form->prefix, o->s->words[0], form->suffix);
	describe(o, form, &ch, name, false);
	for (size_t i = 0; i < o->s->n_settings; i++) {
		const struct setting *t = &o->s->settings[i];
		if (!place_set(&place, t->key, t->value))
			continue;
		if (place_find(&place, o->root, form->attribute) < 0) {
			reason_add_place(&why, &place, errno);
			continue;
		}
		if (file_exists(o->root, place.path) && errno != EACCES)
			return add_value(o, &place, form, &ch, scale_of(o->s, form), &why, e) < 0
				       ? -1
				       : add_others(o, form, &place, name, e);
		reason_add_place(&why, &place, errno);
	}
	return add_value(o, NULL, form, &ch, 1, &why, e);
}

const struct probe_kind probe_kind_power = {
	"power", 1, 1, SETTINGS_CHANNEL SETTINGS_PLACE, true, false, open_value};
const struct probe_kind probe_kind_temp = {
	"temp", 1, 1, SETTINGS_CHANNEL SETTINGS_PLACE " scale ", true, false, open_value};
const struct probe_kind probe_kind_fan = {
	"fan", 1, 1, SETTINGS_CHANNEL SETTINGS_PLACE, true, false, open_value};
const struct probe_kind probe_kind_pwm = {
	"pwm", 1, 1, SETTINGS_CHANNEL SETTINGS_PLACE, true, false, open_value};
const struct probe_kind probe_kind_value = {
	"value", 1, 1, SETTINGS_CHANNEL SETTINGS_PLACE " scale ", true, false, open_value};
