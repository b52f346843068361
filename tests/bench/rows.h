/* rows: those of a recording in memory, to be pushed as the engine does. */
#ifndef TESTS_BENCH_ROWS_H
#define TESTS_BENCH_ROWS_H

#include <stdio.h>
#include <stdlib.h>

#include "model/stream.h"
#include "trace/trace.h"

static struct tier_rows {
	size_t n, width, next;
	int64_t *t_ns;
	double *values;
} tiers[TIERS];
static struct session about;

static void *need(void *p)
{
	if (p)
		return p;
	fputs("out of memory\n", stderr);
	exit(1);
}

static void load(struct trace *t, enum tier tier)
{
	struct tier_rows *r = &tiers[tier];
	double *column;

	r->n = (size_t)trace_rows(t, tier);
	r->width = about.width[tier];
	r->t_ns = need(calloc(r->n + 1, sizeof(*r->t_ns)));
	r->values = need(calloc(r->n * r->width + 1, sizeof(*r->values)));
	column = need(calloc(r->n + 1, sizeof(*column)));
	trace_row_times(t, tier, 0, r->n, r->t_ns);
	for (size_t c = 0; c < about.n_channels; c++) {
		if (about.channels[c].tier != tier)
			continue;
		trace_row_values(t, c, 0, r->n, column);
		for (size_t i = 0; i < r->n; i++)
			r->values[i * r->width + about.channels[c].column] = column[i];
	}
	free(column);
}

/* The next ones before t_ns. */
static void rows_push(struct sink *s, enum tier tier, int64_t t_ns)
{
	struct tier_rows *r = &tiers[tier];
	size_t first = r->next;

	while (r->next < r->n && r->t_ns[r->next] < t_ns)
		r->next++;
	if (r->next > first)
		s->ops->rows(s, &(struct rows) {tier, r->next - first, r->width, r->t_ns + first,
						r->values + first * r->width});
}

#endif
