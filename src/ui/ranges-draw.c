/* The bars of the ranges, and beside them whose they are.
 *
 * What is narrower than a cell would be a flicker of colours: it is one dim bar, darker where there
 * is less of it, and says how many there are and which share of the time they take. */
#include "report/range-totals.h"
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/ranges.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

enum hue range_hue(const char *name, uint32_t colour)
{
	/* By which of red, green and blue is above the middle of the three. Those of limits are for limits alone. */
	static const enum hue hues[] = {HUE_OTHER, HUE_CPU,  HUE_GPU,	HUE_POWER,
					HUE_HEAT,  HUE_HEAT, HUE_OTHER, HUE_OTHER};
	static const enum hue quiet[] = {HUE_CPU, HUE_POWER, HUE_MEMORY, HUE_GPU, HUE_HEAT};
	int r = colour >> 16 & 255, g = colour >> 8 & 255, b = colour & 255;
	int hi = r > g ? r : g, lo = r < g ? r : g, mid;
	uint32_t hash = 2166136261u;

	/* FNV-1a */
	for (size_t i = 0, n = range_stem(name); i < n; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	if (!colour)
		return quiet[(hash ^ hash >> 16) % (sizeof(quiet) / sizeof(quiet[0]))];
	hi = b > hi ? b : hi;
	lo = b < lo ? b : lo;
	mid = (hi + lo) / 2;
	if (hi - lo < hi / 4)
		return HUE_OTHER;
	return b > r && r > mid ? HUE_MEMORY : hues[(r > mid) << 2 | (g > mid) << 1 | (b > mid)];
}

static const struct range_cell *cell_at(const struct ui *u, int row, int cell)
{
	static const struct range_cell none;
	size_t at = (size_t)(viewport_first(&u->vp) / u->vp.per_cell + cell) & (RANGE_CELLS - 1);

	/* Not read yet? */
	return u->ranges.slices[at / RANGE_SLICE].made_ns ? &u->ranges.cells[row][at] : &none;
}

static bool is_folded(const struct ui *u, const struct range_cell *p)
{
	return p->end_ns - p->begin_ns < u->ranges.cell_ns;
}

static void draw_bar(struct ui *u, struct canvas *c, int row, int first, int w)
{
	const struct range_cell *p = cell_at(u, row, first);
	int x = u->at.chart.x + first, y = u->at.ranges.y + row;
	bool folded = is_folded(u, p), begins = first > 0 || folded || p->begin_ns > viewport_cell_ns(&u->vp, -1);
	bool here = !u->vp.follow && u->ranges.top + row == u->ranges.level && u->vp.head_ns >= p->begin_ns &&
		    u->vp.head_ns <= p->end_ns;
	enum style style = here ? STYLE_SELECTED : folded || !p->colour ? STYLE_TEXT : STYLE_STRONG;
	int64_t covered = 0;
	unsigned long n = 0;
	char text[256];

	for (int i = 0; i < w; i++) {
		covered += cell_at(u, row, first + i)->covered_ns;
		n += cell_at(u, row, first + i)->n;
		canvas_put(c, x + i, y, style, screen_glyph(u, CELL_PAINTED, folded ? ':' : '-'));
	}
	text_printable(text, sizeof(text), p->name, strlen(p->name));
	if (folded)
		/* TRANSLATORS: ranges too short to be drawn, and the share of the time that they take. */
		snprintf(text, sizeof(text), P_("%lu range, %d %%", "%lu ranges, %d %%", n), n,
			 (int)(100 * covered / (w * u->ranges.cell_ns)));
	else if (begins)
		canvas_put(c, x, y, here ? style : STYLE_DIM, screen_glyph(u, 0x258F, '|'));
	if (w >= (folded ? text_width(text) + 2 : 4))
		screen_cut(u, c, x + begins, y, w - begins, style, text);
	for (int i = 0; i < w && !here; i++) {
		int share = (int)(4 * cell_at(u, row, first + i)->covered_ns / u->ranges.cell_ns);
		enum style back = folded ? STYLE_BAND(HUE_OTHER, share < 4 ? share : 3)
					 : STYLE_BAND(range_hue(p->name, p->colour), p->colour ? 4 : 1);

		c->cells[(size_t)y * (size_t)c->w + (size_t)(x + i)].back = (unsigned char)back;
	}
}

/* The thread and the domain, and that there are others. */
static void draw_whose(struct ui *u, struct canvas *c)
{
	const struct ranges_lane *l = &u->ranges;
	int x = u->at.name.x, y = u->at.ranges.y, w = u->at.chart.x - 2 - x;
	const char *domain = l->lane->domain[0] ? l->lane->domain : _("default domain");
	char text[192];

	if (l->lane->thread[0])
		snprintf(text, sizeof(text), "%s", l->lane->thread);
	else
		snprintf(text, sizeof(text), "%s %u", l->lane->process, (unsigned)l->lane->tid);
	x += screen_cut(u, c, x, y, w, STYLE_TITLE, text) + 1;
	if (l->rows < 2)
		screen_cut(u, c, x, y, u->at.chart.x - 2 - x, STYLE_DIM, l->lane->domain);
	else
		screen_cut(u, c, u->at.name.x, y + 1, w, STYLE_DIM, domain);
	snprintf(text, sizeof(text), _("lane %zu of %zu (t)"), l->at + 1, l->n_lanes);
	if (l->rows > 2 && l->n_lanes > 1)
		screen_cut(u, c, u->at.name.x, y + 2, w, STYLE_DIM, text);
}

void ranges_draw(struct ui *u, struct canvas *c)
{
	const struct range_cell *a, *b;

	if (!u->at.ranges.h)
		return;
	draw_whose(u, c);
	axis_lines(u, c, u->at.ranges.y, u->at.ranges.h);
	for (int row = 0; row < u->ranges.rows; row++)
		for (int i = 0, end; i < u->at.chart.w; i = end) {
			a = cell_at(u, row, i);
			for (end = i + 1; end < u->at.chart.w && (b = cell_at(u, row, end))->name && a->name; end++)
				if (is_folded(u, a) ? !is_folded(u, b) : b->begin_ns != a->begin_ns || b->name != a->name)
					break;
			if (a->name)
				draw_bar(u, c, row, i, end - i);
		}
}
