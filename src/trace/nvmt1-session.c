/* A file of version 1 without an extension names boards, rails and zones only: channels are
 * made from these as nvmtop would name them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/nvmt1-file.h"

static void name_get(char *out, size_t size, const uint8_t *p, size_t field)
{
	text_printable(out, size, (const char *)p, strnlen((const char *)p, field));
}

/* The next free channel, filled in but for its name. */
static struct channel *add(struct nvmt1 *f, enum field field, unsigned slot, enum channel_kind kind,
			   enum unit unit, enum family family)
{
	struct place *place = &f->places[f->session.n_channels];
	struct channel *c = &f->channels[f->session.n_channels++];

	*place = (struct place) {(uint8_t)field, (uint16_t)slot};
	c->kind = kind;
	c->index = (uint16_t)slot;
	c->tier = field_tier(field);
	c->column = (uint16_t)f->session.width[c->tier]++;
	c->unit = unit;
	c->family = family;
	c->lo = unit == UNIT_PERCENT || unit == UNIT_KB ? 0 : NAN;
	c->hi = unit == UNIT_PERCENT ? 100 : NAN;
	c->warn = c->crit = NAN;
	if (field_slots(field) > 1)
		snprintf(c->source, sizeof(c->source), "%s[%u]", field_name(field), slot);
	else
		snprintf(c->source, sizeof(c->source), "%s", field_name(field));
	return c;
}

/* A count in the header, at most what the format allows. */
static unsigned slots(const struct nvmt1 *f, size_t at, unsigned most)
{
	if (f->header[at] <= most)
		return f->header[at];
	return most; /* noted as damage when the header was checked */
}

static void call(struct channel *c, const char *name, const char *label)
{
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->label, sizeof(c->label), "%s", label);
}

static void add_fast(struct nvmt1 *f)
{
	unsigned cores = slots(f, H_CORES, MAX_CORES);

	call(add(f, FIELD_GPU, 0, CHANNEL_GPU_UTIL, UNIT_PERCENT, FAMILY_GPU), "gpu.util", "GPU");
	call(add(f, FIELD_CPU, 0, CHANNEL_CPU_UTIL, UNIT_PERCENT, FAMILY_CPU), "cpu.util", "CPU");
	for (unsigned i = 0; i < cores; i++) {
		struct channel *c = add(f, FIELD_CORE, i, CHANNEL_CORE_UTIL, UNIT_PERCENT, FAMILY_CPU);

		snprintf(c->name, sizeof(c->name), "cpu%u.util", i);
		snprintf(c->label, sizeof(c->label), "cpu%u", i);
	}
	call(add(f, FIELD_RAM_USED, 0, CHANNEL_RAM_USED, UNIT_KB, FAMILY_MEMORY), "ram.used", "RAM");
	call(add(f, FIELD_RAM_AVAILABLE, 0, CHANNEL_RAM_AVAILABLE, UNIT_KB, FAMILY_MEMORY), "ram.available",
	     "RAM free");
	if (f->header[H_EMC])
		call(add(f, FIELD_EMC, 0, CHANNEL_EMC_UTIL, UNIT_PERCENT, FAMILY_MEMORY), "emc.util", "EMC");
}

/* Is a name of the first n slots the same as that of slot n? */
static bool name_again(const uint8_t *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!strncmp((const char *)names + (size_t)i * NAME_SIZE,
			     (const char *)names + (size_t)n * NAME_SIZE, NAME_SIZE))
			return true;
	return false;
}

/* The name of a rail or zone: unique, and never empty. */
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

