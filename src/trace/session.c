/* What a trace says about itself when it has nothing but the header of version
 * 1: names and numbers of the channels are then made up from the fields, the
 * way nvmtop itself would name them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/reader.h"

static void name_get(char *out, size_t size, const uint8_t *p, size_t field)
{
	text_printable(out, size, (const char *)p, strnlen((const char *)p, field));
}

/* The next free channel, filled in but for its name. */
static struct channel *add(struct trace *t, enum field f, unsigned slot, enum channel_kind kind,
			   enum unit unit, enum family family)
{
	struct source *s = &t->sources[t->session.n_channels];
	struct channel *c = &t->channels[t->session.n_channels++];

	s->place = (struct place) {(uint8_t)f, (uint16_t)slot};
	c->kind = kind;
	c->index = (uint16_t)slot;
	c->tier = field_tier(f);
	c->column = (uint16_t)t->session.width[c->tier]++;
	c->unit = unit;
	c->family = family;
	c->lo = unit == UNIT_PERCENT || unit == UNIT_KB ? 0 : NAN;
	c->hi = unit == UNIT_PERCENT ? 100 : NAN;
	c->warn = c->crit = NAN;
	if (field_slots(f) > 1)
		snprintf(c->source, sizeof(c->source), "%s[%u]", field_name(f), slot);
	else
		snprintf(c->source, sizeof(c->source), "%s", field_name(f));
	return c;
}

/* A count in the header, at most what its field has room for. */
static unsigned slots(const struct trace *t, size_t at, unsigned most)
{
	if (t->map[at] <= most)
		return t->map[at];
	return most; /* the reader of the header has said so */
}

static void call(struct channel *c, const char *name, const char *label)
{
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->label, sizeof(c->label), "%s", label);
}

static void add_fast(struct trace *t)
{
	unsigned cores = slots(t, H_CORES, MAX_CORES);

	call(add(t, FIELD_GPU, 0, CHANNEL_GPU_UTIL, UNIT_PERCENT, FAMILY_GPU), "gpu.util", "GPU");
	call(add(t, FIELD_CPU, 0, CHANNEL_CPU_UTIL, UNIT_PERCENT, FAMILY_CPU), "cpu.util", "CPU");
	for (unsigned i = 0; i < cores; i++) {
		struct channel *c = add(t, FIELD_CORE, i, CHANNEL_CORE_UTIL, UNIT_PERCENT, FAMILY_CPU);

		snprintf(c->name, sizeof(c->name), "cpu%u.util", i);
		snprintf(c->label, sizeof(c->label), "cpu%u", i);
	}
	call(add(t, FIELD_RAM_USED, 0, CHANNEL_RAM_USED, UNIT_KB, FAMILY_MEMORY), "ram.used", "RAM");
	call(add(t, FIELD_RAM_AVAILABLE, 0, CHANNEL_RAM_AVAILABLE, UNIT_KB, FAMILY_MEMORY), "ram.available",
	     "RAM free");
	if (t->map[H_EMC])
		call(add(t, FIELD_EMC, 0, CHANNEL_EMC_UTIL, UNIT_PERCENT, FAMILY_MEMORY), "emc.util", "EMC");
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

static void add_rail(struct trace *t, unsigned slot)
{
	static const char *const totals[] = {"VDD_IN", "POM_5V_IN", "VIN"};
	char rail[32];
	struct channel *c;

	slot_name(rail, sizeof(rail), t->map + H_RAIL_NAMES, slot, "rail");
	c = add(t, FIELD_VOLTAGE, slot, CHANNEL_RAIL_VOLTAGE, UNIT_MILLIVOLT, FAMILY_POWER);
	snprintf(c->name, sizeof(c->name), "%s.voltage", rail);
	snprintf(c->label, sizeof(c->label), "%s", rail);
	c = add(t, FIELD_CURRENT, slot, CHANNEL_RAIL_CURRENT, UNIT_MILLIAMPERE, FAMILY_POWER);
	snprintf(c->name, sizeof(c->name), "%s.current", rail);
	snprintf(c->label, sizeof(c->label), "%s", rail);
	c = add(t, FIELD_POWER, slot, CHANNEL_RAIL_POWER, UNIT_MILLIWATT, FAMILY_POWER);
	snprintf(c->name, sizeof(c->name), "%s.power", rail);
	snprintf(c->label, sizeof(c->label), "%s", rail);
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		if (strcmp(rail, totals[i]) != 0 || t->session.channels)
			continue;
		t->session.channels = t->channels; /* there is one: no second total */
		c = add(t, FIELD_POWER, slot, CHANNEL_POWER_TOTAL, UNIT_MILLIWATT, FAMILY_POWER);
		call(c, "power.total", "Total");
		snprintf(c->note, sizeof(c->note), "%s", rail);
	}
}

