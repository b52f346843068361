/* Reads a power monitor on a slow bus. Each value takes a transfer or two, some kernels wait for a conversion
 * in each read, and a bus that hangs blocks a read for seconds: so a reader thread uses at most half of the
 * bus's time, and a tick takes the newest values. A chip that hangs affects only its own rails. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/rail.h"

#define SHARE         0.5 /* of the time that a chip may be read */
#define FIRST_PASS    NS_PER_S
/* Full scale of an INA3221's limit registers, which is "no limit" (uV). */
#define SHUNT_FULL_UV 163800.0

void meter_path(const struct place *place, int which, const char *ending, char *out, size_t size)
{
	static const char *const hwmon[METER_VALUES] = {"/in", "/curr", "/power"};
	static const char *const iio[METER_VALUES] = {"/in_voltage", "/in_current", "/in_power"};
	const char *number = place->stem + strcspn(place->stem, "0123456789");

	text_join(out, size, place->dir, (place->kind == PLACE_IIO ? iio : hwmon)[which], number);
	text_join(out, size, out, ending);
}

int meter_open(struct meter *m, const struct root *r)
{
	char path[192];
	int error = ENOENT;

	for (int i = 0; i < METER_VALUES; i++) {
		meter_path(&m->place, i, "_input", path, sizeof path);
		if (attr_open(&m->attrs[i], r, path) < 0 && (i == 0 || errno != ENOENT))
			error = errno;
	}
	if ((attr_is_open(&m->attrs[METER_VOLTAGE]) && attr_is_open(&m->attrs[METER_CURRENT])) ||
	    attr_is_open(&m->attrs[METER_POWER]))
		return 0;
	meter_close(m);
	errno = error;
	return -1;
}

void meter_close(struct meter *m)
{
	for (int i = 0; i < METER_VALUES; i++)
		attr_close(&m->attrs[i]);
}

static bool is_open(const struct meter *m)
{
	return attr_is_open(&m->attrs[METER_VOLTAGE]) || attr_is_open(&m->attrs[METER_POWER]);
}

static void forget(double values[METER_VALUES])
{
	for (int i = 0; i < METER_VALUES; i++)
		values[i] = NAN;
}

bool meter_read(struct meter *m, const struct root *r, double values[METER_VALUES])
{
	static const enum channel_kind kinds[METER_VALUES] = {CHANNEL_RAIL_VOLTAGE, CHANNEL_RAIL_CURRENT,
							      CHANNEL_RAIL_POWER};

	forget(values);
	for (int i = 0; i < METER_VALUES; i++) {
		/* hwmon has power in microwatts */
		double scale = i == METER_POWER && m->place.kind != PLACE_IIO ? 1e-3 : 1;
		if (!attr_is_open(&m->attrs[i]) || attr_value(&m->attrs[i], r, scale, kinds[i], &values[i]))
			continue;
		int error = errno;
		double why = values[i];
		forget(values);
		values[i] = why;
		if (attr_gone(error))
			meter_close(m);
		errno = error;
		return false;
	}
	if (!attr_is_open(&m->attrs[METER_POWER]))
		values[METER_POWER] = values[METER_VOLTAGE] * values[METER_CURRENT] / 1000;
	return true;
}

/* Reopens a meter whose driver was rebound: its files are dead and may have moved. */
static bool reopen(struct meter *m, const struct root *r, int64_t t_ns)
{
	if (t_ns < m->retry_ns)
		return false;
	m->retry_ns = t_ns + NS_PER_S;
	return place_find(&m->place, r, "in") == 0 && meter_open(m, r) == 0;
}

static void bench_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct bench *b = arg;

	(void)wanted;
	for (size_t i = 0; i < b->n; i++, v += METER_VALUES)
		if (is_open(&b->meters[i]) || reopen(&b->meters[i], b->root, t_ns))
			meter_read(&b->meters[i], b->root, v);
}

static void bench_free(void *arg)
{
	struct bench *b = arg;

	for (size_t i = 0; i < b->n; i++)
		meter_close(&b->meters[i]);
	root_close(b->root);
	free(b);
}

static const struct async_reader_ops bench_ops = {bench_read, bench_free};

struct chip *chip_new(struct root *r, const char *dir, int64_t tick_ns)
{
	struct chip *c = calloc(1, sizeof *c);
	struct bench *b = calloc(1, sizeof *b);

	if (!c || !b) {
		free(b);
		free(c);
		return NULL;
	}
	b->root = root_hold(r);
	c->slow = async_reader_new("nvmtop-rails", &bench_ops, b, (size_t)CHIP_METERS * METER_VALUES, tick_ns,
				   SHARE);
	if (!c->slow) {
		free(c);
		return NULL;
	}
	async_reader_at_random(c->slow, tick_ns);
	c->bench = b;
	c->holders = 1;
	c->period_ns = tick_ns;
	c->floor_ns = INT64_MAX;
	c->rate = NAN;
	text_join(c->dir, sizeof c->dir, dir);
	for (int i = 0; i < CHIP_METERS; i++)
		forget(c->values[i]);
	return c;
}

void chip_release(struct chip *c)
{
	if (--c->holders)
		return;
	async_reader_stop(c->slow);
	free(c);
}

int chip_add(struct chip *c, const struct meter *m, const double values[METER_VALUES], int64_t floor_ns,
	     int64_t cost_ns)
{
	struct bench *b = c->bench;

	if (b->n == CHIP_METERS)
		return -1;
	b->meters[b->n] = *m;
	memcpy(c->values[b->n], values, sizeof c->values[b->n]);
	c->cost_ns += cost_ns;
	if (floor_ns < c->floor_ns)
		c->floor_ns = floor_ns;
	async_reader_set_period(c->slow, c->floor_ns > c->period_ns ? c->floor_ns : c->period_ns);
	return (int)b->n++;
}

