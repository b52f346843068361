/* A set of fake probes; each counts its reads and writes one column. */
#ifndef FAKE_RIG_H
#define FAKE_RIG_H

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"

struct fake {
	struct probe probe;
	size_t column;
	unsigned reads;
	int64_t last_read_ns;
	double value; /* stored by the next read */
	size_t from_column; /* for derived ones: value = row[from_column] * 2 */
	void (*hook)(struct fake *f); /* called in each read; may be NULL */
};

static inline void fake_read(struct probe *p, int64_t t_ns, double *row)
{
	struct fake *f = (struct fake *)(void *)p;

	f->reads++;
	f->last_read_ns = t_ns;
	if (f->hook)
		f->hook(f);
	row[f->column] = f->probe.derived ? row[f->from_column] * 2 : f->value;
}

static inline void fake_close(struct probe *p)
{
	free(p);
}

static const struct probe_ops fake_ops = {fake_read, fake_close};

static inline struct probe_set *fake_probes(void)
{
	struct probe_set *r = calloc(1, sizeof(*r));

	assert(r);
	return r;
}

/* Add a channel and its probe. */
static inline struct fake *fake_add(struct probe_set *r, enum tier tier, enum channel_kind kind, int64_t period_ns)
{
	struct channel c = {.kind = kind, .tier = tier, .lo = NAN, .hi = NAN};
	struct fake *f = calloc(1, sizeof(*f));
	struct channel *added;

	assert(f);
	snprintf(c.name, sizeof(c.name), "fake%zu", r->n_channels);
	added = probe_set_add_channel(r, &c);
	assert(added);
	f->probe.ops = &fake_ops;
	f->probe.tier = tier;
	f->probe.period_ns = period_ns;
	f->column = added->column;
	if (probe_set_add_probe(r, &f->probe))
		abort();
	return f;
}

#endif
