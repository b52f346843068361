/* Reads power rails: voltage, current and power of one channel of a chip, at whichever path the kernel
 * exposes that chip now.
 *
 * The three are one unit: a voltage without its current is of no use, so when one read fails all are missing
 * at that tick. Their cost is measured before the first tick, and slow chips are read less often. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"
#include "probe/rail.h"

#define IIO_DRIVER "ina3221x"

struct rail {
	struct probe probe;
	struct chip *chip;
	int meter;
	bool noted; /* its note is permanent */
	bool tells_rate;
};

static void rail_read(struct probe *p, int64_t t_ns, double *row)
{
	static const enum channel_kind kinds[] = {CHANNEL_RAIL_VOLTAGE, CHANNEL_RAIL_CURRENT,
						  CHANNEL_RAIL_POWER};
	struct rail *l = (struct rail *)p;
	double values[METER_VALUES], rate;

	p->read_ns = chip_values(l->chip, t_ns, l->meter, values, &rate);
	for (int i = 0; i < METER_VALUES; i++)
		row[p->column + i] = channel_round(kinds[i], values[i]);
	if (l->tells_rate)
		row[p->column + METER_VALUES] = rate;
}

static void rail_close(struct probe *p)
{
	chip_release(((struct rail *)p)->chip);
	probe_free(p);
}

static const struct probe_ops rail_ops = {rail_read, rail_close};

static struct rail *rail_at(const struct probe_ctx *o, size_t i)
{
	struct probe *p = o->probes->probes[i];

	return p->ops == &rail_ops && p->tier == o->s->tier ? (struct rail *)p : NULL;
}

/* Adds the three channels. If the rail is missing, all three are; if the chip provides only the power, the
 * other two are. */
