/* forms: an interval as text, in each format of nvmtop stream. */
#ifndef NVMTOP_SERVE_FORMS_H
#define NVMTOP_SERVE_FORMS_H

#include <stdio.h>

#include "serve/interval.h"

/* In this order in every table. */
#define STREAM_FORMS(X) X(jsonl) X(csv) X(tegrastats) X(openmetrics)
#define STREAM_STATS(X) X(mean) X(min) X(max)

enum { STREAM_MEAN, STREAM_MIN, STREAM_MAX, STREAM_STATS_ALL };

struct lines {
	const size_t *channels; /* the selected ones */
	size_t n;
	bool stats[STREAM_STATS_ALL]; /* asked for; none: the mean, under the name of the signal */
};

struct stream_form {
	const char *name;
	bool stats;  /* takes --stat */
	bool joules; /* has them */
	void (*begin)(FILE *f, const struct lines *l, const struct session *about); /* a heading; may be NULL */
	void (*line)(FILE *f, const struct lines *l, const struct interval *i);
};
#define STREAM_EXTERN(name) extern const struct stream_form form_of_##name;
STREAM_FORMS(STREAM_EXTERN)

/* The wall clock at the end of the interval; 0: unknown. */
static inline int64_t interval_wall_ns(const struct interval *i)
{
	return i->about->start.real_ns ? clock_wall_ns(&i->about->start, i->to_ns) : 0;
}

#endif
