/* probe: one kernel interface, read on the sampling path.
 *
 * A probe fills some columns of its tier's row.  read() may use pread and
 * arithmetic and nothing else: no allocation, no lock, no stdio, no gettext.
 * Opened once, files are held open; what vanishes is opened anew at a slow pace. */
#ifndef NVMTOP_PROBE_PROBE_H
#define NVMTOP_PROBE_PROBE_H

#include "probe/attr.h"

struct async_reader;
struct probe;
struct probe_set;
struct probe_ops {
	/* Read at t_ns (CLOCK_MONOTONIC, taken just before) and store into row,
	 * which still holds the values of the tick before: what is not renewed is
	 * held by leaving it alone; what cannot be read is set to NaN. */
	void (*read)(struct probe *p, int64_t t_ns, double *row);
	void (*close)(struct probe *p); /* frees p: probe_free(), or what calls it */
};

/* Embedded as the first member of each kind of probe. */
struct probe {
	const struct probe_ops *ops;
	enum tier tier;
	int64_t period_ns; /* read no more often than this; 0 = at every tick; read() may change it */
	bool computes;     /* read() touches no file */
	/* Its values are of another time than t_ns, and the row is of that time: read() sets
	 * read_ns, to 0 where it has no new values. */
	bool timed;
	int64_t read_ns;
	bool derived; /* computes from the row: read after the others, at every tick that read one */
	/* The first of its columns in a row. width: how many it writes, where its reads may be made by
	 * another thread than that which makes rows, and at other times; 0: they may not. */
	uint16_t column, width;
	const struct root *root; /* of the probe set */
	struct attr *attrs;      /* its own files, closed at first */
	size_t n_attrs;
	/* What reads for it on another thread, or NULL: its reads may block for long. */
	struct async_reader *readers[2];
	/* NULL, or: the next change of a watched text that was not returned yet; false: there is none.
	 * From one thread. */
	bool (*changed)(struct probe *p, struct change *out);
	/* NULL, or: from now on read so seldom that the unit can fall asleep. The note of the probe's
	 * channels says so. */
	void (*gentle)(struct probe *p, struct probe_set *r);
};

/* The channels and probes that a board has on this machine: what the engine samples. probe_set_free()
 * closes the probes. The column of a missing channel is never written: a row is NaN before its first
 * tick. */
struct probe_set {
	struct channel *channels;
	size_t n_channels;
	struct probe **probes;
	size_t n_probes;
	size_t width[TIERS]; /* channels in a row of the tier */
	struct fact *facts;
	size_t n_facts;
	struct root *root; /* the probe set's own, for files that must be opened anew */
	bool has_nice;     /* threads that begin to read for it have that niceness */
	int nice;
};

void probe_free(struct probe *p); /* with its files */
void probe_set_free(struct probe_set *r);
/* Rows are made at grid_ns (CLOCK_MONOTONIC) and multiples of their tier's period from there: from now
 * on threads read shortly before. */
void probe_set_align(struct probe_set *r, int64_t grid_ns);
/* Threads of this process that hung in a read when they were to end. */
unsigned probes_left_behind(void);

/* Reserve one channel in the probe set, already filled in but for column, and get a
 * pointer to it that is valid until the next call.  NULL: out of memory. */
struct channel *probe_set_add_channel(struct probe_set *r, const struct channel *c);
int probe_set_add_probe(struct probe_set *r, struct probe *p); /* takes p over, also on error */
int probe_set_add_fact(struct probe_set *r, const char *key, const char *value);
const struct channel *probe_set_find(const struct probe_set *r, const char *name);

/* Reads of the slower tiers, which may take long or hang, move to a reader thread: probes for which that
 * is possible are wrapped in others that take its values. Those of the fast tier are wrapped in others
 * that can be abandoned. Once, when all probes exist; hz is of each tier. 0, or -1: out of memory. */
int probe_set_guard(struct probe_set *r, const double hz[TIERS], struct err *e);

/* Begin the thread that reads for its probes, and wait for the first reading of each, but
 * not past until_ns (CLOCK_MONOTONIC). */
void probe_set_start(struct probe_set *r, int64_t until_ns);

/* The nth channel, from 0, whose file does not answer now, and since when; NULL: there is none. Reported
 * at once if rows waited for it, else after a second. While the probe set is sampled, from any thread. */
const struct channel *probe_set_hanging(const struct probe_set *r, int64_t now_ns, size_t nth,
					int64_t *since_ns);

/* From one thread, while the probe set is sampled: threads that hang in a read are abandoned, and others
 * read the rest. True: one of them makes rows; it ends when it returns, see probes_left_me(), and
 * another thread is to make rows. *look_ns is lowered to when this is to be called again. */
bool probe_set_rescue(struct probe_set *r, int64_t now_ns, int64_t *look_ns);
bool probes_left_me(void);

/* The next change of the texts that the probes watch; false: there is none. */
bool probe_set_changed(const struct probe_set *r, struct change *out);

/* --gentle: units that reading keeps awake are read seldom. Before it is sampled. */
void probe_set_be_gentle(struct probe_set *r);

/* A signal as a board file states it; see nvmtop-board(5). */
struct setting {
	const char *key, *value;
};
struct statement {
	const char *file; /* where it stands, for errors */
	unsigned line;
	enum tier tier;
	const char *probe;        /* "rail" */
	const char *const *words; /* what follows, without a '=' */
	size_t n_words;
	const struct setting *settings; /* in the order of the file; keys may repeat */
	size_t n_settings;
	const char *expression; /* what follows a lone '=', or NULL */
};

/* Is it a probe that exists, with words and settings that it understands?
 * Needs no machine.  0 or -1 with "FILE:LINE: what was expected". */
int probe_check(const struct statement *s, struct err *e);

/* Find what it names below the probe set's root, and add channels and probes. A missing signal becomes a
 * channel with a reason. tick_ns is the tier's period. -1 only for an invalid statement or lack of
 * memory. */
int probe_open(struct probe_set *r, const struct statement *s, int64_t tick_ns, struct err *e);

#endif
