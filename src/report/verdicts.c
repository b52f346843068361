/* Metrics of a comparison, and their verdicts. Some of many differences are large by chance, hence Holm's
 * correction over all tested ones. Repetitions that drift are not independent and would pass any such test
 * too often: by von Neumann's ratio, the verdict then has a warning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"

static double value_of(const struct analysis *a, const struct part *p, const struct metric *m, size_t i)
{
	double seconds = (double)p->duration_ns / 1e9;

	switch (m->what) {
	case DURATION:
		return seconds;
	case ITEM_TIME:
		return seconds / items_of(a, p);
	case ENERGY:
		return full_energy(a, p, i);
	case ITEM_ENERGY:
		return full_energy(a, p, i) / items_of(a, p);
	case RISE:
		return rise_of(a, p, i);
	case THROTTLED:
		return throttled_of(a, p, i);
	default:
		return mean_of(&p->results[i]);
	}
}

static void cell_value(struct cell *x, double v)
{
	double d = v - x->mean;

	if (isnan(v))
		return;
	if (x->n > 0)
		x->turns += (v - x->last) * (v - x->last);
	x->n++;
	x->mean += d / (double)x->n;
	x->sd += d * (v - x->mean);
	x->last = v;
}

/* Adds an occurrence, including the time in which it is not covered. */
static void cell_add(struct cell *x, const struct analysis *a, const struct part *p, const struct metric *m,
		     size_t i)
{
	double known = 0, span = 0;

	if (m->channel)
		known_of(a, p, i, &known, &span);
	x->known += known;
	x->span += span;
	cell_value(x, value_of(a, p, m, i));
}

static void cell_end(struct cell *x, const struct metric *m)
{
	double squares = x->sd;

	x->sd = x->n > 1 ? sqrt(squares / (double)(x->n - 1)) : NAN;
	x->drift = neumann(x->turns, squares, x->n);
	if (x->n == 0 || ((m->what == ENERGY || m->what == ITEM_ENERGY) && coverage_of(x) < KNOWN_ENOUGH))
		x->mean = x->sd = NAN;
}

static void cells_fill(struct comparison *c, const struct group *g)
{
	size_t each = c->n_metrics * c->n_files;

	memset(c->cells, 0, each * sizeof(*c->cells));
	for (size_t k = g->first; k < g->first + g->n; k++) {
		const struct occurrence *o = &c->all[k];
		const struct analysis *a = &c->list[o->file];
		const struct part *p = o->epoch == SIZE_MAX ? &a->whole : part_load(a, o->epoch);

		for (size_t m = 0; m < c->n_metrics; m++) {
			size_t x = m * c->n_files + o->file;

			if (c->at[x] != SIZE_MAX)
				cell_add(&c->cells[x], a, p, &c->metrics[m], c->at[x]);
		}
	}
	for (size_t x = 0; x < each; x++)
		cell_end(&c->cells[x], &c->metrics[x / c->n_files]);
}

void group_begin(struct comparison *c, const struct group *g)
{
	size_t bytes = c->n_metrics * c->n_files * sizeof(*c->cells), at = (size_t)(g - c->groups);

	if (c->sums) {
		range_cells(c, g);
		return;
	}
	if (c->kept && c->kept[at]) {
		memcpy(c->cells, c->kept[at], bytes);
		return;
	}
	cells_fill(c, g);
	if (c->kept)
		c->kept[at] = malloc(bytes);
	if (c->kept && c->kept[at])
		memcpy(c->kept[at], c->cells, bytes);
}

const struct cell *cell_of(const struct comparison *c, size_t file, const struct metric *m)
{
	return &c->cells[(size_t)(m - c->metrics) * c->n_files + file];
}

struct cell cell_over(const struct comparison *c, const struct metric *m)
{
	struct cell over = {.n = 0}, bounds = {.n = 0};

	for (size_t f = 0; f < c->n_files; f++) {
		cell_value(&over, cell_of(c, f, m)->mean);
		cell_value(&bounds, cell_of(c, f, m)->within);
	}
	cell_end(&over, m);
	over.within = bounds.n > 0 ? bounds.mean : NAN;
	return over;
}

double coverage_of(const struct cell *x)
{
	return x->span > 0 ? fmin(x->known / x->span, 1) : 1;
}

#define DRIFT 0.02 /* share of independent repetitions that are wrongly flagged as drifting */

bool drifts(const struct cell *x)
{
	return x->drift < DRIFT;
}

struct difference difference(const struct comparison *c, const struct cell *a, const struct cell *b)
{
	struct difference d = {NOTHING, NAN, NAN, false};

	if (a->n == 0 || b->n == 0)
		return d;
	d.verdict = PARTLY;
	if (coverage_of(a) < KNOWN_ENOUGH || coverage_of(b) < KNOWN_ENOUGH)
		return d;
	if (c->sums) {
		d.interval = a->within + b->within;
		d.verdict = fabs(b->mean - a->mean) > d.interval ? DIFFERS : NOISE;
		d.verdict = isnan(d.interval) ? EXACT : d.verdict;
		return d;
	}
	d.verdict = UNKNOWN;
	d.interval = welch(a->sd, a->n, b->sd, b->n, b->mean - a->mean, &d.p);
	if (isnan(d.interval))
		return d;
	d.verdict = (float)d.p <= c->most ? DIFFERS : NOISE;
	d.drifts = d.verdict == DIFFERS && (drifts(a) || drifts(b));
	return d;
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

struct tests {
	float *p;
	size_t n;
};

static int test_add(struct tests *t, double p)
{
	float *more = t->n & (t->n - 1) ? t->p : reallocarray(t->p, 2 * t->n + 1, sizeof(*more));

	if (!more)
		return -1;
	t->p = more;
	t->p[t->n++] = (float)p;
	return 0;
}

static int group_test(struct comparison *c, struct tests *t)
{
	for (size_t m = 0; m < c->n_metrics; m++)
		for (size_t f = 1; f < c->n_files; f++) {
			const struct cell *a = cell_of(c, 0, &c->metrics[m]),
					  *b = cell_of(c, f, &c->metrics[m]);
			struct difference d = difference(c, a, b);

			if (!isnan(d.p) && test_add(t, d.p) < 0)
				return -1;
		}
	return 0;
}

/* Is the epoch repeated in the first file and in another one, so that a difference can be tested? */
static bool repeats(const struct comparison *c, const struct group *g)
{
	size_t first = 0, other = 0, file = 0;

	for (size_t k = g->first; k < g->first + g->n; k++) {
		const struct occurrence *o = &c->all[k];

		first += o->file == 0;
		other = o->file == file ? other + 1 : 1;
		file = o->file;
		if (file > 0 && first > 1 && other > 1)
			return true;
	}
	return false;
}

void compare_test(struct comparison *c)
{
	struct tests t = {.n = 0};

	c->most = -1;
	for (size_t g = 0; c->ok && c->n_files > 1 && g < c->n_groups; g++) {
		if (!repeats(c, &c->groups[g]))
			continue;
		group_begin(c, &c->groups[g]);
		c->ok = group_test(c, &t) == 0;
	}
	if (t.n > 0)
		qsort(t.p, t.n, sizeof(*t.p), by_size);
	for (size_t i = 0; i < t.n && t.p[i] <= 0.05 / (double)(t.n - i); i++)
		c->most = t.p[i];
	c->tested = t.n;
	free(t.p);
}
