/* view-ranges: the names of ranges, how often they were, for how long, and what they took.
 *
 * Ranges are gone through once, in steps between the frames, in the order of their ends.  The energy of a
 * name is that of the time in which it was open at least once.  It is taken from columns of the power:
 * a sum of all up to each of them stands ready, so a range costs two look-ups. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/meter.h"
#include "ui/ranges.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 4096 /* a power of two */
#define SUMS_MAX  (1 << 20)
#define PARTS     8 /* of the time of a name, in which another of it may lie */
#define LATE_NS   (2 * NS_PER_S)

struct name {
	const char *text; /* NULL: free */
	size_t len;
	uint32_t colour;
	uint64_t n;
	int64_t total_ns, open_ns; /* of all; without what lies in others */
	double mj;
	struct part {
		int64_t from_ns, to_ns;
	} part[PARTS]; /* the last ones, without gaps between */
	int parts;
};

struct names {
	const struct session *about;
	struct name *list;
	const struct name *order[NAMES_MAX];
	int n, at, top;
	bool busy;
	int64_t until_ns; /* those that ended before have been counted */
	int64_t step_ns;
	int power, zoom;
	int64_t first; /* column of the sums */
	double *sums;  /* mJ before each */
	size_t n_sums;
};

static void forget(void *state)
{
	struct names *v = state;

	free(v->list);
	free(v->sums);
	memset(v, 0, sizeof(*v));
}

static bool begin(struct ui *u, struct names *v)
{
	if (v->about == u->about && v->list)
		return true;
	forget(v);
	v->list = calloc(NAMES_MAX, sizeof(*v->list));
	v->about = u->about;
	v->until_ns = u->extent.first_ns - NS_PER_S;
	v->step_ns = RANGE_STEP_FIRST;
	v->power = rows_find(u->about, CHANNEL_POWER_TOTAL, -1);
	v->power = v->power < 0 ? rows_find(u->about, CHANNEL_RAIL_POWER, -1) : v->power;
	if (v->power < 0 || u->about->channels[v->power].missing[0])
		return v->list != NULL;
	v->zoom = zoom_base(u->about->hz[u->about->channels[v->power].tier]) + 1;
	while ((u->extent.last_ns - u->extent.first_ns) >> v->zoom > SUMS_MAX / 2)
		v->zoom++;
	v->first = v->until_ns >> v->zoom;
	v->sums = malloc(SUMS_MAX * sizeof(*v->sums));
	if (v->sums)
		v->sums[v->n_sums++] = 0;
	return v->list && v->sums;
}

/* False: there is no room for so many. */
static bool sum_up(struct names *v, struct timeline *t, int64_t to_ns)
{
	double ms = (double)(INT64_C(1) << v->zoom) / 1e9;
	struct bin bins[256];
	int64_t left;

	while ((left = (to_ns >> v->zoom) + 2 - v->first - (int64_t)v->n_sums) > 0) {
		size_t n = left < 256 ? (size_t)left : 256;

		if (v->n_sums + n > SUMS_MAX)
			return false;
		t->ops->columns(t, (size_t)v->power, v->zoom, v->first + (int64_t)v->n_sums - 1, n, bins);
		for (size_t i = 0; i < n; i++, v->n_sums++)
			v->sums[v->n_sums] = v->sums[v->n_sums - 1] + (bins[i].n ? bins[i].sum / (double)bins[i].n * ms : 0);
	}
	return true;
}

static double sum_at(const struct names *v, int64_t t_ns)
{
	int64_t i = (t_ns >> v->zoom) - v->first;
	double part = (double)(t_ns & ((INT64_C(1) << v->zoom) - 1)) / (double)(INT64_C(1) << v->zoom);

	if (i < 0 || i + 1 >= (int64_t)v->n_sums)
		return v->sums[i < 0 ? 0 : v->n_sums - 1];
	return v->sums[i] + part * (v->sums[i + 1] - v->sums[i]);
}

/* NULL: there are too many. */
static struct name *find(struct names *v, const char *text)
{
	uint32_t i;
	size_t len = range_stem(text, &i);
	struct name *p = &v->list[i % NAMES_MAX];

	for (; p->text && (p->len != len || memcmp(p->text, text, len)); p = &v->list[++i % NAMES_MAX])
		;
	if (!p->text && v->n < NAMES_MAX / 2) {
		*p = (struct name) {.text = text, .len = len};
		v->order[v->n++] = p;
	}
	return p->text ? p : NULL;
}

/* Those within it have ended before: their time is not counted twice. */
static void open_time(struct names *v, struct name *p, struct part new)
{
	while (p->parts && p->part[p->parts - 1].to_ns >= new.from_ns) {
		const struct part *last = &p->part[--p->parts];

		p->open_ns -= last->to_ns - last->from_ns;
		p->mj -= v->sums ? sum_at(v, last->to_ns) - sum_at(v, last->from_ns) : 0;
		new.from_ns = last->from_ns < new.from_ns ? last->from_ns : new.from_ns;
		new.to_ns = last->to_ns > new.to_ns ? last->to_ns : new.to_ns;
	}
	if (p->parts == PARTS)
		memmove(p->part, p->part + 1, (size_t)--p->parts * sizeof(*p->part));
	p->part[p->parts++] = new;
	p->open_ns += new.to_ns - new.from_ns;
	p->mj += v->sums ? sum_at(v, new.to_ns) - sum_at(v, new.from_ns) : 0;
}

struct pass {
	struct names *v;
	int64_t from_ns, to_ns;
	bool live;
	size_t n;
	const char *text; /* of the range before */
	struct name *name;
};

