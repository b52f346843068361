/* follow: a log that is still being written, as the calls of a stream: standard input, a FIFO or
 * a file that grows. */
#ifndef TRACE_FOLLOW_H
#define TRACE_FOLLOW_H

#include "model/stream.h"

struct follow;
struct follow_state {
	bool begun; /* the sink's stream has begun */
	bool waits; /* rows come, but no description yet: META is repeated */
	struct clock_anchor start;
	int64_t newest_ns; /* of the latest row, on the recorder's clock; start if there is none */
	uint64_t rows[TIERS], marks;
	uint64_t late[TIERS], lost[TIERS];
	uint64_t missed;  /* rows before the first META that was read; among the lost ones */
	uint64_t damaged; /* bytes that belong to no chunk */
	uint64_t chunks;  /* missing or damaged */
	uint64_t unread;  /* with values in a form that is not known */
	uint64_t unknown; /* others of a kind or version that is not known; no damage */
};

#define FOLLOW_MS 100 /* interval of polling a file that grows */

/* path: "-" for standard input, or a file.  Pushes into the sink in follow_take(), which never
 * waits.  NULL with ERR_FAILED; errno is ENODATA then when the file is complete. */
struct follow *follow_open(const char *path, struct sink *to, struct err *e);
int follow_fd(const struct follow *f); /* to poll for input; -1: call every FOLLOW_MS */
/* 1: call again at once.  0: no data for now.  -1: it has ended, and so has the sink's stream;
 * e->code is ERR_NONE after END, maybe with a text, ERR_DAMAGED when some of it is missing, ERR_FAILED when there
 * is nothing. */
int follow_take(struct follow *f, struct err *e);
void follow_state(const struct follow *f, struct follow_state *out);
void follow_close(struct follow *f); /* ends the sink's stream if it runs; NULL is fine */

#endif
