/* range-energy: time, energy and GPU load of sets of intervals that are shorter than the readings of power are
 * far apart. docs/ranges.md derives the error bound. */
#ifndef NVMTOP_REPORT_RANGE_ENERGY_H
#define NVMTOP_REPORT_RANGE_ENERGY_H

#include "report/select.h"

/* Values over time with their integral: linear between readings, or the value of each row since the one before. */
struct curve {
	size_t n, room;
	bool steps;
	int64_t *t_ns;
	struct curve_point {
		double v;
		double area;  /* integral from the first reading, value times seconds */
		double known; /* seconds of it that are no gap */
		double noise; /* variance of the integral, from readings at random moments */
	} * p;
};

/* The readings of a part of a trace. */
struct curves {
	struct trace *trace;
	size_t power, gpu, hottest; /* channels; SIZE_MAX: none */
	int64_t tick_ns;            /* between rows of power */
	int64_t every_ns;           /* between readings of power */
	int64_t window_ns;          /* a reading is a mean within this time before its row */
	bool noisy;                 /* power between readings was not measured */
	struct curve watts, load, heat;
	struct curve inside,
		covered; /* time of the intervals, and the share of each reading's window in them */
	bool no_memory;
};
void curves_begin(struct curves *c, struct trace *t, size_t power, size_t gpu, size_t hottest);
/* Reads what spent_add() needs for intervals in [from_ns, to_ns]. Sets no_memory on failure. */
void curves_read(struct curves *c, int64_t from_ns, int64_t to_ns);
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
	double load, loaded;         /* percent times seconds, and these seconds */
	double hottest;
	double leak;      /* seconds of power that readings attribute to the time around the intervals */
	double misplaced; /* variance of the joules from the place of each edge */
	double widest;    /* the largest variation of power around an edge, in W */
	uint64_t edges;
	struct {
		double n, c, v, cc, cv, vv;
	} around; /* readings around edges: power against the share of their window inside */
};
/* The list is sorted and without overlap. */
void spent_add(struct spent *s, struct curves *c, const struct interval *list, size_t n);

/* The results; NaN: unknown. */
struct spent_result {
	double joules, within, watts, gpu;
	const char *why; /* no joules; a message id */
};
struct spent_result spent_get(const struct spent *s, const struct curves *c);

#endif
