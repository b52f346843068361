/* Lines as tegrastats prints them, for programs that read its output. What its releases print differs; what has no value
 * is left out, as tegrastats does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/forms.h"
#include "util/num.h"

#define NEWEST 36 /* what a machine without a release gets */

static int release_of(const struct session *about)
{
	const char *text = fact_get(about->facts, about->n_facts, "release");
	int release = text && !strncmp(text, "L4T ", 4) ? atoi(text + 4) : 0;

	return release > 0 ? release : NEWEST;
}

/* The first selected channel of a kind, and of a name unless that is NULL; n: none. */
static size_t find(const struct lines *l, const struct interval *i, int kind, const char *name)
{
	for (size_t k = 0; k < l->n; k++) {
		const struct channel *c = &i->about->channels[l->channels[k]];

		if ((kind < 0 || (int)c->kind == kind) && (!name || !strcmp(c->name, name)))
			return l->channels[k];
	}
	return i->about->n_channels;
}

/* Loads and power are the mean of the interval, other values the newest; NaN: missing. */
static double mean_of(const struct interval *i, size_t channel)
{
	return channel < i->about->n_channels ? interval_mean(&i->sums[channel]) : (double)NAN;
}

static double last_of(const struct interval *i, size_t channel)
{
	return channel < i->about->n_channels ? i->sums[channel].last : (double)NAN;
}

static void put_date(FILE *f, const struct interval *i)
{
	time_t seconds = (time_t)(interval_wall_ns(i) / NS_PER_S);
	struct tm tm;
	char text[32];

	if (seconds && localtime_r(&seconds, &tm) && strftime(text, sizeof text, "%m-%d-%Y %H:%M:%S ", &tm))
		fputs(text, f);
}

static void put_memory(FILE *f, const struct lines *l, const struct interval *i)
{
	const char *total = fact_get(i->about->facts, i->about->n_facts, "ram_total_kb");
	size_t swap = find(l, i, -1, "swap.used"), swap_total = find(l, i, -1, "swap.total");
	double used = last_of(i, find(l, i, CHANNEL_RAM_USED, NULL)), all, cached;

	if (!isnan(used) && total && num_double(total, &all))
		fprintf(f, "RAM %.0f/%.0fMB ", floor(used / 1024), floor(all / 1024));
	used = last_of(i, swap);
	all = last_of(i, swap_total);
	if (isnan(all) && swap < i->about->n_channels)
		all = i->about->channels[swap].hi;
	cached = last_of(i, find(l, i, -1, "swap.cached"));
	if (!isnan(used) && isfinite(all))
		fprintf(f, "SWAP %.0f/%.0fMB ", floor(used / 1024), floor(all / 1024));
	if (!isnan(used) && isfinite(all) && !isnan(cached))
		fprintf(f, "(cached %.0fMB) ", floor(cached / 1024));
}

/* Is the number in a list such as "0,3-5"? */
static bool listed(const char *list, unsigned number)
{
	while (*list) {
		char *end;
		unsigned long from = strtoul(list, &end, 10), to = from;

		if (end == list)
			return false;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (number >= from && number <= to)
			return true;
		list = end + (*end == ',');
	}
	return false;
}

/* The clock of a core, by its group; the label of a group is "cpu0,3-5". */
static double clock_of(const struct lines *l, const struct interval *i, unsigned core)
{
	for (size_t k = 0; k < l->n; k++) {
		const struct channel *c = &i->about->channels[l->channels[k]];

		if (c->kind == CHANNEL_CPU_FREQ && !strncmp(c->label, "cpu", 3) && listed(c->label + 3, core))
			return last_of(i, l->channels[k]);
	}
	return (double)NAN;
}

static void put_cores(FILE *f, const struct lines *l, const struct interval *i)
{
	const char *online = fact_get(i->about->facts, i->about->n_facts, "cpu.online");
	char text[2048] = "";
	size_t used = 0;

	for (size_t k = 0; k < l->n && used + 64 < sizeof text; k++) {
		const struct channel *c = &i->about->channels[l->channels[k]];
		double load = mean_of(i, l->channels[k]), hz;

		if (c->kind != CHANNEL_CORE_UTIL)
			continue;
		hz = clock_of(l, i, c->index);
		if (used)
			text[used++] = ',';
		if (isnan(load) && online && !listed(online, c->index)) {
			used += (size_t)snprintf(text + used, sizeof text - used, "off");
			continue;
		}
		if (isnan(load) && isnan(hz)) /* the cores after it would be taken for it */
			return;
		if (!isnan(load))
			used += (size_t)snprintf(text + used, sizeof text - used, "%.0f%%", load);
		if (!isnan(hz))
			used += (size_t)snprintf(text + used, sizeof text - used, "@%.0f", floor(hz / 1e6));
	}
	if (used)
		fprintf(f, "CPU [%.*s] ", (int)used, text);
}

