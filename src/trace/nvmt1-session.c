/* Makes the channels of a version 1 file: it names only board, rails and zones, so the channels are named as nvmtop
 * would name them. What is the board's total, and which zone is its hottest, the board file of that name says. */
#include <math.h>
#include <stdio.h>

#include "board/board.h"
#include "util/intl.h"
#include "util/text.h"
#include "trace/nvmt1-file.h"

static void name_get(char *out, size_t size, const uint8_t *p, size_t field)
{
	text_printable(out, size, (const char *)p, strnlen((const char *)p, field));
}

/* Appends a channel. */
static struct channel *add(struct nvmt1 *f, enum field field, unsigned slot)
{
	const struct field_about *a = &field_about[field];
	struct channel *c = &f->channels[f->session.n_channels++];

	*c = (struct channel) {.kind = a->kind,
			       .index = (uint16_t)slot,
			       .tier = a->tier,
			       .column = (uint16_t)f->session.width[a->tier]++,
			       .unit = a->unit,
			       .family = a->family,
			       .lo = a->unit == UNIT_PERCENT || a->unit == UNIT_KB ? 0 : (double)NAN,
			       .hi = a->unit == UNIT_PERCENT ? 100 : (double)NAN,
			       .warn = (double)NAN,
			       .crit = (double)NAN,
			       .window_ns = WINDOW_UNKNOWN};
	if (a->label) {
		snprintf(c->name, sizeof(c->name), "%s", a->name);
		snprintf(c->label, sizeof(c->label), "%s", a->label);
	}
	if (a->slots > 1)
		snprintf(c->source, sizeof(c->source), "%s[%u]", a->source, slot);
	else
		snprintf(c->source, sizeof(c->source), "%s", a->source);
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

/* Makes the name of a rail or zone: unique, and never empty. */
static void slot_name(char *out, size_t size, const uint8_t *names, unsigned slot, const char *word)
{
	const char *field = (const char *)names + (size_t)slot * NAME_SIZE;
	char name[NAME_SIZE];
	unsigned same = 0;

	while (same < slot && strncmp((const char *)names + (size_t)same * NAME_SIZE, field, NAME_SIZE) != 0)
		same++;
	name_get(name, sizeof(name), names + (size_t)slot * NAME_SIZE, NAME_SIZE);
	if (!name[0])
		snprintf(out, size, "%s%u", word, slot);
	else if (same < slot)
		snprintf(out, size, "%.20s#%u", name, slot);
	else
		snprintf(out, size, "%s", name);
}

/* Appends a channel that is computed from those columns. */
static struct channel *add_computed(struct nvmt1 *f, enum field like, uint32_t slots, const uint16_t *columns)
{
	struct nvmt1_computed *to = &f->computed[field_about[like].tier];
	struct channel *c = add(f, like, 0);

	to->column = c->column;
	for (unsigned i = 0; slots >> i; i++)
		if (slots >> i & 1)
			to->from[to->n++] = columns[i];
	return c;
}

/* Without a board file, a rail that is called so is the input of the module. */
static uint32_t input_rail(const char *const *rails, unsigned n)
{
	static const char *const inputs[] = {"VDD_IN", "POM_5V_IN", "VIN"};

	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(inputs) / sizeof(inputs[0]); k++)
			if (!strcmp(rails[i], inputs[k]))
				return 1U << i;
	return 0;
}

static void add_rails(struct nvmt1 *f, const struct board *board)
{
	unsigned n = slots(f, H_RAILS, MAX_RAILS);
	char rail[MAX_RAILS][32], sum[sizeof(f->channels->source)] = "";
	const char *rails[MAX_RAILS], *note = NULL;
	uint16_t columns[MAX_RAILS];
	struct channel *c;
	uint32_t total;

	for (unsigned i = 0; i < n; i++) {
		slot_name(rail[i], sizeof(rail[i]), f->header + H_RAIL_NAMES, i, "rail");
		rails[i] = rail[i];
		for (enum field k = FIELD_VOLTAGE; k <= FIELD_POWER; k++) {
			c = add(f, k, i);
			snprintf(c->name, sizeof(c->name), "%.31s.%s", rail[i], field_about[k].name);
			snprintf(c->label, sizeof(c->label), "%.31s", rail[i]);
			columns[i] = c->column;
		}
	}
	total = board ? board_total(board, rails, n, &note) : input_rail(rails, n);
	if (!total)
		return;
	c = add_computed(f, FIELD_POWER, total, columns);
	c->kind = CHANNEL_POWER_TOTAL;
	strcpy(c->name, "power.total");
	strcpy(c->label, "Total");
	for (unsigned i = 0; i < n; i++)
		if (total >> i & 1)
			text_join(sum, sizeof(sum), sum, *sum ? " + " : "", rail[i], ".power");
	strcpy(c->source, sum);
	text_shortened(c->note, sizeof(c->note), note ? note : sum, strlen(note ? note : sum));
}

/* Names zones as the kernel does, without their suffix, as board files do, so that traces of two programs can be
 * compared. */
static void add_zones(struct nvmt1 *f, const struct board *board)
{
	static const char *const ends[] = {"-thermal", "-therm"};
	size_t first = f->session.n_channels;
	uint16_t columns[MAX_ZONES];
	uint32_t counted = 0;
	struct channel *c;

	for (unsigned i = 0; i < slots(f, H_ZONES, MAX_ZONES); i++) {
		char zone[32], name[sizeof(c->name)];
		size_t n;

		c = add(f, FIELD_TEMPERATURE, i);
		columns[i] = c->column;
		slot_name(zone, sizeof(zone), f->header + H_ZONE_NAMES, i, "zone");
		name_get(c->kernel, sizeof(c->kernel), f->header + H_ZONE_NAMES + (size_t)i * NAME_SIZE, NAME_SIZE);
		n = strlen(zone);
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]) && n == strlen(zone); k++)
			if (text_ends_in(zone, ends[k]) && n > strlen(ends[k]))
				n -= strlen(ends[k]);
		snprintf(name, sizeof(name), "temp.%.*s", (int)n, zone);
		for (size_t k = first; &f->channels[k] < c; k++)
			if (!strcmp(f->channels[k].name, name))
				n = strlen(zone); /* another zone differs only in the suffix */
		snprintf(c->name, sizeof(c->name), "temp.%.*s", (int)n, zone);
		snprintf(c->label, sizeof(c->label), "%.*s", (int)n, zone);
		counted |= board && board_zone_counts(board, c->kernel) ? 1U << i : 0;
	}
	if (!counted)
		return;
	c = add_computed(f, FIELD_TEMPERATURE, counted, columns);
	c->kind = CHANNEL_HOTTEST;
	strcpy(c->name, "temp.hottest");
	strcpy(c->label, "Hottest");
	snprintf(c->source, sizeof(c->source), "%s", _("the highest temperature"));
}

/* The board file of that name, which may be any bytes; NULL: there is none. */
static struct board *board_named(const char *name)
{
	struct err unheard;

	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] ? board_load(name, &unheard) : NULL;
}

void nvmt1_session(struct nvmt1 *f)
{
	struct board *board;

	strcpy(f->board.key, "board");
	name_get(f->board.value, sizeof(f->board.value), f->header + H_BOARD, H_CORES - H_BOARD);
	board = board_named(f->board.value);
	add_fast(f);
	add_rails(f, board);
	add_zones(f, board);
	board_free(board);
	f->session.channels = f->channels;
	layout_make(&f->layout, &f->session);
	f->session.facts = &f->board;
	f->session.n_facts = 1;
}
