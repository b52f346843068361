/* view-ranges: the names of ranges, how often they were, for how long, and what they took.
 *
 * They are added up as for a report, once, in steps between the frames. */
#include "report/range-totals.h"
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/meter.h"
#include "ui/ranges.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

#define NAMES_MAX 2048
#define STEP_MAX  32768 /* ranges */
#define LATE_NS   (2 * NS_PER_S)
#define ADD_COST  6 /* of a range, which is sorted and measured, and of a row */

struct names {
	const struct session *about;
	struct collection all;
	int n, at, top; /* n: of the list as it was drawn */
	bool busy;
	int64_t until_ns; /* what was before has been counted */
	int64_t step_ns;
};

static void forget(void *state)
{
	struct names *v = state;

	collection_free(&v->all);
	memset(v, 0, sizeof(*v));
}

static bool begin(struct ui *u, const struct ui_scene *s, struct names *v)
{
	if (v->about == u->about)
		return true;
	forget(v);
	v->until_ns = u->extent.first_ns;
	v->step_ns = RANGE_STEP_FIRST;
	v->all = (struct collection) {.most = NAMES_MAX, .begin_ns = v->until_ns, .live = s->live};
	if (!collection_begin(&v->all, s->timeline, STEP_MAX))
		forget(v);
	else
		v->about = u->about;
	return v->about;
}

static bool ranges_tick(struct ui *u, const struct ui_scene *s)
{
	struct names *v = ui_state(u, &view_ranges);
	int64_t target;
	size_t cost = 0;

	if (!u->extent.any || !s->timeline->ops->ranges)
		return false;
	v->busy = !ranges_ready(u, s);
	if (v->busy || !begin(u, s, v))
		return v->busy;
	target = s->live ? u->extent.last_ns - LATE_NS : u->extent.last_ns + 1;
	v->all.end_ns = s->live ? INT64_MAX : target;
	while (v->until_ns < target && cost < RANGE_BUDGET) {
		int64_t to = v->until_ns + v->step_ns < target ? v->until_ns + v->step_ns : target;
		bool added = collection_add(&v->all, v->until_ns, to);
		size_t n = ADD_COST * v->all.work;

		if (v->all.no_memory) {
			forget(v);
			return false;
		}
		v->until_ns = added ? to : v->until_ns;
		v->step_ns = added ? range_step(v->step_ns, n) : v->step_ns / 2;
		cost += range_step_cost(n);
	}
	v->busy = v->until_ns < target;
	if (!s->live && !v->busy)
		collection_break(&v->all);
	return v->busy;
}

#define NUMBER_W 10
enum { COUNT, TOTAL, MEAN, JOULES, WITHIN, WATTS, NUMBERS };

static void draw_numbers(struct ui *u, struct canvas *c, const struct group *g, double most_j, int x, int y, int bar_w, int most)
{
	const struct energy_result *r = &g->spent[USE_ALL].energy;
	bool known = !isnan(r->joules);
	char text[NUMBERS][QUANTITY_TEXT];

	snprintf(text[COUNT], QUANTITY_TEXT, "%llu", (unsigned long long)g->count);
	range_length(text[TOTAL], g->total_ns);
	range_length(text[MEAN], g->count ? g->total_ns / (int64_t)g->count : 0);
	quantity_text(text[JOULES], UNIT_JOULE, r->joules, NUMBER_W - 2);
	snprintf(text[WITHIN], QUANTITY_TEXT, isnan(r->within) ? "--" : r->within < 9.95 ? "%#.2g" : "%.0f",
		 r->within);
	quantity_text(text[WATTS], UNIT_MILLIWATT, r->joules / r->known_s * 1e3, NUMBER_W - 2);
	for (int i = 0; i < most; i++)
		canvas_right(c, x + i * NUMBER_W, y, NUMBER_W, i < JOULES || known ? STYLE_TEXT : STYLE_DIM, text[i]);
	if (bar_w)
		meter_draw(c, u->charset, x + NUMBERS * NUMBER_W + 2, y, bar_w, r->joules / most_j,
			   range_hue(g->name, g->colour), ALARM_NONE);
}

