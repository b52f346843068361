/* away: what may wait for a disk, on a network for ever, done away from the screen. */
#ifndef CMD_AWAY_H
#define CMD_AWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "nvmtop/err.h"
#include "nvmtop/thread.h"

/* The first member of a piece of work; its members are away.c's own. */
struct away {
	void (*run)(struct away *a);
	void (*drop)(struct away *a);
	pthread_t thread;
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t news;
	bool done, left;
	char name[16];
};

/* Do run(a) on a thread of that name.  drop(a) frees it with all that came of it, on
 * whichever thread is the last to know of it.  -1 with the sentence: nothing has begun,
 * and it is still the caller's. */
int away_start(struct away *a, const char *name, void (*run)(struct away *a), void (*drop)(struct away *a),
	       struct err *e);
/* Is it done?  Waits for that until until_ns of clock_now_ns(). */
bool away_done(struct away *a, int64_t until_ns);
/* To be asked by what is done from time to time: does nobody want it any more? */
bool away_is_left(struct away *a);
/* The end of one that is done: it is the caller's again. */
void away_take(struct away *a);
/* The end of any: nobody wants it any more. */
void away_leave(struct away *a);

/* How many that were left are not done; waits for them until then. */
unsigned away_left_behind(int64_t until_ns);

#endif
