/* One range: at the cursor, the next edge, by its name. */
#include "ui/ranges.h"
#include "ui/screen.h"

#include <string.h>

/* What a visit looks for, and what it has found. */
struct wanted {
	const struct range_lane *lane; /* NULL: any */
	int level;
	int64_t from_ns, to_ns, least_ns;
	bool back, found;
	const char *text, *name; /* what a name has in it, and the one that was looked at last */
	bool has;
	size_t n;
	int64_t at_ns;
	struct range range;
};

static bool is_here(void *arg, const struct range *r)
{
	struct wanted *w = arg;

	if (r->lane == w->lane && r->depth == w->level && (!w->found || r->begin_ns >= w->range.begin_ns)) {
		w->range = *r;
		w->found = true;
	}
	return true;
}

bool ranges_here(const struct ui *u, const struct ui_scene *s, struct range *out)
{
	struct wanted w = {.lane = u->ranges.lane, .level = u->ranges.level};

	if (!u->at.ranges.h || !u->ranges.lane)
		return false;
	s->timeline->ops->ranges(s->timeline, u->vp.head_ns - 1, u->vp.head_ns + 1, 0, is_here, &w);
	*out = w.range;
	return w.found;
}

static void take(struct wanted *w, const struct range *r, int64_t at_ns)
{
	if (at_ns < w->from_ns || at_ns > w->to_ns ||
	    (w->found && (w->back ? at_ns <= w->at_ns : at_ns >= w->at_ns)))
		return;
	w->at_ns = at_ns;
	w->range = *r;
	w->found = true;
}

static bool has_edge(void *arg, const struct range *r)
{
	struct wanted *w = arg;

	if (r->lane == w->lane && r->depth == w->level && r->end_ns - r->begin_ns >= w->least_ns &&
	    !(r->flags & RANGE_FOLDED)) {
		take(w, r, r->begin_ns);
		if (!(r->flags & RANGE_OPEN))
			take(w, r, r->end_ns);
	}
	return true;
}

bool ranges_edge(const struct ui *u, const struct ui_scene *s, int by, int64_t *out)
{
	struct wanted w = {.lane = u->ranges.lane,
			   .level = u->ranges.level,
			   .least_ns = u->ranges.cell_ns / 2,
			   .back = by < 0};
	int64_t head = u->vp.head_ns, away = u->ranges.cell_ns, last = by > 0 ? u->extent.last_ns : u->extent.first_ns;
	bool end = false;

	if (!u->at.ranges.h || !u->ranges.lane)
		return false;
	/* Farther and farther away. */
	for (; !w.found && !end; away *= 4) {
		end = away > INT64_MAX / 8 || (by > 0 ? head + away > last : head - away < last);
		w.from_ns = by > 0 ? head + 1 : end ? last : head - away;
		w.to_ns = by < 0 ? head - 1 : end ? last : head + away;
		s->timeline->ops->ranges(s->timeline, w.from_ns - 1, w.to_ns + 1, w.least_ns, has_edge, &w);
	}
	*out = w.at_ns;
	return w.found && w.at_ns >= u->extent.first_ns && w.at_ns <= u->extent.last_ns;
}

static bool has_name(void *arg, const struct range *r)
{
	struct wanted *w = arg;

	w->n++;
	if (r->name != w->name) {
		w->n += RANGE_NAME_COST;
		w->has = strcasestr(r->name, w->text) != NULL;
	}
	w->name = r->name;
	if (w->has)
		take(w, r, r->begin_ns);
	return true;
}

int64_t range_step(int64_t step_ns, size_t n)
{
	if (n > RANGE_STEP_MOST)
		return step_ns > 1000 ? step_ns / 2 : step_ns;
	return n < RANGE_STEP_MOST / 2 && step_ns < RANGE_STEP_NS ? 2 * step_ns : step_ns;
}

/* A log decodes whole chunks: at the ends of the step about as many again, up to a chunk. */
size_t range_step_cost(size_t n)
{
	return RANGE_STEP_COST + n + (n < RANGE_STEP_MOST / 4 ? n : RANGE_STEP_MOST / 4);
}

int ranges_search(struct ui *u, const struct ui_scene *s)
{
	struct ranges_lane *l = &u->ranges;
	struct search *f = &u->search;
	struct wanted w = {.text = f->text, .back = f->back};
	size_t cost = 0;
	double all = (double)(u->extent.last_ns - u->extent.first_ns) + 1;

	if (!s->timeline->ops->ranges)
		return CONDITION_NOWHERE;
	if (!ranges_ready(u, s))
		return CONDITION_MORE;
	l->step_ns = l->step_ns ? l->step_ns : RANGE_STEP_FIRST;
	while (cost < RANGE_BUDGET) {
		if (f->back ? f->at_ns <= u->extent.first_ns : f->at_ns >= u->extent.last_ns)
			return CONDITION_NOWHERE;
		w.n = 0;
		w.from_ns = f->back ? f->at_ns - l->step_ns : f->at_ns + 1;
		w.to_ns = f->back ? f->at_ns - 1 : f->at_ns + l->step_ns;
		s->timeline->ops->ranges(s->timeline, w.from_ns, w.to_ns + 1, 0, has_name, &w);
		cost += range_step_cost(w.n);
		l->step_ns = range_step(l->step_ns, w.n);
		f->at_ns = f->back ? w.from_ns : w.to_ns;
		if (!w.found)
			continue;
		for (size_t i = 0; i < l->n_lanes; i++)
			if (l->lanes[i] == w.range.lane)
				l->at = i;
		l->picked = true;
		l->level = w.range.depth;
		f->run.at_ns = w.at_ns;
		return CONDITION_FOUND;
	}
	f->run.part = (double)(f->back ? u->extent.last_ns - f->at_ns : f->at_ns - u->extent.first_ns) / all;
	return CONDITION_MORE;
}

void range_length(char out[32], int64_t ns)
{
	if (ns >= 100 * NS_PER_S)
		quantity_time(out, ns, 0);
	else if (ns >= NS_PER_S)
		snprintf(out, 32, "%.3g s", (double)ns / 1e9);
	else if (ns >= NS_PER_MS)
		snprintf(out, 32, "%.3g ms", (double)ns / 1e6);
	else
		snprintf(out, 32, "%.3g us", (double)ns / 1e3);
}
