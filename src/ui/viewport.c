/* viewport: one set of rules for live and replay.
 *
 * There is one playhead. On the live screen it is at the right edge, now, until the user moves
 * back. Panning moves the playhead and the view together; at the end of the timeline only the
 * playhead moves. Playing moves the playhead through a fixed view, and scrolls the view after it
 * reaches the right edge, so that a replay looks like the live screen. The live screen plays the
 * same way from where it was stopped, and follows again when it reaches now. */
#include "ui/viewport.h"

#include "model/timeline.h"

#include <math.h>
#include <stdio.h>

#define MERGE         4  /* after a zoom by the user; 5 to 7 fit a width better */
#define ZOOM_LIVE     27 /* with MERGE 0.54 s per column: 1 to 2 min per screen */
#define ZOOM_LIVE_OUT 30 /* furthest zoom out while the history is short */
#define LIVE_FIRST_NS (10 * NS_PER_S) /* initial time span of a live screen */
#define LIVE_NS       (60 * NS_PER_S) /* it widens up to this */
#define LAG_NS        (250 * NS_PER_MS)

void viewport_reset(struct viewport *v, bool live)
{
	int columns = v->columns, per_cell = v->per_cell;

	*v = (struct viewport) {.live = live,
				.zoom = ZOOM_LIVE,
				.merge = MERGE,
				.fit = !live,
				.widen = live,
				.follow = live,
				.head_ns = INT64_MAX,
				.right_ns = INT64_MAX,
				.columns = columns > 0 ? columns : 64,
				.per_cell = per_cell > 0 ? per_cell : 1};
}

/* The number of columns that are always visible: the rightmost cell can be half empty. */
static int64_t sure_columns(const struct viewport *v)
{
	int64_t n = v->columns - (v->per_cell - 1);

	return n > 0 ? n : 1;
}

/* Choose the shortest columns that cover [from, to]. Braille has two columns per cell, so it
 * needs even numbers. */
static void fit_columns(struct viewport *v, int64_t from_ns, int64_t to_ns)
{
	for (v->zoom = ZOOM_MIN; v->zoom < ZOOM_MAX; v->zoom++)
		for (v->merge = MERGE; v->merge < 2 * MERGE; v->merge += v->per_cell)
			if (viewport_column(v, to_ns) - viewport_column(v, from_ns) < sure_columns(v))
				return;
	v->merge = MERGE;
}

/* Fit a short history to the screen. Use only lengths: the start of columns would make the
 * choice alternate. */
static void widen(struct viewport *v, const struct extent *e)
{
	int64_t span = e->last_ns - e->first_ns;

	span = span < LIVE_FIRST_NS ? LIVE_FIRST_NS : span > LIVE_NS ? LIVE_NS : span;
	for (v->zoom = ZOOM_MIN; v->zoom < ZOOM_MAX; v->zoom++)
		for (v->merge = MERGE; v->merge < 2 * MERGE; v->merge += v->per_cell)
			if (sure_columns(v) * viewport_column_ns(v) >= span)
				return;
}

static int64_t clamp_ns(int64_t t, const struct extent *e)
{
	return t < e->first_ns ? e->first_ns : t > e->last_ns ? e->last_ns : t;
}

static const struct {
	int num, den;
} rates[] = {{1, 10}, {1, 5}, {1, 2}, {1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 1}, {32, 1}, {64, 1}};

static double rate(int speed, const struct extent *e)
{
	int i = (speed > SPEED_FASTEST ? SPEED_FASTEST : speed) - SPEED_SLOWEST;
	double known = (double)rates[i].num / rates[i].den;
	double all = (double)(e->last_ns - e->first_ns) / (double)SPEED_ALL_NS;

	return speed == SPEED_ALL && all > known ? all : known;
}

void viewport_speed_text(char out[SPEED_TEXT], int speed)
{
	int i = speed - SPEED_SLOWEST;

	if (speed >= SPEED_ALL)
		snprintf(out, SPEED_TEXT, "all");
	else if (rates[i].den > 1)
		snprintf(out, SPEED_TEXT, "1/%dx", rates[i].den);
	else
		snprintf(out, SPEED_TEXT, "%dx", rates[i].num);
}

