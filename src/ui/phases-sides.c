/* All signals of the phases that were chosen, side by side and held against the first
 * of them. */
#include "ui/draw.h"
#include "ui/phases.h"
#include "ui/range-stats.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

#define FIXED 3 /* lines of a sheet that are no signal: duration, energy, time without */

struct sides {
	int name_w, number_w, x, shown;
	bool p95, max;
};

static int side_width(const struct sides *k, int i)
{
	return (k->number_w + 1) * (k->p95 ? 3 : 2) + (i ? k->number_w + 2 : 0) + 2;
}

static struct sides sides_of(const struct ui *u, const struct phases *e, int w)
{
	struct sides k = {.name_w = u->at.name.w + 5, .number_w = 7, .p95 = true, .max = true};
	int right = w - u->at.name.x, x;

	k.x = u->at.name.x + k.name_w;
	/* Narrower first, then fewer. */
	for (;; k.number_w--) {
		x = k.x;
		k.shown = 0;
		while (k.shown < (int)e->n_sheets && x + side_width(&k, k.shown) <= right + 2)
			x += side_width(&k, k.shown++);
		if (k.shown == (int)e->n_sheets || k.number_w == 5)
			break;
	}
	if (!k.shown)
		k.p95 = false, k.shown = 1, k.max = k.x + 2 * (k.number_w + 1) <= right;
	return k;
}

static void draw_sides_titles(struct ui *u, struct canvas *c, const struct phases *e, const struct sides *k,
			      int y)
{
	int x = k->x;

	for (int i = 0; i < k->shown; i++) {
		const struct phase *p = phases_find(e, e->sheets[i].id);
		int w = side_width(k, i) - 2, nw = k->number_w + 1;
		char text[96] = "";

		if (p && p->id)
			snprintf(text, sizeof(text), "%c  %llu %s", e->n_chosen ? 'A' + i : ' ',
				 (unsigned long long)p->id, p->label);
		else if (p)
			snprintf(text, sizeof(text), "%c  %s", e->n_chosen ? 'A' + i : ' ', p->label);
		canvas_text(c, x + 1, y, w - 1, STYLE_MARK, text);
		canvas_right(c, x, y + 1, nw, STYLE_DIM, _("mean"));
		if (k->p95)
			canvas_right(c, x + nw, y + 1, nw, STYLE_DIM, "p95");
		if (k->max)
			canvas_right(c, x + nw * (k->p95 ? 2 : 1), y + 1, nw, STYLE_DIM, _("max"));
		/* TRANSLATORS: the difference of the mean to that of the first; at most 6 columns. */
		if (i)
			canvas_right(c, x + nw * (k->p95 ? 3 : 2), y + 1, nw, STYLE_DIM, _("+/- A"));
		x += side_width(k, i);
	}
	if (e->n_sheets > (size_t)k->shown)
		canvas_textf(c, u->at.name.x, y, k->x - u->at.name.x - 1, STYLE_WARN, _("%d have no room"),
			     (int)e->n_sheets - k->shown);
}

static void put_text(struct canvas *c, int x, int y, int w, enum style style, const char *text, const char *sign,
		     double v)
{
	char both[QUANTITY_TEXT + 2];

	snprintf(both, sizeof(both), "%s%s", isnan(v) ? "" : sign, text);
	canvas_right(c, x, y, w, isnan(v) ? STYLE_DIM : style, both);
}

static void put_number(struct canvas *c, int x, int y, int w, enum style style, enum unit unit, double v,
		       const char *sign)
{
	char text[QUANTITY_TEXT];

	quantity_text(text, unit, v, w - 1 - (*sign != 0));
	put_text(c, x, y, w, style, text, sign, v);
}

/* With as many digits as in the list above. */
static void seconds_text(char out[QUANTITY_TEXT], int64_t ns)
{
	if (ns < 10 * NS_PER_S)
		snprintf(out, QUANTITY_TEXT, "%d.%03d", (int)(ns / NS_PER_S),
			 (int)(ns % NS_PER_S / NS_PER_MS));
	else
		snprintf(out, QUANTITY_TEXT, "%lld.%d", (long long)(ns / NS_PER_S),
			 (int)(ns % NS_PER_S / (NS_PER_S / 10)));
}

static void put_longer(struct canvas *c, int x, int y, int w, int64_t ns)
{
	char text[QUANTITY_TEXT], both[QUANTITY_TEXT + 2];
	bool none = ns < NS_PER_MS && ns > -NS_PER_MS;

	seconds_text(text, ns < 0 ? -ns : ns);
	snprintf(both, sizeof(both), "%s%s", none ? "" : ns < 0 ? "-" : "+", text);
	canvas_right(c, x, y, w, none ? STYLE_DIM : STYLE_STRONG, both);
}

static void put_difference(struct canvas *c, int x, int y, int w, enum unit unit, double v, double first)
{
	double d = v - first;
	char text[QUANTITY_TEXT];

	if (isnan(d))
		return;
	quantity_text(text, unit, fabs(d), w - 2);
	if (strspn(text, "0.") == strlen(text)) /* as far as it can be seen */
		put_number(c, x, y, w, STYLE_DIM, unit, 0, "");
	else
		put_number(c, x, y, w, STYLE_STRONG, unit, fabs(d), d < 0 ? "-" : "+");
}

