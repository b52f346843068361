/* Each signal is a sample of a family, whose name and unit follow from what the signal measures; what no family is made
 * for is in one of its unit. All types are those that readers of the older text format know, too. */
#include "serve/openmetrics.h"

#include <math.h>
#include <string.h>

#include "util/intl.h"
#include "util/json-csv.h"
#include "util/num.h"

/* Of each unit of a channel, in the order of enum unit. */
static const struct {
	const char *name;
	double per; /* so many of the channel's are one */
} bases[UNITS] = {{"", 1},	   {"ratio", 100},     {"hertz", 1},	 {"bytes", 1.0 / 1024}, {"volts", 1000},
		  {"amperes", 1000}, {"watts", 1000},  {"celsius", 1}, {"rpm", 1},	      {"joules", 1},
		  [UNIT_BYTE_RATE] = {"bytes_per_second", 1}};

enum { ANY = -1, BY_NAME = -2 };
struct metric_family {
	int kind; /* of the channel */
	const char *name, *label;
	enum { NO_LABEL, WHOLE, BEFORE, AFTER, INDEX } part; /* of the channel's name that is the label's value */
	const char *help;
	bool counter;
	bool limits;			/* has warning and critical values */
	const char *total, *total_help; /* of values over time, in joules or seconds */
};

static const struct metric_family families[] = {
	{BY_NAME, "lost_samples", .help = "Rows that were sampled but lost.", .counter = true},
	{CHANNEL_GPU_UTIL, "gpu_busy", "gpu", BEFORE, .help = "Load of the GPU.", .total = "gpu_busy_seconds",
	 .total_help = "Seconds that the GPU was busy since the values began."},
	{CHANNEL_GPU_FREQ, "gpu_frequency", "gpu", BEFORE, .help = "Clock of the GPU."},
	{CHANNEL_CPU_UTIL, "cpu_all_busy", .help = "Load over all cores that are online."},
	{CHANNEL_CORE_UTIL, "cpu_busy", "cpu", INDEX, .help = "Load of a core.", .total = "cpu_busy_seconds",
	 .total_help = "Seconds that a core was busy since the values began."},
	{CHANNEL_CPU_FREQ, "cpu_frequency", "cpu", INDEX, .help = "Clock of a group of cores, by its first one."},
	{CHANNEL_EMC_UTIL, "emc_busy", .help = "Load of the memory controller.", .total = "emc_busy_seconds",
	 .total_help = "Seconds that the memory controller was busy since the values began."},
	{CHANNEL_EMC_RATE, "emc_frequency", .help = "Clock of the memory controller."},
	{CHANNEL_RAM_USED, "memory_used", .help = "Memory that is not available."},
	{CHANNEL_RAM_AVAILABLE, "memory_available", .help = "Memory that programs can get."},
	{CHANNEL_RAIL_VOLTAGE, "rail", "rail", BEFORE, .help = "Voltage of a rail."},
	{CHANNEL_RAIL_CURRENT, "rail", "rail", BEFORE, .help = "Current of a rail.", .limits = true},
	{CHANNEL_RAIL_POWER, "rail", "rail", BEFORE, .help = "Power of a rail.", .limits = true, .total = "rail_joules",
	 .total_help = "Energy of a rail since the values began."},
	{CHANNEL_POWER_TOTAL, "power", .help = "Power of the board.", .limits = true, .total = "power_joules",
	 .total_help = "Energy of the board since the values began."},
	{CHANNEL_TEMPERATURE, "temperature", "zone", AFTER, .help = "Temperature of a zone.", .limits = true},
	{CHANNEL_HOTTEST, "hottest", .help = "The highest temperature."},
	{CHANNEL_FAN, "fan", "fan", WHOLE, .help = "Speed of a fan in revolutions a minute, or what it is set to."},
	{CHANNEL_ENGINE_UTIL, "engine_busy", "engine", BEFORE, .help = "Load of an engine.", .total = "engine_busy_seconds",
	 .total_help = "Seconds that an engine was busy since the values began."},
	{CHANNEL_ENGINE_FREQ, "engine_frequency", "engine", BEFORE, .help = "Clock of an engine; 0 while it is off."},
	{CHANNEL_THROTTLE, "throttle_state", "cause", AFTER, .help = "Above 0 while something is throttled."},
	{CHANNEL_THROTTLE_COUNT, "throttle_events", "cause", AFTER, .help = "Events of throttling.", .counter = true},
	{CHANNEL_NOTICE, "notice_state", "cause", AFTER, .help = "Above 0 while there is a notice."},
	{CHANNEL_FREQ_LIMIT, "frequency_limit", "signal", WHOLE, .help = "The lowest or highest clock that is allowed now."},
	{CHANNEL_GATED, "powered_down", "unit", BEFORE, .help = "1 while a unit is powered down."},
	{CHANNEL_COUNTER, "events", "signal", WHOLE, .help = "Counts of other signals.", .counter = true},
	{ANY, "energy", "signal", WHOLE, .help = "Energy, as a signal counts it.", .counter = true},
	{ANY, "signal", "signal", WHOLE, .help = "Other signals.", .total = "signal_joules",
	 .total_help = "Energy of other power signals since the values began."},
};
#define FAMILIES_ALL (sizeof families / sizeof *families)

