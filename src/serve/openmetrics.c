/* Each signal is a sample of a family, whose name and unit follow from what the signal measures; what no family is made
 * for is in one of its unit. All types are those that readers of the older text format know, too. */
#include "serve/openmetrics.h"

#include <math.h>
#include <string.h>

#include "report/text.h"
#include "util/intl.h"
#include "util/num.h"

#define ANY -1
struct metric_family {
	int kind, unit; /* of the channel */
	const char *name, *base; /* base: unit of the name, "" for none */
	double per; /* of the channel's unit make one */
	const char *label;
	enum { WHOLE, BEFORE, AFTER, INDEX } part; /* of the channel's name that is the label's value */
	const char *help;
	bool counter;
	const char *channel;		 /* only this one */
	const char *total, *total_help; /* of values over time, in `joules` or `seconds` */
	bool limits;			 /* has warning and critical values */
};
#define KB_PER_BYTE (1.0 / 1024)

static const struct metric_family families[] = {
	{CHANNEL_GPU_UTIL, UNIT_PERCENT, "gpu_busy_ratio", "ratio", 100, "gpu", BEFORE, .help = "Load of the GPU."},
	{CHANNEL_GPU_FREQ, UNIT_HZ, "gpu_frequency_hertz", "hertz", 1, "gpu", BEFORE, .help = "Clock of the GPU."},
	{CHANNEL_CPU_UTIL, UNIT_PERCENT, "cpu_all_busy_ratio", "ratio", 100, NULL, 0, .help = "Load over all cores that are online."},
	{CHANNEL_CORE_UTIL, UNIT_PERCENT, "cpu_busy_ratio", "ratio", 100, "cpu", INDEX, .help = "Load of a core.",
	 .total = "cpu_busy_seconds", .total_help = "Seconds that a core was busy since the values began."},
	{CHANNEL_CPU_FREQ, UNIT_HZ, "cpu_frequency_hertz", "hertz", 1, "cpu", INDEX,
	 .help = "Clock of a group of cores, by its first one."},
	{CHANNEL_EMC_UTIL, UNIT_PERCENT, "emc_busy_ratio", "ratio", 100, NULL, 0, .help = "Load of the memory controller."},
	{CHANNEL_EMC_RATE, UNIT_HZ, "emc_frequency_hertz", "hertz", 1, NULL, 0, .help = "Clock of the memory controller."},
	{CHANNEL_RAM_USED, UNIT_KB, "memory_used_bytes", "bytes", KB_PER_BYTE, NULL, 0, .help = "Memory that is not available."},
	{CHANNEL_RAM_AVAILABLE, UNIT_KB, "memory_available_bytes", "bytes", KB_PER_BYTE, NULL, 0,
	 .help = "Memory that programs can get."},
	{CHANNEL_RAIL_VOLTAGE, UNIT_MILLIVOLT, "rail_volts", "volts", 1000, "rail", BEFORE, .help = "Voltage of a rail."},
	{CHANNEL_RAIL_CURRENT, UNIT_MILLIAMPERE, "rail_amperes", "amperes", 1000, "rail", BEFORE, .help = "Current of a rail.",
	 .limits = true},
	{CHANNEL_RAIL_POWER, UNIT_MILLIWATT, "rail_watts", "watts", 1000, "rail", BEFORE, .help = "Power of a rail.",
	 .total = "rail_joules", .total_help = "Energy of a rail since the values began.", .limits = true},
	{CHANNEL_POWER_TOTAL, UNIT_MILLIWATT, "power_watts", "watts", 1000, NULL, 0, .help = "Power of the board.",
	 .total = "power_joules", .total_help = "Energy of the board since the values began.", .limits = true},
	{CHANNEL_TEMPERATURE, UNIT_CELSIUS, "temperature_celsius", "celsius", 1, "zone", AFTER, .help = "Temperature of a zone.",
	 .limits = true},
	{CHANNEL_HOTTEST, UNIT_CELSIUS, "hottest_celsius", "celsius", 1, NULL, 0, .help = "The highest temperature."},
	{CHANNEL_FAN, UNIT_RPM, "fan_rpm", "rpm", 1, "fan", WHOLE, .help = "Speed of a fan, in revolutions a minute."},
	{CHANNEL_FAN, UNIT_PERCENT, "fan_duty_ratio", "ratio", 100, "fan", WHOLE, .help = "What a fan is set to."},
	{CHANNEL_ENGINE_UTIL, UNIT_PERCENT, "engine_busy_ratio", "ratio", 100, "engine", BEFORE, .help = "Load of an engine.",
	 .total = "engine_busy_seconds", .total_help = "Seconds that an engine was busy since the values began."},
	{CHANNEL_ENGINE_FREQ, UNIT_HZ, "engine_frequency_hertz", "hertz", 1, "engine", BEFORE,
	 .help = "Clock of an engine; 0 while it is off."},
	{CHANNEL_THROTTLE, ANY, "throttle_state", "", 1, "cause", AFTER, .help = "Above 0 while something is throttled."},
	{CHANNEL_THROTTLE_COUNT, ANY, "throttle_events", "", 1, "cause", AFTER, .help = "Events of throttling.", .counter = true},
	{CHANNEL_NOTICE, ANY, "notice_state", "", 1, "cause", AFTER, .help = "Above 0 while there is a notice."},
	{CHANNEL_FREQ_LIMIT, UNIT_HZ, "frequency_limit_hertz", "hertz", 1, "signal", WHOLE,
	 .help = "The lowest or highest clock that is allowed now."},
	{CHANNEL_GATED, ANY, "powered_down", "", 1, "unit", BEFORE, .help = "1 while a unit is powered down."},
	{ANY, UNIT_NONE, "lost_samples", "", 1, NULL, 0, .help = "Rows that were sampled but lost.", .counter = true,
	 .channel = "nvmtop.lost"},
	{ANY, UNIT_JOULE, "energy_joules", "joules", 1, "signal", WHOLE, .help = "Energy, as a signal counts it.", .counter = true},
	{CHANNEL_COUNTER, ANY, "events", "", 1, "signal", WHOLE, .help = "Counts of other signals.", .counter = true},
	{ANY, UNIT_PERCENT, "signal_ratio", "ratio", 100, "signal", WHOLE, .help = "Other signals in percent."},
	{ANY, UNIT_HZ, "signal_hertz", "hertz", 1, "signal", WHOLE, .help = "Other clocks."},
	{ANY, UNIT_KB, "signal_bytes", "bytes", KB_PER_BYTE, "signal", WHOLE, .help = "Other amounts of memory."},
	{ANY, UNIT_MILLIVOLT, "signal_volts", "volts", 1000, "signal", WHOLE, .help = "Other voltages."},
	{ANY, UNIT_MILLIAMPERE, "signal_amperes", "amperes", 1000, "signal", WHOLE, .help = "Other currents."},
	{ANY, UNIT_MILLIWATT, "signal_watts", "watts", 1000, "signal", WHOLE, .help = "Other power.", .total = "signal_joules",
	 .total_help = "Energy of other power signals since the values began."},
	{ANY, UNIT_CELSIUS, "signal_celsius", "celsius", 1, "signal", WHOLE, .help = "Other temperatures."},
	{ANY, UNIT_RPM, "signal_rpm", "rpm", 1, "signal", WHOLE, .help = "Other speeds, in revolutions a minute."},
	{ANY, ANY, "signal", "", 1, "signal", WHOLE, .help = "Other signals, in a unit of their own."},
};
#define FAMILIES_ALL (sizeof families / sizeof *families)