/* "NAME 12%@345", of which one part may be missing. */
static void put_clocked(FILE *f, const char *name, double load, double hz, bool list)
{
	if (isnan(load) && isnan(hz))
		return;
	fprintf(f, "%s ", name);
	if (!isnan(load))
		fprintf(f, "%.0f%%", load);
	if (!isnan(hz))
		fprintf(f, list ? "@[%.0f]" : "@%.0f", floor(hz / 1e6));
	putc(' ', f);
}

/* Before release 36 only their clocks, while they are on; of APE there is never more. */
static void put_engines(FILE *f, const struct lines *l, const struct interval *i, int release)
{
	static const struct {
		const char *name;
		int since;	   /* release */
		int freq, freq_to; /* the releases that call its clock NAME_FREQ */
	} engines[] = {{"NVENC", 0, 38, 99}, {"NVDEC", 0, 38, 99}, {"NVJPG", 35, 38, 99}, {"VIC", 35, 35, 35},
		       {"OFA", 36, 38, 99},  {"NVDLA", 36, 99, 0}, {"PVA", 36, 36, 99},   {"APE", 0, 99, 0}};

	for (size_t e = 0; e < sizeof engines / sizeof *engines; e++)
		for (size_t k = 0; k < l->n; k++) {
			const struct channel *c = &i->about->channels[l->channels[k]];
			double hz = last_of(i, l->channels[k]);
			bool named = release >= engines[e].freq && release <= engines[e].freq_to;
			char name[64];

			if (c->kind != CHANNEL_ENGINE_FREQ || strncmp(c->label, engines[e].name, strlen(engines[e].name)) != 0 ||
			    release < engines[e].since || isnan(hz))
				continue;
			snprintf(name, sizeof name, "%s%s", c->label, named && (hz > 0 || engines[e].freq == 36) ? "_FREQ" : "");
			if (!strcmp(c->label, "APE") || (release < 36 && hz > 0)) {
				fprintf(f, "%s %.0f ", name, floor(hz / 1e6));
			} else if (release >= 36 && hz > 0) {
				char load[64];

				snprintf(load, sizeof load, "%s.util", c->label);
				put_clocked(f, name, mean_of(i, find(l, i, CHANNEL_ENGINE_UTIL, load)), hz, false);
			} else if (release >= 36) {
				fprintf(f, "%s off ", name);
			}
		}
}

/* Only zones of the kernel, by its own names: "cpu-thermal" is cpu, "Tboard_tegra" is Tboard. */
static void put_zones(FILE *f, const struct lines *l, const struct interval *i)
{
	for (size_t k = 0; k < l->n; k++) {
		const struct channel *c = &i->about->channels[l->channels[k]];
		double v = last_of(i, l->channels[k]);
		char text[NUM_TEXT];
		size_t n;

		if (c->kind != CHANNEL_TEMPERATURE || isnan(v) || !c->kernel[0])
			continue;
		n = num_fixed(text, v, 3);
		while (n > 0 && text[n - 1] == '0')
			n--;
		n -= n > 0 && text[n - 1] == '.';
		fprintf(f, "%.*s@%.*sC ", (int)strcspn(c->kernel, "-_ "), c->kernel, (int)n, text);
	}
}

static void tegrastats_line(FILE *f, const struct lines *l, const struct interval *i)
{
	int release = release_of(i->about);
	const char *unit = release >= 35 ? "mW" : "";
	char *text = NULL;
	size_t size = 0;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return;
	if (release >= 35)
		put_date(line, i);
	put_memory(line, l, i);
	put_cores(line, l, i);
	put_clocked(line, "EMC_FREQ", mean_of(i, find(l, i, CHANNEL_EMC_UTIL, NULL)),
		    last_of(i, find(l, i, CHANNEL_EMC_RATE, NULL)), false);
	put_clocked(line, "GR3D_FREQ", mean_of(i, find(l, i, CHANNEL_GPU_UTIL, NULL)),
		    last_of(i, find(l, i, CHANNEL_GPU_FREQ, NULL)), release >= 36);
	put_engines(line, l, i, release);
	put_zones(line, l, i);
	for (size_t k = 0; k < l->n; k++) {
		size_t channel = l->channels[k];

		if (i->about->channels[channel].kind == CHANNEL_RAIL_POWER && i->sums[channel].bin.n)
			fprintf(line, "%s %.0f%s/%.0f%s ", i->about->channels[channel].label, mean_of(i, channel), unit,
				interval_mean(&i->all[channel]), unit);
	}
	if (fclose(line) == 0)
		fprintf(f, "%.*s\n", (int)(size ? size - 1 : 0), text);
	free(text);
}

const struct stream_form form_of_tegrastats = {"tegrastats", .line = tegrastats_line};