static int add_channels(struct probe_ctx *o, const struct meter *m, const char *name, bool wild,
			const char *note, const struct reason *why, struct err *e)
{
	static const char *const endings[] = {".voltage", ".current", ".power"};
	char full[64], path[192];

	for (int i = 0; i < METER_VALUES; i++) {
		struct channel ch;
		text_join(full, sizeof full, name, endings[i]);
		channel_describe(o, &ch, full, wild);
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

static long long round_ms(int64_t ns)
{
	return (ns + NS_PER_MS / 2) / NS_PER_MS;
}

/* Updates the period of the chip's rails, which changes with each rail that is added. */
static void tell_period(struct probe_ctx *o, const struct chip *chip)
{
	int64_t period = chip_period(chip), cost = chip->cost_ns;
	bool slow = 2 * cost > o->tick_ns;

	for (size_t i = 0; i < o->probes->n_probes; i++) {
		const struct rail *l = rail_at(o, i);
		if (!l || l->chip != chip)
			continue;
		for (size_t k = 0; k < o->probes->n_channels; k++) {
			struct channel *ch = &o->probes->channels[k];
			if (ch->tier != o->s->tier || ch->column < l->probe.column ||
			    ch->column >= l->probe.column + METER_VALUES)
				continue;
			ch->period_ns = period;
			if (slow && !l->noted && !ch->missing[0])
				snprintf(ch->note, sizeof ch->note,
					 _("a reading takes %lld ms: one every %lld ms"), round_ms(cost),
					 round_ms(period));
		}
	}
}

/* Adds a channel with the rate at which the chip was really read: what is recorded at 100 Hz may have been
 * read at 10, and at times not at all. */
static int add_rate(struct probe_ctx *o, struct rail *l, const struct place *place, struct err *e)
{
	struct channel ch;
	char name[64], chip[40];

	if (!file_line_of(o->root, chip, sizeof chip, place->dir, "/name") || !*chip)
		snprintf(chip, sizeof chip, "%s", place->kind == PLACE_IIO ? IIO_DRIVER : "chip");
	snprintf(name, sizeof name, "%.40s.rate", chip);
	channel_describe(o, &ch, name, true);
	ch.kind = CHANNEL_OTHER;
	snprintf(ch.label, sizeof ch.label, _("%.18s reads/s"), chip);
	snprintf(ch.source, sizeof ch.source, _("readings of %.100s in the last second"), place->dir);
	ch.note[0] = '\0';
	ch.period_ns = NS_PER_S;
	l->tells_rate = true;
	return probe_ctx_add(o, &ch, e);
}

static struct chip *chip_of(struct probe_ctx *o, const struct place *place)
{
	for (size_t i = 0; i < o->probes->n_probes; i++) {
		const struct rail *l = rail_at(o, i);
		if (l && !strcmp(l->chip->dir, place->dir) && l->chip->bench->n < CHIP_METERS) {
			l->chip->holders++;
			return l->chip;
		}
	}
	return chip_new(o->probes->root, place->dir, o->tick_ns);
}

/* Returns the cost of one read in ns: the best of some, so that a busy machine or a bus that hangs once does
 * not count. */
static int64_t measure(const struct probe_ctx *o, struct chip *c, struct meter *m,
		       double values[METER_VALUES], char *note, size_t size)
{
	int64_t best = INT64_MAX, spent = 0;

	for (int i = 0; i < METER_VALUES; i++)
		values[i] = NAN;
	for (int i = 0; i < 3 && best > o->tick_ns / 8 && (i < 2 || spent < 200 * NS_PER_MS); i++) {
		int64_t begin = clock_now_ns();
		bool good = !c->hangs && meter_read(m, o->root, values);
		int error = c->hangs ? ETIME : errno;
		int64_t took = clock_now_ns() - begin;
		if (!good && error == ENODATA)
			snprintf(note, size, "%s", _("the chip has this channel disabled"));
		else if (!good)
			snprintf(note, size, _("not readable when nvmtop started: %.48s"), root_error(error));
		if (!good && error == ETIME)
			c->hangs = true;
		if (!good)
			return 0;
		best = took < best ? took : best;
		spent += took;
	}
	return best;
}

/* Also of rails that come later. */
static int tell_moments(struct probe_ctx *o, struct err *e)
{
	if (fact_get(o->probes->facts, o->probes->n_facts, FACT_MOMENTS) ||
	    probe_set_add_fact(o->probes, FACT_MOMENTS, "random") == 0)
		return 0;
	return statement_error(o->s, e, _("out of memory"));
}

/* Adds the probe and the channels of an open meter. */
static int add_probe(struct probe_ctx *o, struct meter *m, const char *name, bool wild, struct err *e)
{
	const char *period = setting_get(o->s, "period");
	struct rail *l = probe_new(o, sizeof *l, 0, &rail_ops, 0, e);
	char note[96] = "";
	double values[METER_VALUES];
	int64_t floor_ns = rail_renews(o->root, &m->place, o->tick_ns, note, sizeof note);

	if (!l || !(l->chip = chip_of(o, &m->place))) {
		free(l);
		meter_close(m);
		return l ? statement_error(o->s, e, _("out of memory")) : -1;
	}
	l->probe.timed = true;
	l->probe.readers[0] = l->chip->slow;
	if (period)
		num_duration_ns(period, &floor_ns);
	if (m->place.kind == PLACE_BUS)
		text_join(note, sizeof note, note, note[0] ? "; " : "", _("named by the module's order"));
	int64_t cost = measure(o, l->chip, m, values, note, sizeof note);
	l->noted = note[0] || setting_get(o->s, "note");
	bool first = l->chip->bench->n == 0;
	struct place place = m->place;
	int result = add_channels(o, m, name, wild, note, NULL, e);
	if (result < 0 || (l->meter = chip_add(l->chip, m, values, floor_ns, cost)) < 0) {
		meter_close(m);
		rail_close(&l->probe);
		return -1;
	}
	if (probe_ctx_add_probe(o, &l->probe, e) < 0)
		return -1;
	tell_period(o, l->chip);
	if (tell_moments(o, e) < 0)
		return -1;
	return first ? add_rate(o, l, &place, e) : 0;
}

/* place was found already; if it is NULL, why contains the reason. */
static int add_rail(struct probe_ctx *o, const struct place *place, const char *name, bool wild,
		    struct reason *why, struct err *e)
{
	struct meter m = {.attrs = {{.fd = -1}, {.fd = -1}, {.fd = -1}}};

	if (place) {
		m.place = *place;
		if (meter_open(&m, o->root) == 0)
			return add_probe(o, &m, name, wild, e);
		reason_add_place(why, place, errno);
	}
	return add_channels(o, NULL, name, wild, "", why, e);
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
		const struct rail *l = rail_at(o, i);
		n += l && place_equal(&l->chip->bench->meters[l->meter].place, place);
	}
	return n;
}

/* Adds channel n of a hwmon chip, named by its label or, for the first one, by that of the whole chip. */
static int wild_channel(struct probe_ctx *o, struct place *place, unsigned n, struct err *e)
{
	char label[64], path[192], name[40], stem[24];
	struct reason why = {.denied = false};

	if (n > 3 && rail_is_ina3221(o->root, place))
		return 0;
	text_number(place->stem, sizeof place->stem, "in", n);
	text_number(stem, sizeof stem, "/curr", n);
	text_join(path, sizeof path, place->dir, stem, "_input");
	if (!file_exists(o->root, path))
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
	if (tell_moments(o, e) < 0)
		return -1;
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

const struct probe_kind probe_kind_rail = {
	"rail", 1, 1, " hwmon iio bus label note period hint ", false, false, open_rail};
