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

static const char *const kinds[CHANNEL_KINDS] = {
	[CHANNEL_OTHER] = "other",
	[CHANNEL_GPU_UTIL] = "gpu_util",
	[CHANNEL_CPU_UTIL] = "cpu_util",
	[CHANNEL_CORE_UTIL] = "core_util",
	[CHANNEL_RAM_USED] = "ram_used",
	[CHANNEL_RAM_AVAILABLE] = "ram_available",
	[CHANNEL_EMC_UTIL] = "emc_util",
	[CHANNEL_RAIL_VOLTAGE] = "rail_voltage",
	[CHANNEL_RAIL_CURRENT] = "rail_current",
	[CHANNEL_RAIL_POWER] = "rail_power",
	[CHANNEL_POWER_TOTAL] = "power_total",
	[CHANNEL_TEMPERATURE] = "temperature",
	[CHANNEL_HOTTEST] = "hottest",
	[CHANNEL_GPU_FREQ] = "gpu_freq",
	[CHANNEL_CPU_FREQ] = "cpu_freq",
	[CHANNEL_EMC_RATE] = "emc_rate",
	[CHANNEL_FAN] = "fan",
	[CHANNEL_ENGINE_UTIL] = "engine_util",
	[CHANNEL_ENGINE_FREQ] = "engine_freq",
	[CHANNEL_THROTTLE] = "throttle",
	[CHANNEL_THROTTLE_COUNT] = "throttle_count",
	[CHANNEL_FREQ_LIMIT] = "freq_limit",
	[CHANNEL_GATED] = "gated",
	[CHANNEL_COUNTER] = "counter",
	[CHANNEL_NOTICE] = "notice",
};

static int find(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Defines tier_name() and tier_find(), and so on. */
#define NAMES(what, names, n)                                                                                \
	const char *what##_name(enum what i)                                                                 \
	{                                                                                                    \
		return (unsigned)i < n ? names[i] : "";                                                      \
	}                                                                                                    \
	int what##_find(const char *name)                                                                    \
	{                                                                                                    \
		return find(names, n, name);                                                                 \
	}
NAMES(tier, tiers, TIERS)
NAMES(unit, units, UNITS)
NAMES(family, families, FAMILIES)
NAMES(channel_kind, kinds, CHANNEL_KINDS)

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
static const struct value_range value_ranges[CHANNEL_KINDS] = {
	[CHANNEL_GPU_UTIL] = {0, 100},
	[CHANNEL_CPU_UTIL] = PERCENT,
	[CHANNEL_CORE_UTIL] = PERCENT,
	[CHANNEL_RAM_USED] = MEMORY,
	[CHANNEL_RAM_AVAILABLE] = MEMORY,
	[CHANNEL_EMC_UTIL] = {0, 1000},
	[CHANNEL_RAIL_VOLTAGE] = {0, 1e6},
	[CHANNEL_RAIL_CURRENT] = {-1e6, 1e6},
	[CHANNEL_RAIL_POWER] = MILLIWATTS,
	[CHANNEL_POWER_TOTAL] = MILLIWATTS,
	[CHANNEL_TEMPERATURE] = CELSIUS,
	[CHANNEL_HOTTEST] = CELSIUS,
	[CHANNEL_GPU_FREQ] = HERTZ,
	[CHANNEL_CPU_FREQ] = HERTZ,
	[CHANNEL_EMC_RATE] = HERTZ,
	[CHANNEL_FAN] = {0, 1e6},
	[CHANNEL_ENGINE_UTIL] = PERCENT,
	[CHANNEL_ENGINE_FREQ] = HERTZ,
	[CHANNEL_THROTTLE] = COUNT,
	[CHANNEL_THROTTLE_COUNT] = COUNT,
	[CHANNEL_FREQ_LIMIT] = HERTZ,
	[CHANNEL_GATED] = {0, 1},
	[CHANNEL_NOTICE] = COUNT,
};

struct value_range channel_range(enum channel_kind kind)
{
	/* kinds without an entry accept any value */
	return value_ranges[kind].hi > value_ranges[kind].lo ? value_ranges[kind] : (struct value_range) ANY;
}

bool change_is_reason(const struct change *c)
{
	return !c->from[0] && !strncmp(c->to, CHANGE_REASON, strlen(CHANGE_REASON));
}

void change_text(char out[CHANGE_TEXT], const struct change *c)
{
	if (change_is_reason(c))
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
	if (isnan(v))
		return v;
	if (!range_holds(channel_range(kind), v))
		return missing_value(MISSING_RANGE, 0);
	switch (kind) {
	case CHANNEL_GPU_UTIL: /* u16 of 0..1000 */
		return round(v * 10) / 10;
	case CHANNEL_CPU_UTIL: /* f32 */
	case CHANNEL_CORE_UTIL:
	case CHANNEL_EMC_UTIL:
	case CHANNEL_RAIL_POWER:
	case CHANNEL_TEMPERATURE:
		return (float)v;
	case CHANNEL_RAM_USED: /* u64 */
	case CHANNEL_RAM_AVAILABLE:
	case CHANNEL_RAIL_VOLTAGE: /* u32 */
	case CHANNEL_RAIL_CURRENT:
		return round(v);
	default:
		return v;
	}
}
