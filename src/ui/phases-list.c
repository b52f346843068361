/* The phases, a line each: when, how long, how much energy, and a few means. */
#include "ui/draw.h"
#include "ui/phases.h"
#include "ui/range-stats.h"

#include "util/intl.h"

static void joule_text(char out[QUANTITY_TEXT], double j, int w)
{
	quantity_text(out, UNIT_JOULE, j, w);
}

static void seconds_text(char out[QUANTITY_TEXT], int64_t ns)
{
	quantity_time(out, ns, ns < 10 * NS_PER_S ? NS_PER_MS : NS_PER_S / 10);
}

/* Where the columns of the list stand; w 0: there is no room for it. */
struct columns {
	int label_x, label_w, from_x, from_w, lasted_x, joule_x, joule_w, mean_x, means;
};

#define LABEL_LEAST 4
#define LASTED_W    8
#define JOULE_W     8
#define MEAN_W      7

static struct columns columns_of(const struct ui *u, const struct phases *e, int w)
{
	struct columns k = {.from_w = w >= 76 ? 12 : 0, .means = e->n_means};
	int x = u->at.name.x + 7, right = w - u->at.name.x, fixed;

	k.label_x = x;
	fixed = k.from_w + LASTED_W + 1 + JOULE_W + 1;
	k.label_w = w >= 120 ? 24 : w >= 76 ? 16 : 10;
	/* Names shorten before a number leaves, and a number leaves as a whole. */
	k.joule_w = right - x - fixed >= LABEL_LEAST ? JOULE_W : 0;
	if (!k.joule_w)
		fixed -= JOULE_W + 1;
	if (k.label_w > right - x - fixed)
		k.label_w = right - x - fixed > LABEL_LEAST ? right - x - fixed : LABEL_LEAST;
	while (k.means > 0 && x + k.label_w + fixed + k.means * MEAN_W > right)
		k.means--;
	x += k.label_w + 1;
	k.from_x = x;
	x += k.from_w;
	k.lasted_x = x;
	x += LASTED_W + 1;
	k.joule_x = x;
	k.mean_x = x + JOULE_W;
	return k;
}

static const char *short_unit(const struct channel *ch, double v, char out[48])
{
	snprintf(out, 48, "%.31s %s", ch->label, quantity_unit(quantity_of(ch, v)));
	return out;
}

static void draw_titles(struct ui *u, struct canvas *c, const struct phases *e, const struct columns *k,
			int y)
{
	canvas_text(c, u->at.name.x + 2, y, k->label_x + k->label_w - u->at.name.x - 2, STYLE_DIM,
		    _("phase"));
	if (k->from_w)
		canvas_right(c, k->from_x, y, k->from_w - 2, STYLE_DIM, _("from"));
	canvas_right(c, k->lasted_x, y, LASTED_W, STYLE_DIM, _("lasted"));
	canvas_right(c, k->joule_x, y, k->joule_w, STYLE_DIM, "J");
	for (int i = 0; i < k->means; i++) {
		const struct channel *ch = &u->about->channels[e->means[i]];
		char text[48];

		short_unit(ch, e->n ? e->lines[0].mean[i] : 0, text);
		if (text_width(text) >= MEAN_W)
			snprintf(text, sizeof(text), "%s",
				 quantity_unit(quantity_of(ch, e->lines[0].mean[i])));
		canvas_right(c, k->mean_x + i * MEAN_W, y, MEAN_W, STYLE_DIM, text);
	}
}

static void draw_line(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e,
		      const struct columns *k, size_t i, int y)
{
	const struct phase *p = &e->phases[i];
	struct line *l = phases_line(e, s, i);
	char text[QUANTITY_TEXT], at[QUANTITY_TEXT];
	int x = u->at.name.x;
	size_t place;

	if (phases_chosen(e, p->id, &place))
		canvas_put(c, x, y, STYLE_MARK, (wchar_t)(L'A' + (wchar_t)place));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)p->id);
	canvas_right(c, x + 2, y, 4, p->id ? STYLE_MARK : STYLE_DIM, p->id ? text : "");
	screen_cut(u, c, k->label_x, y, k->label_w, p->id ? STYLE_TEXT : STYLE_DIM, p->label);
	if (k->from_w) {
		screen_moment(u, s, p->from_ns, at);
		canvas_right(c, k->from_x, y, k->from_w - 2, STYLE_DIM, at);
	}
	seconds_text(text, p->to_ns - p->from_ns);
	canvas_right(c, k->lasted_x, y, LASTED_W, STYLE_TEXT, text);
	joule_text(text, span_joule(&l->power), JOULE_W - 1);
	canvas_right(c, k->joule_x, y, k->joule_w, STYLE_STRONG, text);
	/* Energy of a part of the time only. */
	if (k->joule_w && l->power.n && p->to_ns - p->from_ns - l->power.covered_ns >= NS_PER_MS)
		canvas_put(c, k->joule_x + JOULE_W, y, STYLE_WARN, L'!');
	for (int m = 0; m < k->means; m++) {
		const struct channel *ch = &u->about->channels[e->means[m]];

		quantity_text(text, quantity_of(ch, l->mean[m]), l->mean[m], MEAN_W - 2);
		canvas_right(c, k->mean_x + m * MEAN_W, y, MEAN_W, STYLE_TEXT, text);
	}
	if (i == e->at) {
		if (u->at.name.x > 0)
			canvas_put(c, u->at.name.x - 1, y, STYLE_STRONG, L'>');
		for (int j = u->at.name.x + 2; j < k->label_x + k->label_w; j++)
			c->cells[(size_t)y * (size_t)c->w + (size_t)j].style = STYLE_SELECTED;
	}
}

/* Lines for the list: as many as there are phases, half of the room at most. */
int phases_list_lines(const struct ui *u, const struct phases *e)
{
	int most = u->at.body.h / 2;

	if (most < 3)
		most = u->at.body.h < 3 ? u->at.body.h : 3;
	return e->n < (size_t)most ? (int)e->n : most;
}

void phases_list_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e)
{
	struct columns k = columns_of(u, e, c->w);
	int lines = phases_list_lines(u, e);

	if (e->at < e->top)
		e->top = e->at;
	if (e->at >= e->top + (size_t)lines)
		e->top = e->at - (size_t)lines + 1;
	if (e->top + (size_t)lines > e->n)
		e->top = e->n - (size_t)lines;
	for (int i = 0; i < lines; i++)
		draw_line(u, s, c, e, &k, e->top + (size_t)i, u->at.body.y + i);
	if (u->at.axis.h)
		draw_titles(u, c, e, &k, u->at.axis.y);
	u->frame.below = (int)(e->n - e->top) - lines;
}
