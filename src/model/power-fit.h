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
	struct power_state {
		double time_s;	    /* of the caller: in which power is known */
		uint64_t key;	    /* these four, too: what is open, */
		uint32_t of;	    /* the state that this one is just after another one, or itself, */
		size_t first, n_uses; /* and the uses that are open */
		double weight;	    /* readings, each by its share */
		double n, y, yy;    /* readings that lie in it: number, sums of watts and their squares */
		double least, most; /* of the readings that see it, and those beside them */
	} * states;
	struct power_mixed {
		double watts;
		size_t end; /* of its shares */
	} * mixed; /* readings of several states */
	struct power_share {
		uint32_t state;
		float share;
	} * shares;
	size_t n_states, n_mixed, n_shares, room_states, room_mixed, room_shares;
	bool no_memory;
};
void power_fit_free(struct power_fit *f);
/* Returns the number of a new state. */
uint32_t power_fit_state(struct power_fit *f);
/* Adds a reading; the shares sum to 1. least, most: of this reading and those beside it. */
void power_fit_add(struct power_fit *f, double watts, double least, double most, const struct power_share *shares, size_t n);

/* The fit of some columns; each state belongs to one. */
struct power_solution {
	size_t k;
	double *watts, *inverse, *meat, *moments; /* k, and three matrices k x k; one allocation */
	bool *dropped; /* this column is a mixture of others in all readings */
};
/* column[state] is below k; those that matter most come first. Returns false if out of memory. */
bool power_fit_solve(const struct power_fit *f, const uint32_t *column, size_t k, struct power_solution *s);
void power_solution_free(struct power_solution *s);
/* Joules of seconds[column] in each, and their variance. Returns false if the readings cannot tell. */
bool power_solution_joules(const struct power_solution *s, const double *seconds, double *joules, double *variance);

#endif
