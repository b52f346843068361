/* Reads power rails: voltage, current and power of one channel of a chip, at whichever path the kernel
 * exposes that chip now. A chip is one probe with all of its rails.
 *
 * Each value takes a transfer or two on a slow bus, some kernels wait for a conversion in each read, and a bus that
 * hangs blocks a read for seconds: so the thread of the bus reads it, at random moments.
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
	size_t n;
	struct meter meters[CHIP_METERS];
	uint16_t columns[CHIP_METERS * METER_VALUES];
};

static void chip_read(struct probe *p, int64_t t_ns, double *row)
{
	struct chip *c = (struct chip *)p;
	double v[METER_VALUES];

	for (size_t i = 0; i < c->n; i++) {
		const uint16_t *to = &c->columns[i * METER_VALUES];
		int lost = meter_read(&c->meters[i], p->root, t_ns, v);
		for (int k = 0; k < METER_VALUES; k++)
			row[to[k]] = lost < 0 || lost == METER_VALUES || k == lost ? v[k]
				     : missing_value(MISSING_PART, to[lost]);
	}
}

static const struct probe_ops chip_ops = {chip_read, probe_free};

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
static struct chip *chip_of(struct probe_ctx *o, const struct place *place, struct err *e)
{
	for (size_t i = 0; i < o->probes->n_probes; i++) {
		struct chip *c = chip_at(o, i);
		if (c && !strcmp(c->dir, place->dir) && c->n < CHIP_METERS)
			return c;
	}
	struct chip *c = probe_new(o, sizeof *c, (size_t)CHIP_METERS * METER_VALUES, &chip_ops, 0, e);
	if (!c)
		return NULL;
	c->probe.timed = true;
	c->probe.thread = "nvmtop-rails";
	c->probe.columns = c->columns;
	text_join(c->dir, sizeof c->dir, place->dir);
	return probe_ctx_add_probe(o, &c->probe, e) < 0 ? NULL : c;
}

/* place was found already; if it is NULL, why contains the reason. */
static int add_rail(struct probe_ctx *o, const struct place *place, const char *name, bool wild,
		    struct reason *why, struct err *e)
{
	const char *period = setting_get(o->s, "period");
	char note[96] = "";
	double values[METER_VALUES];

	if (!place)
		return add_channels(o, NULL, name, wild, 0, "", why, e);
	struct chip *c = chip_of(o, place, e);
	if (!c)
		return -1;
	struct meter *m = &c->meters[c->n];
	m->place = *place;
	m->attrs = &c->probe.attrs[c->n * METER_VALUES];
	if (meter_open(m, o->root) < 0) {
		reason_add_place(why, place, errno);
		return add_channels(o, NULL, name, wild, 0, "", why, e);
	}
	int64_t window_ns = rail_window(o->root, place, note, sizeof note);
	if (period)
		num_duration_ns(period, &window_ns);
	if (place->kind == PLACE_BUS)
		text_join(note, sizeof note, note, note[0] ? "; " : "", _("named by the module's order"));
	int64_t begin_ns = clock_now_ns();
	bool failed = c->probe.hung || meter_read(m, o->root, 0, values) >= 0;
	int error = c->probe.hung ? ETIME : errno;
	c->probe.waits |= failed || clock_now_ns() - begin_ns > QUICK_NS;
	if (failed) {
		c->probe.hung = error == ETIME; /* no more reads while rails are opened */
		if (error == ENODATA)
			snprintf(note, sizeof note, "%s", _("the chip has this channel disabled"));
		else
			snprintf(note, sizeof note, _("not readable when nvmtop started: %.48s"),
				 root_error(error));
	}
	for (size_t k = 0; k < METER_VALUES; k++)
		c->columns[c->probe.width++] = (uint16_t)(o->probes->width[o->s->tier] + k);
	c->probe.column = c->columns[0];
	c->n++;
	return add_channels(o, m, name, wild, window_ns, note, NULL, e);
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
		for (size_t k = 0; c && k < c->n; k++)
			n += place_equal(&c->meters[k].place, place);
	}
	return n;
}

/* Adds all channels of hwmon chips that have voltage and current, named by their label or, the first one, by that of the
 * whole chip. */
static int wild_hwmon(struct probe_ctx *o, struct err *e)
{
	struct place p = {.kind = PLACE_HWMON};
	char name[40], label[sizeof p.which], path[192];

	for (unsigned at = 0; place_next(&p, o->root, "in", &at);) {
		struct reason why = {.denied = false};
		unsigned n = (at - 1) % PLACE_EACH;
		bool shunt = n > 3 && rail_is_ina3221(o->root, &p), labelled = strcmp(p.which, p.stem) != 0;

		meter_path(&p, METER_CURRENT, "_input", path, sizeof path);
		if (shunt || strncmp(p.stem, "in", 2) != 0 || !file_exists(o->root, path))
			continue;
		if (n == 1 && !labelled && file_line_of(o->root, label, sizeof label, p.dir, "/label") && *label) {
			memcpy(p.which, label, sizeof label);
			labelled = true;
		}
		if (labelled && no_rail(p.which))
			continue;
		if (labelled)
			snprintf(name, sizeof name, "%.36s", p.which);
		else
			snprintf(name, sizeof name, "%.24s_%.8s", p.name, p.stem);
		p.nth = place_count(o, &p);
		if (add_rail(o, &p, name, true, &why, e) < 0)
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
