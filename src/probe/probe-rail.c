/* Reads power rails: voltage, current and power of one channel of a chip, at whichever path the kernel
 * exposes that chip now. A chip is one probe with all of its rails.
 *
 * The three are one unit: a voltage without its current is of no use, so when one read fails all are missing
 * at that tick. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"
#include "probe/rail.h"

#define IIO_DRIVER "ina3221x"

struct chip {
	struct probe probe;
	char dir[PLACE_DIR];
	struct bench *bench;          /* owned by the probe's reader */
	uint16_t column[CHIP_METERS]; /* of the voltage; current and power follow */
};

static void chip_read(struct probe *p, int64_t t_ns, double *row)
{
	static const enum channel_kind kinds[METER_VALUES] = {CHANNEL_RAIL_VOLTAGE, CHANNEL_RAIL_CURRENT,
							      CHANNEL_RAIL_POWER};
	struct chip *c = (struct chip *)p;
	double v[CHIP_METERS * METER_VALUES], *value = v;
	int64_t before = p->seen.t_ns;

	if (!probe_take(p, t_ns, v)) {
		for (size_t i = 0; c->bench->hangs && !p->seen.pass && i < c->bench->n; i++) /* since it was opened */
			for (int k = 0; k < METER_VALUES; k++)
				row[c->column[i] + k] = missing_value(MISSING_ERROR, ETIME);
		return;
	}
	p->read_ns = p->seen.t_ns != before ? p->seen.t_ns : 0;
	for (size_t i = 0; i < c->bench->n; i++, value += METER_VALUES) {
		int lost = 0; /* the one that could not be read; the others are missing for its sake */
		while (lost < METER_VALUES && missing_why(value[lost]) == MISSING)
			lost++;
		for (int k = 0; k < METER_VALUES; k++) {
			if (lost < METER_VALUES && k != lost && isnan(value[k]))
				value[k] = missing_value(MISSING_PART, (unsigned)(c->column[i] + lost));
			row[c->column[i] + k] = channel_round(kinds[k], value[k]);
		}
	}
}

static const struct probe_ops chip_ops = {chip_read, probe_stop};

static struct chip *chip_at(const struct probe_ctx *o, size_t i)
{
	struct probe *p = o->probes->probes[i];

	return p->ops == &chip_ops && p->tier == o->s->tier ? (struct chip *)p : NULL;
}

/* Adds the three channels. If the rail is missing, all three are; if the chip provides only the power, the
 * other two are. */
static int add_channels(struct probe_ctx *o, const struct meter *m, const char *name, bool wild,
			int64_t window_ns, const char *note, const struct reason *why, struct err *e)
{
	static const char *const endings[] = {".voltage", ".current", ".power"};
	char full[64], path[192];

	for (int i = 0; i < METER_VALUES; i++) {
		struct channel ch;
		text_join(full, sizeof full, name, endings[i]);
		channel_describe(o, &ch, full, wild);
		ch.window_ns = window_ns;
		ch.period_ns = window_ns > o->tick_ns ? window_ns : 0;
		if (!ch.note[0] && !why)
			text_printable(ch.note, sizeof ch.note, note, strlen(note));
		if (why) {
			reason_set(why, o, &ch);
		} else if (attr_is_open(&m->attrs[i])) {
			text_join(ch.source, sizeof ch.source, m->attrs[i].path);
			if (i == METER_CURRENT)
				rail_limits(o->root, &m->place, &ch);
		} else if (i == METER_POWER) {
			snprintf(ch.source, sizeof ch.source, "%.50s.voltage x %.50s.current / 1000", name,
				 name);
		} else {
			meter_path(&m->place, i, "_input", path, sizeof path);
			reason_one(o, &ch, path, ENOENT);
		}
		if (probe_ctx_add(o, &ch, e) < 0)
			return -1;
	}
	return 0;
}

/* Returns the chip of that directory, a new one if there is none with room; NULL and sets *e if out of memory. */
static struct chip *chip_of(struct probe_ctx *o, const struct meter *m, struct err *e)
{
	for (size_t i = 0; i < o->probes->n_probes; i++) {
		struct chip *c = chip_at(o, i);
		if (c && !strcmp(c->dir, m->place.dir) && c->bench->n < CHIP_METERS)
			return c;
	}
	struct chip *c = probe_new(o, sizeof *c, 0, &chip_ops, 0, e);
	if (!c)
		return NULL;
	c->probe.timed = true;
	text_join(c->dir, sizeof c->dir, m->place.dir);
	c->probe.reader = bench_new(o->probes->root, o->tick_ns, &c->bench);
	if (!c->probe.reader) {
		probe_free(&c->probe);
		statement_error(o->s, e, _("out of memory"));
		return NULL;
	}
	for (int i = 0; i < METER_VALUES; i++)
		if (attr_is_open(&m->attrs[i]))
			async_reader_on_bus_of(c->probe.reader, &m->attrs[i]);
	return probe_ctx_add_probe(o, &c->probe, e) < 0 ? NULL : c;
}

