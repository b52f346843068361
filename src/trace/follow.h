/* follow: a recording that is still being made, read as it grows. */
#ifndef TRACE_FOLLOW_H
#define TRACE_FOLLOW_H

#include "model/stream.h"

#define FOLLOW_MS 100 /* how often to read a file that grows */

struct follow;
struct follow_state {
	bool begun; /* the sink has the session */
	bool waits; /* chunks come, but none yet that describes the channels */
	struct clock_anchor start;
	int64_t newest_ns; /* of the latest row, on the recorder's clock; 0: none */
	uint64_t rows[TIERS], marks;
	uint64_t late[TIERS], lost[TIERS];
	uint64_t missing; /* chunks that did not come or are damaged */
	uint64_t bytes;	  /* that belong to no chunk */
};

/* path: "-" for standard input, or a file.  Rows and events are pushed to the sink by
 * follow_take(), which never waits.  NULL with *e; errno is ENODATA when path is a trace that
 * has ended. */
struct follow *follow_open(const char *path, struct sink *to, struct err *e);
int follow_fd(const struct follow *f); /* to poll; -1: call follow_take() every FOLLOW_MS */
/* 1: more can be taken at once.  0: nothing for now.  -1: the stream of the sink has ended:
 * e->code is ERR_NONE for a recording that ended, ERR_DAMAGED if something is missing,
 * ERR_FAILED if nothing came. */
int follow_take(struct follow *f, struct err *e);
void follow_state(const struct follow *f, struct follow_state *out);
void follow_close(struct follow *f); /* ends the sink's stream; NULL is fine */

#endif