int64_t chip_period(const struct chip *c)
{
	int64_t least = (int64_t)((double)c->cost_ns / SHARE);

	return least > c->period_ns && least > c->floor_ns ? least : c->floor_ns;
}

static void count_rate(struct chip *c, int64_t t_ns)
{
	if (c->window_ns && t_ns - c->window_ns < NS_PER_S)
		return;
	if (c->window_ns)
		c->rate = c->count * (double)NS_PER_S / (double)(t_ns - c->window_ns);
	c->window_ns = t_ns;
	c->count = 0;
}

/* Takes new values from the reader. Until its first pass, the values from when the chip was found are
 * used. */
static void hear(struct chip *c, int64_t t_ns)
{
	c->read_ns = 0;
	if (async_reader_take(c->slow, &c->seen, t_ns, &c->values[0][0])) {
		c->heard = true;
		c->count += !c->seen.stale;
		c->read_ns = c->seen.stale ? 0 : c->seen.t_ns;
	}
	if (!c->first_ns)
		c->first_ns = t_ns;
	if (!c->heard && t_ns - c->first_ns > FIRST_PASS)
		for (int i = 0; i < CHIP_METERS; i++)
			forget(c->values[i]);
}

int64_t chip_values(struct chip *c, int64_t t_ns, int meter, double values[METER_VALUES], double *rate)
{
	if (t_ns != c->at_ns) {
		c->at_ns = t_ns;
		async_reader_ask(c->slow, t_ns);
		hear(c, t_ns);
		count_rate(c, t_ns);
	}
	memcpy(values, c->values[meter], sizeof c->values[meter]);
	*rate = c->rate;
	return c->read_ns;
}

/* Returns 7784 for "7784 ma" and "7784"; NaN if there is no such file, or no number. */
static double number_of(const struct root *r, const char *path)
{
	char text[64];
	int64_t v;
	ssize_t n = root_read(r, path, text, sizeof text);

	return n > 0 && num_i64(text, text + n, &v) ? (double)v : NAN;
}

bool rail_is_ina3221(const struct root *r, const struct place *place)
{
	char name[40];

	return file_line_of(r, name, sizeof name, place->dir, "/name") && !strcmp(name, "ina3221");
}

void rail_limits(const struct root *r, const struct place *place, struct channel *ch)
{
	char path[192];
	double *limits[] = {&ch->warn, &ch->crit}, full = NAN;

	for (int i = 0; i < 2; i++) {
		if (place->kind == PLACE_IIO) {
			text_join(path, sizeof path, place->dir, i ? "/crit" : "/warn", "_current_limit_",
				  place->stem);
		} else {
			meter_path(place, METER_CURRENT, i ? "_crit" : "_max", path, sizeof path);
		}
		*limits[i] = number_of(r, path);
	}
	if (place->kind != PLACE_IIO) {
		const char *number = place->stem + strcspn(place->stem, "0123456789");
		text_join(path, sizeof path, place->dir, "/shunt", number, "_resistor");
		full = SHUNT_FULL_UV / number_of(r, path) * 1000; /* uV / uOhm = A */
	}
	for (int i = 0; i < 2; i++)
		if (*limits[i] <= 0 || *limits[i] >= full * 0.99)
			*limits[i] = NAN;
}

/* The driver of L4T 28 to 32 lets the chip convert continuously, as set in the device tree, or once in each
 * read. */
static void iio_mode(const struct root *r, const struct place *place, char *note, size_t size)
{
	long long mode;

	if (file_number_of(r, &mode, place->dir, "/running_mode") < 0)
		snprintf(note, size, "%s", _("unknown whether the chip averages"));
	else if (mode)
		snprintf(note, size, "%s", _("averaged by the chip, over a time set in the device tree"));
	else
		snprintf(note, size, "%s", _("one conversion per value, not averaged"));
}

/* The times that an INA3221 can take for one conversion (us); the driver sets the same for voltage and
 * current. */
static const long long conversions[] = {140, 204, 332, 588, 1100, 2116, 4156, 8244};

/* Returns the time over which the chip averages. Newer kernels include the samples in update_interval, those
 * of L4T do not: this is so if the interval is one round of conversions over the enabled channels. */
static long long ina3221_ms(const struct root *r, const struct place *place, long long ms, long long samples)
{
	char number[24];
	long long on = 0, enabled;

	for (unsigned n = 1; n <= 3; n++) {
		text_number(number, sizeof number, "/in", n);
		on += file_number_of(r, &enabled, place->dir, number, "_enable") < 0 || enabled != 0;
	}
	for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
		long long us = 2 * conversions[i] * on;
		if ((us + 500) / 1000 == ms)
			return (us * samples + 500) / 1000;
	}
	return ms;
}

int64_t rail_renews(const struct root *r, const struct place *place, int64_t tick_ns, char *note, size_t size)
{
	long long ms = 0, samples = 1;

	if (place->kind == PLACE_IIO) {
		iio_mode(r, place, note, size);
	} else {
		if (file_number_of(r, &ms, place->dir, "/update_interval") < 0 || ms <= 0 || ms > 60000)
			ms = 0;
		if (file_number_of(r, &samples, place->dir, "/samples") < 0 || samples < 1 || samples > 4096)
			samples = 1;
		if (samples > 1 && rail_is_ina3221(r, place))
			ms = ina3221_ms(r, place, ms, samples);
	}
	if (samples > 1 && ms)
		snprintf(note, size, _("mean of %lld conversions in %lld ms"), samples, ms);
	return ms * NS_PER_MS > tick_ns ? ms * NS_PER_MS : 0;
}
