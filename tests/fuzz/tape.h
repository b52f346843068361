/* tape: a random timeline with anything a trace or a history may have: any channels, times and values.
 * Formulas give all results immediately.
 *
 * Aborts on a query for something nonexistent or after close. */
#ifndef TESTS_TAPE_H
#define TESTS_TAPE_H

#include "model/timeline.h"

/* Few slots, so that a new tape often reuses the address of an old one. */
#define TAPES 4

struct tape {
	struct timeline timeline;
	struct session about;
	struct channel *channels;
	struct fact facts[8];
	bool any;
	int64_t first_ns, last_ns;
	struct mark *marks; /* sorted; exact-size allocation, as for all lists here */
	size_t n_marks;
	struct gap *gaps;
	size_t n_gaps;
	struct ranges *ranges; /* NULL: none are recorded */
	uint64_t salt;
	bool odd; /* some values are unusual */
	bool restless; /* another thread appends during queries */
	bool open;
};

/* Seed the random numbers, shared by all users. */
void dice_seed(uint64_t from);
uint64_t dice(uint64_t below);
uint64_t dice_any(void); /* small numbers as often as large ones */
bool one_in(unsigned n);

/* Random content; live: samples of this machine, just started at now_ns. */
struct tape *tape_open(bool live, int64_t now_ns);
/* The same recording, some time later, at another address. */
struct tape *tape_open_grown(const struct tape *t);
void tape_close(struct tape *t); /* may be NULL */

/* Add samples up to then; may drop some of the oldest. */
void tape_grow(struct tape *t, int64_t to_ns);
void tape_mark(struct tape *t, int64_t t_ns, const char *label);
void tape_gap(struct tape *t);

/* Columns, values and marks queried so far, of all tapes. */
uint64_t tape_asked(void);

/* Texts as readers of traces and boards accept them: printable UTF-8. */
const char *tape_text(void);

#endif
