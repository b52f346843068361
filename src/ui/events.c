/* events: what happened, in one line below the charts, on their axis.
 *
 * A T stands wherever something was throttled in that cell's time: while a cooling
 * device was at work, or where a count of over-current rose.  An n is a notice, which
 * slows nothing down.  A ! is a hole in what was sampled.  A C is a change of how the
 * machine is set, or a sensor that died or came back; beside the last one it is said
 * what, for some seconds.  At the left it is said by name what is throttled at the
 * playhead, or else which notice there is.
 *
 * The line is there for as long as the session has anything that could be
 * throttled or noticed, and once something was changed: an empty line tells that nothing was, and nothing jumps when
 * it begins.  A session without has no such line. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

#define THROTTLES_MAX 64
#define GAP_NS        (10 * NS_PER_MS) /* a tick that came late is no gap that one would look for */
#define SAID_NS       (10 * NS_PER_S)
#define RISE_NS       (2 * NS_PER_S)   /* counts are read once a second; then for another to read it */

static bool throttles(const struct channel *ch)
{
	return !ch->missing[0] && (ch->kind == CHANNEL_THROTTLE || ch->kind == CHANNEL_THROTTLE_COUNT);
}

static bool notices(const struct channel *ch)
{
	return !ch->missing[0] && ch->kind == CHANNEL_NOTICE;
}

bool events_gap(const struct gap *g, int64_t cell_ns)
{
	int64_t len = g->to_ns - g->from_ns;

	return len >= GAP_NS || len >= cell_ns;
}

bool events_wanted(const struct ui *u, const struct ui_scene *s)
{
	struct gap gaps[32];
	struct change change;
	size_t n = 0;

	for (size_t i = 0; u->about && i < u->about->n_channels; i++)
		if (throttles(&u->about->channels[i]) || notices(&u->about->channels[i]))
			return true;
	if (s->timeline && s->timeline->ops->changes &&
	    s->timeline->ops->changes(s->timeline, INT64_MIN, INT64_MAX, &change, 1))
		return true;
	if (!s->live && u->extent.any)
		n = s->timeline->ops->gaps(s->timeline, u->extent.first_ns, u->extent.last_ns + 1, gaps, 32);
	for (size_t i = 0; i < n; i++)
		if (events_gap(&gaps[i], GAP_NS))
			return true;
	return false;
}

/* The columns in which a count rose above all that came before. */
static void find_rises(struct ui *u, const struct ui_scene *s, size_t channel, const struct chart_axis *axis,
		       unsigned char *out)
{
	int64_t from = axis->first * (INT64_C(1) << axis->zoom);
	double before = s->timeline->ops->value(s->timeline, channel, from - 1, NULL);

	for (int i = 0; i < axis->n; i++) {
		const struct spark_column *col = &u->frame.columns[i];

		if (!col->any)
			continue;
		if (col->max > col->min || col->max > before)
			out[i] = 1;
		before = col->max;
	}
}

/* The columns in which a channel was above 0. */
static void find_above(struct ui *u, const struct chart_axis *axis, unsigned char *out)
{
	for (int i = 0; i < axis->n; i++)
		if (u->frame.columns[i].any && u->frame.columns[i].max > 0)
			out[i] = 1;
}

void events_throttled(struct ui *u, const struct ui_scene *s, const struct chart_axis *axis,
		      unsigned char *out)
{
	struct chart_summary sum;
	int asked = 0;

	memset(out, 0, (size_t)axis->n);
	for (size_t k = 0; k < u->about->n_channels && asked < THROTTLES_MAX; k++) {
		const struct channel *ch = &u->about->channels[k];

		if (!throttles(ch))
			continue;
		asked++;
		chart_columns(s->timeline, k, axis, u->frame.bins, u->frame.columns, &sum);
		if (ch->kind == CHANNEL_THROTTLE_COUNT)
			find_rises(u, s, k, axis, out);
		else
			find_above(u, axis, out);
	}
}

static void events_noticed(struct ui *u, const struct ui_scene *s, const struct chart_axis *axis,
			   unsigned char *out)
{
	struct chart_summary sum;

	memset(out, 0, (size_t)axis->n);
	for (size_t k = 0; k < u->about->n_channels; k++) {
		if (!notices(&u->about->channels[k]))
			continue;
		chart_columns(s->timeline, k, axis, u->frame.bins, u->frame.columns, &sum);
		find_above(u, axis, out);
	}
}

static bool drop_start(const char **text, const char *start)
{
	size_t n = strlen(start);

	if (strncmp(*text, start, n) != 0 || !(*text)[n])
		return false;
	*text += n;
	return true;
}

void events_name(char out[32], const struct channel *ch)
{
	static const char *const ends[] = {"-throttle-alert", "-alert", "-balanced"};
	const char *text = ch->label, *rest;
	size_t n;

	if (ch->kind != CHANNEL_THROTTLE) {
		snprintf(out, 32, "%s", ch->label);
		return;
	}
	drop_start(&text, "thermal-");
	if (drop_start(&text, "cpufreq-") && *text >= '0' && *text <= '9') {
		snprintf(out, 32, "cpu%.28s", text);
		return;
	}
	if (drop_start(&text, "devfreq-") && (rest = strchr(text, '.')) != NULL && rest[1] &&
	    strspn(text, "0123456789abcdef") == (size_t)(rest - text))
		text = rest + 1;
	n = strlen(text);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t m = strlen(ends[i]);

		if (n > m && !strcmp(text + n - m, ends[i])) {
			n -= m;
			break;
		}
	}
	snprintf(out, 32, "%.*s", n < 31 ? (int)n : 31, text);
}

