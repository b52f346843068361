/* tape: a made-up timeline, of whatever a trace or a history may hold: any channels, any
 * stretch of time, any values.  What is asked of it is answered by a formula, at once.
 *
 * It ends the program when it is asked for what is not there, or after it was closed. */
#ifndef TESTS_TAPE_H
#define TESTS_TAPE_H

#include "model/timeline.h"

/* There are few places for tapes, so that a new one soon lies where another has been. */
#define TAPES 4

struct tape {
	struct timeline timeline;
	struct session about;
	struct channel *channels;
	struct fact facts[8];
	bool any;
	int64_t first_ns, last_ns;
	struct mark *marks; /* in order; exactly as many as there are, as all lists here */
	size_t n_marks;
	struct gap *gaps;
	size_t n_gaps;
	uint64_t salt;
	bool odd; /* some values are no numbers that one would expect */
	bool restless; /* another thread adds to it while it is asked */
	bool open;
};

/* The same numbers after the same seed, for all who roll. */
void dice_seed(uint64_t from);
uint64_t dice(uint64_t below);
uint64_t dice_any(void); /* small ones as often as large ones */
bool one_in(unsigned n);

/* Anything; live: samples of this machine that have just begun at now_ns. */
struct tape *tape_open(bool live, int64_t now_ns);
/* The same recording, some time later, in another place. */
struct tape *tape_open_grown(const struct tape *t);
void tape_close(struct tape *t); /* NULL is fine */

/* Samples up to then; of what is older than that it forgets some, perhaps. */
void tape_grow(struct tape *t, int64_t to_ns);
void tape_mark(struct tape *t, int64_t t_ns, const char *label);
void tape_gap(struct tape *t);

/* Columns, values and marks that were asked for so far, of all tapes. */
uint64_t tape_asked(void);

/* Texts as the reader of a trace or a board lets them pass: printable UTF-8. */
const char *tape_text(void);

#endif
