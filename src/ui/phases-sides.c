/* Shows all signals of one phase, or compares several phases with the first one, side by side.
 *
 * The largest difference comes first. While a phase grows, a signal moves up only if its
 * difference is clearly larger, so that lines do not jump. */
#include "ui/draw.h"
#include "ui/phases.h"
#include "ui/rows.h"

#include "util/intl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIXED    2 /* lines that are not signals: length, energy */
#define UNIT_W   4
#define NUMBER_W 7
#define CHANGE_W 8 /* a difference, and its percentage */
#define BAR_MOST 41
#define GAP      3 /* between two lists */
#define NONE     (-2.0)

struct sides {
	int name_w, shown, bar_w, lists, list_w;
	bool p95, max;
};

static int numbers_w(const struct sides *k)
{
	return NUMBER_W * (1 + k->p95 + k->max);
}

/* The width of the numbers of sheet i, including its difference from the first. */
static int side_w(const struct sides *k, int i)
{
	return numbers_w(k) + (i ? 2 * CHANGE_W : 0);
}

static int sides_w(const struct sides *k, int n)
{
	int w = UNIT_W;

	for (int i = 0; i < n; i++)
		w += side_w(k, i);
	return w;
}

/* Drop percentiles first, then maxima, then phases; bars and names share the rest. */
static struct sides sides_of(const struct ui *u, const struct phases *e, int w)
{
	struct sides k = {.p95 = true, .max = true, .lists = 1, .shown = (int)e->n_sheets};
	int n = k.shown, least = w < 76 ? 8 : 12, bar = n == 2 ? 14 : 0;

	w -= 2 * u->at.name.x;
	if (sides_w(&k, n) + least + bar > w)
		k.p95 = n == 1 && sides_w(&k, n) + 5 <= w;
	if (sides_w(&k, n) + least > w)
		k.max = false;
	while (k.shown > 1 && sides_w(&k, k.shown) + least > w)
		k.shown--;
	if (n <= 2)
		k.lists = (w + GAP) / (sides_w(&k, n) + (n == 1 ? 11 : least + 4 + bar) + GAP);
	k.lists = k.lists < 1 ? 1 : k.lists;
	k.list_w = (w + GAP) / k.lists - GAP;
	k.bar_w = k.shown == 2 ? k.list_w - sides_w(&k, 2) - (w < 100 ? 12 : 18) - 1 : 0;
	k.bar_w = k.bar_w < 9 ? 0 : k.bar_w > BAR_MOST ? BAR_MOST : k.bar_w;
	k.name_w = k.list_w - sides_w(&k, k.shown) - (k.bar_w ? k.bar_w + 1 : 0);
	return k;
}

/* The difference of b from a, -1..1, relative to the larger one. For a state, the difference of
 * the time shares. 0 if the displayed numbers are equal. */
static double distance(enum unit unit, bool state, double a, double b)
{
	char text[QUANTITY_TEXT];

	if (isnan(a) || isnan(b))
		return NONE;
	quantity_text(text, unit, fabs(b - a), CHANGE_W - 2);
	if (strspn(text, "0.") == strlen(text))
		return 0;
	return state ? b - a : (b - a) / fmax(fabs(a), fabs(b));
}

static bool is_state(const struct channel *ch)
{
	return ch->kind == CHANNEL_GATED || ch->kind == CHANNEL_THROTTLE;
}

/* The largest difference of a signal; NONE: a value is missing. */
static double rank_of(const struct ui *u, const struct phases *e, size_t n)
{
	const struct channel *ch = &u->about->channels[e->channels[n]];
	double most = NONE, first = e->sheets[0].cells[n].mean;

	if (e->n_sheets == 1)
		return isnan(first) ? NONE : 0;
	for (size_t i = 1; i < e->n_sheets; i++) {
		double d = distance(quantity_of(ch, e->sheets[0].cells[n].max), is_state(ch), first,
				    e->sheets[i].cells[n].mean);

		most = fmax(most, d == NONE ? d : fabs(d));
	}
	return most;
}

