/* Tables of the names that formats, board files and messages use for tiers, units, families and kinds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/missing.h"

static const char *const tiers[TIERS] = {"fast", "medium", "slow"};

static const char *const units[UNITS] = {
	[UNIT_NONE] = "",        [UNIT_PERCENT] = "%",    [UNIT_HZ] = "Hz",
	[UNIT_KB] = "kB",        [UNIT_MILLIVOLT] = "mV", [UNIT_MILLIAMPERE] = "mA",
	[UNIT_MILLIWATT] = "mW", [UNIT_CELSIUS] = "C",    [UNIT_RPM] = "rpm",
	[UNIT_JOULE] = "J",      [UNIT_BYTE_RATE] = "B/s",
};

static const char *const families[FAMILIES] = {"gpu", "cpu", "memory", "power", "heat", "other"};

/* Faulty drivers and damaged rows can contain any value. Values outside these ranges are wrong on any
 * board: loads beyond what a recorder can measure, more memory than an address space, a kilovolt, a
 * kiloampere, a megawatt, colder than any sensor works. EMC load has no upper limit: other writers divide
 * by a rate that was read at another time. */
#define ANY          {-INFINITY, INFINITY}
#define COUNT        {0, INFINITY}
#define PERCENT      {0, (double)100.01F}
#define MEMORY       {0, 0x1p40}
#define MILLIWATTS   {-1e9, 1e9}
#define CELSIUS      {-199.999, 1000}
#define HERTZ        {0, 1e11}
static const struct channel_traits {
	const char *name;
	struct value_range range;
	enum { AS_IS, WHOLE, TENTHS, SINGLE } stored; /* in a version 1 trace: as an integer, of tenths, as a float */
} kinds[CHANNEL_KINDS] = {
	[CHANNEL_OTHER] = {"other", ANY, AS_IS},
	[CHANNEL_GPU_UTIL] = {"gpu_util", {0, 100}, TENTHS},
	[CHANNEL_CPU_UTIL] = {"cpu_util", PERCENT, SINGLE},
	[CHANNEL_CORE_UTIL] = {"core_util", PERCENT, SINGLE},
	[CHANNEL_RAM_USED] = {"ram_used", MEMORY, WHOLE},
	[CHANNEL_RAM_AVAILABLE] = {"ram_available", MEMORY, WHOLE},
	[CHANNEL_EMC_UTIL] = {"emc_util", {0, 1000}, SINGLE},
	[CHANNEL_RAIL_VOLTAGE] = {"rail_voltage", {0, 1e6}, WHOLE},
	[CHANNEL_RAIL_CURRENT] = {"rail_current", {-1e6, 1e6}, WHOLE},
	[CHANNEL_RAIL_POWER] = {"rail_power", MILLIWATTS, SINGLE},
	[CHANNEL_POWER_TOTAL] = {"power_total", MILLIWATTS, AS_IS},
	[CHANNEL_TEMPERATURE] = {"temperature", CELSIUS, SINGLE},
	[CHANNEL_HOTTEST] = {"hottest", CELSIUS, AS_IS},
	[CHANNEL_GPU_FREQ] = {"gpu_freq", HERTZ, AS_IS},
	[CHANNEL_CPU_FREQ] = {"cpu_freq", HERTZ, AS_IS},
	[CHANNEL_EMC_RATE] = {"emc_rate", HERTZ, AS_IS},
	[CHANNEL_FAN] = {"fan", {0, 1e6}, AS_IS},
	[CHANNEL_ENGINE_UTIL] = {"engine_util", PERCENT, AS_IS},
	[CHANNEL_ENGINE_FREQ] = {"engine_freq", HERTZ, AS_IS},
	[CHANNEL_THROTTLE] = {"throttle", COUNT, AS_IS},
	[CHANNEL_THROTTLE_COUNT] = {"throttle_count", COUNT, AS_IS},
	[CHANNEL_FREQ_LIMIT] = {"freq_limit", HERTZ, AS_IS},
	[CHANNEL_GATED] = {"gated", {0, 1}, AS_IS},
	[CHANNEL_COUNTER] = {"counter", ANY, AS_IS},
	[CHANNEL_NOTICE] = {"notice", COUNT, AS_IS},
};

/* Defines tier_name() and tier_find(), and so on. */
#define NAMES(what, text, n)                                                                                 \
	const char *what##_name(enum what i)                                                                 \
	{                                                                                                    \
		return (unsigned)i < n ? text : "";                                                          \
	}                                                                                                    \
	int what##_find(const char *name)                                                                    \
	{                                                                                                    \
		int i = 0;                                                                                   \
                                                                                                             \
		while (i < n && strcmp(text, name) != 0)                                                     \
			i++;                                                                                 \
		return i < n ? i : -1;                                                                       \
	}
NAMES(tier, tiers[i], TIERS)
NAMES(unit, units[i], UNITS)
NAMES(family, families[i], FAMILIES)
NAMES(channel_kind, kinds[i].name, CHANNEL_KINDS)

size_t channel_find(const struct channel *list, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && strcmp(list[i].name, name) != 0)
		i++;
	return i;
}

const char *fact_get(const struct fact *facts, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].value;
	return NULL;
}

bool channel_counts(const struct channel *c)
{
	return c->kind == CHANNEL_COUNTER || c->kind == CHANNEL_THROTTLE_COUNT || c->unit == UNIT_JOULE;
}

bool channel_is_nvml(const struct channel *c)
{
	return !strncmp(c->source, "NVML", 4);
}

struct value_range channel_range(enum channel_kind kind)
{
	return kinds[kind].range;
}

bool change_is_reason(const struct change *c)
{
	return !c->from[0] && !strncmp(c->to, CHANGE_REASON, strlen(CHANGE_REASON));
}

void change_text(char out[CHANGE_TEXT], const struct change *c)
{
	static const char *const told[] = {CHANGE_CLOCK, CHANGE_SUSPENDED, CHANGE_RANGES_LOST, CHANGE_EVENTS_LOST};
	bool alone = change_is_reason(c);

	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		alone |= !strcmp(c->what, told[i]);
	if (alone)
		snprintf(out, CHANGE_TEXT, "%.47s: %.63s", c->what, c->to);
	else
		snprintf(out, CHANGE_TEXT, "%.47s: %.63s -> %.63s", c->what, c->from[0] ? c->from : "--",
			 c->to[0] ? c->to : "--");
}

void facts_change(struct fact *facts, size_t n, const struct change *c)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(facts[i].key, c->what))
			memcpy(facts[i].value, c->to, sizeof(c->to));
}

double channel_round(enum channel_kind kind, double v)
{
	const struct channel_traits *k = &kinds[kind];

	if (isnan(v))
		return v;
	if (!range_holds(k->range, v))
		return missing_value(MISSING_RANGE, 0);
	return k->stored == WHOLE ? round(v) : k->stored == TENTHS ? round(v * 10) / 10 : k->stored == SINGLE ? (double)(float)v : v;
}

bool channel_is_single(enum channel_kind kind)
{
	return kinds[kind].stored == SINGLE;
}
