/* Readings that lie in one state, which most do if windows are short, are one row of the fit; of the others each is a row
 * of its own. The variance is White's (HC3): readings of states whose power varies scatter more than others, and one
 * that decides on its own where the fit goes does not show how far it is off. */
#include "model/power-fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define SAME 1e-6 /* of a column's square, left over by the others: it is a mixture of them */

void power_fit_free(struct power_fit *f)
{
	free(f->rows);
	free(f->shares);
	*f = (struct power_fit) {.no_memory = false};
}

size_t power_fit_row(struct power_fit *f, const struct power_share *shares, size_t n)
{
	struct power_row *rows = array_grow(f->rows, f->n_rows + 1, &f->room_rows, sizeof(*rows));
	struct power_share *all = array_grow(f->shares, f->n_shares + n, &f->room_shares, sizeof(*all));

	f->rows = rows ? rows : f->rows;
	f->shares = all ? all : f->shares;
	f->no_memory |= !rows || !all;
	if (f->no_memory)
		return 0;
	memcpy(f->shares + f->n_shares, shares, n * sizeof(*shares));
	f->n_shares += n;
	f->rows[f->n_rows] = (struct power_row) {.end = f->n_shares};
	return f->n_rows++;
}

void power_fit_add(struct power_fit *f, size_t row, double watts)
{
	struct power_row *r = f->no_memory ? &(struct power_row) {.n = 0} : &f->rows[row];
	double off = r->n > 0 ? watts - r->watts / r->n : 0;

	r->n++;
	r->watts += watts;
	r->squares += off * (watts - r->watts / r->n);
}

/* Gets the columns that row i sees, and their shares. Returns their number. */
static size_t columns_of(const struct power_fit *f, const uint32_t *column, size_t i, uint32_t *at, double *x)
{
	size_t n = 0, k;

	for (size_t j = i ? f->rows[i - 1].end : 0; j < f->rows[i].end && f->rows[i].n > 0; j++) {
		uint32_t c = column[f->shares[j].state];

		for (k = 0; k < n && at[k] != c; k++)
			continue;
		if (k == n) {
			at[n] = c;
			x[n++] = 0;
		}
		x[k] += (double)f->shares[j].share;
	}
	return n;
}

/* Inverts `moments` without the columns that are dropped, which are 0, column by column. */
static void invert(struct power_solution *s)
{
	size_t k = s->k;

	memcpy(s->inverse, s->moments, sizeof(s->inverse));
	for (size_t j = 0; j < k; j++) {
		double *row = s->inverse[j], pivot = row[j];

		s->dropped[j] = !(pivot > SAME * s->moments[j][j]);
		if (s->dropped[j])
			continue;
		row[j] = 1;
		for (size_t c = 0; c < k; c++)
			row[c] /= pivot;
		for (size_t i = 0; i < k; i++) {
			double f = s->inverse[i][j];

			if (i == j)
				continue;
			s->inverse[i][j] = 0;
			for (size_t c = 0; c < k; c++)
				s->inverse[i][c] -= f * row[c];
		}
	}
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < k; j++)
			s->inverse[i][j] = s->dropped[i] || s->dropped[j] ? 0 : s->inverse[i][j];
}

void power_fit_solve(const struct power_fit *f, const uint32_t *column, size_t k, struct power_solution *s)
{
	double x[POWER_COLUMNS], y[POWER_COLUMNS] = {0};
	uint32_t at[POWER_COLUMNS];

	memset(s, 0, sizeof(*s));
	s->k = k;
	for (size_t i = 0; i < f->n_rows; i++)
		for (size_t n = columns_of(f, column, i, at, x), p = 0; p < n; p++) {
			y[at[p]] += x[p] * f->rows[i].watts;
			for (size_t q = 0; q < n; q++)
				s->moments[at[p]][at[q]] += f->rows[i].n * x[p] * x[q];
		}
	invert(s);
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < k; j++)
			s->watts[i] += s->inverse[i][j] * y[j];
	for (size_t i = 0; i < f->n_rows; i++) {
		const struct power_row *r = &f->rows[i];
		size_t n = columns_of(f, column, i, at, x);
		double off = n ? r->watts / r->n : 0, leverage = 0, left, square;

		for (size_t p = 0; p < n; p++) {
			off -= x[p] * s->watts[at[p]];
			for (size_t q = 0; q < n; q++)
				leverage += x[p] * x[q] * s->inverse[at[p]][at[q]];
		}
		/* The square of what they are off, as it would be if they had no part in the fit. */
		left = fmax(1 - leverage, 0.01);
		square = (r->squares + off * off * r->n) / (left * left);
		for (size_t p = 0; p < n; p++)
			for (size_t q = 0; q < n; q++)
				s->meat[at[p]][at[q]] += square * x[p] * x[q];
	}
}

bool power_solution_joules(const struct power_solution *s, const double *seconds, double *joules, double *variance)
{
	double sum = 0, u[POWER_COLUMNS] = {0};
	bool told = true;

	*joules = *variance = 0;
	for (size_t i = 0; i < s->k; i++) {
		*joules += seconds[i] * s->watts[i];
		sum += seconds[i];
		for (size_t j = 0; j < s->k; j++)
			u[i] += s->inverse[i][j] * seconds[j];
	}
	for (size_t i = 0; i < s->k; i++) {
		double as = seconds[i];

		/* A column that is a mixture of others has to take part as that mixture does. */
		for (size_t j = 0; j < s->k; j++) {
			as -= s->dropped[i] ? u[j] * s->moments[j][i] : 0;
			*variance += u[i] * u[j] * s->meat[i][j];
		}
		told &= !s->dropped[i] || fabs(as) < 1e-3 * sum;
	}
	return told;
}