static uint64_t sheets_id(const struct phases *e)
{
	uint64_t id = e->n_sheets;

	for (size_t i = 0; i < e->n_sheets; i++)
		id = id * UINT64_C(0x100000001B3) + 2 * e->sheets[i].id + (uint64_t)e->sheets[i].trace;
	return id;
}

static bool goes_before(double a, double b, bool again)
{
	if (a == NONE || b == NONE)
		return a > b;
	return again ? a > 1.25 * b + 0.02 : a > b;
}

static void put_in_order(const struct ui *u, struct phases *e)
{
	uint64_t id = sheets_id(e);
	bool again = id == e->ordered;

	for (size_t i = 0; !again && i < e->n_channels; i++)
		e->order[i] = i;
	e->ordered = id;
	for (size_t i = 1; i < e->n_channels; i++) {
		size_t n = e->order[i], k = i;
		double rank = rank_of(u, e, n);

		for (; k && goes_before(rank, rank_of(u, e, e->order[k - 1]), again); k--)
			e->order[k] = e->order[k - 1];
		e->order[k] = n;
	}
}

static void draw_rule(struct ui *u, struct canvas *c, const struct phases *e, const struct sides *k, int y)
{
	char text[160] = "", name[PHASE_NAME];

	for (int x = u->at.name.x; x < c->w - u->at.name.x; x++)
		canvas_put(c, x, y, STYLE_BORDER, screen_glyph(u, 0x2500, '-'));
	for (int i = 0; i < k->shown; i++) {
		const struct phase *p = phases_find(e, e->sheets[i].id);

		if (!p)
			continue;
		phases_name(u, e, p, e->sheets[i].trace, name);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.40s", *text ? "  |  " : "",
			 name);
	}
	canvas_textf(c, u->at.name.x + 1, y, c->w - 2 * u->at.name.x - 2, STYLE_MARK, " %s ", text);
	if (e->n_sheets > (size_t)k->shown) {
		snprintf(text, sizeof(text), _(" %d have no room "), (int)e->n_sheets - k->shown);
		canvas_right(c, u->at.name.x, y, c->w - 2 * u->at.name.x - 2, STYLE_WARN, text);
	}
}

static void draw_titles(struct ui *u, struct canvas *c, const struct phases *e, const struct sides *k, int x,
			int y)
{
	const struct phase *p;
	char name[PHASE_NAME], text[32];

	x += k->name_w + UNIT_W;
	for (int i = 0; i < k->shown; i++) {
		p = phases_find(e, e->sheets[i].id);
		phases_name(u, e, p, e->sheets[i].trace, name);
		/* TRANSLATORS: A or B, then "mean"; together 6 columns. */
		if (e->n_sheets > 1)
			snprintf(text, sizeof(text), "%c %s", name[0], _("mean"));
		else
			snprintf(text, sizeof(text), "%s", _("mean"));
		canvas_right(c, x, y, NUMBER_W, STYLE_DIM, text);
		if (k->p95)
			canvas_right(c, x + NUMBER_W, y, NUMBER_W, STYLE_DIM, "p95");
		if (k->max)
			canvas_right(c, x + numbers_w(k) - NUMBER_W, y, NUMBER_W, STYLE_DIM, _("max"));
		x += numbers_w(k);
		if (!i)
			continue;
		snprintf(text, sizeof(text), "%c-A",
			 u->second.about ? (e->sheets[i].trace ? 'B' : 'A') : 'A' + i);
		canvas_right(c, x, y, CHANGE_W, STYLE_DIM, text);
		canvas_right(c, x + CHANGE_W, y, CHANGE_W, STYLE_DIM, "%");
		x += 2 * CHANGE_W;
	}
}

/* Draw the difference, its percentage of a, and a bar from the middle. */
static void draw_change(struct ui *u, struct canvas *c, const struct sides *k, enum unit unit, bool state,
			enum hue hue, double a, double b, int x, int y)
{
	double d = distance(unit, state, a, b);
	char text[QUANTITY_TEXT + 1], percent[QUANTITY_TEXT];
	int bar = x + 2 * CHANGE_W + 1, half = (k->bar_w - 1) / 2, n;