static const struct metric_family *family_of(const struct channel *c)
{
	const struct metric_family *f = families;

	if (!strcmp(c->name, "nvmtop.lost"))
		return f;
	while (f->kind != ANY && f->kind != (int)c->kind)
		f++;
	return f->kind == ANY && c->unit != UNIT_JOULE ? f + 1 : f;
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

static void put_head(FILE *f, const struct metrics *m, const char *name, bool counter, const char *unit, const char *help)
{
	const char *suffix = counter && m->textfile ? "_total" : "";

	fprintf(f, "# TYPE nvmtop_%s%s %s\n", name, suffix, counter ? "counter" : "gauge");
	if (*unit && !*suffix)
		fprintf(f, "# UNIT nvmtop_%s %s\n", name, unit);
	fprintf(f, "# HELP nvmtop_%s%s %s\n", name, suffix, help);
}

/* What is made of a channel: each is a family of its own. */
enum { VALUE, LEAST, GREATEST, MEAN, TOTAL, LIMIT, SERIES };

/* The nth sample of a channel, and the value of its second label or NULL. Returns false after the last one. */
static bool sample_of(const struct metrics *m, size_t i, int series, size_t nth, double *v, const char **second)
{
	const struct channel *c = &m->about->channels[i];
	const struct metric_family *y = family_of(c);
	const struct bin *b = series >= LEAST && series <= MEAN && nth < m->n_windows ? &m->windows[nth].bins[i] : NULL;

	*second = NULL;
	*v = (double)NAN;
	switch (series) {
	case VALUE: *v = m->values[i]; return nth == 0;
	case TOTAL:
		if (m->totals && y->total && (y->kind != ANY || c->unit == UNIT_MILLIWATT))
			*v = m->totals[i];
		return nth == 0;
	case LIMIT:
		*v = !y->limits ? *v : nth ? c->crit : c->warn;
		*second = nth ? "critical" : "warning";
		return nth < 2;
	default:
		if (!b || y->counter)
			return false;
		*second = m->windows[nth].label;
		if (b->n)
			*v = series == LEAST ? b->min : series == GREATEST ? b->max : b->sum / (double)b->n;
		return true;
	}
}

static void put_series(FILE *f, const struct metrics *m, const struct metric_family *y, int unit, int series)
{
	static const char *const after[] = {"", "_min", "_max", "_mean"};
	const char *base = bases[unit].name, *second, *join = *base ? "_" : "";
	bool counter = y->counter || series == TOTAL, begun = false;
	char name[96], text[NUM_TEXT];
	double v;

	if (series == TOTAL)
		snprintf(name, sizeof name, "%s", y->total ? y->total : "");
	else if (series == LIMIT)
		snprintf(name, sizeof name, "%s_limit%s%s", y->name, join, base);
	else
		snprintf(name, sizeof name, "%s%s%s%s", y->name, join, base, after[series]);
	for (size_t k = 0; k < m->n; k++) {
		const struct channel *c = &m->about->channels[m->channels[k]];

		if (family_of(c) != y || (int)c->unit != unit)
			continue;
		for (size_t nth = 0; sample_of(m, m->channels[k], series, nth, &v, &second); nth++) {
			if (!isfinite(v) || (counter && v < 0))
				continue;
			if (!begun && series == TOTAL)
				put_head(f, m, name, true, strrchr(name, '_') + 1, y->total_help);
			else if (!begun)
				put_head(f, m, name, counter, series == VALUE || series == LIMIT ? base : "", y->help);
			begun = true;
			fprintf(f, "nvmtop_%s%s%s", name, counter ? "_total" : "", y->part || second ? "{" : "");
			if (y->part)
				put_channel(f, y, c);
			if (y->part && second)
				putc(',', f);
			if (second)
				put_label(f, series == LIMIT ? "limit" : "window", second, strlen(second));
			fputs(y->part || second ? "} " : " ", f);
			num_text_single(text, v); /* as it was read, if it was rounded to float */
			(void)num_double(text, &v);
			put_num(f, series == TOTAL ? v : v / bases[unit].per);
			putc('\n', f);
		}
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
	bool begun = false, any[FAMILIES_ALL][UNITS] = {{false}};

	for (size_t k = 0; k < m->n; k++) {
		const struct channel *c = &m->about->channels[m->channels[k]];

		any[family_of(c) - families][c->unit] = true;
	}
	put_facts(f, m);
	for (size_t i = 0; i < FAMILIES_ALL; i++)
		for (int unit = 0; unit < UNITS; unit++)
			for (int series = 0; any[i][unit] && series < SERIES; series++)
				put_series(f, m, &families[i], unit, series);
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
