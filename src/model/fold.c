/* The writer of a log folds the rows of a cell before they are gone, readers what they draw: both here, so that they agree bit for
 * bit. */
/* The loops over values shall be vectorised even at -O2. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "model/fold.h"

#include <math.h>
#include <stdlib.h>

bool fold_begin(struct row_fold *f, const int64_t *t_ns, size_t n, double hz)
{
	size_t left = n, steps = 0;
	uint16_t *at;

	if (n > f->room) {
		fold_free(f);
		f->sums = calloc(n, 4 * sizeof(double) + 2 * sizeof(uint16_t));
		if (!f->sums)
			return false;
		f->room = n;
		f->apart_ns = f->sums + n;
		f->there = f->apart_ns + n;
		f->there_ns = (int64_t *)(void *)(f->there + n);
		f->to = (uint16_t *)(void *)(f->there_ns + n);
		f->from = f->to + n;
	}
	f->t_ns = t_ns;
	f->n = n;
	f->hole_ns = stats_hole_ns(hz);
	f->known_ns = -1;
	at = (uint16_t *)(void *)f->sums;
	for (size_t i = 0; i < n; i++)
		at[i] = (uint16_t)i;
	for (int zoom = zoom_base(hz); left > 1 && zoom <= ZOOM_MAX; zoom++) {
		size_t kept = 0;

		for (size_t i = 0; i < left; i++) {
			if (kept == 0 || t_ns[at[kept - 1]] >> zoom != t_ns[at[i]] >> zoom) {
				at[kept++] = at[i];
				continue;
			}
			f->to[steps] = at[kept - 1];
			f->from[steps++] = at[i];
		}
		left = kept;
	}
	return true;
}

static double fold_sum(const struct row_fold *f, const double *v, size_t apart)
{
	for (size_t i = 0; i < f->n; i++)
		f->sums[i] = isnan(v[i * apart]) ? -0.0 : v[i * apart]; /* x + -0.0 is x */
	for (size_t i = 0; i + 1 < f->n; i++)
		f->sums[f->to[i]] += f->sums[f->from[i]];
	return f->sums[0];
}

struct bin fold_bin(const struct row_fold *f, const double *v, size_t apart)
{
	struct bin b = {.n = 0};

	for (size_t i = 0; i < f->n; i++) {
		double x = v[i * apart];

		if (isnan(x))
			continue;
		b.min = b.n == 0 || x < b.min ? x : b.min;
		b.max = b.n == 0 || x > b.max ? x : b.max;
		b.n++;
	}
	if (b.n > 0)
		b.sum = fold_sum(f, v, apart);
	return b;
}

/* Returns for how long readings are known. */
static double fold_weigh(struct row_fold *f, const int64_t *t_ns, size_t n)
{
	double known_ns = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		int64_t dt = t_ns[i + 1] - t_ns[i];

		f->apart_ns[i] = dt <= f->hole_ns ? (double)dt : 0;
		known_ns += f->apart_ns[i];
	}
	return known_ns;
}

struct span_stats fold_stats(struct row_fold *f, const double *v, size_t apart)
{
	struct span_stats s = {.n = 0};
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		f->there_ns[n] = f->t_ns[i];
		f->there[n] = v[i * apart];
		n += !isnan(v[i * apart]);
	}
	if (n == 0)
		return s;
	/* The times of all rows are those of most channels. */
	if (n < f->n || f->known_ns < 0)
		f->known_ns = fold_weigh(f, f->there_ns, n);
	span_stats_rows(&s, f->there_ns, f->there, f->apart_ns, f->known_ns, n);
	f->known_ns = n < f->n ? -1 : f->known_ns;
	s.sum = fold_sum(f, v, apart);
	/* 0 and -0 are equal: as in a bin, the first one counts. */
	for (size_t i = 0; (s.min == 0 || s.max == 0) && i < n; i++)
		if (f->there[i] == 0) {
			s.min = s.min == 0 ? f->there[i] : s.min;
			s.max = s.max == 0 ? f->there[i] : s.max;
			break;
		}
	return s;
}

void fold_free(struct row_fold *f)
{
	free(f->sums);
	*f = (struct row_fold) {.n = 0};
}
