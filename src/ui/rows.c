/* rows: which signals stand where, and their numbers.
 *
 * First what sums the machine up, then the details in sections, and in them what
 * somebody who tunes software asks for first: how busy each core is and how fast it
 * runs long before how often a sensor was read.
 *
 * Numbers that change ten times a second cannot be read, so while the screen
 * follows now they are taken anew only four times a second; when somebody has
 * stopped to look they are those of that very moment. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STALE_NS NS_PER_S

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

/* A section, and the place in it. */
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
	if (ch->kind != CHANNEL_OTHER)
		return places[(unsigned)ch->kind < CHANNEL_KINDS ? ch->kind : CHANNEL_OTHER];
	if (ch->family == FAMILY_MEMORY)
		return (struct place) {MEMORY, 1};
	if (named(ch, "nvmtop.", NULL))
		return (struct place) {SAMPLING, 1};
	if (named(ch, NULL, ".rate") || named(ch, NULL, ".window"))
		return (struct place) {SAMPLING, 0};
	if (named(ch, "clocks.", NULL))
		return (struct place) {LIMITS, 3};
	if (ch->unit == UNIT_JOULE)
		return (struct place) {POWER, 0};
	return ch->family == FAMILY_CPU ? (struct place) {CORES, 1} : (struct place) {OTHERS, 0};
}

/* What says more about channel i: the gate of its unit, the current of its rail. */
static int find_beside(const struct session *about, size_t i)
{
	const struct channel *ch = &about->channels[i];
	size_t stem = strcspn(ch->name, ".") + 1;

	for (size_t k = 0; k < about->n_channels; k++) {
		const struct channel *o = &about->channels[k];
		bool gate = o->kind == CHANNEL_GATED &&
			    (ch->kind == CHANNEL_GPU_UTIL || ch->kind == CHANNEL_ENGINE_UTIL) &&
			    !strncmp(o->name, ch->name, stem);

		if (!o->missing[0] && (gate || (ch->kind == CHANNEL_RAIL_POWER &&
						o->kind == CHANNEL_RAIL_CURRENT && o->index == ch->index)))
			return (int)k;
	}
	return -1;
}

static void add_heading(struct row *row, enum section section)
{
	*row = (struct row) {.heading = sections[section].heading,
			     .hue = sections[section].hue,
			     .beside = -1,
			     .rank = RANK_REST};
}

static void add_row(struct row *row, const struct session *about, size_t i, enum section section, bool below)
{
	enum channel_kind kind = about->channels[i].kind;

	*row = (struct row) {.channel = i,
			     .beside = find_beside(about, i),
			     .rank = section != SUMMARY           ? RANK_REST
				     : kind == CHANNEL_RAIL_POWER ? RANK_PART
								  : RANK_MAIN,
			     .part = below,
			     .tick = INT64_MIN,
			     .value = NAN};
}

int rows_build(struct ui *u, const struct session *about)
{
	size_t n = about ? about->n_channels : 0;
	struct row *rows = calloc(n + SECTIONS, sizeof(*rows));
	unsigned char *height = calloc(n + SECTIONS, 1);
	int used = 0, headed = -1;
	bool total = false, below = false;

	if (!rows || !height) {
		free(rows);
		free(height);
		return -1;
	}
	for (int at = 0; at < SECTIONS * ORDER_MAX; at++) {
		for (size_t i = 0; i < n; i++) {
			struct place p = place_of(&about->channels[i]);
			bool rail = about->channels[i].kind == CHANNEL_RAIL_POWER;

			if ((int)p.section * ORDER_MAX + p.order != at)
				continue;
			/* Where nothing comes before it a section needs no name. */
			if ((int)p.section != headed && (below = used > 0))
				add_heading(&rows[used++], p.section);
			headed = (int)p.section;
			add_row(&rows[used++], about, i, p.section, rail ? total : below);
			total |= about->channels[i].kind == CHANNEL_POWER_TOTAL;
		}
	}
	free(u->rows);
	free(u->height);
	u->rows = rows;
	u->height = height;
	u->n_rows = used;
	u->about = about;
	u->scroll = 0;
	u->throttled_tick = INT64_MIN;
	u->throttled[0] = 0;
	u->overall.w = 0;
	return 0;
}

/* A value that is older than it may be is no present value. */
double rows_value(struct ui *u, const struct ui_scene *s, size_t channel, int64_t before_ns)
{
	const struct session *about = u->about;
	double hz = about->hz[about->channels[channel].tier], v;
	int64_t when = u->vp.follow && s->now_ns > u->vp.head_ns ? s->now_ns : u->vp.head_ns;
	int64_t at, period = hz > 0 ? (int64_t)(1e9 / hz) : 0;

	when -= before_ns;
	at = when;
	v = s->timeline->ops->value(s->timeline, channel, when, &at);
	return when - at > STALE_NS + 3 * period ? NAN : v;
}

bool rows_due(const struct ui *u, int64_t *tick)
{
	if (u->vp.follow && *tick == u->tick)
		return false;
	*tick = u->tick;
	return true;
}

/* A limit of 0 is how drivers say that there is none. */
static enum alarm alarm_of(const struct channel *ch, double v)
{
	if (ch->kind == CHANNEL_THROTTLE)
		return v > 0 ? ALARM_WARN : ALARM_NONE;
	if (ch->crit > 0 && v >= ch->crit)
		return ALARM_CRIT;
	return ch->warn > 0 && v >= ch->warn ? ALARM_WARN : ALARM_NONE;
}

/* Each zone has limits of its own: the hottest is as near to them as the nearest is. */
static void read_zones(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double best = -INFINITY;

	row->tag[0] = 0;
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];
		double v;

		if (ch->kind != CHANNEL_TEMPERATURE || ch->missing[0])
			continue;
		v = rows_value(u, s, i, 0);
		if (alarm_of(ch, v) > (enum alarm)row->alarm)
			row->alarm = (unsigned char)alarm_of(ch, v);
		if (v > best) {
			best = v;
			memcpy(row->tag, ch->label, sizeof(row->tag));
		}
	}
}

static void read_beside(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->beside];
	double v = rows_value(u, s, (size_t)row->beside, 0);

	if (ch->kind == CHANNEL_RAIL_CURRENT)
		row->alarm = (unsigned char)alarm_of(ch, v);
	else
		snprintf(row->tag, sizeof(row->tag), "%s", v > 0 ? _("off") : "");
}

static void read_levels(struct ui *u, const struct channel *ch)
{
	for (int i = 0; i < u->axis.n; i++)
		u->level[i] = u->columns[i].any ? (unsigned char)alarm_of(ch, u->columns[i].max) : ALARM_NONE;
}

void rows_read(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	struct chart_summary sum;

	chart_columns(s->timeline, row->channel, &u->axis, u->bins, u->columns, &sum);
	scale_fit(&row->scale, ch, sum.min, sum.max);
	read_levels(u, ch);
	if (!rows_due(u, &row->tick))
		return;
	row->summary = sum;
	row->value = rows_value(u, s, row->channel, 0);
	row->alarm = (unsigned char)alarm_of(ch, row->value);
	if (ch->kind == CHANNEL_HOTTEST)
		read_zones(u, s, row);
	else if (row->beside >= 0)
		read_beside(u, s, row);
	/* Two signals of one engine: its load is a share, its clock says when it is off. */
	if (ch->kind == CHANNEL_ENGINE_FREQ)
		snprintf(row->tag, sizeof(row->tag), "%s", row->value > 0 ? _("clock") : _("off"));
}
