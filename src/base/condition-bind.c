/* The names and units of a condition to channels.  Everybody writes a signal in
 * another way; what is meant by more than one channel is asked back, never guessed. */
#include "nvmtop/condition.h"

#include <stdio.h>
#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/num.h"

/* Factors to the unit of the channel. */
static const struct {
	const char *name;
	enum unit unit;
	double factor;
} units[] = {
	{"%", UNIT_PERCENT, 1},      {"C", UNIT_CELSIUS, 1},      {"rpm", UNIT_RPM, 1},
	{"Hz", UNIT_HZ, 1},          {"kHz", UNIT_HZ, 1e3},       {"MHz", UNIT_HZ, 1e6},
	{"GHz", UNIT_HZ, 1e9},       {"kB", UNIT_KB, 1}, /* as /proc/meminfo means it */
	{"KiB", UNIT_KB, 1},         {"MB", UNIT_KB, 1e6 / 1024}, {"MiB", UNIT_KB, 1024},
	{"GB", UNIT_KB, 1e9 / 1024}, {"GiB", UNIT_KB, 1048576},   {"mV", UNIT_MILLIVOLT, 1},
	{"V", UNIT_MILLIVOLT, 1e3},  {"mA", UNIT_MILLIAMPERE, 1}, {"A", UNIT_MILLIAMPERE, 1e3},
	{"mW", UNIT_MILLIWATT, 1},   {"W", UNIT_MILLIWATT, 1e3},  {"kW", UNIT_MILLIWATT, 1e6},
	{"J", UNIT_JOULE, 1},        {"kJ", UNIT_JOULE, 1e3},
};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

static const struct {
	const char *name;
	enum channel_kind kind;
} words[] = {
	{"gpu", CHANNEL_GPU_UTIL}, {"cpu", CHANNEL_CPU_UTIL},      {"emc", CHANNEL_EMC_UTIL},
	{"ram", CHANNEL_RAM_USED}, {"power", CHANNEL_POWER_TOTAL}, {"hottest", CHANNEL_HOTTEST},
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool same(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b))
		a++, b++;
	return !*a && !*b;
}

/* Does a begin with b? */
static bool begins(const char *a, const char *b)
{
	while (*b && lower(*a) == lower(*b))
		a++, b++;
	return !*b;
}

static int unit_at(const char *name)
{
	for (size_t i = 0; i < UNIT_COUNT; i++)
		if (same(units[i].name, name))
			return (int)i;
	return -1;
}

static bool unit_fits(const struct condition_term *t, const struct channel *c)
{
	int at = unit_at(t->unit);

	return !t->unit[0] || (at >= 0 && units[at].unit == c->unit);
}

/* cpu4: the utilisation of that core. */
static bool core_word(const char *name, const struct channel *c)
{
	const char *end = name + strlen(name);
	int64_t core;

	return c->kind == CHANNEL_CORE_UTIL && begins(name, "cpu") && name[3] >= '0' && name[3] <= '9' &&
	       num_i64(name + 3, end, &core) == end && core == c->index;
}

static bool short_word(const char *name, const struct channel *c)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].kind == c->kind && same(words[i].name, name))
			return true;
	return core_word(name, c);
}

/* How a name can be meant, the strictest first. */
enum way { BY_NAME, BY_WORD, BY_LABEL_AND_UNIT, BY_LABEL, WAYS };

static bool is_meant(enum way way, const struct condition_term *t, const struct channel *c)
{
	switch (way) {
	case BY_NAME:
		return same(t->name, c->name);
	case BY_WORD:
		return short_word(t->name, c);
	case BY_LABEL_AND_UNIT: /* VDD_IN is the label of a voltage, a current and a power: the unit tells */
		return same(t->name, c->label) && unit_fits(t, c);
	default:
		return same(t->name, c->label);
	}
}

