/* From where on a temperature matters: the trip points of a thermal zone, and the limits
 * that a hwmon chip has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/intl.h"
#include "probe/open.h"

/* A temperature in a file of the kernel, if it can be one. */
static double limit_of(const struct probe_ctx *o, const char *path)
{
	long long v;

	return root_read_i64(o->root, path, &v) == 0 && v > 0 && v <= 200000 ? (double)v / 1000 : NAN;
}

#define TRIPS    32
#define BINDINGS 64

/* The trip points (a bit each) at which a device that really throttles begins. The kernel has trips for
 * mere notices too, such as a hot surface. */
static uint32_t slowing_trips(const struct probe_ctx *o, const char *dir)
{
	char stem[128], path[160], type[72];
	uint32_t trips = 0;
	long long trip;

	for (unsigned n = 0; n < BINDINGS; n++) {
		text_join(stem, sizeof stem, dir, "/cdev", "");
		text_number(stem, sizeof stem, stem, n);
		text_join(path, sizeof path, stem, "_trip_point", "");
		if (root_read_i64(o->root, path, &trip) < 0 || trip < 0 || trip >= TRIPS)
			continue;
		text_join(path, sizeof path, stem, "/type", "");
		/* ACPI's processors, one a core, are slowed down, too. */
		if (file_line(o->root, path, type, sizeof type) &&
		    (cooling_slows(type) || !strcmp(type, "Processor")))
			trips |= UINT32_C(1) << trip;
	}
	return trips;
}

/* A zone's trip points: where the kernel begins to slow something down, and
 * where it switches off.  Those called active are for fans. */
static void find_trips(const struct probe_ctx *o, const char *dir, struct channel *ch)
{
	char stem[128], number[32], path[160], type[24];
	double passive = NAN, hot = NAN;
	uint32_t slowing = slowing_trips(o, dir);

	for (unsigned n = 0; n < TRIPS; n++) {
		text_number(number, sizeof number, "/trip_point_", n);
		text_join(stem, sizeof stem, dir, number, "");
		text_join(path, sizeof path, stem, "_type", "");
		if (!file_line(o->root, path, type, sizeof type))
			break;
		text_join(path, sizeof path, stem, "_temp", "");
		/* of two, the lower one; and the other one when one is NaN */
		if (!strcmp(type, "passive") && (slowing >> n & 1))
			passive = fmin(passive, limit_of(o, path));
		else if (!strcmp(type, "hot"))
			hot = fmin(hot, limit_of(o, path));
		else if (!strcmp(type, "critical"))
			ch->crit = fmin(ch->crit, limit_of(o, path));
	}
	ch->warn = fmin(ch->warn, fmin(passive, hot));
	if (!ch->note[0] && !isnan(passive) && !isnan(hot) && hot != passive)
		snprintf(ch->note, sizeof ch->note, _("trip points: passive %g, hot %g"), passive, hot);
}

void heat_limits(const struct probe_ctx *o, const struct place *place, struct channel *ch)
{
	char path[192];

	if (place->kind == PLACE_ZONE)
		find_trips(o, place->dir, ch);
	if (place->kind != PLACE_HWMON || strncmp(place->stem, "temp", 4) != 0)
		return;
	text_join(path, sizeof path, place->dir, "/", place->stem);
	text_join(path, sizeof path, path, "_max", "");
	ch->warn = limit_of(o, path);
	text_join(path, sizeof path, place->dir, "/", place->stem);
	text_join(path, sizeof path, path, "_crit", "");
	ch->crit = limit_of(o, path);
}