static void draw_signal(struct ui *u, struct canvas *c, const struct phases *e, const struct sides *k,
			size_t n, int y)
{
	const struct channel *ch = &u->about->channels[e->channels[n]];
	int x = k->x, nw = k->number_w + 1;
	const struct figure *first = &e->sheets[0].cells[n];
	enum unit unit = quantity_of(ch, first->ready ? first->max : 0);
	char name[32], text[3][QUANTITY_TEXT];

	events_name(name, ch);
	screen_cut(u, c, u->at.name.x, y, u->at.name.w, STYLE_TEXT, name);
	canvas_text(c, u->at.name.x + u->at.name.w + 1, y, 4, STYLE_DIM, quantity_unit(unit));
	for (int i = 0; i < k->shown; i++) {
		const struct figure *cell = &e->sheets[i].cells[n];
		int at = x;

		x += side_width(k, i);
		if (!cell->ready) {
			canvas_put(c, at + nw - 1, y, STYLE_DIM, screen_glyph(u, 0x2026, '.'));
			continue;
		}
		quantity_alike(text, unit, (const double[]) {cell->mean, cell->max, cell->p95}, 3, nw - 2);
		put_text(c, at, y, nw, STYLE_TEXT, text[0], "", cell->mean);
		at += nw;
		if (k->p95) {
			put_text(c, at, y, nw, STYLE_TEXT, text[2], cell->exact ? "" : "~", cell->p95);
			at += nw;
		}
		if (k->max)
			put_text(c, at, y, nw, STYLE_TEXT, text[1], "", cell->max);
		if (i && first->ready)
			put_difference(c, at + nw, y, nw, unit, cell->mean, first->mean);
	}
}

/* How long a phase was, or how long there was no power in it; false: there is none at all. */
static bool lasted(const struct phases *e, const struct sheet *sh, const struct span *power, bool without,
		   int64_t *ns)
{
	*ns = sh->to_ns - sh->from_ns;
	if (without)
		*ns = *ns > power->covered_ns ? *ns - power->covered_ns : 0;
	return !without || e->power >= 0;
}

/* Duration, energy, and for how long nothing was measured. */
static void draw_fixed(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e,
		       const struct sides *k, int which, int y)
{
	static const char *const names[FIXED] = {N_("Duration"), N_("Energy"), N_("Unmeasured")};
	int x = k->x, nw = k->number_w + 1;
	double joule, first = NAN;
	int64_t ns, first_ns = 0;

	screen_cut(u, c, u->at.name.x, y, u->at.name.w, STYLE_TEXT, _(names[which]));
	canvas_text(c, u->at.name.x + u->at.name.w + 1, y, 4, STYLE_DIM, which == 1 ? "J" : "s");
	for (int i = 0; i < k->shown; i++) {
		const struct sheet *sh = &e->sheets[i];
		struct span power = {NAN, NAN, NAN, 0, 0, NAN};
		int last = x + nw * (k->p95 ? 3 : 2);
		char text[QUANTITY_TEXT];

		if (which && e->power >= 0)
			span_read(s->timeline, (size_t)e->power, sh->from_ns, sh->to_ns, &power);
		if (which == 1) {
			joule = span_joule(&power);
			first = i ? first : joule;
			put_number(c, x, y, nw, STYLE_STRONG, UNIT_JOULE, joule, "");
			if (i)
				put_difference(c, last, y, nw, UNIT_JOULE, joule, first);
		} else if (lasted(e, sh, &power, which == 2, &ns)) {
			first_ns = i ? first_ns : ns;
			seconds_text(text, ns);
			canvas_right(c, x, y, nw, which == 2 && ns >= NS_PER_MS ? STYLE_WARN : STYLE_STRONG,
				     text);
			if (i)
				put_longer(c, last, y, nw, ns - first_ns);
		} else {
			canvas_right(c, x, y, nw, STYLE_DIM, "--");
		}
		x += side_width(k, i);
	}
}

static bool any_estimate(const struct phases *e)
{
	for (size_t i = 0; i < e->n_sheets; i++)
		for (size_t n = 0; n < e->n_channels; n++)
			if (e->sheets[i].cells[n].ready && !e->sheets[i].cells[n].exact)
				return true;
	return false;
}

void phases_sides_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e)
{
	int y = u->at.body.y + phases_list_lines(u, e) + 1, end = u->at.body.y + u->at.body.h;
	struct sides k = sides_of(u, e, c->w);
	int rows = FIXED + (int)e->n_channels, room, fixed = FIXED;

	/* Where little fits, what can be read in the list above leaves first. */
	if (u->at.body.h < 12)
		y--, fixed = 0, rows = (int)e->n_channels;
	if (y + 2 >= end)
		return;
	draw_sides_titles(u, c, e, &k, y);
	y += 2;
	if (any_estimate(e) && k.p95) {
		/* TRANSLATORS: of numbers that stand behind a ~. */
		canvas_text(c, u->at.name.x, y - 1, k.x - u->at.name.x - 1, STYLE_DIM,
			    text_width(_("~ estimated")) < k.x - u->at.name.x ? _("~ estimated") : "~");
	}
	room = end - y;
	if (e->scroll > rows - room)
		e->scroll = rows > room ? rows - room : 0;
	for (int i = e->scroll; i < rows && y < end; i++, y++) {
		if (i < fixed)
			draw_fixed(u, s, c, e, &k, i, y);
		else
			draw_signal(u, c, e, &k, (size_t)(i - fixed), y);
	}
}
