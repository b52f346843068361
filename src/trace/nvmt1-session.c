/* Makes the channels of a version 1 file: it names only board, rails and zones, so the channels are named as nvmtop
 * would name them. What is the board's total, and which zone is its hottest, the board file of that name says. */
#include <math.h>
#include <stdio.h>

#include "board/board.h"
#include "util/intl.h"
#include "util/text.h"
#include "trace/nvmt1-file.h"

/* Appends the channel of a field. name: of its core, rail or zone, or "". */
static struct channel *channel_add(struct nvmt1 *f, enum field field, unsigned slot, const char *name)
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
	snprintf(c->name, sizeof(c->name), "%s%.31s%s", a->before, name, a->after);
	snprintf(c->label, sizeof(c->label), "%s%.31s", a->label, name);
	if (a->slots > 1)
		snprintf(c->source, sizeof(c->source), "%s[%u]", a->source, slot);
	else
		snprintf(c->source, sizeof(c->source), "%s", a->source);
	return c;
}

/* Appends a channel that is computed from those columns. */
static struct channel *computed_add(struct nvmt1 *f, enum field like, enum channel_kind kind, uint32_t slots,
				    const uint16_t *columns, const char *name, const char *label)
{
	struct nvmt1_computed *to = &f->computed[field_about[like].tier];
	struct channel *c = channel_add(f, like, 0, "");

	c->kind = kind;
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->label, sizeof(c->label), "%s", label);
	to->column = c->column;
	for (unsigned i = 0; slots >> i; i++)
		if (slots >> i & 1)
			to->from[to->n++] = columns[i];
	return c;
}

/* How many slots of a field are used; nvmt1_open() has reported a number that cannot be. */
static unsigned slots_of(const struct nvmt1 *f, enum field field)
{
	const struct field_about *a = &field_about[field];
	unsigned n = a->count ? f->header[a->count] : 1;

	return n < a->slots ? n : a->slots;
}

/* Makes the name of a rail or zone: unique, and never empty. */
static void slot_name(char out[32], const uint8_t *names, unsigned slot, const char *word)
{
	const char *field = (const char *)names + (size_t)slot * NAME_SIZE;
	char name[NAME_SIZE];
	unsigned same = 0;

	while (same < slot && strncmp((const char *)names + (size_t)same * NAME_SIZE, field, NAME_SIZE) != 0)
		same++;
	text_printable(name, sizeof(name), field, strnlen(field, NAME_SIZE));
	if (!name[0])
		snprintf(out, 32, "%s%u", word, slot);
	else if (same < slot)
		snprintf(out, 32, "%.20s#%u", name, slot);
	else
		snprintf(out, 32, "%s", name);
}

static void rails_add(struct nvmt1 *f, const struct board *board)
{
	unsigned n = slots_of(f, FIELD_POWER);
	char rail[MAX_RAILS][32], sum[sizeof(f->channels->source)] = "";
	const char *rails[MAX_RAILS], *note = NULL;
	uint16_t columns[MAX_RAILS];
	struct channel *c;
	uint32_t total;

	for (unsigned i = 0; i < n; i++) {
		slot_name(rail[i], f->header + H_RAIL_NAMES, i, "rail");
		rails[i] = rail[i];
		for (enum field k = FIELD_VOLTAGE; k <= FIELD_POWER; k++)
			columns[i] = channel_add(f, k, i, rail[i])->column;
	}
	total = board ? board_total(board, rails, n, &note) : 0;
	if (!total)
		return;
	c = computed_add(f, FIELD_POWER, CHANNEL_POWER_TOTAL, total, columns, "power.total", "Total");
	for (unsigned i = 0; i < n; i++)
		if (total >> i & 1)
			text_join(sum, sizeof(sum), sum, *sum ? " + " : "", rail[i], ".power");
	strcpy(c->source, sum);
	text_shortened(c->note, sizeof(c->note), note ? note : sum, strlen(note ? note : sum));
}

/* Names zones as the kernel does, without their suffix unless another zone differs only in that, as board files do, so
 * that traces of two programs can be compared. */
static void zones_add(struct nvmt1 *f, const struct board *board)
{
	static const char *const ends[] = {"-thermal", "-therm"};
	size_t first = f->session.n_channels;
	uint16_t columns[MAX_ZONES];
	uint32_t counted = 0;

	for (unsigned i = 0; i < slots_of(f, FIELD_TEMPERATURE); i++) {
		const char *kernel = (const char *)f->header + H_ZONE_NAMES + (size_t)i * NAME_SIZE;
		char zone[32], name[32];
		struct channel *c;

		slot_name(zone, f->header + H_ZONE_NAMES, i, "zone");
		strcpy(name, zone);
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
			if (text_ends_in(zone, ends[k]) && strlen(zone) > strlen(ends[k]))
				name[strlen(zone) - strlen(ends[k])] = '\0';
		for (size_t k = first; k < f->session.n_channels; k++)
			if (!strcmp(f->channels[k].label, name))
				strcpy(name, zone);
		c = channel_add(f, FIELD_TEMPERATURE, i, name);
		columns[i] = c->column;
		text_printable(c->kernel, sizeof(c->kernel), kernel, strnlen(kernel, NAME_SIZE));
		counted |= board && board_zone_counts(board, c->kernel) ? 1U << i : 0;
	}
	if (!counted)
		return;
	snprintf(computed_add(f, FIELD_TEMPERATURE, CHANNEL_HOTTEST, counted, columns, "temp.hottest", "Hottest")->source,
		 sizeof(f->channels->source), "%s", _("the highest temperature"));
}

void nvmt1_session(struct nvmt1 *f)
{
	const char *name = (const char *)f->header + H_BOARD;
	struct board *board = NULL;
	char core[16] = "";
	struct err unheard;

	strcpy(f->board.key, "board");
	text_printable(f->board.value, sizeof(f->board.value), name, strnlen(name, H_CORES - H_BOARD));
	name = f->board.value; /* of a board file, or any bytes */
	if (*name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		board = board_load(name, &unheard);
	if (!board)
		board = board_load("generic", &unheard);
	for (enum field k = FIELD_GPU; k <= FIELD_EMC; k++)
		for (unsigned i = 0; i < slots_of(f, k); i++) {
			if (k == FIELD_CORE)
				snprintf(core, sizeof(core), "%u", i);
			channel_add(f, k, i, k == FIELD_CORE ? core : "");
		}
	rails_add(f, board);
	zones_add(f, board);
	board_free(board);
	f->session.channels = f->channels;
	layout_make(&f->layout, &f->session);
	f->session.facts = &f->board;
	f->session.n_facts = 1;
}
