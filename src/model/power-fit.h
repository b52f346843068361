/* power-fit: the power of each of several states, by readings that are means over windows.
 *
 * A state is what a program is doing at a time, such as which ranges are open. A reading sees the states of its window
 * by their shares, so power by state is a least-squares fit of the readings to the shares. Fitting one state against
 * "all else" is not enough: beside a state, the rest is not what it is elsewhere. */
#ifndef NVMTOP_MODEL_POWER_FIT_H
#define NVMTOP_MODEL_POWER_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin with zeros. */
struct power_fit {
	struct power_row {
		double n, watts, squares; /* readings that see the same, their sum, and the squares of what they are off its mean */
		size_t end;		  /* of its shares */
	} * rows;
	struct power_share {
		uint32_t state;
		float share;
	} * shares;
	size_t n_rows, n_shares, room_rows, room_shares;
	bool no_memory;
};
void power_fit_free(struct power_fit *f);
/* Returns the number of a new row, whose shares sum to 1. */
size_t power_fit_row(struct power_fit *f, const struct power_share *shares, size_t n);
void power_fit_add(struct power_fit *f, size_t row, double watts);

/* The fit of k columns; each state belongs to one. */
#define POWER_COLUMNS 66
struct power_solution {
	size_t k;
	double watts[POWER_COLUMNS];
	double inverse[POWER_COLUMNS][POWER_COLUMNS], meat[POWER_COLUMNS][POWER_COLUMNS], moments[POWER_COLUMNS][POWER_COLUMNS];
	bool dropped[POWER_COLUMNS]; /* this column is a mixture of others in all readings */
};
/* column[state] is below k; those that matter most come first. */
void power_fit_solve(const struct power_fit *f, const uint32_t *column, size_t k, struct power_solution *s);
/* Joules of seconds[column] in each, and their variance. Returns false if the readings cannot tell. */
bool power_solution_joules(const struct power_solution *s, const double *seconds, double *joules, double *variance);

#endif