	if (d == NONE)
		return;
	text[0] = b < a ? '-' : '+';
	quantity_text(text + 1, unit, fabs(b - a), CHANGE_W - 2);
	canvas_right(c, x, y, CHANGE_W, d != 0 ? STYLE_TEXT : STYLE_DIM, d != 0 ? text : "=");
	if (d != 0 && a != 0) {
		double p = 100 * (b - a) / fabs(a);

		if (fabs(p) < 999.5)
			snprintf(percent, sizeof(percent), "%+.*f %%", fabs(p) < 9.95 ? 1 : 0, p);
		else if (fabs(p) < 99950)
			snprintf(percent, sizeof(percent), "x%.0f", b / a);
		else
			snprintf(percent, sizeof(percent), ">x999");
		canvas_right(c, x + CHANGE_W, y, CHANGE_W, STYLE_STRONG, percent);
	}
	if (!k->bar_w)
		return;
	n = d != 0 && fabs(d) * half < 1 ? 1 : (int)lround(fabs(d) * half);
	for (int i = -half; i <= half; i++) {
		bool on = i && (i < 0) == (d < 0) && abs(i) <= n;

		canvas_put(c, bar + half + i, y,
			   !i   ? STYLE_DIM
			   : on ? STYLE_MEAN(hue, spark_shade(abs(i) - 1, half))
				: STYLE_TRACK,
			   !i                            ? screen_glyph(u, 0x2502, '|')
			   : u->charset != CHARSET_ASCII ? 0x25A0
			   : on                          ? L'#'
							 : L'.');
	}
}

static void put(struct canvas *c, int x, int y, const char *text, double v, enum style style)
{
	canvas_right(c, x, y, NUMBER_W, isnan(v) ? STYLE_DIM : style, text);
}

static void draw_signal(struct ui *u, struct canvas *c, const struct phases *e, const struct sides *k,
			size_t n, int x, int y)
{
	const struct channel *ch = &u->about->channels[e->channels[n]];
	const struct figure *first = &e->sheets[0].cells[n];
	enum unit unit = quantity_of(ch, first->max);
	char name[32], text[3][QUANTITY_TEXT], p95[QUANTITY_TEXT + 1];

	events_name(name, ch);
	screen_cut(u, c, x, y, k->name_w - 1, STYLE_TEXT, name);
	x += k->name_w;
	canvas_text(c, x, y, UNIT_W, STYLE_DIM, rows_unit(u, unit));
	x += UNIT_W;
	for (int i = 0; i < k->shown; i++) {
		const struct figure *f = &e->sheets[i].cells[n];
		/* A column at the border can include a higher sample of the next phase. */
		double high = fmin(f->p95, f->max);

		quantity_alike(text, unit, (const double[]) {f->mean, f->max, high}, 3, NUMBER_W - 2);
		put(c, x, y, text[0], f->mean, STYLE_STRONG);
		snprintf(p95, sizeof(p95), "%s%s", f->exact || isnan(f->p95) ? "" : "~", text[2]);
		if (k->p95 && f->ready)
			put(c, x + NUMBER_W, y, p95, f->p95, STYLE_TEXT);
		else if (k->p95)
			canvas_put(c, x + 2 * NUMBER_W - 1, y, STYLE_DIM, screen_glyph(u, 0x2026, '.'));
		if (k->max)
			put(c, x + numbers_w(k) - NUMBER_W, y, text[1], f->max, STYLE_TEXT);
		x += numbers_w(k);
		if (!i)
			continue;
		draw_change(u, c, k, unit, is_state(ch), (enum hue)ch->family, first->mean, f->mean, x, y);
		x += 2 * CHANGE_W;
	}
}

