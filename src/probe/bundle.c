/* Files of the slower tiers are many, and nobody knows of each how long its driver
 * takes: the sampling thread, which makes the rows of all tiers, does not read them.
 * Probes of a tier that have the same period are a bundle, a slow source that reads
 * one after the other into a row of its own; the sampling thread copies what is new
 * from there.  What hangs holds up its bundle and nothing else. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "nvmtop/probe.h"
#include "slow.h"

#define SHARE 0.5

/* What reads; it may outlive the rig. */
struct reader {
	struct root *root; /* of the probes */
	struct probe **probes;
	size_t n_probes, n;
	atomic_size_t at; /* the one that is read, or was last */
	double *row;      /* as wide as the tier's */
	uint16_t column[SLOW_VALUES];
};

struct bundle {
	struct probe probe;
	int64_t every_ns;
	struct reader *reader; /* the slow source's, when there is one */
	struct slow *slow;
	struct slow_seen seen;
};

static void reader_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct reader *r = arg;

	(void)wanted;
	for (size_t i = 0; i < r->n_probes; i++) {
		atomic_store_explicit(&r->at, i, memory_order_relaxed);
		r->probes[i]->ops->read(r->probes[i], t_ns, r->row);
	}
	for (size_t i = 0; i < r->n; i++)
		v[i] = r->row[r->column[i]];
}

static void reader_close(void *arg)
{
	struct reader *r = arg;

	for (size_t i = 0; i < r->n_probes; i++)
		r->probes[i]->ops->close(r->probes[i]);
	root_close(r->root);
	free(r->probes);
	free(r->row);
	free(r);
}

static const struct slow_ops reader_ops = {reader_read, reader_close};

static void bundle_read(struct probe *p, int64_t t_ns, double *row)
{
	struct bundle *b = (struct bundle *)p;
	const struct reader *r = b->reader;
	double v[SLOW_VALUES];

	slow_ask(b->slow, t_ns);
	if (!slow_take(b->slow, &b->seen, t_ns, v))
		return;
	for (size_t i = 0; i < r->n; i++)
		row[r->column[i]] = v[i];
}

static void bundle_start(struct probe *p)
{
	slow_start(((struct bundle *)p)->slow);
}

static bool bundle_hangs(const struct probe *p, int64_t now_ns, uint16_t *column)
{
	const struct bundle *b = (const struct bundle *)p;

	if (!slow_hangs(b->slow, now_ns))
		return false;
	*column = b->reader->probes[atomic_load_explicit(&b->reader->at, memory_order_relaxed)]->column;
	return true;
}

static void bundle_close(struct probe *p)
{
	struct bundle *b = (struct bundle *)p;

	if (b->slow)
		slow_stop(b->slow);
	else if (b->reader)
		reader_close(b->reader);
	free(b);
}

static const struct probe_ops bundle_ops = {bundle_read, bundle_close};

static struct reader *reader_new(const struct rig *r, enum tier tier)
{
	struct reader *made = calloc(1, sizeof *made);

	if (!made)
		return NULL;
	made->row = malloc(r->width[tier] * sizeof *made->row);
	made->probes = malloc(r->n_probes * sizeof(struct probe *));
	if (!made->row || !made->probes) {
		reader_close(made);
		return NULL;
	}
	for (size_t i = 0; i < r->width[tier]; i++)
		made->row[i] = NAN;
	made->root = r->root ? root_hold(r->root) : NULL;
	return made;
}

/* An empty one in the rig, or NULL. */
static struct bundle *bundle_new(struct rig *r, enum tier tier, int64_t every_ns)
{
	struct bundle *b = calloc(1, sizeof *b);

	if (!b)
		return NULL;
	b->probe.ops = &bundle_ops;
	b->probe.tier = tier;
	b->probe.start = bundle_start;
	b->probe.hangs = bundle_hangs;
	b->every_ns = every_ns;
	b->reader = reader_new(r, tier);
	if (!b->reader) {
		free(b);
		return NULL;
	}
	return rig_add_probe(r, &b->probe) < 0 ? NULL : b;
}

/* The one among those behind the first n probes that has room for p, or a new one. */
static struct bundle *bundle_for(struct rig *r, size_t n, const struct probe *p, int64_t every_ns)
{
	for (size_t i = n; i < r->n_probes; i++) {
		struct bundle *b = (struct bundle *)r->probes[i];
		if (b->probe.tier == p->tier && b->every_ns == every_ns &&
		    b->reader->n + p->width <= SLOW_VALUES)
			return b;
	}
	return bundle_new(r, p->tier, every_ns);
}

static void reader_add(struct reader *r, struct probe *p)
{
	r->probes[r->n_probes++] = p;
	for (uint16_t i = 0; i < p->width; i++)
		r->column[r->n++] = (uint16_t)(p->column + i);
}

/* From here on it can be read. */
static int bundle_finish(struct bundle *b)
{
	b->slow = slow_new("nvmtop-files", &reader_ops, b->reader, b->reader->n, b->every_ns, SHARE);
	if (!b->slow)
		b->reader = NULL; /* closed */
	return b->slow ? 0 : -1;
}

static bool may_be_bundled(const struct probe *p)
{
	return p->tier != TIER_FAST && p->width > 0 && p->width <= SLOW_VALUES;
}

/* Those that are in a bundle leave the list of the rig. */
static int move_probes(struct rig *r, const double hz[TIERS])
{
	size_t n = r->n_probes, kept = 0;
	int result = 0;

	for (size_t i = 0; i < n && !result; i++) {
		struct probe *p = r->probes[i];
		if (!may_be_bundled(p))
			continue;
		int64_t tick = llround((double)NS_PER_S / hz[p->tier]);
		struct bundle *b = bundle_for(r, n, p, p->period_ns > tick ? p->period_ns : tick);
		if (!b) {
			result = -1;
			break;
		}
		reader_add(b->reader, p);
		r->probes[i] = NULL;
	}
	for (size_t i = n; i < r->n_probes; i++)
		if (bundle_finish((struct bundle *)r->probes[i]) < 0)
			result = -1;
	for (size_t i = 0; i < r->n_probes; i++)
		if (r->probes[i])
			r->probes[kept++] = r->probes[i];
	r->n_probes = kept;
	return result;
}

int rig_bundle(struct rig *r, const double hz[TIERS], struct err *e)
{
	return move_probes(r, hz) < 0 ? err_set(e, ERR_FAILED, _("Out of memory for the engine.")) : 0;
}
