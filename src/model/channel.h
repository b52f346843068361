/* channel: one measured quantity over time, and its description. */
#ifndef NVMTOP_MODEL_CHANNEL_H
#define NVMTOP_MODEL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tier is a sampling rate. Every channel belongs to exactly one. */
enum tier {
	TIER_FAST,		/* 1 kHz by default: GPU, CPU, memory, EMC */
	TIER_MEDIUM,		/* 100 Hz: power rails, clocks */
	TIER_SLOW,		/* 10 Hz: temperatures, fans */
	TIERS
};

/* The time between two samples counts as covered if they are at most this many periods of the tier apart. */
#define COVER_PERIODS 5

/* Values are doubles in these units; NaN means not read. */
enum unit {
	UNIT_NONE,		/* a plain number */
	UNIT_PERCENT,		/* 0 .. 100 */
	UNIT_HZ,
	UNIT_KB,		/* 1024 bytes, as /proc/meminfo counts */
	UNIT_MILLIVOLT,
	UNIT_MILLIAMPERE,	/* signed */
	UNIT_MILLIWATT,		/* signed */
	UNIT_CELSIUS,
	UNIT_RPM,
	UNIT_JOULE,
	UNIT_BYTE_RATE,		/* bytes a second */
	UNITS
};

enum family { FAMILY_GPU, FAMILY_CPU, FAMILY_MEMORY, FAMILY_POWER, FAMILY_HEAT, FAMILY_OTHER, FAMILIES };

/* What a channel measures: determines its field in a version 1 trace and its place on the screen. */
enum channel_kind {
	CHANNEL_OTHER,
	CHANNEL_GPU_UTIL,	/* percent in tenths */
	CHANNEL_CPU_UTIL,	/* percent over all online cores, to float precision */
	CHANNEL_CORE_UTIL,	/* index = N of cpuN */
	CHANNEL_RAM_USED,	/* MemTotal - MemAvailable */
	CHANNEL_RAM_AVAILABLE,
	CHANNEL_EMC_UTIL,	/* percent */
	CHANNEL_RAIL_VOLTAGE,	/* whole millivolts; index = rail, in the board's order */
	CHANNEL_RAIL_CURRENT,	/* whole milliamperes */
	CHANNEL_RAIL_POWER,	/* mV x mA / 1000, to float precision */
	CHANNEL_POWER_TOTAL,	/* the board's total; the note gives the formula */
	CHANNEL_TEMPERATURE,	/* index = zone, in the board's order; float precision */
	CHANNEL_HOTTEST,	/* the highest temperature */
	CHANNEL_GPU_FREQ,
	CHANNEL_CPU_FREQ,	/* index = first core of the cluster */
	CHANNEL_EMC_RATE,
	CHANNEL_FAN,
	CHANNEL_ENGINE_UTIL,	/* video, vision and copy engines */
	CHANNEL_ENGINE_FREQ,	/* 0 when it is off */
	CHANNEL_THROTTLE,	/* above 0 while something is throttled; label names it */
	CHANNEL_THROTTLE_COUNT,	/* events so far; each step up is one */
	CHANNEL_FREQ_LIMIT,	/* the lowest or highest clock allowed now */
	CHANNEL_GATED,		/* 1 while the unit is powered down */
	CHANNEL_COUNTER,	/* counts up from the start of the program: only its increase is
				 * meaningful */
	CHANNEL_NOTICE,		/* above 0 while there is a notice (a warning that lowers nothing); label
				 * names it */
	CHANNEL_KINDS
};

#define WINDOW_UNKNOWN (-1)

