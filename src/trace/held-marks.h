/* held-marks: marks for which there is no file just now. */
#ifndef TRACE_HELD_MARKS_H
#define TRACE_HELD_MARKS_H

#include <stdbool.h>

#include "nvmtop/stream.h"

#define HELD_MARKS 64

struct held_marks {
	struct mark marks[HELD_MARKS];
	size_t n;
};

/* It stands at to_ns, which is later, and its label says how much: "boot (-12.3 s)". */
void mark_move(struct mark *m, int64_t to_ns);

bool marks_hold(struct held_marks *h, const struct mark *m); /* false: there are too many already */
/* All of them to a file that begins at from_ns; how many they were. */
size_t marks_give(struct held_marks *h, struct sink *to, int64_t from_ns);

#endif
