/* view-signals: all signals, one row each, on one axis.
 *
 * The summary is first, then details in sections, ordered by their use in tuning software: load
 * and clock of each core come long before the rates of sensors. */
#include "ui/screen.h"

#include "ui/rows.h"

#include "util/intl.h"

#include <string.h>

enum section { SUMMARY, CORES, CLOCKS, ENGINES, HEAT, MEMORY, LIMITS, POWER, OTHERS, SAMPLING, SECTIONS };

static const struct {
	const char *heading; /* to be translated */
	enum style hue;
} sections[SECTIONS] = {
	[SUMMARY] = {NULL, STYLE_TEXT},
	[CORES] = {N_("CPU cores"), STYLE_CPU},
	[CLOCKS] = {N_("Clocks"), STYLE_OTHER},
	[ENGINES] = {N_("Engines"), STYLE_OTHER},
	[HEAT] = {N_("Heat"), STYLE_HEAT},
	[MEMORY] = {N_("Memory"), STYLE_MEMORY},
	[LIMITS] = {N_("Throttling and limits"), STYLE_HEAT},
	[POWER] = {N_("Energy, voltages, currents"), STYLE_POWER},
	[OTHERS] = {N_("Other"), STYLE_OTHER},
	[SAMPLING] = {N_("Sampling"), STYLE_OTHER},
};

/* A section and the order in it. */
struct place {
	enum section section;
	int order;
};

#define ORDER_MAX 8

static const struct place places[CHANNEL_KINDS] = {
	[CHANNEL_GPU_UTIL] = {SUMMARY, 0},
	[CHANNEL_CPU_UTIL] = {SUMMARY, 1},
	[CHANNEL_EMC_UTIL] = {SUMMARY, 2},
	[CHANNEL_RAM_USED] = {SUMMARY, 3},
	[CHANNEL_POWER_TOTAL] = {SUMMARY, 4},
	[CHANNEL_RAIL_POWER] = {SUMMARY, 5},
	[CHANNEL_HOTTEST] = {SUMMARY, 6},
	[CHANNEL_CORE_UTIL] = {CORES, 0},
	[CHANNEL_GPU_FREQ] = {CLOCKS, 0},
	[CHANNEL_CPU_FREQ] = {CLOCKS, 1},
	[CHANNEL_EMC_RATE] = {CLOCKS, 2},
	[CHANNEL_ENGINE_UTIL] = {ENGINES, 0},
	[CHANNEL_ENGINE_FREQ] = {ENGINES, 1},
	[CHANNEL_TEMPERATURE] = {HEAT, 0},
	[CHANNEL_FAN] = {HEAT, 1},
	[CHANNEL_RAM_AVAILABLE] = {MEMORY, 0},
	[CHANNEL_THROTTLE] = {LIMITS, 0},
	[CHANNEL_THROTTLE_COUNT] = {LIMITS, 1},
	[CHANNEL_FREQ_LIMIT] = {LIMITS, 2},
	[CHANNEL_GATED] = {LIMITS, 4},
	[CHANNEL_NOTICE] = {LIMITS, 5},
	[CHANNEL_RAIL_VOLTAGE] = {POWER, 1},
	[CHANNEL_RAIL_CURRENT] = {POWER, 2},
};

static bool named(const struct channel *ch, const char *start, const char *part)
{
	const char *dot = strchr(ch->name, '.');

	return (!start || !strncmp(ch->name, start, strlen(start))) && (!part || (dot && strstr(dot, part)));
}

static struct place place_of(const struct channel *ch)
{
	if (ch->kind != CHANNEL_OTHER && ch->kind != CHANNEL_COUNTER)
		return places[(unsigned)ch->kind < CHANNEL_KINDS ? ch->kind : CHANNEL_OTHER];
	if (ch->family == FAMILY_MEMORY)
		return (struct place) {MEMORY, 1};
	if (named(ch, "nvmtop.", NULL))
		return (struct place) {SAMPLING, 1};
	if (named(ch, NULL, ".window"))
		return (struct place) {SAMPLING, 0};
	if (named(ch, "clocks.", NULL))
		return (struct place) {LIMITS, 3};
	if (ch->unit == UNIT_JOULE)
		return (struct place) {POWER, 0};
	if (ch->family == FAMILY_CPU && ch->name[3] != '.' && named(ch, "cpu", NULL)) /* what one core did */
		return (struct place) {OTHERS, 1};
	return ch->family == FAMILY_CPU ? (struct place) {CORES, 1} : (struct place) {OTHERS, 0};
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	int headed = -1;
	bool total = false, below = false;

	for (int at = 0; at < SECTIONS * ORDER_MAX; at++) {
		for (size_t i = 0; i < about->n_channels; i++) {
			const struct channel *ch = &about->channels[i];
			struct place p = place_of(ch);
			bool rail = ch->kind == CHANNEL_RAIL_POWER;

			if ((int)p.section * ORDER_MAX + p.order != at)
				continue;
			/* The first section needs no heading. */
			if ((int)p.section != headed && (below = l->n > 0))
				rows_heading(l, _(sections[p.section].heading), sections[p.section].hue);
			headed = (int)p.section;
			rows_signal(l, i,
				    p.section != SUMMARY || rail ? WEIGHT_REST : WEIGHT_PART, rail ? total : below);
			total |= ch->kind == CHANNEL_POWER_TOTAL;
		}
	}
}

const struct view view_signals = {
	.name = "signals",
	.label = N_("Signals"),
	.key = 'a',
	.build = build,
	.compact = true,
};
