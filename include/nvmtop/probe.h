/* probe: one kernel interface, read on the sampling path.
 *
 * A probe fills some columns of its tier's row.  read() may use pread and
 * arithmetic and nothing else: no allocation, no lock, no stdio, no gettext.
 * Opened once, files are held open; what vanishes is opened anew at a slow pace. */
#ifndef NVMTOP_PROBE_H
#define NVMTOP_PROBE_H

#include "nvmtop/channel.h"
#include "nvmtop/root.h"

struct probe;
struct rig;
struct probe_ops {
	/* Read at t_ns (CLOCK_MONOTONIC, taken just before) and store into row,
	 * which still holds the values of the tick before: what is not renewed is
	 * held by leaving it alone; what cannot be read is set to NaN. */
	void (*read)(struct probe *p, int64_t t_ns, double *row);
	void (*close)(struct probe *p);	/* frees p */
};

/* Embedded as the first member of each kind of probe. */
struct probe {
	const struct probe_ops *ops;
	enum tier tier;
	int64_t period_ns;	/* read no more often than this; 0 = at every tick; read() may change it */
	bool computes;		/* read() touches no file */
	bool derived;		/* computes from the row: read after the others, at every tick that read one */
	/* The columns that it writes, where its reads may be made by another thread than
	 * that which makes rows, and at other times; width 0: they may not. */
	uint16_t column, width;
	/* NULL, or called once before the first read on the sampling path: begins
	 * the thread of a probe whose reads may block for long. */
	void (*start)(struct probe *p);
	/* NULL, or: has a read of it not come back for more than a second?  Then of which column. */
	bool (*hangs)(const struct probe *p, int64_t now_ns, uint16_t *column);
	/* NULL, or: from now on read so seldom that the unit can fall asleep.  The
	 * rig's channels are told of it. */
	void (*gentle)(struct probe *p, struct rig *r);
};

/* The channels and probes that a board turned out to have here: what the
 * engine samples.  Owned by whoever holds it; rig_free() closes the probes.
 * The column of a channel that is missing is written by nobody: a row is NaN
 * before its first tick. */
struct rig {
	struct channel *channels;
	size_t n_channels;
	struct probe **probes;
	size_t n_probes;
	size_t width[TIERS];	/* channels in a row of the tier */
	struct fact *facts;
	size_t n_facts;
	struct root *root;	/* the rig's own, for files that must be opened anew */
};

void rig_free(struct rig *r);
/* Threads that begin from now on to read for probes have this niceness. */
void probes_set_nice(int nice);
/* Rows are made at grid_ns (CLOCK_MONOTONIC) and multiples of their tier's period from there:
 * from now on what threads read is read a moment before. */
void probes_align(int64_t grid_ns);
/* Threads that hung in a read when they were to end. */
unsigned probes_left_behind(void);

/* Reserve one channel in the rig, already filled in but for column, and get a
 * pointer to it that is valid until the next call.  NULL: out of memory. */
struct channel *rig_add_channel(struct rig *r, const struct channel *c);
int rig_add_probe(struct rig *r, struct probe *p);	/* takes p over, also on error */
int rig_add_fact(struct rig *r, const char *key, const char *value);
const struct channel *rig_find(const struct rig *r, const char *name);

/* Reads of the slower tiers, which may take long or hang, go to threads of their own: its
 * probes that may be read so are put into others that take what those threads have read.
 * Once, when all probes are there; hz is of each tier.  0, or -1: out of memory. */
int rig_bundle(struct rig *r, const double hz[TIERS], struct err *e);

/* Begin the threads of the probes that have one, and wait for the first reading of each, but
 * not past until_ns (CLOCK_MONOTONIC). */
void rig_start(struct rig *r, int64_t until_ns);

/* A channel whose file has not answered for more than a second now, or NULL.  While the rig
 * is sampled, from any thread. */
const struct channel *rig_hanging(const struct rig *r, int64_t now_ns);

/* --gentle: whatever is kept awake by being read is read seldom.  Before it is sampled. */
void rig_be_gentle(struct rig *r);

/* A signal as a board file states it; see nvmtop-board(5). */
struct setting {
	const char *key, *value;
};
struct statement {
	const char *file;		/* where it stands, for errors */
	unsigned line;
	enum tier tier;
	const char *probe;		/* "rail" */
	const char *const *words;	/* what follows, without a '=' */
	size_t n_words;
	const struct setting *settings;	/* in the order of the file; keys may repeat */
	size_t n_settings;
	const char *expression;		/* what follows a lone '=', or NULL */
};

/* Is it a probe that exists, with words and settings that it understands?
 * Needs no machine.  0 or -1 with "FILE:LINE: what was expected". */
int probe_check(const struct statement *s, struct err *e);

/* Find what it names below the rig's root, and add channels and probes.  What
 * is not there becomes a channel with a reason.  tick_ns is the tier's period.
 * -1 only for what is wrong with the statement itself or for lack of memory. */
int probe_open(struct rig *r, const struct statement *s, int64_t tick_ns, struct err *e);

#endif
