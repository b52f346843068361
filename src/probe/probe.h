/* probe: one kernel interface, read on the sampling path.
 *
 * A probe fills some columns of its tier's row. read() may use pread and arithmetic and nothing else: no
 * allocation, no lock, no stdio, no gettext. Files are opened once and kept open; files that vanish are
 * reopened at a slow pace. */
#ifndef NVMTOP_PROBE_PROBE_H
#define NVMTOP_PROBE_PROBE_H

#include <stdatomic.h>

#include "probe/async-reader.h"
#include "probe/attr.h"

#define QUICK_NS (NS_PER_MS / 5)

struct probe;
struct probe_set;
struct probe_ops {
	/* Reads at t_ns (CLOCK_MONOTONIC, taken just before) into row, which still has the values of the
	 * previous tick: a value without an update is left alone, one that cannot be read is set to NaN. */
	void (*read)(struct probe *p, int64_t t_ns, double *row);
	void (*close)(struct probe *p); /* frees p, with probe_free() */
};

/* Embedded as the first member of each kind of probe. */
struct probe {
	const struct probe_ops *ops;
	enum tier tier;
	int64_t period_ns; /* read no more often than this; 0 = at every tick */
	int64_t due_ns;    /* if it has a period: the tick at which it is read next */
	bool computes;     /* read() touches no file */
	bool derived;      /* computed from the row: read after the others, at every tick that read one */
	/* It is read at a random moment before the row, which then has the time of that: read_ns, which is 0 if it has
	 * no new values. */
	bool timed;
	bool hung;  /* a file did not answer when it was opened */
	bool waits; /* a first read took longer than QUICK_NS: the thread of its bus reads it */
	int64_t read_ns;
	atomic_int_least64_t from_ns; /* the stream begins then, and what it counts is 0 in its first row; set by any thread */
	const char *thread; /* what is read is known to wait: another thread reads it in the fast tier, too; or NULL */
	/* column: the first of its columns in a row. width: how many it writes, if another thread than the
	 * one that makes rows may make its reads, and at other times; 0: it may not. */
	uint16_t column, width;
	const uint16_t *columns; /* these; NULL: those from column on */
	const struct root *root; /* of the probe set */
	struct attr *attrs;      /* its files, closed at first */
	size_t n_attrs;
	struct async_reader *reader; /* reads for it, because its reads may block for long; or NULL */
	int64_t tick_ns;             /* the period of its tier's rows */
	double *own;       /* the row into which its reader reads, which owns it; or NULL */
	struct root *held; /* while it may read */
	/* Gets the next mark, a change of nothing (what is "") to a label; returns false if there is none.
	 * Call from one thread only. May be NULL. */
	bool (*changed)(struct probe *p, struct change *out);
	/* Reads so seldom from now on that the unit can fall asleep, and adds this to the note of the probe's
	 * channels. May be NULL. */
	void (*gentle)(struct probe *p, struct probe_set *r);
};

/* Reads it at t_ns, or takes what its reader has read, into row. Returns early, and the row may be freed, if
 * probes_left_me() is true then. */
void probe_read(struct probe *p, int64_t t_ns, double *row);
void probe_close(struct probe *p);

/* The channels and probes that a board has on this machine: what the engine samples. probe_set_free() closes
 * the probes. The column of a missing channel is never written: a row is NaN before its first tick. */
struct lookout;
struct probe_set {
	struct channel *channels;
	size_t n_channels;
	struct probe **probes;
	size_t n_probes;
	size_t width[TIERS]; /* channels in a row of the tier */
	struct fact *facts;
	size_t n_facts;
	struct root *root; /* owned; for files that must be reopened */
	struct lookout *lookout; /* owned; NULL if nothing is looked for later */
	int64_t past_ns;   /* before the start, for which its values can be computed; 0: they cannot */
	bool has_nice;     /* threads that start to read for it get that niceness */
	int nice;
};