/* Adds an open meter to its chip, with its channels. */
static int add_meter(struct probe_ctx *o, struct meter *m, const char *name, bool wild, struct err *e)
{
	const char *period = setting_get(o->s, "period");
	struct chip *c = chip_of(o, m, e);
	char note[96] = "";
	double values[METER_VALUES];
	int64_t window_ns = rail_window(o->root, &m->place, note, sizeof note);

	if (!c) {
		meter_close(m);
		return -1;
	}
	if (period)
		num_duration_ns(period, &window_ns);
	if (m->place.kind == PLACE_BUS)
		text_join(note, sizeof note, note, note[0] ? "; " : "", _("named by the module's order"));
	if (c->bench->hangs || !meter_read(m, o->root, values)) {
		int error = c->bench->hangs ? ETIME : errno;

		c->bench->hangs |= error == ETIME;
		if (error == ENODATA)
			snprintf(note, sizeof note, "%s", _("the chip has this channel disabled"));
		else
			snprintf(note, sizeof note, _("not readable when nvmtop started: %.48s"),
				 root_error(error));
	}
	c->column[c->bench->n] = (uint16_t)o->probes->width[o->s->tier];
	c->bench->meters[c->bench->n++] = *m;
	return add_channels(o, m, name, wild, window_ns, note, NULL, e);
}

/* place was found already; if it is NULL, why contains the reason. */
static int add_rail(struct probe_ctx *o, const struct place *place, const char *name, bool wild,
		    struct reason *why, struct err *e)
{
	struct meter m = {.attrs = {{.fd = -1}, {.fd = -1}, {.fd = -1}}};

	if (place) {
		m.place = *place;
		if (meter_open(&m, o->root) == 0)
			return add_meter(o, &m, name, wild, e);
		reason_add_place(why, place, errno);
	}
	return add_channels(o, NULL, name, wild, 0, "", why, e);
}

/* Returns true if a label names no rail. */
static bool no_rail(const char *label)
{
	return !strcmp(label, "NC") || !strcmp(label, "sum of shunt voltages");
}

/* Returns how many rails of that chip name and label exist already. */
static unsigned place_count(const struct probe_ctx *o, const struct place *place)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->probes->n_probes; i++) {
		const struct chip *c = chip_at(o, i);
		for (size_t k = 0; c && k < c->bench->n; k++)
			n += place_equal(&c->bench->meters[k].place, place);
	}
	return n;
}

/* Adds channel n of a hwmon chip, named by its label or, for the first one, by that of the whole chip. */
static int wild_channel(struct probe_ctx *o, struct place *place, unsigned n, struct err *e)
{
	char label[64], path[192], name[40], stem[24];
	long long on;
	struct reason why = {.denied = false};

	if (n > 3 && rail_is_ina3221(o->root, place))
		return 0;
	text_number(place->stem, sizeof place->stem, "in", n);
	text_number(stem, sizeof stem, "/curr", n);
	text_join(path, sizeof path, place->dir, stem, "_input");
	text_number(stem, sizeof stem, "/in", n);
	if (!file_exists(o->root, path) || (file_number_of(o->root, &on, place->dir, stem, "_enable") == 0 && !on))
		return 0;
	meter_path(place, METER_VOLTAGE, "_input", place->path, sizeof place->path);
	meter_path(place, METER_VOLTAGE, "_label", path, sizeof path);
	bool labelled = file_line(o->root, path, label, sizeof label) && *label;
	if (!labelled && n == 1) {
		labelled = file_line_of(o->root, label, sizeof label, place->dir, "/label") && *label;
	}
	if ((labelled && no_rail(label)) || !file_exists(o->root, place->path))
		return 0;
	text_join(place->which, sizeof place->which, labelled ? label : place->stem);
	if (labelled)
		snprintf(name, sizeof name, "%.36s", label);
	else
		snprintf(name, sizeof name, "%.24s_%.8s", place->name, place->stem);
	place->nth = place_count(o, place);
	return add_rail(o, place, name, true, &why, e);
}