/* Append a name that is not yet in the list. */
static void list_add(char *list, size_t size, const char *name)
{
	size_t used = strlen(list), n = strlen(name);

	if (!n) /* a trace may have such a signal */
		return;
	for (const char *p = list; (p = strstr(p, name)) != NULL; p++)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ','))
			return;
	if (used + 2 + n < size)
		snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static void read_throttled(struct ui *u, const struct ui_scene *s)
{
	if (!rows_due(u, &u->events.tick))
		return;
	u->events.throttled[0] = u->events.noticed[0] = 0;
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];
		char name[32];
		double v;

		if (notices(ch) && rows_value(u, s, i, 0) > 0)
			list_add(u->events.noticed, sizeof(u->events.noticed), ch->label);
		if (!throttles(ch))
			continue;
		v = rows_value(u, s, i, 0);
		if (ch->kind == CHANNEL_THROTTLE_COUNT)
			v -= rows_value(u, s, i, RISE_NS);
		if (!(v > 0))
			continue;
		events_name(name, ch);
		list_add(u->events.throttled, sizeof(u->events.throttled), name);
	}
}

static void draw_text(struct ui *u, struct canvas *c, int y)
{
	int x = u->at.name.x, w = u->at.chart.x - 1 - x;
	char text[256];

	if (!u->events.throttled[0] && u->events.noticed[0]) {
		screen_cut(u, c, x, y, w, STYLE_TEXT, u->events.noticed);
		return;
	}
	if (!u->events.throttled[0]) {
		canvas_text(c, x, y, u->at.name.w, STYLE_DIM, _("events"));
		return;
	}
	/* TRANSLATORS: then a list such as "cpu, gpu" that are slowed down. */
	snprintf(text, sizeof(text), _("throttled: %s"), u->events.throttled);
	screen_cut(u, c, x, y, w, STYLE_WARN, text);
}

/* A letter in each cell that has what find() looks for. */
static void draw_cells(struct ui *u, const struct ui_scene *s, struct canvas *c, int y,
		       void (*find)(struct ui *, const struct ui_scene *, const struct chart_axis *,
				    unsigned char *),
		       enum style style, wchar_t letter)
{
	find(u, s, &u->frame.axis, u->frame.level);
	for (int i = 0; i < u->frame.axis.n; i++)
		if (u->frame.level[i])
			canvas_put(c, u->at.chart.x + i / u->vp.per_cell, y, style, letter);
}

/* Of those that came together the power mode, which has brought the others along. */
static void draw_change(struct ui *u, struct canvas *c, int y, const struct change *list, size_t n)
{
	int64_t head_ns = u->vp.follow ? u->extent.last_ns : u->vp.head_ns;
	const struct change *said = NULL;
	unsigned long more = 0;
	char text[CHANGE_TEXT + 48];
	int w, at;

	for (size_t i = 0; i < n; i++) {
		if (list[i].t_ns > head_ns || head_ns - list[i].t_ns >= SAID_NS)
			continue;
		more += said != NULL;
		if (!said || strcmp(said->what, "mode") != 0 || !strcmp(list[i].what, "mode"))
			said = &list[i];
	}
	at = said ? viewport_cell(&u->vp, said->t_ns) : -1;
	if (at < 0)
		return;
	change_text(text, said);
	if (more) {
		size_t used = strlen(text);

		/* TRANSLATORS: behind a change, such as "mode: 15W -> 30W". */
		snprintf(text + used, sizeof(text) - used, P_(" and %lu more", " and %lu more", more), more);
	}
	w = text_width(text);
	if (at + 2 + w <= u->at.chart.w)
		at += 2;
	else
		at = at - 1 - w > 0 ? at - 1 - w : 0;
	screen_cut(u, c, u->at.chart.x + at, y, u->at.chart.w - at, said->to[0] ? STYLE_TEXT : STYLE_WARN, text);
}

/* Returns how many there are in view. */
static size_t draw_changes(struct ui *u, const struct ui_scene *s, struct canvas *c, int y, struct change *list)
{
	int64_t from = u->frame.axis.first * (INT64_C(1) << u->frame.axis.zoom);
	int64_t to = (u->frame.axis.first + u->frame.axis.n) * (INT64_C(1) << u->frame.axis.zoom);
	size_t n;

	if (!s->timeline->ops->changes)
		return 0;
	n = s->timeline->ops->changes(s->timeline, from, to, list, CHANGES_MAX);
	for (size_t i = 0; i < n; i++) {
		int cell = viewport_cell(&u->vp, list[i].t_ns);

		if (cell >= 0)
			canvas_put(c, u->at.chart.x + cell, y, list[i].to[0] ? STYLE_TEXT : STYLE_WARN, L'C');
	}
	return n;
}

void events_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int y = u->at.events.y;
	int64_t cell_ns = (int64_t)u->vp.per_cell << u->vp.zoom;
	struct change changes[CHANGES_MAX];
	size_t n_changes;

	if (!u->at.events.h)
		return;
	read_throttled(u, s);
	draw_text(u, c, y);
	n_changes = draw_changes(u, s, c, y, changes);
	draw_cells(u, s, c, y, events_noticed, STYLE_TEXT, L'n');
	draw_cells(u, s, c, y, events_throttled, STYLE_WARN, L'T');
	for (size_t i = 0; i < u->frame.axis.n_gaps; i++) {
		int cell = viewport_cell(&u->vp, u->frame.gaps[i].from_ns);

		if (cell >= 0 && events_gap(&u->frame.gaps[i], cell_ns))
			canvas_put(c, u->at.chart.x + cell, y,
				   u->frame.gaps[i].cause == GAP_LOST ? STYLE_ALERT : STYLE_WARN, L'!');
	}
	axis_lines(u, c, y, 1);
	draw_change(u, c, y, changes, n_changes);
}
