/* events: what happened, in one line below the charts, on their axis.
 *
 * A T stands wherever something was throttled in that cell's time: while a cooling
 * device was at work, or where a count of over-current rose.  A ! is a hole in what
 * was sampled.  At the left it is said by name what is throttled at the playhead.
 *
 * The line is there for as long as the session has anything that could be
 * throttled: an empty line tells that nothing was, and nothing jumps when it
 * begins.  A session without has no such line. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <string.h>

#define THROTTLES_MAX 64
#define GAP_NS        (10 * NS_PER_MS) /* a tick that came late is no gap that one would look for */
#define RISE_NS       (2 * NS_PER_S)   /* counts are read once a second; then for another to read it */

static bool throttles(const struct channel *ch)
{
	return !ch->missing[0] && (ch->kind == CHANNEL_THROTTLE || ch->kind == CHANNEL_THROTTLE_COUNT);
}

bool events_gap(const struct gap *g, int64_t cell_ns)
{
	int64_t len = g->to_ns - g->from_ns;

	return len >= GAP_NS || len >= cell_ns;
}

bool events_wanted(const struct ui *u, const struct ui_scene *s)
{
	struct gap gaps[32];
	size_t n = 0;

	for (size_t i = 0; u->about && i < u->about->n_channels; i++)
		if (throttles(&u->about->channels[i]))
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
		const struct spark_column *col = &u->columns[i];

		if (!col->any)
			continue;
		if (col->max > col->min || col->max > before)
			out[i] = 1;
		before = col->max;
	}
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
		chart_columns(s->timeline, k, axis, u->bins, u->columns, &sum);
		if (ch->kind == CHANNEL_THROTTLE_COUNT)
			find_rises(u, s, k, axis, out);
		else
			for (int i = 0; i < axis->n; i++)
				if (u->columns[i].any && u->columns[i].max > 0)
					out[i] = 1;
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
	if (!rows_due(u, &u->throttled_tick))
		return;
	u->throttled[0] = 0;
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];
		char name[32];
		double v;

		if (!throttles(ch))
			continue;
		v = rows_value(u, s, i, 0);
		if (ch->kind == CHANNEL_THROTTLE_COUNT)
			v -= rows_value(u, s, i, RISE_NS);
		if (!(v > 0))
			continue;
		events_name(name, ch);
		list_add(u->throttled, sizeof(u->throttled), name);
	}
}

static void draw_text(struct ui *u, struct canvas *c, int y)
{
	int x = u->at.name.x, w = u->at.chart.x - 1 - x;
	char text[256];

	if (!u->throttled[0]) {
		canvas_text(c, x, y, u->at.name.w, STYLE_DIM, _("events"));
		return;
	}
	/* TRANSLATORS: then a list such as "cpu, gpu" that are slowed down. */
	snprintf(text, sizeof(text), _("throttled: %s"), u->throttled);
	screen_cut(u, c, x, y, w, STYLE_WARN, text);
}

void events_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int y = u->at.events.y;
	int64_t cell_ns = (int64_t)u->vp.per_cell << u->vp.zoom;

	if (!u->at.events.h)
		return;
	read_throttled(u, s);
	draw_text(u, c, y);
	events_throttled(u, s, &u->axis, u->level);
	for (int i = 0; i < u->axis.n; i++)
		if (u->level[i])
			canvas_put(c, u->at.chart.x + i / u->vp.per_cell, y, STYLE_WARN, L'T');
	for (size_t i = 0; i < u->axis.n_gaps; i++) {
		int cell = viewport_cell(&u->vp, u->gaps[i].from_ns);

		if (cell >= 0 && events_gap(&u->gaps[i], cell_ns))
			canvas_put(c, u->at.chart.x + cell, y,
				   u->gaps[i].cause == GAP_LOST ? STYLE_ALERT : STYLE_WARN, L'!');
	}
	axis_lines(u, c, y, 1);
}
