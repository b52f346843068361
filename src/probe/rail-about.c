/* What a chip says of itself: limits that somebody set, and over how long it
 * takes the mean. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "nvmtop/num.h"
#include "rail.h"

/* The driver of L4T 28 to 32 lets the chip take the mean of 64 conversions of
 * its three rails: 64 x 3 x (1.1 + 1.1) ms. */
#define IIO_PERIOD    (422 * NS_PER_MS)
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
	if (place->kind == PLACE_HWMON) {
		const char *number = place->stem + strcspn(place->stem, "0123456789");
		text_join(path, sizeof path, place->dir, "/shunt", number);
		text_join(path, sizeof path, path, "_resistor", "");
		full = SHUNT_FULL_UV / number_of(r, path) * 1000; /* uV / uOhm = A */
	}
	for (int i = 0; i < 2; i++)
		if (*limits[i] <= 0 || *limits[i] >= full * 0.99)
			*limits[i] = NAN;
}

int64_t rail_renews(const struct root *r, const struct place *place, int64_t tick_ns, char *note, size_t size)
{
	char path[192];
	long long ms = 0, samples = 1;

	if (place->kind == PLACE_IIO) {
		ms = IIO_PERIOD / NS_PER_MS;
		samples = 64;
	} else {
		text_join(path, sizeof path, place->dir, "/update_interval", "");
		if (root_read_i64(r, path, &ms) < 0 || ms <= 0 || ms > 60000)
			ms = 0;
		text_join(path, sizeof path, place->dir, "/samples", "");
		if (root_read_i64(r, path, &samples) < 0 || samples < 1 || samples > 4096)
			samples = 1;
	}
	if (samples > 1 && ms)
		snprintf(note, size, _("mean of %lld conversions in %lld ms"), samples, ms);
	return ms * NS_PER_MS > tick_ns ? ms * NS_PER_MS : 0;
}