static int wild_hwmon(struct probe_ctx *o, struct err *e)
{
	for (unsigned n = 0; n < PLACES_MAX; n++) {
		struct place place = {.kind = PLACE_HWMON};

		if (!place_number(&place, o->root, n, place.name))
			continue;
		for (unsigned k = 0; k < 16; k++)
			if (wild_channel(o, &place, k, e) < 0)
				return -1;
	}
	return 0;
}

static int wild_iio(struct probe_ctx *o, struct err *e)
{
	size_t n;
	int error, result = 0;
	struct place *all = iio_rails(o->root, IIO_DRIVER, &n, &error);

	for (size_t i = 0; i < n && !result; i++) {
		struct reason why = {.denied = false};
		char name[40];

		if (!all[i].which[0] || no_rail(all[i].which))
			continue;
		snprintf(name, sizeof name, "%.36s", all[i].which);
		all[i].nth = place_count(o, &all[i]);
		result = add_rail(o, &all[i], name, true, &why, e);
	}
	free(all);
	return result;
}

static int open_wild(struct probe_ctx *o, struct err *e)
{
	const char *value;

	for (size_t i = 0; (value = setting_nth(o->s, "hwmon", i)); i++)
		if (!strcmp(value, "*") && wild_hwmon(o, e) < 0)
			return -1;
	value = setting_get(o->s, "iio");
	return value && !strcmp(value, "*") ? wild_iio(o, e) : 0;
}

static bool try_place(struct probe_ctx *o, const char *key, const char *value, struct place *place,
		      struct reason *why)
{
	if (!place_set(place, key, value))
		return false;
	if (place_find(place, o->root, "in") == 0)
		return true;
	reason_add_place(why, place, errno);
	return false;
}

/* Finds the first INA3221 whose channels have no names, because the device tree omits them; place->dir gets
 * its directory. */
static bool nameless(const struct root *r, struct place *place)
{
	char label[8], number[24];

	for (unsigned n = 0; n < 64; n++) {
		bool named = false;
		text_number(place->dir, sizeof place->dir, "/sys/class/hwmon/hwmon", n);
		for (unsigned k = 1; k <= 3; k++) {
			text_number(number, sizeof number, "/in", k);
			named |= file_line_of(r, label, sizeof label, place->dir, number, "_label") && *label;
		}
		if (!named && rail_is_ina3221(r, place))
			return true;
	}
	return false;
}

/* Finds a rail without a name by its place on the module's chip, if the board file gives the address (bus=)
 * and the chip has no names. Otherwise why reports a chip without names, if one exists. */
static bool by_order(struct probe_ctx *o, struct place *place, struct reason *why)
{
	struct place chip = {.kind = PLACE_HWMON};
	const char *value = setting_get(o->s, "bus");
	char path[192], label[8];

	if (value && place_set(place, "bus", value) && place_find(place, o->root, "in") == 0) {
		text_join(path, sizeof path, place->dir, "/", place->stem, "_label");
		if (rail_is_ina3221(o->root, place) &&
		    !(file_line(o->root, path, label, sizeof label) && *label))
			return true;
	}
	if (!nameless(o->root, &chip))
		return false;
	why->tried[0] = '\0';
	reason_add_text(why, chip.dir, _("an ina3221 whose channels have no names"));
	snprintf(why->cure, sizeof why->cure, _("a board file can name them: rail %.36s hwmon=ina3221/in1"),
		 o->s->words[0]);
	return false;
}

static int open_rail(struct probe_ctx *o, struct err *e)
{
	const char *name = o->s->words[0];
	struct reason why = {.denied = false};
	struct place place;
	size_t places = 0;
	char value[64];

	if (!strcmp(name, "*"))
		return open_wild(o, e);
	for (size_t i = 0; i < o->s->n_settings; i++) {
		const struct setting *t = &o->s->settings[i];
		if (strcmp(t->key, "hwmon") != 0 && strcmp(t->key, "iio") != 0)
			continue;
		places++;
		if (try_place(o, t->key, t->value, &place, &why))
			return add_rail(o, &place, name, false, &why, e);
	}
	if (!places) {
		/* Search every chip that measures this rail, whatever its driver. */
		text_join(value, sizeof value, "ina*/", name);
		if (try_place(o, "hwmon", value, &place, &why))
			return add_rail(o, &place, name, false, &why, e);
		text_join(value, sizeof value, IIO_DRIVER "/", name);
		if (try_place(o, "iio", value, &place, &why) || by_order(o, &place, &why))
			return add_rail(o, &place, name, false, &why, e);
	}
	return add_rail(o, NULL, name, false, &why, e);
}

const struct probe_kind probe_kind_rail = {"rail", 1,     1,        " hwmon iio bus label note period hint ",
					   false,  false, open_rail};
