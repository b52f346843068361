/* events: one line below the charts that shows what happened and when.
 *
 * Throttling and gaps are a line over their duration; over-current events and changed settings are a
 * diamond. Text is placed beside them if it fits: first lasting alarms, then other alarms, then the
 * newest. The line is shown if the session has channels of throttling, and after the first change, so
 * the layout does not move when an event begins. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

#define THROTTLES_MAX 64
#define ITEMS_MAX     64
#define PAGE          64 /* events that are asked for at a time */
#define NEAR_CELLS    6 /* maximum distance of the text */

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

	return len >= GAP_EVENT_NS || len >= cell_ns;
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
		if (events_gap(&gaps[i], INT64_MAX))
			return true;
	return false;
}

uint64_t events_columns(struct timeline *t, size_t channel, const struct chart_axis *axis, int64_t shift_ns, unsigned char *out)
{
	int64_t column_ns = chart_column_ns(axis), from = axis->first * column_ns - shift_ns, to = from + axis->n * column_ns;
	const struct session *about = t->ops->session(t);
	struct state_event page[PAGE];
	uint64_t count = 0;
	size_t n;

	memset(out, 0, (size_t)axis->n);
	/* states() returns the newest of a range, so a full page is followed by older ones. */
	do {
		n = t->ops->states(t, channel, from, to, page, PAGE);
		for (size_t i = 0; i < n; i++) {
			const struct state_event *e = &page[i];
			int64_t last_ns = e->kind == STATE_COUNT || e->to_ns == e->from_ns ? e->to_ns : e->to_ns - 1;
			int64_t first = e->from_ns > from ? (e->from_ns - from) / column_ns : 0;

			if (last_ns < from || (channel == SIZE_MAX && !throttles(&about->channels[e->channel])))
				continue;
			count += e->count;
			for (int64_t c = first; c <= (last_ns - from) / column_ns && c < axis->n; c++)
				out[c] = 1;
		}
		to = n ? page[0].from_ns : to;
	} while (n == PAGE && to > from);
	return count;
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

/* An event in cells first..last. */
struct item {
	int first, last;
	bool lasts; /* a line, not a diamond */
	bool words; /* neither: a text for the diamonds in these cells */
	bool cap;   /* the limit of a clock changed */
	enum style style;
	char text[CHANGE_TEXT];
	char brief[64]; /* shown if text does not fit; "": none */
};

struct items {
	int n;
	struct item list[ITEMS_MAX];
};

/* Drops the oldest item if the list is full. */
static struct item *add_item(struct items *l, int first, int last, enum style style)
{
	if (l->n == ITEMS_MAX)
		memmove(l->list, l->list + 1, (size_t)--l->n * sizeof(*l->list));
	l->list[l->n] = (struct item) {.first = first, .last = last, .style = style};
	return &l->list[l->n++];
}

/* Those that share a column are one item. Its text has the whole of their time, also what is not in view. */
static void add_throttling(struct ui *u, const struct ui_scene *s, size_t channel, struct items *l)
{
	struct timeline *t = s->timeline;
	struct state_event page[PAGE];
	const struct channel *ch = &u->about->channels[channel];
	int64_t column_ns = chart_column_ns(&u->frame.axis), start_ns = u->frame.axis.first * column_ns;
	int per = u->vp.per_cell, n = u->frame.axis.n;
	char name[32], took[QUANTITY_TEXT];
	struct span_stats in;

	events_name(name, ch);
	if (!strcmp(name, "gpu") || !strcmp(name, "cpu"))
		for (char *p = name; *p; p++)
			*p = (char)(*p - 'a' + 'A');
	for (int i = 0, end; i < n; i = end + 1) {
		int64_t from_ns = start_ns + i * column_ns, to_ns;
		struct item *item;
		size_t found;

		for (end = i; end < n && u->frame.level[end]; end++)
			;
		if (end == i)
			continue;
		to_ns = start_ns + end * column_ns;
		found = t->ops->states(t, channel, from_ns + 1, to_ns, page, PAGE);
		from_ns = found > 0 && found < PAGE ? page[0].from_ns : from_ns;
		to_ns = found > 0 ? page[found - 1].to_ns : to_ns;
		item = add_item(l, i / per, (end - 1) / per, STYLE_ALERT);
		item->lasts = true;
		t->ops->stat(t, channel, from_ns, to_ns, &in);
		quantity_lasted(took, (int64_t)in.above_ns);
		/* TRANSLATORS: "GPU throttled 3.6 s" */
		snprintf(item->text, sizeof(item->text), _("%s throttled %s"), name, took);
		snprintf(item->brief, sizeof(item->brief), "%s", took);
	}
}

/* Adds a diamond for each rise in view, and one text for all of them. */
static void add_rises(struct ui *u, size_t channel, uint64_t count, struct items *l)
{
	int first = -1, last = -1;
	struct item *item;
	char name[32];

	for (int i = 0; i < u->frame.axis.n; i++) {
		int cell = i / u->vp.per_cell;

		if (!u->frame.level[i] || cell == last)
			continue;
		last = add_item(l, cell, cell, STYLE_ALERT)->last;
		first = first < 0 ? cell : first;
	}
	if (first < 0)
		return;
	item = add_item(l, first, last, STYLE_ALERT);
	item->words = true;
	events_name(name, &u->about->channels[channel]);
	if (count > 1)
		snprintf(item->text, sizeof(item->text), "%s x%llu", name, (unsigned long long)count);
	else
		snprintf(item->text, sizeof(item->text), "%s", name);
}

static void add_channels(struct ui *u, const struct ui_scene *s, struct items *l)
{
	int asked = 0;

	for (size_t i = 0; i < u->about->n_channels && asked < THROTTLES_MAX; i++) {
		const struct channel *ch = &u->about->channels[i];
		struct item *item;
		uint64_t count;

		if (!throttles(ch) && !notices(ch))
			continue;
		asked++;
		count = events_columns(s->timeline, i, &u->frame.axis, 0, u->frame.level);
		if (ch->kind == CHANNEL_THROTTLE_COUNT)
			add_rises(u, i, count, l);
		else if (ch->kind == CHANNEL_THROTTLE)
			add_throttling(u, s, i, l);
		for (int k = 0; ch->kind == CHANNEL_NOTICE && k < u->frame.axis.n; k++)
			if (u->frame.level[k] && (k == 0 || !u->frame.level[k - 1])) {
				item = add_item(l, k / u->vp.per_cell, k / u->vp.per_cell, STYLE_TEXT);
				snprintf(item->text, sizeof(item->text), "%s", ch->label);
			}
	}
}

static void name_change(struct item *item, const struct ui *u, struct change c)
{
	int channel = rows_named(u->about, c.what);

	if (channel >= 0)
		snprintf(c.what, sizeof(c.what), "%s", u->about->channels[channel].label);
	change_text(item->text, &c);
}

/* Of several changes in one cell, shows that of the power mode, as it causes the others. */
static void add_changes(struct ui *u, const struct ui_scene *s, struct items *l)
{
	int64_t from = u->frame.axis.first * chart_column_ns(&u->frame.axis), to = from + u->frame.axis.n * chart_column_ns(&u->frame.axis);
	struct change list[CHANGES_MAX];
	struct item *item = NULL;
	size_t n;

	if (!s->timeline->ops->changes)
		return;
	n = s->timeline->ops->changes(s->timeline, from, to, list, CHANGES_MAX);
	for (size_t i = 0; i < n; i++) {
		int cell = viewport_cell(&u->vp, list[i].t_ns);
		bool same = item && item->first == cell, mode = !strcmp(list[i].what, "mode");

		if (cell < 0)
			continue;
		if (!same)
			item = add_item(l, cell, cell, STYLE_TEXT);
		if (!list[i].to[0])
			item->style = STYLE_ALERT;
		if (same && !mode)
			continue;
		name_change(item, u, list[i]);
		item->cap = strstr(list[i].what, ".freq_max") != NULL;
		if (mode)
			snprintf(item->brief, sizeof(item->brief), "%s", list[i].to);
	}
}

static void add_gaps(struct ui *u, struct items *l)
{
	int64_t cell_ns = u->vp.per_cell * viewport_column_ns(&u->vp);

	for (size_t i = 0; i < u->frame.axis.n_gaps; i++) {
		const struct gap *g = &u->frame.gaps[i];
		int first = viewport_cell(&u->vp, g->from_ns), last = viewport_cell(&u->vp, g->to_ns);
		char took[QUANTITY_TEXT];
		struct item *item;

		if (first < 0 || !events_gap(g, cell_ns))
			continue;
		item = add_item(l, first, last < first ? first : last, g->cause == GAP_LATE ? STYLE_DIM : STYLE_ALERT);
		item->lasts = true;
		quantity_time(took, g->to_ns - g->from_ns, NS_PER_S / 1000);
		snprintf(item->text, sizeof(item->text), g->cause == GAP_LATE   ? _("not sampled %s")
			 : g->cause == GAP_LOST ? _("lost %s")
						: _("%s in a missing file"),
			 took);
		if (g->cause == GAP_ABSENT)
			snprintf(item->brief, sizeof(item->brief), "%s", _("missing file"));
	}
}

/* Returns true if text may be placed there: over the lines of marks, but not over other events. */
static bool has_room(const struct canvas *c, int x, int y, int w)
{
	for (int i = x < 0 ? 0 : x; i < x + w && i < c->w; i++) {
		const struct cell *p = &c->cells[(size_t)y * (size_t)c->w + (size_t)i];

		if (p->ch[0] != L' ' && p->style != STYLE_MARK && p->style != STYLE_FRAME)
			return false;
	}
	return true;
}

static bool draw_words_at(struct ui *u, struct canvas *c, int at, int y, const struct item *item, const char *text)
{
	int w = text_width(text), x = u->at.chart.x;

	if (at < x || at + w > x + u->at.chart.w || !has_room(c, at - 1, y, w + 2))
		return false;
	canvas_text(c, at, y, w, item->style, text);
	return true;
}

/* Draws text right or left of the item, at most NEAR_CELLS away, or between its diamonds, or in its line. Returns false
 * if it does not fit. */
static bool draw_words(struct ui *u, struct canvas *c, int y, const struct item *item, const char *text)
{
	int w = text_width(text), first = u->at.chart.x + item->first, last = u->at.chart.x + item->last;
	char wide[CHANGE_TEXT + 2];

	for (int away = 0; away < NEAR_CELLS; away++)
		if (draw_words_at(u, c, last + 2 + away, y, item, text))
			return true;
	for (int away = 0; away < NEAR_CELLS; away++)
		if (draw_words_at(u, c, first - 1 - w - away, y, item, text))
			return true;
	for (int at = last - 1 - w; item->words && at > first; at--)
		if (draw_words_at(u, c, at, y, item, text))
			return true;
	last = last < u->at.chart.x + u->at.chart.w ? last : u->at.chart.x + u->at.chart.w - 1;
	if (!item->lasts || last - first + 1 < w + 4)
		return false;
	snprintf(wide, sizeof(wide), " %s ", text);
	canvas_text(c, first + (last - first - 1 - w) / 2, y, w + 2, item->style, wide);
	return true;
}

/* Drops changes of a clock's limit next to throttling, which causes them. */
static void drop_effects(struct items *l)
{
	int kept = 0;

	for (int i = 0; i < l->n; i++) {
		const struct item *change = &l->list[i];
		bool effect = false;

		for (int k = 0; k < l->n && change->cap; k++)
			effect |= l->list[k].lasts && l->list[k].style == STYLE_ALERT &&
				  change->first >= l->list[k].first - 1 && change->first <= l->list[k].last + 1;
		if (!effect)
			l->list[kept++] = *change;
	}
	l->n = kept;
}

/* Draws the full text, or the brief one if that does not fit. */
static void draw_item(struct ui *u, struct canvas *c, int y, struct item *item)
{
	if (item->text[0] && !draw_words(u, c, y, item, item->text) && item->brief[0])
		draw_words(u, c, y, item, item->brief);
}

/* Draws the text of the event at the playhead, over other events if necessary. */
static void draw_here(struct ui *u, struct canvas *c, int y, struct items *l)
{
	int here = u->vp.follow ? -1 : viewport_cell(&u->vp, u->vp.head_ns), x = u->at.chart.x;

	for (int k = 0; here >= 0 && k < 2 * l->n; k++) {
		struct item *item = &l->list[l->n - 1 - k % l->n];
		int near = k / l->n; /* then those in the next cell */
		int w = text_width(item->text), at = x + item->last + 2, left = x + item->first - 1 - w;

		if (!item->text[0] || item->words || here < item->first - near || here > item->last + near)
			continue;
		if (at + w > x + u->at.chart.w || (left >= x && !has_room(c, at, y, w) && has_room(c, left, y, w)))
			at = left;
		if (at >= x)
			canvas_text(c, at, y, w, item->style, item->text);
		item->text[0] = 0;
		return;
	}
}

static int item_weight(const struct item *item)
{
	return item->style == STYLE_ALERT ? 1 + item->lasts : 0;
}

void events_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.chart.x, y = u->at.events.y;
	struct items l = {0};

	if (!u->at.events.h)
		return;
	canvas_text(c, u->at.name.x, y, u->at.name.w, STYLE_DIM, _("events"));
	axis_lines(u, c, y, 1);
	add_gaps(u, &l);
	add_changes(u, s, &l);
	add_channels(u, s, &l);
	drop_effects(&l);
	for (int i = 0; i < l.n; i++)
		for (int cell = l.list[i].first; !l.list[i].words && cell <= l.list[i].last; cell++)
			canvas_put(c, x + cell, y, l.list[i].style,
				   l.list[i].lasts ? screen_glyph(u, 0x2501, '=') : screen_glyph(u, 0x25C6, '*'));
	draw_here(u, c, y, &l);
	for (int weight = 2; weight >= 0; weight--)
		for (int i = l.n - 1; i >= 0; i--)
			if (item_weight(&l.list[i]) == weight)
				draw_item(u, c, y, &l.list[i]);
}