static void add_rail(struct nvmt1 *f, unsigned slot)
{
	static const char *const totals[] = {"VDD_IN", "POM_5V_IN", "VIN"};
	char rail[32];
	struct channel *c;

	slot_name(rail, sizeof(rail), f->header + H_RAIL_NAMES, slot, "rail");
	c = add(f, FIELD_VOLTAGE, slot, CHANNEL_RAIL_VOLTAGE, UNIT_MILLIVOLT, FAMILY_POWER);
	snprintf(c->name, sizeof(c->name), "%s.voltage", rail);
	snprintf(c->label, sizeof(c->label), "%s", rail);
	c = add(f, FIELD_CURRENT, slot, CHANNEL_RAIL_CURRENT, UNIT_MILLIAMPERE, FAMILY_POWER);
	snprintf(c->name, sizeof(c->name), "%s.current", rail);
	snprintf(c->label, sizeof(c->label), "%s", rail);
	c = add(f, FIELD_POWER, slot, CHANNEL_RAIL_POWER, UNIT_MILLIWATT, FAMILY_POWER);
	snprintf(c->name, sizeof(c->name), "%s.power", rail);
	snprintf(c->label, sizeof(c->label), "%s", rail);
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		if (strcmp(rail, totals[i]) != 0 || f->session.channels)
			continue;
		f->session.channels = f->channels; /* the index of the total, if any */
		c = add(f, FIELD_POWER, slot, CHANNEL_POWER_TOTAL, UNIT_MILLIWATT, FAMILY_POWER);
		call(c, "power.total", "Total");
		snprintf(c->note, sizeof(c->note), "%s", rail);
	}
}

/* The kernel's name of a zone without its suffix, as in board files, so that traces of two programs can
 * be compared. */
static void call_zone(const struct nvmt1 *f, struct channel *c, const char *zone)
{
	static const char *const ends[] = {"-thermal", "-therm"};
	size_t n = strlen(zone);
	char name[sizeof(c->name)];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (n > end && !strcmp(zone + n - end, ends[i])) {
			n -= end;
			break;
		}
	}
	snprintf(name, sizeof(name), "temp.%.*s", (int)n, zone);
	for (const struct channel *other = f->channels; other < c; other++)
		if (!strcmp(other->name, name))
			n = strlen(zone); /* zones of both suffixes exist */
	snprintf(c->name, sizeof(c->name), "temp.%.*s", (int)n, zone);
	snprintf(c->label, sizeof(c->label), "%.*s", (int)n, zone);
}

int nvmt1_session(struct nvmt1 *f)
{
	/* fast: 5 and the cores; medium: 3 a rail and at most 3 totals; slow: zones */
	size_t most = 8 + MAX_CORES + 4 * MAX_RAILS + MAX_ZONES;

	free(f->channels);
	free(f->places);
	free(f->facts);
	memset(f->session.width, 0, sizeof(f->session.width));
	f->session.n_channels = 0;
	f->session.channels = NULL;
	f->channels = calloc(most, sizeof(*f->channels));
	f->places = calloc(most, sizeof(*f->places));
	f->facts = calloc(1, sizeof(*f->facts));
	if (!f->channels || !f->places || !f->facts)
		return -1;
	add_fast(f);
	for (unsigned i = 0; i < slots(f, H_RAILS, MAX_RAILS); i++)
		add_rail(f, i);
	for (unsigned i = 0; i < slots(f, H_ZONES, MAX_ZONES); i++) {
		struct channel *c =
			add(f, FIELD_TEMPERATURE, i, CHANNEL_TEMPERATURE, UNIT_CELSIUS, FAMILY_HEAT);
		char zone[32];

		slot_name(zone, sizeof(zone), f->header + H_ZONE_NAMES, i, "zone");
		name_get(c->kernel, sizeof(c->kernel), f->header + H_ZONE_NAMES + (size_t)i * NAME_SIZE,
			 NAME_SIZE);
		call_zone(f, c, zone);
	}
	strcpy(f->facts[0].key, "board");
	name_get(f->facts[0].value, sizeof(f->facts[0].value), f->header + H_BOARD, H_CORES - H_BOARD);
	f->session.n_facts = 1;
	f->session.channels = f->channels;
	f->session.facts = f->facts;
	return 0;
}

