/* Reads what slows the machine down, and at which temperatures: active cooling devices, counts of over-current events,
 * the limits of zones and chips. A cooling device that only notifies is a notice.
 *
 * A cooling device is identified by its type, because its number changes from boot to boot. Only type,
 * max_state and cur_state are ever read: other files in the directory (thermal_trip_event_block) block until
 * something trips. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/text.h"
#include "probe/open.h"

#define TRIPS    32
#define BINDINGS 64

/* Returns true for a device that slows nothing: the kernel only reports that the surface is too hot to
 * touch. */
static bool only_tells(const char *type)
{
	return text_ends_in(type, "hot-surface-alert");
}

/* Returns true if a cooling device of that type slows something down; fans do not. */
static bool slows(const char *type)
{
	static const char *const begins[] = {"devfreq-", "cpufreq-", "thermal-devfreq-", "thermal-cpufreq-"};

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (!strncmp(type, begins[i], strlen(begins[i])))
			return true;
	return text_ends_in(type, "-throttle-alert") || text_ends_in(type, "-balanced");
}

static int open_throttle(struct probe_ctx *o, struct err *e)
{
	static const struct value_row throttle = {.prefix = "throttle.", .suffix = "", .attribute = "", .scale = 1},
				      notice = {.prefix = "notice.", .suffix = "", .attribute = "", .scale = 1},
				      count = {.prefix = "throttle.", .suffix = "", .attribute = "oc", .scale = 1,
					       .kind = CHANNEL_THROTTLE_COUNT, .period_ns = NS_PER_S};
	struct place p = {.kind = PLACE_COOLING};
	struct channel ch;
	char label[32];
	size_t found = 0;

	for (unsigned at = 0; place_next(&p, o->root, "", &at);) {
		bool tells = only_tells(p.name);

		if (!tells && !slows(p.name))
			continue;
		found += !tells;
		if (value_add_wild(o, tells ? &notice : &throttle, p, p.name, tells ? _("hot to touch") : p.name, e) < 0)
			return -1;
	}
	p = (struct place) {.kind = PLACE_HWMON};
	for (unsigned at = 0; place_next(&p, o->root, count.attribute, &at);) {
		if (strcmp(p.name, "soctherm_oc") != 0)
			continue;
		found++;
		snprintf(label, sizeof label, _("over-current %.8s"), p.stem + strlen(count.attribute));
		if (value_add_wild(o, &count, p, p.stem, label, e) < 0)
			return -1;
	}
	if (found)
		return 0;
	channel_describe(o, &ch, "throttle", true);
	reason_one(o, &ch, _("cooling devices that throttle"), ENOENT);
	return probe_ctx_add(o, &ch, e);
}

const struct probe_kind probe_kind_throttle = {"throttle", 0, 0, " hint ", false, false, open_throttle};

/* Zones that measure nothing. */
static const struct {
	const char *type, *note;
} made_up[] = {
	{"PMIC-Die", N_("a constant, not measured")},
	{"thermal-fan-est", N_("an estimate for the fan, not measured")},
};

static const char *made_up_note(const char *zone)
{
	for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++)
		if (!strcmp(zone, made_up[i].type))
			return _(made_up[i].note);
	return NULL;
}

bool heat_is_made_up(const char *zone)
{
	return made_up_note(zone) != NULL;
}

/* Returns the temperature in a file of the kernel, or NaN if it is out of range. */
static double limit_of(const struct root *r, const char *dir, const char *stem, const char *ending)
{
	long long v;

	return file_number_of(r, &v, dir, stem, ending) == 0 && v > 0 && v <= 200000 ? (double)v / 1000 : NAN;
}

/* Returns the trip points (a bit each) at which a device that really throttles begins. The kernel has trips
 * for mere notices too, such as a hot surface. */
static uint32_t slowing_trips(const struct root *r, const char *dir)
{
	char stem[128], type[72];
	uint32_t trips = 0;
	long long trip;

	for (unsigned n = 0; n < BINDINGS; n++) {
		text_join(stem, sizeof stem, dir, "/cdev");
		text_number(stem, sizeof stem, stem, n);
		if (file_number_of(r, &trip, stem, "_trip_point") < 0 || trip < 0 || trip >= TRIPS)
			continue;
		/* ACPI has a Processor for each core, which is slowed down, too. */
		if (file_line_of(r, type, sizeof type, stem, "/type") && (slows(type) || !strcmp(type, "Processor")))
			trips |= UINT32_C(1) << trip;
	}
	return trips;
}

/* Sets the limits from a zone's trip points: where the kernel begins to slow something down, and where it
 * switches off. Those called active are for fans. */
static void find_trips(const struct root *r, const char *dir, struct channel *ch)
{
	char stem[32], type[24];
	double passive = NAN, hot = NAN;
	uint32_t slowing = slowing_trips(r, dir);

	for (unsigned n = 0; n < TRIPS; n++) {
		text_number(stem, sizeof stem, "/trip_point_", n);
		if (!file_line_of(r, type, sizeof type, dir, stem, "_type"))
			break;
		double *limit = !strcmp(type, "passive") && (slowing >> n & 1) ? &passive
				: !strcmp(type, "hot")			       ? &hot
				: !strcmp(type, "critical")		       ? &ch->crit
									       : NULL;
		if (limit)
			*limit = fmin(*limit, limit_of(r, dir, stem, "_temp")); /* ignores a NaN */
	}
	ch->warn = fmin(ch->warn, fmin(passive, hot));
	if (!ch->note[0] && !isnan(passive) && !isnan(hot) && hot != passive)
		snprintf(ch->note, sizeof ch->note, _("trip points: passive %g, hot %g"), passive, hot);
}

void heat_describe(const struct root *r, const struct place *place, struct channel *ch)
{
	char stem[80];
	long long most;
	const char *note;

	if (place->kind == PLACE_ZONE)
		text_printable(ch->kernel, sizeof ch->kernel, place->name, strlen(place->name));
	if (place->kind == PLACE_COOLING && file_number_of(r, &most, place->dir, "/max_state") == 0 && most > 0)
		ch->hi = (double)most;
	if ((note = made_up_note(ch->kernel)) && !ch->note[0])
		text_printable(ch->note, sizeof ch->note, note, strlen(note));
	if (ch->kind != CHANNEL_TEMPERATURE || note)
		return;
	if (place->kind == PLACE_ZONE)
		find_trips(r, place->dir, ch);
	if (place->kind == PLACE_HWMON && !strncmp(place->stem, "temp", 4)) {
		text_join(stem, sizeof stem, "/", place->stem);
		ch->warn = limit_of(r, place->dir, stem, "_max");
		ch->crit = limit_of(r, place->dir, stem, "_crit");
	}
}