void probe_free(struct probe *p); /* closes its files, too */
void probe_stop(struct probe *p); /* the same, after stopping its reader, which it owns */
/* Gets the values of its reader for a row; see async_reader_take(). */
bool probe_take(struct probe *p, int64_t t_ns, double *v);
void probe_set_free(struct probe_set *r);
/* Returns the number of threads of this process that hung in a read when they were stopped. */
unsigned probes_left_behind(void);

/* Adds one channel, already filled in but for column. Returns a pointer to it that is valid until the next
 * call, or NULL if out of memory. */
struct channel *probe_set_add_channel(struct probe_set *r, const struct channel *c);
int probe_set_add_probe(struct probe_set *r, struct probe *p); /* takes ownership of p, even on error */
int probe_set_add_fact(struct probe_set *r, const char *key, const char *value);
const struct channel *probe_set_find(const struct probe_set *r, const char *name);

/* Protects rows from reads that take long or hang: gives the probes for which that is possible a reader. Those of
 * the fast tier are still read by the thread that makes rows, which can be left in a read. Call once, when all
 * probes exist; hz is of each tier. Returns -1 and sets *e if out of memory. */
int probe_set_guard(struct probe_set *r, const double hz[TIERS], struct err *e);

/* Reads each probe of a probe set without threads once: rows[tier] gets its columns, NaN with the reason where there is
 * no value. */
void probe_set_read(struct probe_set *r, double *const rows[TIERS]);

/* Starts the lookout and the threads that read for its probes, shortly before the rows, which come at grid_ns
 * (CLOCK_MONOTONIC) and multiples of their tier's period after it. Waits for the first reading of each, but not as long
 * as that. */
void probe_set_start(struct probe_set *r, int64_t grid_ns);

/* Returns the nth channel (from 0) whose file does not answer now, and since when; NULL if there is none. A
 * hang is reported at once if rows waited for it, else after a second. Any thread may call this while the
 * probe set is sampled. */
const struct channel *probe_set_hanging(const struct probe_set *r, int64_t now_ns, size_t nth,
					int64_t *since_ns);

/* Leaves threads in reads that hang, and starts others that read the rest. Returns true if one of them makes
 * rows: another thread must take over, and the old one makes no more rows after its read returns, when
 * probes_left_me() is true in it. *look_ns is lowered to when this must be called again. Call from one thread,
 * while the probe set is sampled. */
bool probe_set_rescue(struct probe_set *r, int64_t now_ns, int64_t *look_ns);
bool probes_left_me(void);

/* How many readings came too late for the row that they were made for. From any thread. */
uint64_t probe_set_late(const struct probe_set *r);

/* Returns the channels as they are described now, if some were missing and have a source; those of the set stay as they
 * were at the start. What is returned never changes, and is valid as long as the set. Any thread may call this. */
const struct channel *probe_set_channels(const struct probe_set *r);

/* Gets the next change of a text that is watched, or the next mark of a probe. Returns false if there is none. */
bool probe_set_changed(const struct probe_set *r, struct change *out);

/* For --gentle: units that reading keeps awake are read seldom. Call before the probe set is sampled. */
void probe_set_be_gentle(struct probe_set *r);

/* A signal as stated in a board file; see nvmtop-board(5). */
struct setting {
	const char *key, *value;
};
struct statement {
	const char *file; /* for errors */
	unsigned line;
	enum tier tier;
	const char *probe;        /* "rail" */
	const char *const *words; /* the words after it, without a '=' */
	size_t n_words;
	const struct setting *settings; /* in the order of the file; keys may repeat */
	size_t n_settings;
	const char *expression; /* what follows a lone '=', or NULL */
};

/* err_set() with "FILE:LINE: " before it. */
int line_error(const char *file, unsigned line, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Checks that the probe exists and accepts these words and settings. Needs no machine. Returns 0, or -1 and
 * sets *e to "FILE:LINE: what was expected". */
int probe_check(const struct statement *s, struct err *e);

/* Finds what the statement names below the probe set's root, and adds channels and probes. A missing signal
 * becomes a channel with a reason. tick_ns is the tier's period. Returns -1 only for an invalid statement or
 * if out of memory. */
int probe_open(struct probe_set *r, const struct statement *s, int64_t tick_ns, struct err *e);

#endif
