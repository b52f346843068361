/* collector: delivers rows and marks to the consumer, in the order that a stream guarantees.
 *
 * Not thread-safe: one caller at a time. */
#ifndef NVMTOP_ENGINE_COLLECTOR_H
#define NVMTOP_ENGINE_COLLECTOR_H

#include "engine/ring.h"

#define COLLECT_BATCH        256               /* most rows in one call */
#define COLLECT_MARK_WAIT_NS (100 * NS_PER_MS) /* how long a mark waits for a newer row */

struct pending_mark {
	struct mark mark;
	int64_t asked_ns; /* when the engine received it */
	struct pending_mark *next;
};

struct collector {
	struct collector_tier {
		struct ring *ring; /* NULL: the tier is not sampled */
		int64_t period_ns;
		int64_t newest_ns; /* time of the last row delivered, or of the start if there were rows before; 0: none */
	} tiers[TIERS];
	struct sink *sinks;		 /* the consumer; NULL: the stream has not begun */
	int64_t start_ns;		 /* nothing in the stream is older */
	struct pending_mark *marks, **marks_end; /* in time order */
	int64_t newest_mark_ns;			 /* time of the last one */
	bool gave; /* something was delivered since the last rest() call */
};

/* Begins the stream. */
void collector_begin(struct collector *c, struct sink *s, int64_t start_ns);

/* Takes ownership of a chain of marks in order of arrival. */
void collector_add_marks(struct collector *c, struct pending_mark *chain);

/* Delivers rows older than before_ns, and the marks among them. */
void collector_run(struct collector *c, int64_t now_ns, int64_t before_ns);

/* Returns true if there is a mark with no fast row after it yet. */
bool collector_mark_waits(const struct collector *c);

/* Delivers all rows and marks. */
void collector_drain(struct collector *c);

#endif
