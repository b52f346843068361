/* states: finds the times in which something was throttled, over its current limit or noticed, row by row. */
#ifndef NVMTOP_MODEL_STATES_H
#define NVMTOP_MODEL_STATES_H

#include "model/stream.h"

#define STATE_APART_NS (100 * NS_PER_MS) /* events of a channel less than this apart are one */

/* The readings of a channel of throttling, notices or over-current. */
struct state_watch {
	struct channel_place {
		enum tier tier;
		uint16_t column;
	} at;
	int64_t hole_ns, last_ns; /* last_ns: of the last reading; INT64_MIN: there was none */
	double last;
	struct state_event now; /* the latest event, to which more may be added; count 0: none */
	bool above;             /* it goes on */
};
/* One for each such channel of the session; *n is their number. Returns NULL if out of memory. */
struct state_watch *state_watches_new(const struct session *about, size_t *n);
/* Takes a reading, NaN included. Returns true if w->now was complete: it is in *ended then. */
bool state_watch_take(struct state_watch *w, int64_t t_ns, double v, struct state_event *ended);

/* Copies the events of a channel (SIZE_MAX: of all) that touch [from, to), the newest max, from an array sorted by begin;
 * reach[i] is the latest end of list[0 .. i]. Returns their number. */
size_t states_between(const struct state_event *list, const int64_t *reach, size_t n, size_t channel, int64_t from_ns,
		      int64_t to_ns, struct state_event *out, size_t max);

#endif
