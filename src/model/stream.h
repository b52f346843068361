/* stream: what the engine passes to its sinks.
 *
 *   begin  (rows | mark | gap | change | ranges | described | rest)*  end
 *
 * Within a tier items are in time order. A mark comes after all older fast rows and before all others;
 * one that reaches the engine more than 40 ms late may come later than that. Marks are numbered in order
 * of arrival, so that a late one may be older than the marks before it. A change of a machine setting
 * comes when it is confirmed, some seconds after its time, and not before the start of the stream. All
 * calls to one sink come from one thread at a time. */
#ifndef NVMTOP_MODEL_STREAM_H
#define NVMTOP_MODEL_STREAM_H

#include "model/channel.h"
#include "model/range.h"
#include "util/clock.h"
#include "util/err.h"

/* Describes a stream. Everything it points to is valid until end(). */
struct session {
	const struct channel *channels;
	size_t n_channels;
	size_t width[TIERS];	/* channels per row of the tier */
	double hz[TIERS];
	struct clock_anchor start;	/* no row, mark or gap is older than start.mono_ns */
	const struct fact *facts;
	size_t n_facts;
};

/* n rows of a tier: row i was read at t_ns[i] (CLOCK_MONOTONIC, strictly
 * increasing) and its values are values[i * width .. i * width + width-1]. */
struct rows {
	enum tier tier;
	size_t n, width;
	const int64_t *t_ns;
	const double *values;
};

struct mark {
	uint64_t id;		/* 1, 2, 3, ... */
	int64_t t_ns;		/* when it was set */
	char label[64];		/* printable, may be "" */
};

/* A time in which something was throttled or there was a notice, or in which a count of over-currents rose. */
enum state_kind { STATE_THROTTLED, STATE_NOTICE, STATE_COUNT, STATE_KINDS };
#define STATE_OPEN   1 /* flag: it had not ended */
#define STATE_BEFORE 2 /* flag: it was so at the first reading, so that it is not known when it began */
struct state_event {
	/* From the first reading of it to the first one that was not; of a count: those that had risen. */
	int64_t from_ns, to_ns;
	uint32_t channel;
	uint8_t kind, flags;
	uint64_t count; /* how often it began, or by how much the count rose */
	int64_t above_ns; /* for how long it was above 0 in that time */
};

enum gap_cause {
	GAP_LATE,		/* the sampler woke too late and skipped ticks */
	GAP_LOST,		/* rows were sampled but dropped because a queue was full */
	GAP_ABSENT = 3,		/* rows were recorded in a file that is missing */
};

/* Ticks of a tier without a row, between two rows. */
struct gap {
	enum tier tier;
	enum gap_cause cause;
	int64_t from_ns, to_ns;
	uint64_t missed;	/* how many ticks */
};

/* Is it shown? A single late tick is jitter, recorded only so that all ticks are accounted for. */
static inline bool gap_is_hole(const struct gap *g)
{
	return g->cause != GAP_LATE || g->missed > 1;
}

struct sink;
struct sink_ops {
	int (*begin)(struct sink *s, const struct session *about, struct err *e);
	void (*rows)(struct sink *s, const struct rows *r);
	void (*mark)(struct sink *s, const struct mark *m);	/* may be NULL */
	void (*gap)(struct sink *s, const struct gap *g);	/* may be NULL */
	int (*end)(struct sink *s, struct err *e);
	void (*rest)(struct sink *s);	/* all pending items are delivered, more will follow; may be NULL */
	void (*change)(struct sink *s, const struct change *c);	/* may be NULL */
	/* In order of end, within a second. Names and lanes are valid until end(). May be NULL. */
	void (*ranges)(struct sink *s, const struct range *list, size_t n);
	/* Channels of the session that were missing have a source: session->channels points to these, their new
	 * descriptions. May be NULL. */
	void (*described)(struct sink *s, const struct channel *channels);
};

/* Base of every sink; its first member. */
struct sink {
	const struct sink_ops *ops;
	struct sink *next; /* gets the same of an engine, after it; NULL: none */
};

/* Calls an operation of each sink of a chain. */
#define EACH_SINK(sinks, operation, ...)                                                                     \
	do {                                                                                                 \
		for (struct sink *each_sink = (sinks); each_sink; each_sink = each_sink->next)               \
			if (each_sink->ops->operation)                                                       \
				each_sink->ops->operation(each_sink, ##__VA_ARGS__);                         \
	} while (0)

#endif