static const struct metric_family *family_of(const struct channel *c)
{
	const struct metric_family *f = families;

	while ((f->kind != ANY && f->kind != (int)c->kind) || (f->unit != ANY && f->unit != (int)c->unit) ||
	       (f->channel && strcmp(f->channel, c->name) != 0))
		f++;
	return f;
}

/* A quoted text: the value of a label. */
static void put_label(FILE *f, const char *name, const char *text, size_t n)
{
	fprintf(f, "%s=\"", name);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\n')
			fputs("\\n", f);
		else if (text[i] == '"' || text[i] == '\\')
			fprintf(f, "\\%c", text[i]);
		else
			putc(text[i], f);
	putc('"', f);
}

static void put_channel(FILE *f, const struct metric_family *y, const struct channel *c)
{
	static const char *const begins[] = {"temp.", "throttle.", "notice."};
	const char *last = strrchr(c->name, '.'), *text = c->name;
	char number[16];

	if (y->part == INDEX) {
		snprintf(number, sizeof number, "%u", (unsigned)c->index);
		put_label(f, y->label, number, strlen(number));
	} else if (y->part == BEFORE && last) {
		put_label(f, y->label, c->name, (size_t)(last - c->name));
	} else {
		for (size_t i = 0; y->part == AFTER && i < 3; i++)
			if (!strncmp(c->name, begins[i], strlen(begins[i])))
				text = c->name + strlen(begins[i]);
		put_label(f, y->label, text, strlen(text));
	}
}

