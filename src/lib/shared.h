/* shared: the engines that the library runs in this process, one for all who ask for the same. */
#ifndef NVMTOP_LIB_SHARED_H
#define NVMTOP_LIB_SHARED_H

#include "live/live.h"

struct wish {
	const char *board, *sysroot; /* board NULL: the detected one */
	double hz[TIERS];
	bool gentle;
	bool any;      /* join whatever engine runs, if there is one */
	bool recorder; /* marks are numbered, and rows counted, for one recorder an engine */
};

struct shared;

/* Joins a running engine or starts one, with its channels of nvmtop's own cost. Returns NULL and sets *e on error. */
struct shared *shared_open(const struct wish *w, struct err *e);
/* The last one stops it. */
void shared_close(struct shared *s, bool recorder);
struct engine *shared_engine(const struct shared *s);
struct tally *shared_tally(const struct shared *s);

/* A sink gets the stream from now on, or no more, from any thread. recording: its marks are numbered from 1. watched: rows
 * are delivered as they come until it leaves. */
int shared_attach(struct shared *s, struct sink *sink, bool recording, bool watched, struct err *e);
int shared_detach(struct shared *s, struct sink *sink, bool watched, struct err *e);
/* The number of fast rows sampled so far for the latest recording, including those not delivered yet. */
uint64_t shared_recorded(const struct shared *s);

/* The calling thread is the engine's, which cannot wait for itself: the functions above fail, but for shared_engine() and
 * shared_tally(). */
void shared_inside(bool inside);
int shared_refused(struct err *e);

#endif
