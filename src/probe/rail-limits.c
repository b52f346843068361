/* Properties that a chip reports: limits that were set, and its averaging time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/rail.h"

/* Full scale of an INA3221's limit registers, which is "no limit" (uV). */
#define SHUNT_FULL_UV 163800.0

/* "7784 ma" and "7784" are both 7784; NaN: no such file, or no number. */
static double number_of(const struct root *r, const char *path)
{
	char text[64];
	int64_t v;
	ssize_t n = root_read(r, path, text, sizeof text);

	return n > 0 && num_i64(text, text + n, &v) ? (double)v : NAN;
}

bool rail_is_ina3221(const struct root *r, const struct place *place)
{
	char path[192], name[40];

	text_join(path, sizeof path, place->dir, "/name", "");
	return file_line(r, path, name, sizeof name) && !strcmp(name, "ina3221");
}

void rail_limits(const struct root *r, const struct place *place, struct channel *ch)
{
	char path[192];
	double *limits[] = {&ch->warn, &ch->crit}, full = NAN;

	for (int i = 0; i < 2; i++) {
		if (place->kind == PLACE_IIO) {
			text_join(path, sizeof path, place->dir, i ? "/crit" : "/warn", "_current_limit_");
			text_join(path, sizeof path, path, place->stem, "");
		} else {
			meter_path(place, METER_CURRENT, i ? "_crit" : "_max", path, sizeof path);
		}
		*limits[i] = number_of(r, path);
	}
	if (place->kind != PLACE_IIO) {
		const char *number = place->stem + strcspn(place->stem, "0123456789");
		text_join(path, sizeof path, place->dir, "/shunt", number);
		text_join(path, sizeof path, path, "_resistor", "");
		full = SHUNT_FULL_UV / number_of(r, path) * 1000; /* uV / uOhm = A */
	}
	for (int i = 0; i < 2; i++)
		if (*limits[i] <= 0 || *limits[i] >= full * 0.99)
			*limits[i] = NAN;
}

/* The driver of L4T 28 to 32 lets the chip convert continuously, according to the device tree, or once
 * in each read. */
static void iio_mode(const struct root *r, const struct place *place, char *note, size_t size)
{
	char path[192];
	long long mode;

	text_join(path, sizeof path, place->dir, "/running_mode", "");
	if (root_read_i64(r, path, &mode) < 0)
		snprintf(note, size, "%s", _("unknown whether the chip averages"));
	else if (mode)
		snprintf(note, size, "%s", _("averaged by the chip, over a time set in the device tree"));
	else
		snprintf(note, size, "%s", _("one conversion per value, not averaged"));
}

/* The times that an INA3221 can take for one conversion (us); the driver sets those of
 * voltage and current alike. */
static const long long conversions[] = {140, 204, 332, 588, 1100, 2116, 4156, 8244};

/* Newer kernels count the samples into update_interval, those of L4T do not: that is so
 * where the interval is one round of conversions over the channels that are on. */
static long long ina3221_ms(const struct root *r, const struct place *place, long long ms, long long samples)
{
	char path[192], number[24];
	long long on = 0, enabled;

	for (unsigned n = 1; n <= 3; n++) {
		text_number(number, sizeof number, "/in", n);
		text_join(path, sizeof path, place->dir, number, "_enable");
		on += root_read_i64(r, path, &enabled) < 0 || enabled != 0;
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
	char path[192];
	long long ms = 0, samples = 1;

	if (place->kind == PLACE_IIO) {
		iio_mode(r, place, note, size);
	} else {
		text_join(path, sizeof path, place->dir, "/update_interval", "");
		if (root_read_i64(r, path, &ms) < 0 || ms <= 0 || ms > 60000)
			ms = 0;
		text_join(path, sizeof path, place->dir, "/samples", "");
		if (root_read_i64(r, path, &samples) < 0 || samples < 1 || samples > 4096)
			samples = 1;
		if (samples > 1 && rail_is_ina3221(r, place))
			ms = ina3221_ms(r, place, ms, samples);
	}
	if (samples > 1 && ms)
		snprintf(note, size, _("mean of %lld conversions in %lld ms"), samples, ms);
	return ms * NS_PER_MS > tick_ns ? ms * NS_PER_MS : 0;
}
