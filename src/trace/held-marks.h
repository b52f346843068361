/* held-marks: marks for which there is no file just now. */
#ifndef NVMTOP_TRACE_HELD_MARKS_H
#define NVMTOP_TRACE_HELD_MARKS_H

#include <stdbool.h>

#include "model/stream.h"

#define HELD_MARKS 64

struct held_mark {
	struct mark mark; /* as it came */
	bool was_given;   /* to a file that then could not be written */
};

struct held_marks {
	struct held_mark marks[HELD_MARKS]; /* by time */
	size_t n;
	struct mark given[HELD_MARKS]; /* as they came, the latest: number i is at i % HELD_MARKS */
	size_t n_given;
};

/* It stands at to_ns, which is later, and its label says how much: "boot (-12.3 s)". */
void mark_move(struct mark *m, int64_t to_ns);

bool marks_hold(struct held_marks *h, const struct mark *m); /* false: there are too many already */
/* One that did not reach its file: it waits as if that had never been. */
bool marks_hold_again(struct held_marks *h, const struct mark *m);
/* All of them to a file that begins at from_ns; how many they were, each counted once. */
size_t marks_give(struct held_marks *h, struct sink *to, int64_t from_ns);

#endif
