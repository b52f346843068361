/* rows: the lines of a view, and their numbers.
 *
 * Numbers that change ten times a second are unreadable, so they are updated only four times a
 * second while the screen follows. Otherwise they are exact at the playhead. */
#include "ui/range-stats.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define STALE_NS NS_PER_S

static struct row *add(struct row_list *l, enum row_kind kind)
{
	static struct row nowhere; /* used if out of memory */
	struct row *row = &nowhere;

	if (l->n == l->room) {
		int room = l->room ? 2 * l->room : 32;
		struct row *more = realloc(l->rows, (size_t)room * sizeof(*more));

		l->failed |= !more;
		if (more) {
			l->rows = more;
			l->room = room;
		}
	}
	if (l->n < l->room)
		row = &l->rows[l->n++];
	*row = (struct row) {.kind = kind,
			     .beside = -1,
			     .weight = WEIGHT_REST,
			     .limit = NAN,
			     .tick = INT64_MIN,
			     .value = NAN,
			     .top = NAN,
			     .text_style = STYLE_TEXT};
	return row;
}

/* The channel that qualifies channel i: the power gate of a unit, the current of a rail. */
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

struct row *rows_signal(struct row_list *l, size_t channel, int weight, bool part)
{
	struct row *row = add(l, ROW_SIGNAL);

	row->channel = channel;
	row->beside = find_beside(l->about, channel);
	row->weight = (unsigned char)weight;
	row->part = part;
	return row;
}

struct row *rows_text(struct row_list *l, const char *name, const char *text)
{
	struct row *row = add(l, ROW_TEXT);

	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->text, sizeof(row->text), "%s", text);
	return row;
}

struct row *rows_heading(struct row_list *l, const char *name, enum style hue)
{
	struct row *row = add(l, ROW_HEADING);

	snprintf(row->name, sizeof(row->name), "%s", name);
	row->hue = hue;
	return row;
}

struct row *rows_picture(struct row_list *l, row_drawer *draw, int least, int weight)
{
	struct row *row = add(l, ROW_PICTURE);

	row->draw = draw;
	row->least = (unsigned char)least;
	row->weight = (unsigned char)weight;
	return row;
}

int rows_find(const struct session *about, enum channel_kind kind, int index)
{
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == kind && (index < 0 || about->channels[i].index == index))
			return (int)i;
	return -1;
}

int rows_named(const struct session *about, const char *name)
{
	size_t i = channel_find(about->channels, about->n_channels, name);

	return i < about->n_channels ? (int)i : -1;
}

int rows_build(struct ui *u, const struct session *about)
{
	struct row_list l = {.about = about, .ui = u};
	unsigned char *height;

	if (about && u->view->build)
		u->view->build(&l);
	if (about && !l.failed && arrange(u, &l) < 0)
		l.failed = true;
	height = calloc((size_t)l.n + 1, 1);
	if (l.failed || !height) {
		free(l.rows);
		free(height);
		return -1;
	}
	free(u->rows);
	free(u->height);
	u->rows = l.rows;
	u->height = height;
	u->n_rows = l.n;
	u->about = about;
	u->built = u->view;
	u->scroll = 0;
	u->chosen = -1;
	u->about_chosen = false;
	u->limit_tick = INT64_MIN;
	u->minimap.throttled_w = 0;
	u->minimap.kept = false;
	u->second.rows = NULL; /* not matched yet */
	return 0;
}

/* A stale value counts as missing. */
double rows_value_of(struct timeline *t, size_t channel, int64_t t_ns)
{
	const struct session *about = t->ops->session(t);
	double hz = about->hz[about->channels[channel].tier], v;
	int64_t at = t_ns;

	v = timeline_newest(t, channel, t_ns, &at);
	return t_ns - at > STALE_NS + (hz > 0 ? (int64_t)(3e9 / hz) : 0) ? NAN : v;
}

double rows_value(struct ui *u, const struct ui_scene *s, int64_t channel)
{
	int64_t when = u->vp.follow && s->now_ns > u->vp.head_ns ? s->now_ns : u->vp.head_ns;

	return channel < 0 ? NAN : rows_value_of(s->timeline, (size_t)channel, when);
}

#define CALM_NS (250 * NS_PER_MS)

double rows_calm(struct ui *u, const struct ui_scene *s, int64_t channel)
{
	double v = rows_value(u, s, channel);
	struct span span;

	if (!u->vp.follow || isnan(v))
		return v;
	span_read(s->timeline, (size_t)channel, u->vp.head_ns - CALM_NS, u->vp.head_ns, &span);
	return isnan(span.mean) ? v : span.mean;
}

const char *rows_unit(const struct ui *u, enum unit unit)
{
	return unit == UNIT_CELSIUS && u->charset != CHARSET_ASCII ? "\302\260C" : quantity_unit(unit);
}

int rows_gpu_memory(const struct session *about)
{
	static const char *const names[] = {"nvmap.used", "gpu.memory", "gpu0.memory"};
	int at = -1;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && at < 0; i++)
		at = rows_named(about, names[i]);
	return at;
}

