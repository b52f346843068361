/* range-energy: time, energy and GPU load of sets of intervals that are shorter than the readings of power are
 * far apart. docs/ranges.md derives the error bound. */
#ifndef NVMTOP_REPORT_RANGE_ENERGY_H
#define NVMTOP_REPORT_RANGE_ENERGY_H

#include "model/timeline.h"

struct trace;

/* Values over time with their integral: linear between readings, or the value of each row since the one before. */
struct curve {
	size_t n, room;
	bool steps;
	int64_t next_ns, before_ns; /* where reading goes on, and the time of the last row */
	struct curve_point {
		int64_t t_ns;
		double v;
		double area;  /* integral from the first reading, value times seconds */
		double known; /* seconds of it that are no gap */
		double noise; /* variance of the integral, from readings at random moments */
	} * p;
};

/* The readings of a part of the time. */
struct curves {
	struct timeline *timeline;
	struct trace *trace;        /* reads rows faster than its timeline; or NULL */
	size_t power, gpu, hottest; /* channels; SIZE_MAX: none */
	int64_t tick_ns;            /* between rows of power */
	int64_t every_ns;           /* between readings of power */
	int64_t window_ns;          /* a reading is a mean within this time before its row */
	int64_t column_ns;          /* of a history without rows: it has the mean of that time, too */
	bool noisy;                 /* power between readings was not measured */
	struct curve watts, load, heat;
	size_t rows; /* read for this part */
	bool no_memory;
};
void curves_begin(struct curves *c, struct timeline *timeline, struct trace *trace, size_t power, size_t gpu,
		  size_t hottest);
/* Reads what spent_add() needs for intervals in [from_ns, to_ns], part after part. Sets no_memory on failure. */
void curves_read(struct curves *c, int64_t from_ns, int64_t to_ns);
/* How far that goes beyond the part. */
int64_t curves_margin(const struct curves *c);
void curves_free(struct curves *c);
/* Integral of the curve, and the seconds that are known. */
struct curve_point curve_between(const struct curve *c, int64_t from_ns, int64_t to_ns);

struct interval {
	int64_t begin_ns, end_ns;
};

/* Sums over intervals. Begin with zeros, and NaN as the hottest. */
struct spent {
	int64_t time_ns;
	double joules, known, noise; /* known in seconds */
	double readings;
	double load, loaded; /* percent times seconds, and these seconds */
	double hottest;
	double leak;      /* seconds of power that readings attribute to the time around the intervals */
	double misplaced; /* variance of the joules from the place of each edge */
	double widest;    /* the largest variation of power around an edge, in W */
	uint64_t edges;
	int64_t begin_ns; /* of the last interval, and the variation there, as long as it goes on */
	double begin_varies;
	struct {
		double n, c, v, cc, cv, vv;
	} around;          /* readings around edges: power against the share of their window inside */
	struct seen *seen; /* readings that the next interval may lie around, too */
	size_t n_seen, room;
};
/* The list is sorted and without overlap. What lies in [from_ns, to_ns] is added, which follows the part before. */
void spent_add(struct spent *s, struct curves *c, const struct interval *list, size_t n, int64_t from_ns,
	       int64_t to_ns);
void spent_free(struct spent *s);

/* The results; NaN: unknown. */
struct spent_result {
	double joules, within, watts, gpu;
	const char *why; /* no joules; a message id */
};
struct spent_result spent_get(const struct spent *s, const struct curves *c);

#endif
