/* energy: joules of a power source, with a bound for 95 %.
 *
 * A reading is the mean power over a window, not that of a moment. Of one long interval (a phase, a selection),
 * joules are the integral of the line between the middles of the windows. Of many short ones (ranges of one name),
 * that line would lose part of each step, so readings are a sample: power inside and outside is fitted to the share
 * of each window that is inside. Where a counter of joules is finer than the readings, what it rises by are the
 * readings; else they are scaled to it. */
#ifndef NVMTOP_MODEL_ENERGY_H
#define NVMTOP_MODEL_ENERGY_H

#include "model/timeline.h"

struct power_reading {
	int64_t end_ns, window_ns;
	double watts;
};

/* How rows become readings, and what is known of all of them. */
struct energy_source {
	size_t power, age, counter; /* channels; SIZE_MAX: none */
	enum tier tier;
	int64_t tick_ns, window_ns, age_ns;
	int64_t every_ns; /* a source that is read more often repeats its value */
	int64_t hole_ns;  /* readings further apart leave a gap */
	int64_t hold_ns;  /* into which each of them reaches that far */
	int64_t reach_ns; /* how far beyond an interval its rows are */
	bool known;       /* over which time a value is a mean: false for a file that does not say it */
	bool assumed;     /* that time is how often the source changes, by its board file */
	bool counts;      /* the readings are what the counter rose by */
	double scale;     /* makes the sum of the recording that of its counter */
	double least, most, mean; /* of the recording, in W */
};
/* At how many moments, of that length, a window may have ended that a row shows. */
int64_t energy_unsure_ns(const struct energy_source *s);
/* How far its readings are apart. */
static inline int64_t energy_every_ns(const struct energy_source *s)
{
	return s->every_ns > s->tick_ns ? s->every_ns : s->tick_ns;
}
/* By the session alone: without what is known of all readings. */
void energy_source_of(struct energy_source *s, const struct session *about, size_t power);
/* Reads the least, most and mean power. */
void energy_source_extremes(struct energy_source *s, struct timeline *t);
/* Reads what is known of all: that or, where there is a counter, all rows. */
void energy_source_read(struct energy_source *s, struct timeline *t, size_t power);


/* Rows on their way to readings: begin with zeros. */
struct energy_rows {
	int64_t row_ns, last_ns; /* of the row before, and of that of the last reading */
	double v;
	bool begun, changed;
};
/* Takes a row, with a value in the channel's unit; age_ms: of the companion channel. Returns the number of readings. */
size_t energy_take(const struct energy_source *s, struct energy_rows *r, int64_t t_ns, double v, double age_ms,
		  struct power_reading out[2]);
/* Reads on: at most `most` readings of rows in [*next_ns, to_ns). Returns 0 at the end. */
size_t energy_read(const struct energy_source *s, struct timeline *t, struct energy_rows *r, int64_t *next_ns,
		   int64_t to_ns, struct power_reading *out, size_t most);

struct energy_result {
	double joules, within; /* NaN: unknown */
	double known_s;        /* the time for which power is known; W is joules / known_s */
	const char *why;       /* no joules; a message id */
};

/* One interval, to which readings in order of time are added from reach_ns before it to reach_ns after it. */
struct energy {
	int64_t from_ns, to_ns;
	struct sum joules;
	int64_t known_ns;
	double noise; /* variance */
	bool begun;
	int64_t last_ns; /* of the last reading: its middle, or the end of a counter's window */
	double last, step;
	struct {
		double least, most, apart;
		size_t n;
	} edge[2]; /* readings around */
};
void energy_begin(struct energy *e, int64_t from_ns, int64_t to_ns);
void energy_add(struct energy *e, const struct energy_source *s, const struct power_reading *list, size_t n);
struct energy_result energy_get(const struct energy *e, const struct energy_source *s);
/* The same by the rows of a timeline. */
struct energy_result energy_between(const struct energy_source *s, struct timeline *t, int64_t from_ns, int64_t to_ns);
/* Adds the result of another interval. */
void energy_join(struct energy_result *r, const struct energy_result *other);

/* The power whose joules are told of a recording: the board's total; else the only power signal; else the sum of GPUs
 * and processors; else each by its name, since one rail may be a part of another. */
#define POWER_PARTS 32
struct power_parts {
	size_t n, channel[POWER_PARTS];
	bool add_up;
};
void power_parts_find(struct power_parts *p, const struct session *about);
/* Their labels, or their names, with " + " between them. */
void power_parts_text(const struct power_parts *p, const struct session *about, bool labels, char *out, size_t size);
/* Their sum, which has the watts and joules of all; not known if one of them is not. */
struct energy_result power_parts_sum(const struct energy_result *list, size_t n);

/* The same of all rows of a stream as they come. */
#define METER_LATE 32 /* readings, by which the scale follows: more than there are between two changes of a counter */
enum { BY_POWER, BY_COUNTER, METER_SUMS };
struct energy_meter {
	struct energy_source source[METER_SUMS]; /* of a channel without a counter the second one has no readings */
	struct energy_rows rows[METER_SUMS];
	struct energy sum[METER_SUMS];
	struct power_reading newest[METER_SUMS][2]; /* readings of the last row */
	size_t n[METER_SUMS];
	/* What the counter rose by, and what the readings say of the same time, less the late ones; gaps are left out. */
	double counted, told;
	int64_t counted_ns, told_ns;
	size_t n_counted;
	int64_t last_ns;      /* the newest change of the counter */
	struct energy scaled; /* since the last gap; what is before is in `told` */
	struct power_reading late[METER_LATE];
	size_t n_late;
};
void energy_meter_begin(struct energy_meter *m, const struct session *about, size_t power);
/* The session has other descriptions. */
void energy_meter_described(struct energy_meter *m, const struct session *about);
/* A row of any tier; values of its own: in mW, ms and J, NaN if there is no such channel. */
void energy_meter_row(struct energy_meter *m, int64_t t_ns, double mw, double age_ms, double joules);
void energy_meter_rows(struct energy_meter *m, const struct session *about, const struct rows *r);
/* The readings so far: of the counter, or scaled by it. */
struct energy_source energy_meter_source(const struct energy_meter *m);
/* Up to to_ns. */
struct energy_result energy_meter_get(const struct energy_meter *m, int64_t to_ns);

#endif