/* Texts are printable UTF-8 and always terminated. */
struct channel {
	char name[48];		/* unique and stable: "gpu.util", "cpu4.util", "VDD_IN.power" */
	char label[32];		/* display name: "GPU", "cpu4", "VDD_IN" */
	enum channel_kind kind;
	uint16_t index;
	enum tier tier;
	uint16_t column;	/* index in a row of its tier */
	enum unit unit;
	enum family family;
	double lo, hi;		/* natural range (0..100, 0..MemTotal); NaN: scale to the data */
	double warn, crit;	/* near the limit, and over it; NaN: no known limit */
	int64_t period_ns;	/* how often the kernel updates it; 0: every tick */
	/* A value is the mean over this time (0: of its moment; WINDOW_UNKNOWN: a file does not say), which ends this
	 * long before the value was read, as far as the driver says or is known. */
	int64_t window_ns, age_ns;
	char source[160];	/* the kernel file, or the formula over other channels */
	char note[96];		/* "mean of 100 ms", "sum of rails", "estimate", "demo"; may be "" */
	char missing[200];	/* why it has no value, and how to enable it; or "" */
	char kernel[24];	/* the kernel's name for it, such as a zone's type "cpu-thermal"; may be
				 * "" */
};

/* A fact about where the samples come from: "board"="agx_orin",
 * "title"="Jetson AGX Orin", "release"="L4T 36.4.3", "mode", "soc", "why",
 * "demo"="yes", "ram_total_kb", "kernel", "hostname". */
struct fact {
	char key[24];
	char value[160];
};

/* Returns the value of a fact, or NULL if it does not exist. */
const char *fact_get(const struct fact *facts, size_t n, const char *key);

/* A change at t_ns: of a fact, or of a channel whose changes are recorded because it is a machine
 * setting, or because it starts or stops having values. */
struct change {
	int64_t t_ns;
	char what[48];		/* the fact's key or the channel's name */
	char from[64], to[64];	/* formatted, with a unit; "" is no value */
};

/* A channel has no value, and why: from is "", and to is CHANGE_REASON and the reason. It is recorded when a reason first
 * appears and when it becomes another one, and is no event. */
#define CHANGE_REASON "-- "
bool change_is_reason(const struct change *c);

/* `what` of changes that are none of a fact or channel: to says how much, from is "". */
#define CHANGE_CLOCK	   "clock"     /* the wall clock was set */
#define CHANGE_SUSPENDED   "suspended" /* the machine was: no row is missing, since CLOCK_MONOTONIC stood still */
#define CHANGE_RANGES_LOST "ranges.lost"
#define CHANGE_EVENTS_LOST "events.lost"

/* Formats "mode: 15W -> 40W", "gpu.freq: -- out of range" or "clock: +3.000 s"; "--" is no value. */
#define CHANGE_TEXT (sizeof(struct change) + 16)
void change_text(char out[CHANGE_TEXT], const struct change *c);

/* Updates the fact that c->what names, if it exists. */
void facts_change(struct fact *facts, size_t n, const struct change *c);

const char *tier_name(enum tier t);	/* "fast", "medium", "slow": part of formats, not translated */
const char *unit_name(enum unit u);	/* "%", "Hz", "kB", "mV", "mA", "mW", "C", "rpm", "J", "B/s", "" */
const char *family_name(enum family f);	/* "gpu", "cpu", "memory", "power", "heat", "other" */
const char *channel_kind_name(enum channel_kind k);	/* "gpu_util", ...: part of formats */

/* Return -1 for an unknown name. */
int tier_find(const char *name);
int unit_find(const char *name);
int family_find(const char *name);
int channel_kind_find(const char *name);
/* The channel of that name among n; n: there is none. */
size_t channel_find(const struct channel *list, size_t n, const char *name);

/* True for a counter, of which the increase is reported instead of the mean. Joules are counters. */
bool channel_counts(const struct channel *c);

/* True if the channel is read through NVML. */
bool channel_is_nvml(const struct channel *c);

/* The valid range of a kind; other values come from a faulty driver or a damaged file. */
struct value_range {
	double lo, hi;
};
struct value_range channel_range(enum channel_kind kind);

/* False for NaN. */
static inline bool range_holds(struct value_range r, double v)
{
	return v >= r.lo && v <= r.hi;
}

/* Rounds v to what a version 1 trace can store for this kind, so that the live value and the one read
 * back are equal bit for bit. A value out of range becomes NaN, with that as its reason; a NaN keeps its own. */
double channel_round(enum channel_kind kind, double v);
/* Whether that is a float. */
bool channel_is_single(enum channel_kind kind);

#endif
