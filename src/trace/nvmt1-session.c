/* Makes the channels of a version 1 file without an extension: it names only board, rails and zones, so the
 * channels are named as nvmtop would name them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/text.h"
#include "trace/nvmt1-file.h"

static void name_get(char *out, size_t size, const uint8_t *p, size_t field)
{
	text_printable(out, size, (const char *)p, strnlen((const char *)p, field));
}

static const struct {
	enum channel_kind kind;
	enum unit unit;
	enum family family;
	const char *name, *label;
} known[FIELDS] = {
	[FIELD_GPU] = {CHANNEL_GPU_UTIL, UNIT_PERCENT, FAMILY_GPU, "gpu.util", "GPU"},
	[FIELD_CPU] = {CHANNEL_CPU_UTIL, UNIT_PERCENT, FAMILY_CPU, "cpu.util", "CPU"},
	[FIELD_CORE] = {CHANNEL_CORE_UTIL, UNIT_PERCENT, FAMILY_CPU, NULL, NULL},
	[FIELD_RAM_USED] = {CHANNEL_RAM_USED, UNIT_KB, FAMILY_MEMORY, "ram.used", "RAM"},
	[FIELD_RAM_AVAILABLE] = {CHANNEL_RAM_AVAILABLE, UNIT_KB, FAMILY_MEMORY, "ram.available", "RAM free"},
	[FIELD_EMC] = {CHANNEL_EMC_UTIL, UNIT_PERCENT, FAMILY_MEMORY, "emc.util", "EMC"},
	[FIELD_VOLTAGE] = {CHANNEL_RAIL_VOLTAGE, UNIT_MILLIVOLT, FAMILY_POWER, "voltage", NULL},
	[FIELD_CURRENT] = {CHANNEL_RAIL_CURRENT, UNIT_MILLIAMPERE, FAMILY_POWER, "current", NULL},
	[FIELD_POWER] = {CHANNEL_RAIL_POWER, UNIT_MILLIWATT, FAMILY_POWER, "power", NULL},
	[FIELD_TEMPERATURE] = {CHANNEL_TEMPERATURE, UNIT_CELSIUS, FAMILY_HEAT, NULL, NULL},
};

/* Appends a channel. */
static struct channel *add(struct nvmt1 *f, enum field field, unsigned slot)
{
	struct place *place = &f->places[f->channels.n];
	struct channel *c = (struct channel *)f->channels.p + f->channels.n++;
	enum unit unit = known[field].unit;

	*place = (struct place) {(uint8_t)field, (uint16_t)slot};
	c->kind = known[field].kind;
	c->index = (uint16_t)slot;
	c->tier = field_tier(field);
	c->column = (uint16_t)f->session.width[c->tier]++;
	c->unit = unit;
	c->family = known[field].family;
	c->lo = unit == UNIT_PERCENT || unit == UNIT_KB ? 0 : NAN;
	c->hi = unit == UNIT_PERCENT ? 100 : NAN;
	c->warn = c->crit = NAN;
	c->window_ns = WINDOW_UNKNOWN;
	if (known[field].label) {
		snprintf(c->name, sizeof(c->name), "%s", known[field].name);
		snprintf(c->label, sizeof(c->label), "%s", known[field].label);
	}
	if (field_slots(field) > 1)
		snprintf(c->source, sizeof(c->source), "%s[%u]", field_name(field), slot);
	else
		snprintf(c->source, sizeof(c->source), "%s", field_name(field));
	return c;
}

/* Returns a count of the header, limited to what the format allows: check_header() has reported a larger
 * one. */
static unsigned slots(const struct nvmt1 *f, size_t at, unsigned most)
{
	return f->header[at] <= most ? f->header[at] : most;
}

static void add_fast(struct nvmt1 *f)
{
	add(f, FIELD_GPU, 0);
	add(f, FIELD_CPU, 0);
	for (unsigned i = 0; i < slots(f, H_CORES, MAX_CORES); i++) {
		struct channel *c = add(f, FIELD_CORE, i);

		snprintf(c->name, sizeof(c->name), "cpu%u.util", i);
		snprintf(c->label, sizeof(c->label), "cpu%u", i);
	}
	add(f, FIELD_RAM_USED, 0);
	add(f, FIELD_RAM_AVAILABLE, 0);
	if (f->header[H_EMC])
		add(f, FIELD_EMC, 0);
}

