/* Reads what slows the machine down: active cooling devices, and counts of over-current events. A cooling
 * device that only notifies is a notice.
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

/* Returns true for a device that slows nothing: the kernel only reports that the surface is too hot to
 * touch. */
static bool only_tells(const char *type)
{
	return text_ends_in(type, "hot-surface-alert");
}

bool cooling_slows(const char *type)
{
	static const char *const endings[] = {"-throttle-alert", "-balanced"};
	static const char *const begins[] = {"devfreq-", "cpufreq-", "thermal-devfreq-", "thermal-cpufreq-"};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (text_ends_in(type, endings[i]))
			return true;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (!strncmp(type, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Returns true if the place is cooling device n, one that slows something down or only tells. */
static bool is_device(struct place *p, const struct root *r, unsigned n)
{
	return place_number(p, r, n, p->name) && (cooling_slows(p->name) || only_tells(p->name));
}

static int add_device(struct probe_ctx *o, struct place *place, struct err *e)
{
	const char *type = place->name, *label = only_tells(type) ? _("hot to touch") : type;
	struct channel ch;
	char name[64];
	long long most;

	snprintf(name, sizeof name, "%s.%.36s", only_tells(type) ? "notice" : "throttle", type);
	channel_describe(o, &ch, name, true);
	text_printable(ch.label, sizeof ch.label, label, strlen(label));
	if (file_number_of(o->root, &most, place->dir, "/max_state") == 0 && most > 0)
		ch.hi = (double)most;
	text_join(place->path, sizeof place->path, place->dir, "/cur_state");
	return value_add(o, place, &ch, e);
}

/* Adds a counter of the chip soctherm_oc, if it has that one. */
static int add_count(struct probe_ctx *o, struct place *place, unsigned n, size_t *found, struct err *e)
{
	struct channel ch;
	char name[40];

	snprintf(place->which, sizeof place->which, "oc%u_event_cnt", n);
	text_join(place->path, sizeof place->path, place->dir, "/", place->which);
	if (!file_exists(o->root, place->path))
		return 0;
	snprintf(name, sizeof name, "throttle.oc%u", n);
	channel_describe(o, &ch, name, false);
	ch.kind = CHANNEL_THROTTLE_COUNT;
	ch.lo = NAN;
	ch.period_ns = NS_PER_S;
	snprintf(ch.label, sizeof ch.label, _("over-current %u"), n);
	++*found;
	return value_add(o, place, &ch, e);
}

static int add_counts(struct probe_ctx *o, size_t *found, struct err *e)
{
	for (unsigned n = 0; n < 64; n++) {
		struct place place = {.kind = PLACE_HWMON};
		int result = 0;

		if (!place_number(&place, o->root, n, place.name) || strcmp(place.name, "soctherm_oc") != 0)
			continue;
		for (unsigned k = 1; k <= 8 && !result; k++)
			result = add_count(o, &place, k, found, e);
		return result;
	}
	return 0;
}

static int open_throttle(struct probe_ctx *o, struct err *e)
{
	size_t found = 0;

	for (unsigned n = 0; n < COOLERS_MAX; n++) {
		struct place place = {.kind = PLACE_COOLING};

		if (!is_device(&place, o->root, n))
			continue;
		if (add_device(o, &place, e) < 0)
			return -1;
		found += !only_tells(place.name);
	}
	if (add_counts(o, &found, e) < 0)
		return -1;
	if (found)
		return 0;
	struct channel ch;
	channel_describe(o, &ch, "throttle", true);
	reason_one(o, &ch, _("cooling devices that throttle"), ENOENT);
	return probe_ctx_add(o, &ch, e);
}

const struct probe_kind probe_kind_throttle = {"throttle", 0, 0, " hint ", false, false, open_throttle};
