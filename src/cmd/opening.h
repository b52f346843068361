/* opening: a recording whose files are made while the screen goes on. */
#ifndef CMD_OPENING_H
#define CMD_OPENING_H

#include <stdbool.h>
#include <stdint.h>

#include "nvmtop/trace.h"

/* Begin to make the files of a new recording, of a name with the time in it.  NULL with
 * the sentence. */
struct opening *opening_start(const struct trace_limits *limits, struct err *e);
/* Is it known what came of it?  Waits for that until until_ns of clock_now_ns(). */
bool opening_done(struct opening *o, int64_t until_ns);
/* The end of one that is done: the recording, or NULL with the sentence. */
struct trace_series *opening_take(struct opening *o, struct err *e);
/* The end of any: nobody wants it, and what it has made or will yet make is removed. */
void opening_leave(struct opening *o);

#endif
