/* follow: reads a log that is still being written, from standard input, a FIFO or a growing file, as the
 * calls of a stream. */
#ifndef TRACE_FOLLOW_H
#define TRACE_FOLLOW_H

#include "model/stream.h"

struct follow;
struct follow_state {
	bool begun; /* the sink's stream has begun */
	bool waits; /* rows arrive, but no META yet: it is repeated */
	uint64_t late[TIERS], lost[TIERS];
};

#define FOLLOW_MS 100 /* interval for polling a growing file */

/* path: "-" for standard input, or a file. Rows are pushed into the sink by follow_take(), which never
 * blocks. Returns NULL and sets *e on error; e->num is ENODATA if the file is complete. */
struct follow *follow_open(const char *path, struct sink *to, struct err *e);
int follow_fd(const struct follow *f); /* to poll for input; -1: call every FOLLOW_MS */
/* Returns 1 if it should be called again at once, 0 if there is no data for now, -1 if the log and the sink's
 * stream have ended; e->code is then ERR_NONE after END, maybe with a text, ERR_DAMAGED if some of it is
 * missing, or ERR_FAILED if nothing could be used. */
int follow_take(struct follow *f, struct err *e);
const struct follow_state *follow_state(const struct follow *f);
void follow_close(struct follow *f); /* ends the sink's stream if it runs; f may be NULL */

#endif
