/* Draws the phases on the time axis as a band with their names and power.
 *
 * The width of a phase is its length and the height is its mean power, so the area is its
 * energy. The phase under the cursor is bright and also shows its maximum power in each column. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/phases.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

int phases_band_lines(const struct ui *u, const struct phases *e)
{
	int h = u->at.body.h, bands = u->second.about ? 2 : 1;

	return h < 9 ? 0 : !e->n_means || h < 16 ? bands : bands + h / 6;
}

/* Get the cells of a phase in the chart, clipped; false: not in view. */
static bool cells_of(const struct ui *u, const struct phase *p, int trace, int *first, int *last)
{
	int64_t shift = trace ? u->second.shift_ns : 0, from = p->at[trace].from_ns + shift,
		to = p->at[trace].to_ns + shift;
	int64_t left = viewport_first(&u->vp) * viewport_column_ns(&u->vp);
	int64_t right = viewport_cell_ns(&u->vp, u->at.chart.w - 1);

	if (!p->at[trace].to_ns || to <= left || from >= right || to <= from)
		return false;
	*first = from <= left ? 0 : viewport_cell(&u->vp, from);
	*last = to >= right ? u->at.chart.w - 1 : viewport_cell(&u->vp, to - 1);
	return *first >= 0 && *last >= *first;
}

static bool is_told(const struct phases *e, size_t i)
{
	size_t place;

	return i == e->at || phases_chosen(e, e->phases[i].id, &place);
}

static void draw_band(struct ui *u, struct canvas *c, const struct phases *e, int trace, int y)
{
	int first, last, shown = 0, end = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct phase *p = &e->phases[i];
		enum style back = STYLE_BAND(HUE_OTHER, 1 + 2 * (shown & 1));
		enum style text = i == e->at ? STYLE_SELECTED : STYLE_STRONG;
		char name[PHASE_NAME];
		int x, w;

		if (!cells_of(u, p, trace, &first, &last))
			continue;
		if (is_told(e, i))
			back = STYLE_BAND(HUE_POWER, 4);
		/* A cell shared by two phases belongs to the first one. */
		x = u->at.chart.x + first < end ? end : u->at.chart.x + first;
		w = u->at.chart.x + last + 1 - x;
		if (w < 1)
			continue;
		end = x + w;
		for (int k = 0; k < w; k++)
			canvas_put(c, x + k, y, text, u->charset == CHARSET_ASCII ? L'-' : L' ');
		canvas_put(c, x, y, text, screen_glyph(u, 0x258F, '|'));
		phases_name(u, e, p, trace, name);
		if (w >= 4)
			screen_cut(u, c, x + 1, y, w - 1, text, name + (u->second.about ? 2 : 0));
		for (int k = 0; i != e->at && k < w; k++)
			c->cells[(size_t)y * (size_t)c->w + (size_t)(x + k)].back = (unsigned char)back;
		shown++;
	}
}

/* Draw one bar per chart column: the mean power of its phase, and the maximum of its samples. */
static void draw_areas(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e, int y,
		       int h)
{
	const struct channel *ch = &u->about->channels[e->means[0]];
	struct spark_look look = {.charset = u->charset, .hue = (enum hue)ch->family, .limit = NAN};
	struct spark_column *col = u->frame.columns;
	struct chart_summary sum;
	int per = u->vp.per_cell, first, last;
	double most = NAN;

	chart_columns(s->timeline, (size_t)e->means[0], &u->frame.axis, u->frame.bins, col, &sum);
	for (int i = 0; i < u->frame.axis.n; i++)
		col[i].any = false;
	for (size_t i = 0; i < e->n; i++) {
		const struct line *l =
			cells_of(u, &e->phases[i], 0, &first, &last) ? phases_line(u, s, e, i, 0) : NULL;

		for (int k = first * per; l && !isnan(l->mean[0]) && k < (last + 1) * per; k++) {
			double reached = is_told(e, i) ? col[k].max : NAN;

			col[k] =
				(struct spark_column) {.max = fmax(l->mean[0], reached), .n = 1, .any = true};
			if (is_told(e, i))
				col[k].mean = col[k].min = l->mean[0];
			most = fmax(most, col[k].max);
		}
	}
	scale_fit(&e->scale, ch, 0, most);
	look.lo = e->scale.lo;
	look.hi = e->scale.hi;
	spark_draw(c, u->at.chart.x, y, u->at.chart.w, h, &look, col);
	axis_lines(u, c, y, h);
}

/* Draw the phase under the cursor in the gutter. */
static void draw_gutter(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e, int y,
			int h)
{
	const struct channel *ch = &u->about->channels[e->means[0]];
	const struct phase *p = &e->phases[e->at];
	const struct line *l = phases_line(u, s, e, e->at, 0);
	int x = u->at.name.x, w = u->at.value.w;
	enum unit unit = quantity_of(ch, e->scale.hi);
	char text[QUANTITY_TEXT], name[PHASE_NAME];

	screen_cut(u, c, x, y, u->at.name.w, (enum style)(STYLE_GPU + (int)ch->family), ch->label);
	quantity_text(text, unit, l ? l->mean[0] : NAN, w - 4);
	canvas_right(c, u->at.value.x, y, w - 4, l ? STYLE_STRONG : STYLE_DIM, text);
	canvas_text(c, u->at.value.x + w - 3, y, 3, STYLE_DIM, quantity_unit(unit));
	quantity_round(text, unit, e->scale.hi);
	canvas_right(c, u->at.scale.x, y, u->at.scale.w, STYLE_DIM, text);
	quantity_round(text, unit, e->scale.lo);
	canvas_right(c, u->at.scale.x, y + h - 1, u->at.scale.w, STYLE_DIM, text);
	if (h < 2)
		return;
	phases_name(u, e, p, 0, name);
	screen_cut(u, c, x, y + 1, u->at.chart.x - 2 - x, STYLE_MARK, name);
	if (h > 2)
		screen_cut(u, c, x, y + 2, u->at.scale.x - 1 - x, STYLE_DIM,
			   ch->kind == CHANNEL_POWER_TOTAL ? _("mean, area: J") : _("mean"));
}

void phases_band_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct phases *e)
{
	int lines = phases_band_lines(u, e), bands = u->second.about ? 2 : 1, y = u->at.body.y;

	if (!lines)
		return;
	for (int i = 0; i < bands; i++, y++) {
		canvas_text(c, u->at.name.x, y, u->at.name.w, STYLE_TITLE,
			    bands == 1 ? _("Phases")
			    : i        ? "B"
				       : "A");
		draw_band(u, c, e, i, y);
	}
	if (lines == bands)
		return;
	draw_areas(u, s, c, e, y, lines - bands);
	draw_gutter(u, s, c, e, y, lines - bands);
}
