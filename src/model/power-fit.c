/* Readings that lie in one state, which most do if windows are short, are kept as sums; the others one by one, because
 * the variance needs each of them again. The variance is White's (HC3): readings of states whose power varies scatter
 * more than others, and one that decides on its own where the fit goes does not show how far it is off. */
#include "model/power-fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define SAME 1e-6 /* of a column's square, left over by the others: it is a mixture of them */

void power_fit_free(struct power_fit *f)
{
	free(f->states);
	free(f->mixed);
	free(f->shares);
	*f = (struct power_fit) {.no_memory = false};
}

uint32_t power_fit_state(struct power_fit *f)
{
	struct power_state *states = array_grow(f->states, f->n_states + 1, &f->room_states, sizeof(*states));

	f->no_memory |= !states;
	if (!states)
		return 0;
	f->states = states;
	states[f->n_states] = (struct power_state) {.least = INFINITY, .most = -INFINITY};
	return (uint32_t)f->n_states++;
}

void power_fit_add(struct power_fit *f, double watts, double least, double most, const struct power_share *shares, size_t n)
{
	struct power_mixed *mixed;
	struct power_share *all;

	for (size_t i = 0; i < n; i++) {
		struct power_state *s = &f->states[shares[i].state];

		s->weight += (double)shares[i].share;
		s->least = fmin(s->least, least);
		s->most = fmax(s->most, most);
		if (n > 1)
			continue;
		s->n++;
		s->y += watts;
		s->yy += watts * watts;
	}
	if (n <= 1)
		return;
	mixed = array_grow(f->mixed, f->n_mixed + 1, &f->room_mixed, sizeof(*mixed));
	f->mixed = mixed ? mixed : f->mixed;
	all = array_grow(f->shares, f->n_shares + n, &f->room_shares, sizeof(*all));
	f->shares = all ? all : f->shares;
	f->no_memory |= !mixed || !all;
	if (f->no_memory)
		return;
	memcpy(f->shares + f->n_shares, shares, n * sizeof(*shares));
	f->n_shares += n;
	f->mixed[f->n_mixed++] = (struct power_mixed) {watts, f->n_shares};
}

/* Gets the shares of mixed reading i by column, those that are not 0 in at[]. Returns their number. */
static size_t row_get(const struct power_fit *f, const uint32_t *column, size_t i, double *x, uint32_t *at)
{
	size_t n = 0;

	for (size_t j = i ? f->mixed[i - 1].end : 0; j < f->mixed[i].end; j++) {
		uint32_t c = column[f->shares[j].state];

		if (f->shares[j].share <= 0)
			continue;
		if (x[c] <= 0)
			at[n++] = c;
		x[c] += (double)f->shares[j].share;
	}
	return n;
}

/* Inverts `moments` without the columns that are dropped, which are 0, column by column. */
static void invert(struct power_solution *s)
{
	size_t k = s->k;
	double *m = memcpy(s->inverse, s->moments, k * k * sizeof(*m));

	for (size_t j = 0; j < k; j++) {
		double *row = m + j * k, pivot = row[j];

		s->dropped[j] = !(pivot > SAME * s->moments[j * k + j]);
		if (s->dropped[j])
			continue;
		row[j] = 1;
		for (size_t c = 0; c < k; c++)
			row[c] /= pivot;
		for (size_t i = 0; i < k; i++) {
			double f = m[i * k + j];

			if (i == j)
				continue;
			m[i * k + j] = 0;
			for (size_t c = 0; c < k; c++)
				m[i * k + c] -= f * row[c];
		}
	}
	for (size_t i = 0; i < k * k; i++)
		m[i] = s->dropped[i / k] || s->dropped[i % k] ? 0 : m[i];
}

/* The square of a residual, as it would be if its reading had no part in the fit. */
static double residual(double square, double leverage)
{
	double left = fmax(1 - leverage, 0.01);

	return square / (left * left);
}