static void play(struct viewport *v, const struct extent *e, int64_t now_ns)
{
	double passed = ((double)now_ns - (double)v->play_now_ns) * rate(v->speed, e), at;

	if (passed < 0)
		passed = 0;
	at = (double)(v->play_head_ns - e->first_ns) + passed;
	if (v->loop && v->play_head_ns < v->loop_to_ns && v->loop_to_ns <= e->last_ns + 1) {
		double from = (double)(v->loop_from_ns - e->first_ns);
		double length = (double)(v->loop_to_ns - v->loop_from_ns);

		if (at >= from + length)
			at = from + fmod(at - from, length);
	}
	if (at < (double)(e->last_ns - e->first_ns)) {
		v->head_ns = e->first_ns + (int64_t)at;
		return;
	}
	v->head_ns = e->last_ns;
	v->playing = false;
	v->played_out = v->speed < SPEED_ALL;
	v->follow = v->live; /* playback has reached now */
}

static void play_from(struct viewport *v, int64_t now_ns)
{
	v->playing = true;
	v->play_now_ns = now_ns;
	v->play_head_ns = v->head_ns;
}

static void settle_right(struct viewport *v, const struct extent *e)
{
	int64_t n = sure_columns(v), right, head, first, last;

	if (v->right_ns < v->head_ns)
		v->right_ns = v->head_ns;
	v->right_ns = clamp_ns(v->right_ns, e);
	right = viewport_column(v, v->right_ns);
	head = viewport_column(v, v->head_ns);
	first = viewport_column(v, e->first_ns);
	last = viewport_column(v, e->last_ns);
	if (head < right - n + 1)
		right = head + n - 1;
	if (right - n + 1 < first && !v->still)
		right = first + n - 1;
	if (right > last)
		right = last;
	if (right != viewport_column(v, v->right_ns))
		v->right_ns = right * viewport_column_ns(v);
	if (v->right_ns < v->head_ns)
		v->right_ns = v->head_ns;
	v->right_ns = clamp_ns(v->right_ns, e);
}

void viewport_settle(struct viewport *v, const struct extent *e, int64_t now_ns)
{
	if (!e->any)
		return;
	if (v->fit)
		fit_columns(v, e->first_ns, e->last_ns);
	else if (v->widen && v->follow)
		widen(v, e);
	if (v->playing && !v->follow)
		play(v, e, now_ns);
	if (v->follow) {
		/* If sampling hangs, show growing blank space instead of a frozen chart. */
		v->head_ns = e->last_ns > now_ns - LAG_NS ? e->last_ns : now_ns - LAG_NS;
		v->right_ns = v->head_ns;
		return;
	}
	if (!v->playing && !v->live && v->head_ns == v->end_ns)
		v->head_ns = e->last_ns; /* a trace that is still being copied has grown */
	v->end_ns = e->last_ns;
	v->head_ns = clamp_ns(v->head_ns, e);
	settle_right(v, e);
}

int64_t viewport_first(const struct viewport *v)
{
	int64_t right = viewport_column(v, v->right_ns) | (v->per_cell - 1);

	return right - v->columns + 1;
}

int viewport_cell(const struct viewport *v, int64_t t_ns)
{
	int64_t at = viewport_column(v, t_ns) - viewport_first(v);

	return at < 0 || at >= v->columns ? -1 : (int)(at / v->per_cell);
}

int64_t viewport_cell_ns(const struct viewport *v, int cell)
{
	return (viewport_first(v) + (int64_t)(cell + 1) * v->per_cell) * viewport_column_ns(v) - 1;
}

void viewport_zoom(struct viewport *v, const struct extent *e, int64_t now_ns, int in)
{
	struct viewport furthest, next;
	int64_t ahead;

	viewport_settle(v, e, now_ns);
	if (!e->any)
		return;
	furthest = next = *v;
	fit_columns(&furthest, e->first_ns, e->last_ns);
	if (v->live && furthest.zoom < ZOOM_LIVE_OUT)
		furthest.zoom = ZOOM_LIVE_OUT;
	if (in > 0 && v->zoom == ZOOM_MIN)
		next.merge = v->merge > MERGE ? MERGE : v->merge / 2;
	else if (in < 0 && v->merge < MERGE)
		next.merge = 2 * v->merge;
	else
		next.zoom -= in;
	if (v->merge > MERGE && in > 0 && next.zoom < v->zoom) {
		/* to the next shorter power of two */
		next.zoom = v->zoom;
		next.merge = MERGE;
	} else if (v->merge > MERGE && in < 0) {
		next.merge = MERGE;
	}
	if (next.merge < v->per_cell ||
	    (in < 0 && v->fit) || (in < 0 && viewport_column_ns(v) >= viewport_column_ns(&furthest)))
		return;
	ahead = viewport_column(v, v->right_ns) - viewport_column(v, v->head_ns);
	v->zoom = next.zoom;
	v->merge = next.merge;
	v->widen = v->still = false;
	v->fit = !v->live && viewport_column_ns(v) >= viewport_column_ns(&furthest);
	v->right_ns = v->head_ns + ahead * viewport_column_ns(v);
	viewport_settle(v, e, now_ns);
}

