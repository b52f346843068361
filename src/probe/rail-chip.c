/* Reads one channel of a power monitor, and what its chip and driver do with the readings. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/rail.h"

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

/* When its driver was rebound its files are dead and may have moved. */
static bool is_open(struct meter *m, const struct root *r, int64_t t_ns)
{
	if (attr_is_open(&m->attrs[METER_VOLTAGE]) || attr_is_open(&m->attrs[METER_POWER]))
		return true;
	if (t_ns < m->retry_ns)
		return false;
	m->retry_ns = t_ns + NS_PER_S;
	return place_find(&m->place, r, "in") == 0 && meter_open(m, r) == 0;
}

int meter_read(struct meter *m, const struct root *r, int64_t t_ns, double values[METER_VALUES])
{
	static const enum channel_kind kinds[METER_VALUES] = {CHANNEL_RAIL_VOLTAGE, CHANNEL_RAIL_CURRENT,
							      CHANNEL_RAIL_POWER};
	double v;

	for (int i = 0; i < METER_VALUES; i++)
		values[i] = NAN;
	errno = ENODEV;
	if (!is_open(m, r, t_ns))
		return METER_VALUES;
	for (int i = 0; i < METER_VALUES; i++) {
		/* hwmon has power in microwatts */
		double scale = i == METER_POWER && m->place.kind != PLACE_IIO ? 1e-3 : 1;
		bool product = i == METER_POWER && !attr_is_open(&m->attrs[i]);
		if (product)
			v = values[METER_VOLTAGE] * values[METER_CURRENT] / 1000;
		else if (!attr_is_open(&m->attrs[i]))
			continue;
		else if (isnan(v = attr_number(&m->attrs[i], r, 0, scale, kinds[i]))) {
			int error = errno;
			if (!attr_is_open(&m->attrs[i]))
				meter_close(m);
			values[0] = values[1] = values[2] = NAN;
			values[i] = v;
			errno = error;
			return i;
		}
		values[i] = channel_round(kinds[i], v);
	}
	return -1;
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

/* The times that an INA3221 can take for one conversion (us); the driver sets the same for voltage and
 * current. */
static const int conversions[] = {140, 204, 332, 588, 1100, 2116, 4156, 8244};

/* Returns the time over which an INA3221 averages, in us. Its interval is one round of conversions over the
 * enabled channels, which newer kernels multiply by the samples. */
static int64_t ina3221_us(const struct root *r, const struct place *place, long long ms, long long samples)
{
	char number[24];
	long long on = 0, enabled;

	for (unsigned n = 1; n <= 3; n++) {
		text_number(number, sizeof number, "/in", n);
		on += file_number_of(r, &enabled, place->dir, number, "_enable") < 0 || enabled != 0;
	}
	for (size_t i = 0; i < 2 * sizeof conversions / sizeof *conversions; i++) {
		long long us = 2 * conversions[i / 2] * on, all = us * samples;

		if (((i % 2 ? all : us) + 500) / 1000 == ms)
			return all;
	}
	return ms * 1000;
}

int64_t rail_window(const struct root *r, const struct place *place, char *note, size_t size)
{
	long long ms = 0, us, samples = 1;

	if (place->kind == PLACE_IIO) {
		/* The driver of L4T 28 to 32 lets the chip convert continuously, or once in each read. */
		if (file_number_of(r, &ms, place->dir, "/running_mode") < 0) {
			snprintf(note, size, "%s", _("unknown whether the chip averages"));
			return WINDOW_UNKNOWN;
		}
		samples = ms ? 64 : 1;
		us = ms ? samples * 6600 : 0;
	} else {
		if (file_number_of(r, &ms, place->dir, "/update_interval") < 0 || ms <= 0 || ms > 60000)
			return 0;
		if (file_number_of(r, &samples, place->dir, "/samples") < 0 || samples < 1 || samples > 4096)
			samples = 1;
		us = rail_is_ina3221(r, place) ? ina3221_us(r, place, ms, samples) : ms * 1000;
	}
	if (samples > 1)
		snprintf(note, size, _("mean of %lld conversions in %lld ms"), samples, (us + 500) / 1000);
	return us * 1000;
}