static void list_add(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

/* Signals whose name has something of the one that does not exist, or the short words. */
static void offer(char *list, size_t size, const char *name, const struct session *about)
{
	char stem[8];
	size_t n = 0;

	list[0] = '\0';
	snprintf(stem, sizeof(stem), "%.3s", name);
	for (size_t i = 0; i < about->n_channels && n < 6; i++) {
		const struct channel *c = &about->channels[i];
		bool alike = begins(c->name, stem);

		for (const char *p = c->name; !alike && *p; p++)
			alike = *p == '.' && begins(p + 1, stem);
		if (alike && !c->missing[0]) {
			list_add(list, size, c->name);
			n++;
		}
	}
	for (size_t w = 0; !n && w < sizeof(words) / sizeof(words[0]); w++)
		for (size_t i = 0; i < about->n_channels; i++)
			if (about->channels[i].kind == words[w].kind && !about->channels[i].missing[0]) {
				list_add(list, size, words[w].name);
				break;
			}
}

static int unknown(const struct condition_term *t, const struct session *about, struct err *e)
{
	char shown[64], list[400];

	text_printable(shown, sizeof(shown), t->name, strlen(t->name));
	offer(list, sizeof(list), t->name, about);
	if (!list[0])
		return err_set(e, ERR_USAGE, _("there is no signal \"%s\" here"), shown);
	return err_set(e, ERR_USAGE,
		       _("there is no signal \"%s\" here; there is %s (nvmtop --once lists all)"), shown,
		       list);
}

static int find(const struct condition_term *t, const struct session *about, size_t *out, struct err *e)
{
	char shown[64], list[400] = "";
	size_t found = 0;

	for (int way = 0; way < WAYS && !found; way++)
		for (size_t i = 0; i < about->n_channels; i++)
			if (is_meant((enum way)way, t, &about->channels[i])) {
				if (!found++)
					*out = i;
				if (found <= 6)
					list_add(list, sizeof(list), about->channels[i].name);
			}
	if (found == 1)
		return 0;
	if (!found)
		return unknown(t, about, e);
	text_printable(shown, sizeof(shown), t->name, strlen(t->name));
	return err_set(e, ERR_USAGE, _("\"%s\" can be one of %s: say which"), shown, list);
}

/* The units in which a channel's limit can be written, for a message. */
static void unit_list(char *list, size_t size, enum unit unit)
{
	list[0] = '\0';
	for (size_t i = 0; i < UNIT_COUNT; i++)
		if (units[i].unit == unit)
			list_add(list, size, units[i].name);
}

static int to_unit(struct condition_term *t, const struct channel *c, struct err *e)
{
	int at = unit_at(t->unit);
	char list[64];

	if (!t->unit[0] && (c->unit == UNIT_NONE || c->unit == UNIT_PERCENT || c->unit == UNIT_CELSIUS ||
			    c->unit == UNIT_RPM || c->unit == UNIT_JOULE))
		return 0;
	unit_list(list, sizeof(list), c->unit);
	if (!t->unit[0])
		return err_set(e, ERR_USAGE, _("the number for %s needs its unit: %s"), c->name, list);
	if (at < 0 || units[at].unit != c->unit) {
		if (!list[0])
			return err_set(e, ERR_USAGE, _("%s is a plain number, \"%s\" is no unit of it"),
				       c->name, t->unit);
		return err_set(e, ERR_USAGE, _("\"%s\" is no unit of %s: it is in %s"), t->unit, c->name,
			       list);
	}
	t->limit *= units[at].factor;
	return 0;
}

static int bind_to(struct condition_term *t, size_t channel, const struct session *about, struct err *e)
{
	const struct channel *c = &about->channels[channel];

	if (c->missing[0])
		return err_set(e, ERR_USAGE, _("%s has no value here: %s"), c->name, c->missing);
	t->channel = channel;
	t->tier = c->tier;
	t->column = c->column;
	return to_unit(t, c, e);
}

/* Terms at..at+of-1 (a whole alternative) once for each throttle channel, or all
 * of the channels in it. */
struct building {
	const struct session *about;
	struct condition_term out[CONDITION_TERMS];
	size_t n;
	struct err *e;
};

static int add(struct building *b, const struct condition_term *t)
{
	if (b->n == CONDITION_TERMS)
		return err_set(b->e, ERR_USAGE, _("the condition has more than %d comparisons"),
			       CONDITION_TERMS);
	b->out[b->n++] = *t;
	return 0;
}

static bool any_will_do(const struct condition_term *t)
{
	return t->op == OP_ABOVE || t->op == OP_AT_LEAST || t->op == OP_DIFFERENT;
}

static bool is_throttled(const struct condition_term *t)
{
	return same(t->name, "throttled");
}

static bool throttles(const struct session *about, size_t i)
{
	return about->channels[i].kind == CHANNEL_THROTTLE && !about->channels[i].missing[0];
}

/* One alternative into b, where "throttled" is the channel `pick`. */
static int add_alternative(struct building *b, const struct condition_term *t, size_t n, size_t pick)
{
	bool alternative = b->n > 0;

	for (size_t i = 0; i < n; i++) {
		struct condition_term one = t[i];
		size_t channel = 0;

		for (size_t k = 0; is_throttled(&t[i]) && k < b->about->n_channels; k++) {
			if (!throttles(b->about, k) || (any_will_do(&t[i]) && k != pick))
				continue;
			one = t[i];
			one.alternative = alternative;
			alternative = false;
			if (bind_to(&one, k, b->about, b->e) < 0 || add(b, &one) < 0)
				return -1;
		}
		if (is_throttled(&t[i]))
			continue;
		one.alternative = alternative;
		alternative = false;
		if (find(&t[i], b->about, &channel, b->e) < 0 || bind_to(&one, channel, b->about, b->e) < 0 ||
		    add(b, &one) < 0)
			return -1;
	}
	return 0;
}

static int expand(struct building *b, const struct condition_term *t, size_t n)
{
	bool mentioned = false, any = false, exists = false;

	for (size_t i = 0; i < n; i++) {
		mentioned |= is_throttled(&t[i]);
		any |= is_throttled(&t[i]) && any_will_do(&t[i]);
	}
	for (size_t k = 0; mentioned && k < b->about->n_channels; k++) {
		if (!throttles(b->about, k))
			continue;
		exists = true;
		if (any && add_alternative(b, t, n, k) < 0)
			return -1;
	}
	if (mentioned && !exists)
		return err_set(b->e, ERR_USAGE, _("there is nothing here that says \"throttled\""));
	return any ? 0 : add_alternative(b, t, n, 0);
}

int condition_bind(struct condition *c, const struct session *about, struct err *e)
{
	struct building b = {.about = about, .e = e};
	size_t n;

	if (c->bound)
		return 0;
	for (size_t at = 0; at < c->n; at += n) {
		for (n = 1; at + n < c->n && !c->terms[at + n].alternative;)
			n++;
		if (expand(&b, c->terms + at, n) < 0)
			return -1;
	}
	memcpy(c->terms, b.out, sizeof(c->terms));
	c->n = b.n;
	c->bound = true;
	return 0;
}
