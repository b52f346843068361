/* Lists the phases, one line each: length, energy and a few means. With a second trace, each
 * phase has a second line for it. */
#include "ui/draw.h"
#include "ui/meter.h"
#include "ui/phases.h"
#include "ui/rows.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

/* The columns of the list; width 0: no room. */
struct columns {
	int label_x, label_w, from_x, from_w, lasted_x, joule_x, joule_w, change_x, change_w, bar_x, bar_w,
		mean_x, means;
	bool kilo, fine; /* kJ instead of J; milliseconds */
	double most;     /* the largest energy in J */
};

#define LABEL_LEAST 4
#define LASTED_W    9
#define JOULE_W     9
#define CHANGE_W    7
#define MEAN_W      7
#define MEANS_LEAST 4
#define BAR_LEAST   10

static struct columns columns_of(const struct ui *u, const struct phases *e, int w)
{
	struct columns k = {.from_w = w >= 100 ? 12 : 0,
			    .means = e->n_means,
			    .change_w = u->second.about && e->power[0].n > 0 ? CHANGE_W : 0};
	int x = u->at.name.x + 6, right = w - u->at.name.x, fixed, rest;

	k.label_x = x;
	k.label_w = w >= 160 ? 32 : w >= 120 ? 20 : w >= 76 ? 12 : 10;
	/* Shorten names before dropping a number; never truncate a number. */
	fixed = k.from_w + LASTED_W;
	k.joule_w = e->power[0].n > 0 && right - x - fixed - JOULE_W >= LABEL_LEAST ? JOULE_W : 0;
	fixed += k.joule_w;
	if (right - x - fixed - k.change_w < LABEL_LEAST)
		k.change_w = 0;
	fixed += k.change_w;
	if (k.label_w > right - x - fixed)
		k.label_w = right - x - fixed > LABEL_LEAST ? right - x - fixed : LABEL_LEAST;
	/* The bar is worth more than a fifth mean. */
	while (k.means > 0 &&
	       x + k.label_w + fixed + k.means * MEAN_W + (k.means > MEANS_LEAST ? BAR_LEAST : 0) > right)
		k.means--;
	rest = right - x - k.label_w - fixed - k.means * MEAN_W;
	k.bar_w = k.joule_w && rest > 6 ? rest - 1 : 0;
	if (!k.bar_w)
		k.label_w += rest > 0 ? rest : 0;
	k.from_x = x + k.label_w;
	k.lasted_x = k.from_x + k.from_w;
	k.joule_x = k.lasted_x + LASTED_W;
	k.change_x = k.joule_x + k.joule_w;
	k.bar_x = k.change_x + k.change_w + 1;
	k.mean_x = right - k.means * MEAN_W;
	return k;
}

/* Find the unit and the decimals that all lines share. */
static void look_through(struct ui *u, const struct ui_scene *s, struct phases *e, struct columns *k,
			 size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		for (int trace = 0; trace < TRACES; trace++) {
			const struct line *l = phases_line(u, s, e, i, trace);

			if (!l)
				continue;
			k->most = fmax(k->most, span_joule(&l->power));
			k->fine |= e->phases[i].at[trace].to_ns - e->phases[i].at[trace].from_ns < NS_PER_S;
		}
	k->kilo = k->most >= 99999.5;
}

static void draw_titles(struct ui *u, struct canvas *c, const struct phases *e, const struct columns *k,
			int y)
{
	canvas_text(c, u->at.name.x + 2, y, k->label_x + k->label_w - u->at.name.x - 2, STYLE_DIM,
		    _("phase"));
	if (k->from_w)
		canvas_right(c, k->from_x, y, k->from_w, STYLE_DIM, _("from"));
	/* TRANSLATORS: the length of a phase; at most 8 columns. */
	canvas_right(c, k->lasted_x, y, LASTED_W, STYLE_DIM, _("length"));
	canvas_right(c, k->joule_x, y, k->joule_w, STYLE_DIM, k->kilo ? "kJ" : "J");
	canvas_right(c, k->change_x, y, k->change_w, STYLE_DIM, "B-A");
	for (int i = 0; i < k->means; i++) {
		const struct channel *ch = &u->about->channels[e->means[i]];
		const char *unit = rows_unit(u, quantity_of(ch, NAN));
		char text[48];

		/* TRANSLATORS: followed by a unit; at most 4 columns. */
		if (ch->kind == CHANNEL_HOTTEST || ch->kind == CHANNEL_POWER_TOTAL)
			snprintf(text, sizeof(text), "%.10s %s",
				 ch->kind == CHANNEL_HOTTEST ? _("max") : _("mean"), unit);
		else
			snprintf(text, sizeof(text), "%.31s %s", ch->label, unit);
		canvas_right(c, k->mean_x + i * MEAN_W, y, MEAN_W, STYLE_DIM,
			     text_width(text) < MEAN_W ? text : unit);
	}
}

static void length_text(char out[QUANTITY_TEXT], int64_t ns, bool fine)
{
	int64_t step = fine ? NS_PER_MS : NS_PER_S / 10;

	quantity_time(out, (ns + step / 2) / step * step, step);
}