bool power_fit_solve(const struct power_fit *f, const uint32_t *column, size_t k, struct power_solution *s)
{
	double *x = calloc(2 * k + 1, sizeof(*x)), *y = x + k;
	uint32_t *at = calloc(k + 1, sizeof(*at));

	*s = (struct power_solution) {.k = k, .watts = calloc(k + 3 * k * k + 1, sizeof(double)), .dropped = calloc(k + 1, 1)};
	if (!x || !at || !s->watts || !s->dropped) {
		free(x);
		free(at);
		power_solution_free(s);
		return false;
	}
	s->inverse = s->watts + k;
	s->meat = s->inverse + k * k;
	s->moments = s->meat + k * k;
	for (size_t i = 0; i < f->n_states; i++) {
		s->moments[column[i] * (k + 1)] += f->states[i].n;
		y[column[i]] += f->states[i].y;
	}
	for (size_t i = 0; i < f->n_mixed; i++) {
		size_t n = row_get(f, column, i, x, at);

		for (size_t p = 0; p < n; p++) {
			for (size_t q = 0; q < n; q++)
				s->moments[at[p] * k + at[q]] += x[at[p]] * x[at[q]];
			y[at[p]] += x[at[p]] * f->mixed[i].watts;
		}
		for (size_t p = 0; p < n; p++)
			x[at[p]] = 0;
	}
	invert(s);
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < k; j++)
			s->watts[i] += s->inverse[i * k + j] * y[j];
	for (size_t i = 0; i < f->n_states; i++) {
		const struct power_state *p = &f->states[i];
		size_t c = column[i];
		double w = s->watts[c];

		s->meat[c * (k + 1)] += residual(fmax(p->yy - 2 * w * p->y + w * w * p->n, 0), s->inverse[c * (k + 1)]);
	}
	for (size_t i = 0; i < f->n_mixed; i++) {
		size_t n = row_get(f, column, i, x, at);
		double off = f->mixed[i].watts, leverage = 0, square;

		for (size_t p = 0; p < n; p++) {
			off -= x[at[p]] * s->watts[at[p]];
			for (size_t q = 0; q < n; q++)
				leverage += x[at[p]] * x[at[q]] * s->inverse[at[p] * k + at[q]];
		}
		square = residual(off * off, leverage);
		for (size_t p = 0; p < n; p++)
			for (size_t q = 0; q < n; q++)
				s->meat[at[p] * k + at[q]] += square * x[at[p]] * x[at[q]];
		for (size_t p = 0; p < n; p++)
			x[at[p]] = 0;
	}
	free(x);
	free(at);
	return true;
}

void power_solution_free(struct power_solution *s)
{
	free(s->watts);
	free(s->dropped);
	s->watts = NULL;
	s->dropped = NULL;
}

bool power_solution_joules(const struct power_solution *s, const double *seconds, double *joules, double *variance)
{
	size_t k = s->k;
	double sum = 0, *u = s->watts ? calloc(k + 1, sizeof(*u)) : NULL;
	bool told = u != NULL;

	*joules = *variance = 0;
	for (size_t i = 0; i < k && u; i++) {
		*joules += seconds[i] * s->watts[i];
		sum += seconds[i];
		for (size_t j = 0; j < k; j++)
			u[i] += s->inverse[i * k + j] * seconds[j];
	}
	/* A column that is a mixture of others has to take part as that mixture does. */
	for (size_t i = 0; i < k && told; i++) {
		double as = seconds[i];

		for (size_t j = 0; j < k && s->dropped[i]; j++)
			as -= u[j] * s->moments[j * k + i];
		told = !s->dropped[i] || fabs(as) < 1e-3 * sum;
	}
	for (size_t i = 0; i < k && u; i++)
		for (size_t j = 0; j < k; j++)
			*variance += u[i] * u[j] * s->meat[i * k + j];
	free(u);
	return told;
}