/* In the unit of the family; a value that was rounded to float as the shortest number that says it. */
static double in_base(const struct metric_family *y, double v)
{
	char text[NUM_TEXT];

	num_text_single(text, v);
	(void)num_double(text, &v);
	return v / y->per;
}

struct sample {
	const char *suffix;	   /* of the family's name */
	const char *label, *value; /* a second label; NULL: none */
};

static void put_sample(FILE *f, const char *name, const struct metric_family *y, const struct channel *c, struct sample s, double v)
{
	fprintf(f, "nvmtop_%s%s", name, s.suffix);
	if (y->label || s.label)
		putc('{', f);
	if (y->label)
		put_channel(f, y, c);
	if (s.label) {
		if (y->label)
			putc(',', f);
		put_label(f, s.label, s.value, strlen(s.value));
	}
	fputs(y->label || s.label ? "} " : " ", f);
	put_num(f, v);
	putc('\n', f);
}

static void put_head(FILE *f, const struct metrics *m, const char *name, bool counter, const char *unit, const char *help)
{
	const char *suffix = counter && m->textfile ? "_total" : "";

	fprintf(f, "# TYPE nvmtop_%s%s %s\n", name, suffix, counter ? "counter" : "gauge");
	if (*unit && !*suffix)
		fprintf(f, "# UNIT nvmtop_%s %s\n", name, unit);
	fprintf(f, "# HELP nvmtop_%s%s %s\n", name, suffix, help);
}