int rows_io(const struct session *about)
{
	int at = rows_named(about, "io.wait");

	return at < 0 ? rows_named(about, "cpu.iowait") : at;
}

bool rows_due(const struct ui *u, int64_t *tick)
{
	if (u->vp.follow && *tick == u->frame.tick)
		return false;
	*tick = u->frame.tick;
	return true;
}

#define NEAR_C    8.0  /* degrees below the limit of a zone */
#define NEAR_PART 0.95 /* of any other limit */

/* Drivers report a limit of 0 if there is none. */
double rows_limit(const struct channel *ch)
{
	return ch->warn > 0 ? ch->warn : ch->crit > 0 ? ch->crit : NAN;
}

enum alarm rows_alarm(const struct channel *ch, double v)
{
	double limit = rows_limit(ch);

	if (ch->kind == CHANNEL_THROTTLE)
		return v > 0 ? ALARM_CRIT : ALARM_NONE;
	if (isnan(limit) || isnan(v))
		return ALARM_NONE;
	if (v >= limit)
		return ALARM_CRIT;
	return v >= (ch->kind == CHANNEL_TEMPERATURE ? limit - NEAR_C : NEAR_PART * limit) ? ALARM_WARN : ALARM_NONE;
}

enum style alarm_style(enum alarm alarm, enum style calm)
{
	return alarm == ALARM_CRIT ? STYLE_ALERT : alarm == ALARM_WARN ? STYLE_WARN : calm;
}

/* Zones have different limits: show the worst alarm, and the limit of the zone with the least headroom. */
static void read_zones(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double best = -INFINITY, headroom = INFINITY;
	bool found = false;

	row->tag[0] = 0;
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];
		double v;

		if (ch->kind != CHANNEL_TEMPERATURE || ch->missing[0])
			continue;
		v = rows_value(u, s, i);
		if (rows_alarm(ch, v) > (enum alarm)row->alarm)
			row->alarm = (unsigned char)rows_alarm(ch, v);
		if (rows_limit(ch) - v < headroom) {
			headroom = rows_limit(ch) - v;
			row->limit = rows_limit(ch);
		}
		/* The maximum over all zones can be a constant that does not count. */
		if (!found && (v > best || v == row->value)) {
			found = v == row->value;
			best = v;
			memcpy(row->tag, ch->label, sizeof(row->tag));
		}
	}
}

static void read_beside(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->beside];
	double v = rows_calm(u, s, row->beside);

	if (ch->kind == CHANNEL_RAIL_CURRENT)
		row->alarm = (unsigned char)rows_alarm(ch, v);
	else
		snprintf(row->tag, sizeof(row->tag), "%s", v > 0 ? _("off") : "");
}

static void read_levels(struct ui *u, const struct row *row, const struct channel *ch)
{
	double limit = row->limit;

	for (int i = 0; i < u->frame.axis.n; i++)
		u->frame.level[i] = u->frame.columns[i].any && (rows_alarm(ch, u->frame.columns[i].max) == ALARM_CRIT ||
						    u->frame.columns[i].max >= limit)
				      ? ALARM_CRIT
				      : ALARM_NONE;
}

void rows_note(struct row *row, int i, enum style style, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(row->notes[i].text, sizeof(row->notes[i].text), fmt, args);
	va_end(args);
	row->notes[i].style = (unsigned char)style;
}

/* Update the displayed numbers; not in every frame. */
static void read_numbers(struct ui *u, const struct ui_scene *s, struct row *row, const struct chart_summary *sum)
{
	const struct channel *ch = &u->about->channels[row->channel];

	row->summary = *sum;
	select_stats(u, s->timeline, row->channel, 0, !s->live && s->notice, &row->chosen, &row->summary);
	row->value = ch->kind == CHANNEL_THROTTLE || channel_counts(ch) ? rows_value(u, s, row->channel)
									 : rows_calm(u, s, row->channel);
	row->alarm = (unsigned char)rows_alarm(ch, row->value);
	if (ch->kind == CHANNEL_HOTTEST)
		read_zones(u, s, row);
	else if (row->beside >= 0)
		read_beside(u, s, row);
	memset(row->notes, 0, sizeof(row->notes));
	if (row->read)
		row->read(u, s, row);
	/* An engine can have two signals: load and clock. The clock shows when it is off. */
	if (ch->kind == CHANNEL_ENGINE_FREQ)
		snprintf(row->tag, sizeof(row->tag), "%s", row->value > 0 ? _("clock") : _("off"));
}

void rows_read(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	struct chart_summary sum, range;

	chart_columns(s->timeline, row->channel, &u->frame.axis, u->frame.bins, u->frame.columns, &sum);
	range = sum;
	if (isnan(row->limit) && ch->kind != CHANNEL_HOTTEST)
		row->limit = rows_limit(ch);
	if (rows_due(u, &row->tick))
		read_numbers(u, s, row, &sum);
	second_read(u, row, &range.min, &range.max); /* of the limit that the numbers have found */
	scale_fit(&row->scale, ch, range.min, range.max);
	if (row->scale.hi < row->top)
		row->scale.hi = row->top;
	read_levels(u, row, ch);
}