/* Stop following: the view stays where it is. */
static void let_go(struct viewport *v)
{
	v->still |= v->follow;
	v->follow = false;
	v->playing = false;
}

/* Move the playhead by columns, limited to the extent; *by: the distance. False: nothing to
 * move, or following again. */
static bool move_head(struct viewport *v, const struct extent *e, int64_t now_ns, int columns, int64_t *by)
{
	*by = (int64_t)columns * viewport_column_ns(v);
	viewport_settle(v, e, now_ns);
	if (!e->any || (v->follow && columns > 0))
		return false;
	if (v->live && v->head_ns + *by >= e->last_ns) {
		viewport_now(v, e, now_ns);
		return false;
	}
	let_go(v);
	v->head_ns = clamp_ns(clamp_ns(v->head_ns, e) + *by, e);
	return true;
}

void viewport_pan(struct viewport *v, const struct extent *e, int64_t now_ns, int columns)
{
	bool played = v->playing;
	int64_t by;

	if (!move_head(v, e, now_ns, columns, &by))
		return;
	v->right_ns += by;
	v->still = false;
	viewport_settle(v, e, now_ns);
	if (played && v->head_ns < e->last_ns)
		play_from(v, now_ns);
}

void viewport_cursor(struct viewport *v, const struct extent *e, int64_t now_ns, int columns)
{
	int64_t by;

	if (move_head(v, e, now_ns, columns, &by))
		viewport_settle(v, e, now_ns);
}

void viewport_all(struct viewport *v, const struct extent *e, int64_t now_ns)
{
	v->fit = true;
	if (!v->follow)
		v->right_ns = INT64_MAX;
	viewport_settle(v, e, now_ns);
}

void viewport_show(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t from_ns, int64_t to_ns)
{
	int64_t spare;

	viewport_settle(v, e, now_ns);
	if (!e->any)
		return;
	let_go(v);
	from_ns = clamp_ns(from_ns, e);
	to_ns = clamp_ns(to_ns < from_ns ? from_ns : to_ns, e);
	v->fit = false;
	v->widen = false;
	v->still = false;
	fit_columns(v, from_ns, to_ns);
	spare = sure_columns(v) - (viewport_column(v, to_ns) - viewport_column(v, from_ns)) - 1;
	v->head_ns = from_ns;
	v->right_ns = to_ns + (spare / 2) * viewport_column_ns(v);
	viewport_settle(v, e, now_ns);
}

void viewport_loop(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t from_ns, int64_t to_ns)
{
	viewport_settle(v, e, now_ns);
	v->loop = e->any && from_ns < to_ns;
	v->loop_from_ns = from_ns;
	v->loop_to_ns = to_ns;
	if (v->playing)
		play_from(v, now_ns);
}

void viewport_jump(struct viewport *v, const struct extent *e, int64_t now_ns, int64_t t_ns)
{
	viewport_settle(v, e, now_ns);
	if (!e->any)
		return;
	let_go(v);
	v->head_ns = clamp_ns(t_ns, e);
	if (viewport_cell(v, v->head_ns) < 0) {
		v->right_ns = v->head_ns + (int64_t)v->columns * viewport_column_ns(v) / 2;
		v->still = false;
	}
	viewport_settle(v, e, now_ns);
}

void viewport_now(struct viewport *v, const struct extent *e, int64_t now_ns)
{
	let_go(v);
	v->follow = v->live;
	v->head_ns = INT64_MAX;
	viewport_settle(v, e, now_ns);
}

void viewport_space(struct viewport *v, const struct extent *e, int64_t now_ns)
{
	viewport_settle(v, e, now_ns);
	if (v->follow || v->playing) {
		v->still = v->follow;
		v->follow = false;
		v->playing = false;
	} else if (e->any && v->live && v->head_ns >= e->last_ns - NS_PER_S) {
		v->follow = true; /* so close to now that following is better */
	} else if (e->any) {
		if (v->head_ns >= e->last_ns)
			v->head_ns = e->first_ns;
		if (e->first_ns < e->last_ns)
			play_from(v, now_ns);
	}
	viewport_settle(v, e, now_ns);
}

void viewport_speed(struct viewport *v, const struct extent *e, int64_t now_ns, int step)
{
	int speed = v->speed + step;

	if (speed < SPEED_SLOWEST || speed > SPEED_ALL)
		return;
	viewport_settle(v, e, now_ns);
	v->speed = speed;
	if (v->playing)
		play_from(v, now_ns);
}