/* A family with the samples of all channels that have one: f->name, and what is made of it. */
static void put_family(FILE *f, const struct metrics *m, const struct metric_family *y)
{
	static const char *const extremes[] = {"_min", "_max", "_mean"};
	static const char *const limits[] = {"warning", "critical"};
	char name[80];
	bool begun = false;

	for (size_t k = 0; k < m->n; k++) {
		size_t i = m->channels[k];
		const struct channel *c = &m->about->channels[i];

		if (family_of(c) != y || !isfinite(m->values[i]) || (y->counter && m->values[i] < 0))
			continue;
		if (!begun)
			put_head(f, m, y->name, y->counter, y->base, y->help);
		begun = true;
		put_sample(f, y->name, y, c, (struct sample) {.suffix = y->counter ? "_total" : ""}, in_base(y, m->values[i]));
	}
	for (size_t e = 0; m->n_windows && !y->counter && e < 3; e++) {
		snprintf(name, sizeof name, "%s%s", y->name, extremes[e]);
		begun = false;
		for (size_t k = 0; k < m->n * m->n_windows; k++) {
			size_t i = m->channels[k / m->n_windows];
			const struct metric_window *w = &m->windows[k % m->n_windows];
			const struct bin *b = &w->bins[i];

			if (family_of(&m->about->channels[i]) != y || b->n == 0)
				continue;
			if (!begun)
				put_head(f, m, name, false, "", "The same in the window of time before, of all readings.");
			begun = true;
			put_sample(f, name, y, &m->about->channels[i], (struct sample) {"", "window", w->label},
				   in_base(y, e == 0 ? b->min : e == 1 ? b->max : b->sum / (double)b->n));
		}
	}
	begun = false;
	for (size_t k = 0; m->totals && y->total && k < m->n; k++) {
		size_t i = m->channels[k];

		if (family_of(&m->about->channels[i]) != y || !isfinite(m->totals[i]) || m->totals[i] < 0)
			continue;
		if (!begun)
			put_head(f, m, y->total, true, strrchr(y->total, '_') + 1, y->total_help);
		begun = true;
		put_sample(f, y->total, y, &m->about->channels[i], (struct sample) {.suffix = "_total"}, m->totals[i]);
	}
	begun = false;
	snprintf(name, sizeof name, "%.*slimit_%s", (int)(strlen(y->name) - strlen(y->base)), y->name, y->base);
	for (size_t k = 0; y->limits && k < m->n * 2; k++) {
		const struct channel *c = &m->about->channels[m->channels[k / 2]];
		double limit = k % 2 ? c->crit : c->warn;

		if (family_of(c) != y || !isfinite(limit))
			continue;
		if (!begun)
			put_head(f, m, name, false, y->base, "From here on it is near its limit, or over it.");
		begun = true;
		put_sample(f, name, y, c, (struct sample) {"", "limit", limits[k % 2]}, in_base(y, limit));
	}
}

static void put_facts(FILE *f, const struct metrics *m)
{
	static const struct {
		const char *key, *label;
	} facts[] = {{"model", "model"},     {"module", "module"},	 {"soc", "soc"},
		     {"release", "release"}, {"jetpack", "jetpack"}, {"mode", "power_mode"}};
	const char *ram = fact_get(m->about->facts, m->about->n_facts, "ram_total_kb");
	double kb;

	put_head(f, m, "info", false, "", "What machine this is.");
	fputs("nvmtop_info{", f);
	put_label(f, "version", PACKAGE_VERSION, strlen(PACKAGE_VERSION));
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		const char *text = fact_get(m->about->facts, m->about->n_facts, facts[i].key);

		if (!text || !*text)
			continue;
		putc(',', f);
		put_label(f, facts[i].label, text, strlen(text));
	}
	fputs("} 1\n", f);
	if (ram && num_double(ram, &kb) && kb > 0) {
		put_head(f, m, "memory_total_bytes", false, "bytes", "Memory of the machine.");
		fputs("nvmtop_memory_total_bytes ", f);
		put_num(f, kb * 1024);
		putc('\n', f);
	}
}

void openmetrics_write(FILE *f, const struct metrics *m)
{
	bool begun = false;

	put_facts(f, m);
	for (size_t i = 0; i < FAMILIES_ALL; i++)
		put_family(f, m, &families[i]);
	for (size_t k = 0; k < m->n; k++) {
		const struct channel *c = &m->about->channels[m->channels[k]];
		char reason[256];

		if (isfinite(m->values[m->channels[k]]))
			continue;
		if (!begun)
			put_head(f, m, "missing_info", false, "", "Why a signal has no value.");
		begun = true;
		m->reason(m->arg, m->channels[k], reason, sizeof reason);
		fputs("nvmtop_missing_info{", f);
		put_label(f, "signal", c->name, strlen(c->name));
		putc(',', f);
		put_label(f, "reason", reason, strlen(reason));
		fputs("} 1\n", f);
	}
	fputs("# EOF\n", f);
}
