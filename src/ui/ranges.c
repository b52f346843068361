/* ranges: read into cells, some ten thousand for one picture.
 *
 * Cells stand on the absolute grid, so what was read stays while the picture scrolls.  Only the newest
 * are read anew: a range comes when it ends, and the long ones are told of once a second. */
#include "ui/ranges.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

#define LATE_NS	   (5 * NS_PER_S / 2)
#define SLICE_COST 1400

static bool deeper(void *arg, const struct range *r)
{
	struct ranges_lane *l = arg;

	l->depths = r->depth >= l->depths ? r->depth + 1 : l->depths;
	return l->depths < RANGE_ROWS;
}

bool ranges_ready(struct ui *u, const struct ui_scene *s)
{
	const struct timeline_ops *ops = s->timeline->ops;

	u->ranges.reading = ops->ranges_more && ops->ranges_more(s->timeline);
	return !u->ranges.reading;
}

int ranges_lines(struct ui *u, const struct ui_scene *s, int h)
{
	struct ranges_lane *l = &u->ranges;
	int most = h < 20 ? 0 : h < 32 ? 1 : h < 56 ? (h - 16) / 8 : RANGE_ROWS;

	if (!s->timeline || !s->timeline->ops->ranges || !u->about || !ranges_ready(u, s))
		return 0;
	l->n_lanes = s->timeline->ops->lanes(s->timeline, l->lanes, RANGE_LANES);
	l->n_lanes = l->n_lanes < RANGE_LANES ? l->n_lanes : RANGE_LANES;
	if (l->n_lanes && !l->depths)
		s->timeline->ops->ranges(s->timeline, INT64_MIN, INT64_MAX, INT64_MAX, deeper, l);
	return most < l->depths ? most : l->depths;
}

bool ranges_any(const struct ui *u)
{
	return u->ranges.depths;
}

struct pass {
	struct ranges_lane *l;
	int64_t *busy;
	int64_t first, from_ns, to_ns; /* of the slice */
	size_t lane, n;		       /* lane: of the range before */
	size_t most;		       /* 0: any number */
};

/* How much of a sum over a range lies in a part of it. */
static int64_t part_of(const struct range *r, int64_t sum, int64_t from_ns, int64_t to_ns)
{
	double length = (double)(r->end_ns - r->begin_ns);

	return llround((double)sum * (double)(to_ns - r->begin_ns) / length) -
	       llround((double)sum * (double)(from_ns - r->begin_ns) / length);
}

/* It has no edges of its own, and gives way to any other range. */
static void cell_fold(struct range_cell *c, const struct range *r, int64_t from_ns, int64_t to_ns)
{
	if (!c->name) {
		c->name = r->name;
		c->begin_ns = c->end_ns = from_ns;
	}
	c->covered_ns += part_of(r, (int64_t)r->value, from_ns, to_ns);
	c->n += (uint32_t)part_of(r, r->colour, from_ns, to_ns);
}

static bool collect(void *arg, const struct range *r)
{
	struct pass *p = arg;
	struct ranges_lane *l = p->l;
	bool folded = r->flags & RANGE_FOLDED;
	int64_t from = r->begin_ns > p->from_ns ? r->begin_ns : p->from_ns;
	int64_t to = r->end_ns < p->to_ns ? r->end_ns : p->to_ns, at = (from - p->from_ns) / l->cell_ns;
	int row = r->depth - l->top;

	if (p->most && p->n > p->most)
		return false;
	p->n++;
	if (p->lane >= l->n_lanes || l->lanes[p->lane] != r->lane)
		for (p->lane = 0; p->lane < l->n_lanes && l->lanes[p->lane] != r->lane; p->lane++)
			;
	if (p->lane < l->n_lanes)
		p->busy[p->lane] += folded ? part_of(r, (int64_t)r->value, from, to) : to - from;
	deeper(l, r);
	for (; p->lane == l->at && row >= 0 && row < l->rows && from <= to && at < RANGE_SLICE; at++) {
		struct range_cell *c = &l->cells[row][(p->first + at) & (RANGE_CELLS - 1)];
		int64_t begin = p->from_ns + at * l->cell_ns, end = begin + l->cell_ns, in = (to < end ? to : end) - from;

		if (folded) {
			cell_fold(c, r, from, from + in);
			from = end;
			continue;
		}
		if (!c->name || in > c->most_ns) {
			c->name = r->name;
			c->begin_ns = r->begin_ns;
			c->end_ns = r->end_ns;
			c->most_ns = in;
			c->colour = r->colour;
		}
		c->covered_ns += in;
		c->n += r->begin_ns >= begin;
		from = end;
	}
	return true;
}