static void ranges_view_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct names *v = ui_state(u, &view_ranges);
	int x = u->at.name.x, y = u->at.body.y, w = c->w - 2 * x, lines = u->at.body.h - 1;
	int most = w - 16 < NUMBERS * NUMBER_W ? (w - 16) / NUMBER_W : NUMBERS, bar_w = w >= 110 ? w / 4 : 0;
	int name_w = w - most * NUMBER_W - (bar_w ? bar_w + 2 : 0);
	const char *const titles[] = {_("count"), _("total"), _("mean"), "J", "+- J", "W"};
	char title[256], name[256], missing[160];

	canvas_text(c, x, u->at.axis.y, u->at.axis.h ? w : 0, STYLE_TITLE, _("Ranges"));
	u->frame.more = v->busy;
	v->n = v->about == u->about && collection_list(&v->all) ? (int)v->all.n : 0;
	if (!v->n) {
		text_draw(u, c, x, y, w, u->at.body.h, STYLE_DIM,
			  v->busy ? _("Reading the ranges.") : _("No range is recorded; nvmtop record --nvtx records those that a program marks."));
		return;
	}
	lines -= v->all.folded && lines > 1;
	snprintf(missing, sizeof(missing),
		 P_("%llu range of a flood, among the shortest or the oldest, is not counted here; a recording has it.",
		    "%llu ranges of a flood, the shortest and the oldest, are not counted here; a recording has them.",
		    v->all.folded),
		 (unsigned long long)v->all.folded);
	if (v->all.folded)
		screen_cut(u, c, x, y + lines + 1, w, STYLE_DIM, missing);
	canvas_text(c, x, y, name_w, STYLE_DIM, _("range"));
	for (int i = 0; i < most; i++)
		canvas_right(c, x + name_w + i * NUMBER_W, y, NUMBER_W, STYLE_DIM, titles[i]);
	v->top = v->at < v->top ? v->at : v->at >= v->top + lines ? v->at - lines + 1 : v->top;
	for (int i = v->top; i < v->n && i < v->top + lines; i++) {
		const struct group *g = v->all.list[i];

		collection_title(&v->all, g, title, sizeof(title));
		text_printable(name, sizeof(name), title, strlen(title));
		screen_cut(u, c, x, ++y, name_w - 1, i == v->at ? STYLE_SELECTED : STYLE_TEXT, name);
		draw_numbers(u, c, g, v->all.list[0]->spent[USE_ALL].energy.joules, x + name_w, y, bar_w, most);
	}
	u->frame.below = v->n - v->top - lines;
}

static void ranges_view_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	struct names *v = ui_state(u, &view_ranges);

	view_scroll(&v->at, view_lines(how, by, u->at.body.h > 2 ? u->at.body.h - 2 : 1), v->n);
}

/* To the next of this name, in the charts. */
static void go(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct names *v = ui_state(u, &view_ranges);

	if (v->about != u->about || v->at >= v->n)
		return;
	snprintf(u->search.text, sizeof(u->search.text), "%.*s", v->all.list[v->at]->length, v->all.list[v->at]->name);
	u->search.names = true;
	views_show(u, &view_overview);
	act_search_next(u, s, r, 1);
}

static const char *bar_go(const struct ui *u, const struct ui_scene *s)
{
	return ((struct names *)ui_state(u, &view_ranges))->n ? _("show the next") : NULL;
}

static const struct key_entry keys[] = {
	{KEYS_STRETCH, WHEN_CHARTS, {{K_ENTER, 0, 0}}, go, NULL, NULL, "Enter", NULL, bar_go, 0},
	{.handler = NULL},
};

const struct view view_ranges = {
	.name = "ranges",
	.label = N_("Ranges"),
	.key = 'R',
	.wanted = ranges_any,
	.keys = keys,
	.plain = true,
	.every_ms = 1000,
	.state = sizeof(struct names),
	.reset = forget,
	.free = forget,
	.tick = ranges_tick,
	.draw = ranges_view_draw,
	.move = ranges_view_move,
};