static void draw_numbers(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct phases *e,
			 const struct columns *k, const struct line *l, int trace, int y)
{
	double joule = span_joule(&l->power);
	bool whole = l->of.to_ns - l->of.from_ns - l->power.covered_ns < NS_PER_MS;
	enum style quiet = trace ? STYLE_DIM : STYLE_TEXT;
	char text[QUANTITY_TEXT];

	if (k->from_w) {
		screen_moment(u, s, l->of.from_ns + (trace ? u->second.shift_ns : 0), text);
		canvas_right(c, k->from_x, y, k->from_w, STYLE_DIM, text);
	}
	length_text(text, l->of.to_ns - l->of.from_ns, k->fine);
	canvas_right(c, k->lasted_x, y, LASTED_W, quiet, text);
	if (isnan(joule))
		snprintf(text, sizeof(text), "--");
	else
		snprintf(text, sizeof(text), "%.*f", k->kilo ? 2 : 1, k->kilo ? joule / 1000 : joule);
	canvas_right(c, k->joule_x, y, k->joule_w,
		     isnan(joule) ? STYLE_DIM
		     : trace      ? STYLE_TEXT
				  : STYLE_STRONG,
		     text);
	/* Part of the phase has no power samples. */
	if (k->joule_w && l->power.n && !whole)
		canvas_put(c, k->joule_x + JOULE_W, y, STYLE_WARN, L'!');
	if (k->bar_w)
		meter_draw(c, u->charset, k->bar_x, y, k->bar_w, joule / k->most, HUE_POWER, ALARM_NONE);
	for (int m = 0; m < k->means; m++) {
		const struct channel *ch = &u->about->channels[e->means[m]];

		quantity_text(text, quantity_of(ch, NAN), l->mean[m], MEAN_W - 2);
		canvas_right(c, k->mean_x + m * MEAN_W, y, MEAN_W, isnan(l->mean[m]) ? STYLE_DIM : quiet,
			     text);
	}
}

static void draw_change(struct canvas *c, const struct columns *k, const struct line *a, const struct line *b,
			int y)
{
	double d = a && b ? 100 * (span_joule(&b->power) / span_joule(&a->power) - 1) : NAN;
	char text[QUANTITY_TEXT];

	if (!isfinite(d))
		return;
	snprintf(text, sizeof(text), "%+.*f %%", fabs(d) < 9.95 ? 1 : 0, d);
	if (text_width(text) < k->change_w)
		canvas_right(c, k->change_x, y, k->change_w, STYLE_STRONG, text);
}

static void draw_phase(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e,
		       const struct columns *k, size_t i, int y)
{
	const struct phase *p = &e->phases[i];
	const struct line *line[TRACES] = {phases_line(u, s, e, i, 0), phases_line(u, s, e, i, 1)};
	int x = u->at.name.x;
	char text[QUANTITY_TEXT];
	size_t place;

	if (phases_chosen(e, p->id, &place))
		canvas_put(c, x, y, STYLE_MARK, u->second.about ? L'x' : (wchar_t)(L'A' + (wchar_t)place));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)p->number);
	canvas_right(c, x + 1, y, 4, STYLE_MARK, p->number ? text : "");
	screen_cut(u, c, k->label_x, y, k->label_w, p->number ? STYLE_TEXT : STYLE_DIM, p->label);
	if (line[0])
		draw_numbers(u, s, c, e, k, line[0], 0, y);
	else
		canvas_right(c, k->lasted_x, y, LASTED_W, STYLE_DIM, _("not in A"));
	if (i == e->at) {
		if (x > 0)
			canvas_put(c, x - 1, y, STYLE_STRONG, L'>');
		for (int j = x + 1; j < k->label_x + k->label_w - 1; j++)
			c->cells[(size_t)y * (size_t)c->w + (size_t)j].style = STYLE_SELECTED;
	}
	if (!u->second.about)
		return;
	canvas_put(c, k->label_x, ++y, STYLE_DIM, L'B');
	if (!line[1]) {
		canvas_right(c, k->lasted_x, y, LASTED_W, STYLE_DIM, _("not in B"));
		return;
	}
	draw_numbers(u, s, c, e, k, line[1], 1, y);
	draw_change(c, k, line[0], line[1], y);
}

void phases_list_place(const struct ui *u, const struct phases *e, int *y, int *lines)
{
	int bands = phases_band_lines(u, e), titles = bands > 0, each = u->second.about ? 2 : 1;
	int room = u->at.body.h - bands - titles, most = room < 6 ? room : room / 2 > 3 ? room / 2 : 3;

	*y = u->at.body.y + bands + titles;
	*lines = most / each < 1 ? room >= each : most / each;
	if ((size_t)*lines > e->n)
		*lines = (int)e->n;
}

void phases_list_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e)
{
	struct columns k = columns_of(u, e, c->w);
	int y, lines, each = u->second.about ? 2 : 1;

	phases_list_place(u, e, &y, &lines);
	if (e->at < e->top)
		e->top = e->at;
	if (e->at >= e->top + (size_t)lines)
		e->top = e->at - (size_t)lines + 1;
	if (e->top + (size_t)lines > e->n)
		e->top = e->n - (size_t)lines;
	if (e->n <= LINES_MAX)
		look_through(u, s, e, &k, 0, e->n);
	else
		look_through(u, s, e, &k, e->top, e->top + (size_t)lines);
	if (y > u->at.body.y)
		draw_titles(u, c, e, &k, y - 1);
	for (int i = 0; i < lines; i++)
		draw_phase(u, s, c, e, &k, e->top + (size_t)i, y + each * i);
	u->frame.below = (int)(e->n - e->top) - lines;
}