static bool count(void *arg, const struct range *r)
{
	struct pass *p = arg;
	struct name *name = p->name;

	p->n++;
	if (r->end_ns < p->from_ns || r->end_ns >= p->to_ns || (p->live && (r->flags & RANGE_OPEN)))
		return true;
	if (r->name != p->text) {
		p->n += RANGE_NAME_COST;
		p->text = r->name;
		p->name = name = find(p->v, r->name);
	}
	if (!name)
		return true;
	name->colour = r->colour;
	name->n++;
	name->total_ns += r->end_ns - r->begin_ns;
	open_time(p->v, name, (struct part) {r->begin_ns, r->end_ns});
	return true;
}

static bool ranges_tick(struct ui *u, const struct ui_scene *s)
{
	struct names *v = ui_state(u, &view_ranges);
	int64_t target = s->live ? u->extent.last_ns - LATE_NS : u->extent.last_ns + NS_PER_S;
	size_t cost = 0;

	if (!u->extent.any || !s->timeline->ops->ranges || !begin(u, v))
		return false;
	while (v->until_ns < target && cost < RANGE_BUDGET) {
		struct pass p = {v, v->until_ns, v->until_ns + v->step_ns, s->live, 0, NULL, NULL};

		if (p.to_ns > target)
			p.to_ns = target;
		if (v->sums && !sum_up(v, s->timeline, p.to_ns)) {
			forget(v);
			return true;
		}
		s->timeline->ops->ranges(s->timeline, p.from_ns, p.to_ns - 1, 0, count, &p);
		v->until_ns = p.to_ns;
		cost += range_step_cost(p.n);
		v->step_ns = range_step(v->step_ns, p.n);
	}
	v->busy = v->until_ns < target;
	return v->busy;
}

/* The most energy, or time where that is not known. */
static int compare(const void *a, const void *b)
{
	const struct name *x = *(const struct name *const *)a, *y = *(const struct name *const *)b;

	if (x->mj != y->mj)
		return x->mj < y->mj ? 1 : -1;
	return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? 1 : -1) : strcmp(x->text, y->text);
}

#define NUMBER_W 10
enum { COUNT, TOTAL, MEAN, JOULES, WATTS, NUMBERS };

static void draw_numbers(struct ui *u, struct canvas *c, const struct names *v, const struct name *p, int x, int y, int bar_w,
			 int most)
{
	/* Of less than three readings there is no energy to tell. */
	bool known = v->sums && (double)p->open_ns * u->about->hz[u->about->channels[v->power].tier] >= 3e9;
	char text[NUMBERS][QUANTITY_TEXT];

	snprintf(text[COUNT], QUANTITY_TEXT, "%llu", (unsigned long long)p->n);
	range_length(text[TOTAL], p->total_ns);
	range_length(text[MEAN], p->total_ns / (int64_t)p->n);
	quantity_text(text[JOULES], UNIT_JOULE, known ? p->mj / 1e3 : NAN, NUMBER_W - 2);
	quantity_text(text[WATTS], UNIT_MILLIWATT, known ? p->mj / (double)p->open_ns * 1e9 : NAN, NUMBER_W - 2);
	for (int i = 0; i < most; i++)
		canvas_right(c, x + i * NUMBER_W, y, NUMBER_W, i < JOULES || known ? STYLE_TEXT : STYLE_DIM, text[i]);
	if (bar_w)
		meter_draw(c, u->charset, x + NUMBERS * NUMBER_W + 2, y, bar_w, known ? p->mj / v->order[0]->mj : NAN,
			   range_hue(p->text, p->colour), ALARM_NONE);
}

static void ranges_view_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct names *v = ui_state(u, &view_ranges);
	int x = u->at.name.x, y = u->at.body.y, w = c->w - 2 * x, lines = u->at.body.h - 1;
	int most = w - 16 < NUMBERS * NUMBER_W ? (w - 16) / NUMBER_W : NUMBERS, bar_w = w >= 110 ? w / 4 : 0;
	int name_w = w - most * NUMBER_W - (bar_w ? bar_w + 2 : 0);
	const char *const titles[] = {_("count"), _("total"), _("mean"), "J", "W"};
	char name[256];

	u->frame.more = v->busy;
	if (v->about != u->about || !v->n) {
		text_draw(u, c, x, y, w, u->at.body.h, STYLE_DIM,
			  v->busy ? _("Reading the ranges.") : _("No range is recorded; nvmtop record --nvtx records those that a program marks."));
		return;
	}
	qsort(v->order, (size_t)v->n, sizeof(v->order[0]), compare);
	canvas_text(c, x, y, name_w, STYLE_DIM, _("range"));
	for (int i = 0; i < most; i++)
		canvas_right(c, x + name_w + i * NUMBER_W, y, NUMBER_W, STYLE_DIM, titles[i]);
	v->top = v->at < v->top ? v->at : v->at >= v->top + lines ? v->at - lines + 1 : v->top;
	for (int i = v->top; i < v->n && i < v->top + lines; i++) {
		const struct name *p = v->order[i];

		text_printable(name, sizeof(name), p->text, p->len);
		screen_cut(u, c, x, ++y, name_w - 1, i == v->at ? STYLE_SELECTED : STYLE_TEXT, name);
		draw_numbers(u, c, v, p, x + name_w, y, bar_w, most);
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
	snprintf(u->search.text, sizeof(u->search.text), "%.*s", (int)v->order[v->at]->len, v->order[v->at]->text);
	u->search.names = true;
	views_show(u, &view_overview);
	act_search_next(u, s, r, 1);
}

static const struct key_entry keys[] = {
	{.group = KEYS_STRETCH, .when = WHEN_CHARTS, .keys = {{K_ENTER, 0, 0}}, .handler = go},
	{.handler = NULL},
};

const struct view view_ranges = {
	.name = "ranges",
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
