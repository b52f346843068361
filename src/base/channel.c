/* The names that formats, board files and messages use for tiers, units,
 * families and kinds: one table each, for both directions. */
#include <math.h>
#include <string.h>

#include "nvmtop/channel.h"

static const char *const tiers[TIERS] = {"fast", "medium", "slow"};

static const char *const units[UNITS] = {
	[UNIT_NONE] = "",        [UNIT_PERCENT] = "%",    [UNIT_HZ] = "Hz",
	[UNIT_KB] = "kB",        [UNIT_MILLIVOLT] = "mV", [UNIT_MILLIAMPERE] = "mA",
	[UNIT_MILLIWATT] = "mW", [UNIT_CELSIUS] = "C",    [UNIT_RPM] = "rpm",
	[UNIT_JOULE] = "J",
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
};

static const char *name_of(const char *const *names, int n, int i)
{
	return i >= 0 && i < n ? names[i] : "";
}

static int find(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

const char *tier_name(enum tier t)
{
	return name_of(tiers, TIERS, (int)t);
}

const char *unit_name(enum unit u)
{
	return name_of(units, UNITS, (int)u);
}

const char *family_name(enum family f)
{
	return name_of(families, FAMILIES, (int)f);
}

const char *channel_kind_name(enum channel_kind k)
{
	return name_of(kinds, CHANNEL_KINDS, (int)k);
}

int tier_find(const char *name)
{
	return find(tiers, TIERS, name);
}

int unit_find(const char *name)
{
	return find(units, UNITS, name);
}

int family_find(const char *name)
{
	return find(families, FAMILIES, name);
}

int channel_kind_find(const char *name)
{
	return find(kinds, CHANNEL_KINDS, name);
}

const char *fact_get(const struct fact *facts, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].value;
	return NULL;
}

double channel_round(enum channel_kind kind, double v)
{
	if (isnan(v))
		return v;
	switch (kind) {
	case CHANNEL_GPU_UTIL: /* u16 of 0..1000 */
		return round(fmin(fmax(v, 0), 100) * 10) / 10;
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
