/* collector: delivers rows and marks to sinks, in the order that a stream guarantees.
 *
 * Not thread-safe: one caller at a time. */
#ifndef NVMTOP_ENGINE_COLLECTOR_H
#define NVMTOP_ENGINE_COLLECTOR_H

#include "model/stream.h"
#include "engine/ring.h"

#define COLLECT_BATCH        256               /* rows in one call at most */
#define COLLECT_MARK_WAIT_NS (100 * NS_PER_MS) /* how long a mark waits for a row that is newer than it */

struct pending_mark {
	struct mark mark;
	int64_t asked_ns; /* when it came to the engine */
	uint64_t order;   /* counts marks, and is never restarted */
	struct pending_mark *next;
};

struct source {
	struct ring *ring; /* NULL: the tier has no thread */
	size_t width;
	int64_t period_ns;
	int64_t newest_ns; /* time of the last row taken; 0: none */
	int64_t *t_ns;     /* of the batch */
	double *values;
};

#define COLLECT_CPU_WAIT_NS (150 * NS_PER_MS) /* how long a recording waits for the first load of the CPU */

struct listener;
struct collector {
	struct source sources[TIERS];
	struct listener *listeners;
	struct pending_mark *marks, **marks_end; /* in time order */
	int64_t newest_mark_ns; /* the time of the last of them */
	uint64_t fast_taken;    /* rows of the fast tier so far */
	_Atomic uint64_t row_0; /* which of them is the first of the latest recording; UINT64_MAX: none yet */
	bool gave;              /* something was delivered since the last idle() call */
};

/* rings[] are borrowed, NULL where a tier is not sampled.  -1: out of memory. */
int collector_init(struct collector *c, struct ring *const rings[TIERS], const size_t width[TIERS],
		   const int64_t period_ns[TIERS]);
void collector_close(struct collector *c); /* without end() */

/* begin() the sink with this session, whose facts are copied; it gets marks whose order is at least
 * first_order, and what is not older than session->start.  The fast rows of a recording
 * begin with the first that has a load of the CPU, or after COLLECT_CPU_WAIT_NS. */
int collector_attach(struct collector *c, struct sink *s, const struct session *about, uint64_t first_order,
		     bool recording, struct err *e);
int collector_detach(struct collector *c, struct sink *s, struct err *e); /* end() */
void collector_detach_all(struct collector *c);

/* Take over a chain of marks, as they came. */
void collector_add_marks(struct collector *c, struct pending_mark *chain);

/* To each listener; one that began behind it takes it for one of its start. */
void collector_change(struct collector *c, const struct change *change);

/* Hand over rows that are older than before_ns, and the marks among them. */
void collector_run(struct collector *c, int64_t now_ns, int64_t before_ns);

/* Is there a mark without a fast row after it? */
bool collector_mark_waits(const struct collector *c);

/* Deliver everything. */
void collector_drain(struct collector *c);

#endif