static void slice_read(struct ui *u, const struct ui_scene *s, size_t at, struct pass *p, int64_t least_ns)
{
	struct ranges_lane *l = &u->ranges;

	memset(p->busy, 0, sizeof(l->slices[at].busy));
	for (int row = 0; row < l->rows; row++)
		memset(&l->cells[row][at * RANGE_SLICE], 0, RANGE_SLICE * sizeof(l->cells[0][0]));
	s->timeline->ops->ranges(s->timeline, p->from_ns, p->to_ns, least_ns, collect, p);
}

/* Returns what it cost. */
static size_t read_slice(struct ui *u, const struct ui_scene *s, int64_t index)
{
	struct ranges_lane *l = &u->ranges;
	size_t at = (size_t)index & (RANGE_SLICES - 1);
	int64_t from = index * RANGE_SLICE * l->cell_ns, to = from + RANGE_SLICE * l->cell_ns, made = l->slices[at].made_ns;
	struct pass p = {l, l->slices[at].busy, index * RANGE_SLICE, from, to, 0, SLICE_COST, 0};

	if (l->slices[at].index == index && made && (made >= to + LATE_NS || made == u->extent.last_ns))
		return 0;
	l->slices[at].index = index;
	l->slices[at].made_ns = u->extent.last_ns;
	/* In a part so short all are read, unless they are too many. */
	p.most = to - from <= INT64_C(1) << 27 ? RANGE_BUDGET : 0;
	slice_read(u, s, at, &p, p.most ? 1 : l->cell_ns / 2);
	if (p.n > p.most && p.most) {
		p.most = 0;
		slice_read(u, s, at, &p, l->cell_ns / 2);
	}
	return p.n;
}

static int64_t busy_in_view(const struct ranges_lane *l, size_t lane)
{
	int64_t sum = 0;

	for (int64_t i = l->first; i <= l->last; i++)
		sum += l->slices[i & (RANGE_SLICES - 1)].busy[lane];
	return sum;
}

void ranges_prepare(struct ui *u, const struct ui_scene *s)
{
	struct ranges_lane *l = &u->ranges;
	int64_t cell_ns = u->vp.per_cell * viewport_column_ns(&u->vp), cell = viewport_first(&u->vp) / u->vp.per_cell, most;
	int rows = u->at.ranges.h, top = l->level >= rows ? l->level - rows + 1 : 0;
	/* What was left by ui_advance() is not for the same picture. */
	size_t cost = l->more ? RANGE_BUDGET : 0, best = l->at;

	l->more = false;
	if (!rows)
		return;
	for (size_t i = 0; i < RANGE_SLICES; i++)
		if (l->cell_ns != cell_ns || l->rows != rows || l->top != top || l->lane != l->lanes[l->at])
			l->slices[i].made_ns = 0;
	l->cell_ns = cell_ns;
	l->rows = rows;
	l->top = top;
	l->lane = l->lanes[l->at];
	l->first = cell / RANGE_SLICE - (cell < 0);
	l->last = (cell + u->at.chart.w - 1) / RANGE_SLICE;
	/* The newest first; what costs too much is left for the next picture. */
	for (int64_t i = l->last; i >= l->first; i--) {
		l->more |= cost > RANGE_BUDGET / 2;
		cost += l->more ? 0 : read_slice(u, s, i);
	}
	if (l->picked || l->more)
		return;
	/* Another one must be busier by a quarter, or the lane would flutter. */
	most = busy_in_view(l, best) * 5 / 4;
	for (size_t i = 0; i < l->n_lanes; i++)
		if (busy_in_view(l, i) > most) {
			most = busy_in_view(l, i);
			best = i;
		}
	if (best != l->at) {
		l->at = best;
		ranges_prepare(u, s);
	}
}

void act_range_level(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int level = u->ranges.level + arg;

	if (u->at.ranges.h && level >= 0 && level < u->ranges.depths)
		u->ranges.level = level;
}

/* The next one with something in view. */
void act_range_lane(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct ranges_lane *l = &u->ranges;

	for (size_t i = 1; u->at.ranges.h && i < l->n_lanes; i++)
		if (busy_in_view(l, (l->at + i) % l->n_lanes)) {
			l->at = (l->at + i) % l->n_lanes;
			l->picked = true;
			l->level = 0;
			return;
		}
	screen_say(u, STYLE_DIM, "%s", _("no other thread has ranges here"));
}
