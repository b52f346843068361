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
	int64_t every_ns;  /* how far its readings are apart; a source that is read more often repeats its value */
	int64_t unsure_ns; /* at how many moments, of that length, a window may have ended that a row shows */
	int64_t hole_ns;   /* readings further apart leave a gap */
	int64_t hold_ns;   /* into which each of them reaches that far */
	int64_t begin_ns;  /* of the recording, to which its first reading reaches, as the last one does to the end of an interval, */
	int64_t edge_ns;   /* if that is no further than a row that is late by a tick */
	int64_t reach_ns;  /* how far beyond an interval its rows are */
	bool known;	   /* over which time a value is a mean: false for a file that does not say it */
	bool assumed;	   /* that time is how often the source changes, by its board file */
	bool counts;	   /* the readings are what the counter rose by */
	double scale;	   /* makes the sum of the recording that of its counter */
	double least, most, mean; /* of the recording, in W */
};
/* By the session alone: without what is known of all readings. */
void energy_source_of(struct energy_source *s, const struct session *about, size_t power);
/* Reads what is known of all: of power with a counter all rows, else only the least, most and mean. */
void energy_source_read(struct energy_source *s, struct timeline *t, size_t power);

/* Rows on their way to readings: begin with zeros, and where reading begins. */
struct energy_rows {
	int64_t next_ns;	 /* of a timeline */
	int64_t row_ns, last_ns; /* of the row before, and of that of the last reading */
	double v;
	bool begun, changed;
	bool coarse; /* some were means of columns, whose rows are gone: no bound can be told */
};
/* Takes a row, with a value in the channel's unit; age_ms: of the companion channel. Returns the number of readings. */
size_t energy_take(const struct energy_source *s, struct energy_rows *r, int64_t t_ns, double v, double age_ms,
		   struct power_reading out[2]);
/* Reads on: at most `most` readings of rows before to_ns. Returns 0 at the end. */
size_t energy_read(const struct energy_source *s, struct timeline *t, struct energy_rows *r, int64_t to_ns,
		   struct power_reading *out, size_t most);

/* Power between two neighbouring readings: a line or, where a gap is between them, how far each of them reaches. */
struct power_line {
	int64_t from_ns, to_ns;
	double from, to; /* W */
};
/* Up to which reading lines were made, by its middle or, of a counter, the end of its window: begins with zeros. */
struct power_last {
	bool begun;
	int64_t at_ns;
	double watts;
};
/* Returns the number of lines that the next reading adds, 0 for one that is not newer; NULL: none follows. */
size_t power_lines(const struct energy_source *s, struct power_last *last, const struct power_reading *r,
		   struct power_line out[3]);

struct energy_result {
	double joules, within; /* NaN: unknown */
	double known_s;	       /* the time for which power is known; W is joules / known_s */
	const char *why;       /* no joules; a message id */
};

/* What lines come to. */
struct energy_sum {
	struct sum joules;
	int64_t known_ns;
	double noise;	 /* variance */
	double hidden_s; /* squares of the times between readings that are too far apart to show what was there */
};

/* Where reading is. */
struct energy_state {
	struct energy_rows rows;
	struct power_last last;
	double step;
};

/* One interval, to which readings in order of time are added from reach_ns before it to reach_ns after it. Begin with
 * the interval, and zeros. */
struct energy {
	int64_t from_ns, to_ns;
	struct energy_sum sum;
	struct energy_state at;
	struct {
		double least, most, apart;
		size_t n;
	} edge[2]; /* readings around */
};
void energy_add(struct energy *e, const struct energy_source *s, const struct power_reading *r);
struct energy_result energy_get(const struct energy *e, const struct energy_source *s);

/* What the rows of a span add to an interval around it, so that a long interval is read once. It is the same for all
 * intervals that are around [least_ns, most_ns), if reading comes to its first row in the same state. */
struct energy_part {
	size_t power; /* of its source, as far as readings depend on it */
	int64_t window_ns;
	bool counts;
	int64_t from_ns, to_ns, least_ns, most_ns;
	struct energy_state before, after;
	struct energy_sum sum;
};
void energy_part_read(struct energy_part *p, const struct energy_source *s, struct timeline *t, int64_t from_ns, int64_t to_ns);

/* The joules of an interval by the rows of a timeline, and by the parts that it has. A walk takes the parts up to to_ns, for
 * those who read the same rows for something else, and at the end of the interval the rest: then its joules are known. It
 * begins with the interval, part.to_ns at its begin, and zeros. */
struct energy_walk {
	struct energy sum;
	struct energy_part part; /* the newest */
};
struct energy_result energy_walk(struct energy_walk *w, const struct energy_source *s, struct timeline *t, int64_t to_ns);
struct energy_result energy_between(const struct energy_source *s, struct timeline *t, int64_t from_ns, int64_t to_ns);

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

/* The same of all rows of a stream as they come: readings of the power, and what its counter rises by. */
#define METER_LATE 32 /* readings, by which the scale follows: more than there are between two changes of a counter */
enum { BY_POWER, BY_COUNTER, METER_SUMS, METER_VALUES };
struct energy_meter {
	struct energy_source source[METER_SUMS];
	size_t column[METER_VALUES]; /* of a row: power, its counter and age; SIZE_MAX: none */
	struct energy sum[METER_SUMS];
	struct power_reading newest[METER_SUMS][2]; /* readings of the last row */
	size_t n[METER_SUMS];
	double least, most, watts; /* of all readings of the power, and their sum */
	/* What the counter rose by, and what the readings say of the same time; gaps are left out. */
	double counted;
	int64_t counted_ns, last_ns; /* last: its newest change */
	size_t n_counted;
	struct energy_result told; /* before the last gap */
	struct energy run;	   /* since then, less the late ones */
	struct power_reading late[METER_LATE];
	size_t n_read; /* of the power */
};
void energy_meter_begin(struct energy_meter *m, const struct session *about, size_t power);
/* The session has other descriptions. */
void energy_meter_described(struct energy_meter *m, const struct session *about);
/* Row i of any tier. Returns false if it is not that of the power. */
bool energy_meter_row(struct energy_meter *m, const struct rows *r, size_t i);
/* The readings so far: of the counter, or scaled by it. */
struct energy_source energy_meter_source(const struct energy_meter *m);
/* Up to to_ns, since the first row of any tier. */
struct energy_result energy_meter_get(const struct energy_meter *m, int64_t to_ns);

#endif