/* Whether one of the first n slots has the same name as slot n. */
static bool name_again(const uint8_t *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!strncmp((const char *)names + (size_t)i * NAME_SIZE,
			     (const char *)names + (size_t)n * NAME_SIZE, NAME_SIZE))
			return true;
	return false;
}

/* Makes the name of a rail or zone: unique, and never empty. */
static void slot_name(char *out, size_t size, const uint8_t *names, unsigned slot, const char *word)
{
	char name[NAME_SIZE];

	name_get(name, sizeof(name), names + (size_t)slot * NAME_SIZE, NAME_SIZE);
	if (!name[0])
		snprintf(out, size, "%s%u", word, slot);
	else if (name_again(names, slot))
		snprintf(out, size, "%.20s#%u", name, slot);
	else
		snprintf(out, size, "%s", name);
}

static void add_rail(struct nvmt1 *f, unsigned slot, bool *total)
{
	static const char *const totals[] = {"VDD_IN", "POM_5V_IN", "VIN"};
	char rail[32];

	slot_name(rail, sizeof(rail), f->header + H_RAIL_NAMES, slot, "rail");
	for (enum field i = FIELD_VOLTAGE; i <= FIELD_POWER; i++) {
		struct channel *c = add(f, i, slot);

		snprintf(c->name, sizeof(c->name), "%s.%s", rail, known[i].name);
		snprintf(c->label, sizeof(c->label), "%s", rail);
	}
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]) && !*total; i++) {
		struct channel *c;

		if (strcmp(rail, totals[i]) != 0)
			continue;
		*total = true;
		c = add(f, FIELD_POWER, slot);
		c->kind = CHANNEL_POWER_TOTAL;
		strcpy(c->name, "power.total");
		strcpy(c->label, "Total");
		snprintf(c->note, sizeof(c->note), "%s", rail);
	}
}

/* Names a zone as the kernel does, without its suffix, as board files do, so that traces of two programs can
 * be compared. */
static void add_zone(struct nvmt1 *f, unsigned slot)
{
	static const char *const ends[] = {"-thermal", "-therm"};
	const struct channel *other = f->channels.p;
	struct channel *c = add(f, FIELD_TEMPERATURE, slot);
	char zone[32], name[sizeof(c->name)];
	size_t n;

	slot_name(zone, sizeof(zone), f->header + H_ZONE_NAMES, slot, "zone");
	name_get(c->kernel, sizeof(c->kernel), f->header + H_ZONE_NAMES + (size_t)slot * NAME_SIZE, NAME_SIZE);
	n = strlen(zone);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && n == strlen(zone); i++)
		if (text_ends_in(zone, ends[i]) && n > strlen(ends[i]))
			n -= strlen(ends[i]);
	snprintf(name, sizeof(name), "temp.%.*s", (int)n, zone);
	for (; other < c; other++)
		if (!strcmp(other->name, name))
			n = strlen(zone); /* another zone differs only in the suffix */
	snprintf(c->name, sizeof(c->name), "temp.%.*s", (int)n, zone);
	snprintf(c->label, sizeof(c->label), "%.*s", (int)n, zone);
}

int nvmt1_session(struct nvmt1 *f)
{
	/* fast: 5 and the cores; medium: 3 per rail and the total; slow: zones */
	size_t most = 6 + MAX_CORES + 3 * MAX_RAILS + MAX_ZONES;
	bool total = false;
	struct fact *board;

	memset(f->session.width, 0, sizeof(f->session.width));
	f->channels.p = calloc(most, sizeof(struct channel));
	board = f->facts.p = calloc(1, sizeof(*board));
	if (!f->channels.p || !board)
		return -1;
	add_fast(f);
	for (unsigned i = 0; i < slots(f, H_RAILS, MAX_RAILS); i++)
		add_rail(f, i, &total);
	for (unsigned i = 0; i < slots(f, H_ZONES, MAX_ZONES); i++)
		add_zone(f, i);
	strcpy(board->key, "board");
	name_get(board->value, sizeof(board->value), f->header + H_BOARD, H_CORES - H_BOARD);
	f->facts.n = 1;
	return 0;
}
