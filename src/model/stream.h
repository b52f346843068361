/* stream: what the engine pushes and every sink takes.
 *
 *   begin  (rows | mark | gap | change | rest)*  end
 *
 * In time order within a tier.  A mark comes after every fast row that is older
 * than it and before the first fast row that is not; one that reaches the engine
 * more than 40 ms after its time may come later than that.  Marks are numbered as
 * they reach the engine, so such a one may also be older than marks before it.  A change of how the machine is set
 * comes when it is known for sure, some seconds after its time, and not before the
 * start of the stream.  All calls of one sink come from one thread at a time. */
#ifndef NVMTOP_MODEL_STREAM_H
#define NVMTOP_MODEL_STREAM_H

#include "model/channel.h"
#include "util/clock.h"
#include "util/err.h"

/* What a stream is about.  Everything it points to lives until end(). */
struct session {
	const struct channel *channels;
	size_t n_channels;
	size_t width[TIERS];	/* channels in a row of the tier */
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

/* What counts joules begins at 0 with a recording, whenever that began. */
struct joules {
	const struct channel *channel; /* NULL: there is none */
	double before;		       /* what it had counted in the first row; NaN: not known yet */
};
void joules_begin(struct joules *j, const struct session *about);
/* Takes that off n rows of the tier; was: NULL, or gets the n values as they were.  False:
 * these rows have no such count. */
bool joules_count(struct joules *j, enum tier tier, double *rows, size_t width, size_t n, double *was);

enum gap_cause {
	GAP_LATE,		/* the sampler woke too late and skipped ticks */
	GAP_LOST,		/* rows were sampled but could not be taken over in time */
};

/* Ticks of a tier without a row, between two rows. */
struct gap {
	enum tier tier;
	enum gap_cause cause;
	int64_t from_ns, to_ns;
	uint64_t missed;	/* how many ticks */
};

/* Is it shown? A single late tick is jitter, and listed only so that all ticks are counted. */
static inline bool gap_is_hole(const struct gap *g)
{
	return g->cause != GAP_LATE || g->missed > 1;
}

struct sink;
struct sink_ops {
	int (*begin)(struct sink *s, const struct session *about, struct err *e);
	void (*rows)(struct sink *s, const struct rows *r);
	void (*mark)(struct sink *s, const struct mark *m);
	void (*gap)(struct sink *s, const struct gap *g);
	int (*end)(struct sink *s, struct err *e);
	void (*rest)(struct sink *s);	/* everything so far was delivered, and more comes later; may be
					 * NULL */
	void (*change)(struct sink *s, const struct change *c);	/* may be NULL */
};

/* The first member of a receiver of a stream. */
struct sink {
	const struct sink_ops *ops;
};

#endif