/* The kernel's name of a zone without what all of them end in, as board files call it, so
 * that traces of two programs can be held against each other. */
static void call_zone(const struct trace *t, struct channel *c, const char *zone)
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
	for (const struct channel *other = t->channels; other < c; other++)
		if (!strcmp(other->name, name))
			n = strlen(zone); /* both ends are there */
	snprintf(c->name, sizeof(c->name), "temp.%.*s", (int)n, zone);
	snprintf(c->label, sizeof(c->label), "%.*s", (int)n, zone);
}

int header_session(struct trace *t)
{
	/* fast: 5 and the cores; medium: 3 a rail and at most 3 totals; slow: zones */
	size_t most = 8 + MAX_CORES + 4 * MAX_RAILS + MAX_ZONES;

	free(t->channels);
	free(t->sources);
	free(t->facts);
	memset(t->session.width, 0, sizeof(t->session.width));
	t->session.n_channels = 0;
	t->session.channels = NULL;
	t->channels = calloc(most, sizeof(*t->channels));
	t->sources = calloc(most, sizeof(*t->sources));
	t->facts = calloc(1, sizeof(*t->facts));
	if (!t->channels || !t->sources || !t->facts)
		return -1;
	add_fast(t);
	for (unsigned i = 0; i < slots(t, H_RAILS, MAX_RAILS); i++)
		add_rail(t, i);
	for (unsigned i = 0; i < slots(t, H_ZONES, MAX_ZONES); i++) {
		struct channel *c =
			add(t, FIELD_TEMPERATURE, i, CHANNEL_TEMPERATURE, UNIT_CELSIUS, FAMILY_HEAT);
		char zone[32];

		slot_name(zone, sizeof(zone), t->map + H_ZONE_NAMES, i, "zone");
		name_get(c->kernel, sizeof(c->kernel), t->map + H_ZONE_NAMES + (size_t)i * NAME_SIZE,
			 NAME_SIZE);
		call_zone(t, c, zone);
	}
	strcpy(t->facts[0].key, "board");
	name_get(t->facts[0].value, sizeof(t->facts[0].value), t->map + H_BOARD, H_CORES - H_BOARD);
	t->session.n_facts = 1;
	t->session.channels = t->channels;
	t->session.facts = t->facts;
	return 0;
}

int sync_marks(struct trace *t)
{
	uint64_t rows = t->section[TIER_FAST].rows;

	t->n_marks = 0;
	free(t->marks);
	t->marks = calloc((size_t)t->n_sync + 1, sizeof(*t->marks));
	if (!t->marks)
		return -1;
	for (uint64_t i = 0; i < t->n_sync && rows > 0; i++) {
		const uint8_t *p = t->map + t->sync_at + (size_t)i * SYNC_SIZE;
		uint64_t row = get_u64(p + 8);
		struct mark *m = &t->marks[t->n_marks];

		if (row > rows) {
			trace_damage(t, _("sync point %llu, at offset %llu, is behind the last fast row"),
				     (unsigned long long)i, (unsigned long long)(t->sync_at + i * SYNC_SIZE));
			continue;
		}
		m->id = get_u64(p);
		m->t_ns = row_ns(t, TIER_FAST, row < rows ? row : rows - 1);
		t->n_marks++;
	}
	return 0;
}

void trace_damage(struct trace *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (t->damage.code != ERR_NONE)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(&t->damage, ERR_DAMAGED, _("%s is damaged: %s"), t->shown, text);
}