/* Draw length or energy, at the same time as in the list. */
static void draw_fixed(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e,
		       const struct sides *k, int which, int x, int y)
{
	double first = NAN;

	screen_cut(u, c, x, y, k->name_w - 1, STYLE_TITLE, which ? _("Energy") : _("Length"));
	x += k->name_w;
	canvas_text(c, x, y, UNIT_W, STYLE_DIM, which ? "J" : "s");
	x += UNIT_W;
	for (int i = 0; i < k->shown; i++) {
		const struct sheet *sh = &e->sheets[i];
		const struct line *l =
			phases_line(u, s, e, (size_t)(phases_find(e, sh->id) - e->phases), sh->trace);
		double v = which ? span_joule(&l->power) : (double)(sh->of.to_ns - sh->of.from_ns) / 1e9;
		char text[QUANTITY_TEXT];

		quantity_text(text, UNIT_JOULE, v, NUMBER_W - 1);
		put(c, x, y, text, v, STYLE_STRONG);
		x += numbers_w(k);
		if (!i) {
			first = v;
			continue;
		}
		draw_change(u, c, k, UNIT_JOULE, false, which ? HUE_POWER : HUE_OTHER, first, v, x, y);
		x += 2 * CHANGE_W;
	}
}

static bool any_estimate(const struct phases *e)
{
	for (size_t i = 0; i < e->n_sheets; i++)
		for (size_t n = 0; n < e->n_channels; n++)
			if (e->sheets[i].cells[n].ready && !e->sheets[i].cells[n].exact &&
			    !isnan(e->sheets[i].cells[n].p95))
				return true;
	return false;
}

/* The time without power samples in the displayed phases; 0: none, or no samples at all. */
static int64_t without_power(struct ui *u, const struct ui_scene *s, struct phases *e)
{
	int64_t ns = 0;

	for (size_t i = 0; i < e->n_sheets; i++) {
		const struct sheet *sh = &e->sheets[i];
		const struct line *l =
			phases_line(u, s, e, (size_t)(phases_find(e, sh->id) - e->phases), sh->trace);

		if (l->power.n)
			ns += sh->of.to_ns - sh->of.from_ns - l->power.covered_ns;
	}
	return ns >= NS_PER_MS ? ns : 0;
}

/* Draw the warnings at the right end of the rule. */
static void draw_notes(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e,
		       const struct sides *k, int y)
{
	int64_t without = without_power(u, s, e);
	char text[96], clock[QUANTITY_TEXT];
	int w;

	if (without) {
		quantity_time(clock, without, NS_PER_MS);
		snprintf(text, sizeof(text), _(" power: %s not measured "), clock);
	} else if (any_estimate(e) && k->p95) {
		/* TRANSLATORS: explains numbers that start with ~. */
		snprintf(text, sizeof(text), " %s ", _("~ estimated"));
	} else {
		return;
	}
	w = text_width(text);
	if (w < c->w / 2)
		canvas_text(c, c->w - u->at.name.x - 1 - w, y, w, without ? STYLE_WARN : STYLE_DIM, text);
}

void phases_sides_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e)
{
	int y, lines, end = u->at.body.y + u->at.body.h, fixed, rows, room, each = u->second.about ? 2 : 1;
	int per; /* lines of one list */
	struct sides k = sides_of(u, e, c->w);

	phases_list_place(u, e, &y, &lines);
	y += each * lines;
	if (y + 2 >= end || !e->n_sheets)
		return;
	put_in_order(u, e);
	draw_rule(u, c, e, &k, y);
	draw_notes(u, s, c, e, &k, y++);
	for (int i = 0; i < k.lists; i++)
		draw_titles(u, c, e, &k, u->at.name.x + i * (k.list_w + GAP), y);
	y++;
	/* On a low screen, omit what the list above already shows. */
	fixed = e->n_sheets > 1 && u->at.body.h >= 12 ? FIXED : 0;
	rows = fixed + (int)e->n_channels;
	room = end - y;
	if (e->scroll > rows - room * k.lists)
		e->scroll = rows > room * k.lists ? rows - room * k.lists : 0;
	per = (rows + k.lists - 1) / k.lists < room ? (rows + k.lists - 1) / k.lists : room;
	for (int i = 0; i < per * k.lists && e->scroll + i < rows; i++) {
		int x = u->at.name.x + i / per * (k.list_w + GAP), n = e->scroll + i;

		if (n < fixed)
			draw_fixed(u, s, c, e, &k, n, x, y + i % per);
		else
			draw_signal(u, c, e, &k, e->order[n - fixed], x, y + i % per);
	}
}
