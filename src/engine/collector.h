/* collector: delivers rows and marks to sinks, in the order that a stream guarantees.
 *
 * Not thread-safe: one caller at a time. */
#ifndef NVMTOP_ENGINE_COLLECTOR_H
#define NVMTOP_ENGINE_COLLECTOR_H

#include "model/stream.h"
#include "engine/ring.h"

#define COLLECT_BATCH        256               /* most rows in one call */
#define COLLECT_MARK_WAIT_NS (100 * NS_PER_MS) /* how long a mark waits for a newer row */

struct pending_mark {
	struct mark mark;
	int64_t asked_ns; /* when the engine received it */
	uint64_t order;   /* counts all marks, never restarts */
	struct pending_mark *next;
};

struct source {
	struct ring *ring; /* NULL: the tier is not sampled */
	size_t width;
	int64_t period_ns;
	int64_t newest_ns; /* time of the last row taken; 0: none */
	int64_t *t_ns;     /* the batch's times */
	double *values;
};

/* How long the rows of a recording wait for the first cpu.util, besides two periods of the tier. */
#define COLLECT_CPU_WAIT_NS (200 * NS_PER_MS)

struct listener;
struct collector {
	struct source sources[TIERS];
	struct listener *listeners;
	struct pending_mark *marks, **marks_end; /* in time order */
	int64_t newest_mark_ns; /* time of the last one */
	uint64_t fast_taken;    /* rows of the fast tier so far */
	_Atomic uint64_t row_0; /* index of the latest recording's first row; UINT64_MAX: none yet */
	bool gave;              /* something was delivered since the last rest() call */
};

/* rings[] are borrowed, NULL for tiers that are not sampled. Returns -1 if out of memory. */
int collector_init(struct collector *c, struct ring *const rings[TIERS], const size_t width[TIERS],
		   const int64_t period_ns[TIERS]);
void collector_close(struct collector *c); /* does not call end() */

/* Calls the sink's begin() with this session, whose facts are copied. The sink then gets marks whose order is
 * at least first_order, and everything else that is not older than session->start. The fast rows of a
 * recording start with the first one that has cpu.util, with which all other CPU loads have a value, or
 * the first one after that wait. Returns -1 and sets *e if out of memory or if begin() fails. */
int collector_attach(struct collector *c, struct sink *s, const struct session *about, uint64_t first_order,
		     bool recording, struct err *e);
int collector_detach(struct collector *c, struct sink *s, struct err *e); /* calls end() */
void collector_detach_all(struct collector *c);

/* Takes ownership of a chain of marks in order of arrival. */
void collector_add_marks(struct collector *c, struct pending_mark *chain);

/* Sends the change to each listener. A listener that began after the change gets it with the time of its
 * start. */
void collector_change(struct collector *c, const struct change *change);

void collector_ranges(struct collector *c, const struct range *list, size_t n);

/* Tells each listener that these describe the channels from now on; valid until the collector is closed. */
void collector_described(struct collector *c, const struct channel *channels);

/* Delivers rows older than before_ns, and the marks among them. */
void collector_run(struct collector *c, int64_t now_ns, int64_t before_ns);

/* Returns true if there is a mark with no fast row after it yet. */
bool collector_mark_waits(const struct collector *c);

/* Delivers all rows and marks. */
void collector_drain(struct collector *c);

#endif
