/* Makes the ticks of one tier: reads the probes that are due, rounds the values, and puts one row into the
 * ring, with no allocation, no lock and no stdio. */
#include "engine/sampler.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"

#define RING_SECONDS  2 /* the collecting thread may stall for this long */
#define RING_ROWS_MIN 64

/* What a tick needs of a probe, in one place: after a sleep the caches are cold, and visiting each probe that
 * is not due would cost a miss. */
struct sampler_slot {
	int64_t due_ns;
	struct probe *probe;
};

struct sampler {
	enum tier tier;
	struct grid grid;
	size_t width;
	double *row;        /* what the probes write; keeps the previous values */
	double *seen;       /* the row when it was last rounded */
	double *rounded;    /* the rounded values for the stream */
	struct sampler_slot *slots; /* the probes that read, then the derived ones */
	size_t n_read, n_slots;
	bool timed; /* a row has the time at which its rails were read */
	int64_t newest_ns;
	struct ring *ring;
	enum channel_kind *kinds; /* by column */
	uint64_t skipped;         /* ticks skipped since the previous row */

	atomic_uint_least64_t rows, late;
	atomic_int_least64_t worst_late, newest;
	atomic_uint_least32_t lateness[LATENESS_STEPS];
};

/* --- when ticks are due --- */

int64_t grid_due(const struct grid *g)
{
	return g->start_ns + g->tick * g->period_ns;
}

static uint64_t grid_skip(struct grid *g, int64_t tick)
{
	uint64_t skipped = (uint64_t)(tick - g->tick);

	g->tick = tick;
	return skipped;
}

uint64_t grid_begin(struct grid *g, int64_t now_ns)
{
	int64_t newest = (now_ns - g->start_ns) / g->period_ns;

	return newest > g->tick ? grid_skip(g, newest) : 0;
}

uint64_t grid_end(struct grid *g, int64_t now_ns)
{
	int64_t newest;

	g->tick++;
	if (now_ns < grid_due(g)) {
		g->overran = false;
		return 0;
	}
	if (!g->overran) {
		g->overran = true;
		return 0;
	}
	g->overran = false;
	newest = (now_ns - g->start_ns) / g->period_ns;
	return grid_skip(g, newest + 1);
}

/* --- ticks --- */

/* Sets up the tier's columns, probes and ring. Returns false if out of memory. */
static bool sampler_set_up(struct sampler *s, const struct probe_set *probes, double hz)
{
	size_t rows = (size_t)(hz * RING_SECONDS);

	s->width = probes->width[s->tier];
	s->kinds = calloc(s->width + 1, sizeof(*s->kinds));
	s->row = calloc(s->width + 1, sizeof(*s->row));
	s->seen = calloc(s->width + 1, sizeof(*s->seen));
	s->rounded = calloc(s->width + 1, sizeof(*s->rounded));
	s->slots = calloc(probes->n_probes + 1, sizeof(*s->slots));
	s->ring = ring_new(s->width, rows < RING_ROWS_MIN ? RING_ROWS_MIN : rows);
	if (!s->kinds || !s->row || !s->seen || !s->rounded || !s->slots || !s->ring)
		return false;
	for (size_t i = 0; i < s->width; i++)
		s->row[i] = s->seen[i] = s->rounded[i] = NAN;
	for (size_t i = 0; i < probes->n_channels; i++) {
		const struct channel *c = &probes->channels[i];

		if (c->tier == s->tier && c->column < s->width)
			s->kinds[c->column] = c->kind;
	}
	for (int derived = 0; derived <= 1; derived++) {
		for (size_t i = 0; i < probes->n_probes; i++) {
			struct probe *p = probes->probes[i];

			if (p->tier != s->tier || p->derived != derived)
				continue;
			s->slots[s->n_slots++].probe = p;
			s->timed |= p->timed && s->tier != TIER_FAST;
		}
		if (!derived)
			s->n_read = s->n_slots;
	}
	return true;
}

struct sampler *sampler_new(enum tier tier, double hz, const struct probe_set *probes, struct err *e)
{
	struct sampler *s = calloc(1, sizeof(*s));

	if (!s)
		goto no_memory;
	s->tier = tier;
	s->grid.period_ns = llround((double)NS_PER_S / hz);
	if (!sampler_set_up(s, probes, hz))
		goto no_memory;
	return s;
no_memory:
	err_set(e, ERR_FAILED, _("out of memory for the rows of the %s tier: lower its rate"),
		tier_name(tier));
	sampler_free(s);
	return NULL;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	ring_free(s->ring);
	free(s->slots);
	free(s->rounded);
	free(s->seen);
	free(s->row);
	free(s->kinds);
	free(s);
}

/* Due times stay on multiples of the probe's period, independent of the tier's. */
static bool sampler_read_slot(struct sampler *s, struct sampler_slot *slot, int64_t due_ns, int64_t now_ns)
{
	struct probe *p = slot->probe;

	if (p->period_ns > 0)
		slot->due_ns =
			s->grid.start_ns + ((due_ns - s->grid.start_ns) / p->period_ns + 1) * p->period_ns;
	probe_read(p, now_ns, s->row);
	if (probes_left_me())
		return false; /* the sampler may have been freed */
	s->timed |= p->timed && s->tier != TIER_FAST; /* rails that came late */
	if (p->period_ns <= 0)
		slot->due_ns = INT64_MIN;
	return true;
}

/* Rounds the values that changed since the last tick; most did not. Compares bits, so that NaN equals NaN. */
static void sampler_round(struct sampler *s)
{
	for (size_t i = 0; i < s->width; i++) {
		if (!memcmp(&s->row[i], &s->seen[i], sizeof(s->row[i])))
			continue;
		s->seen[i] = s->row[i];
		s->rounded[i] = channel_round(s->kinds[i], s->row[i]);
	}
}

/* Returns the time of the row: that of the tick, or, with rails, that of their newest reading. Without a new
 * reading it is that of the previous tick, because a later reading goes into a later row. It is always later
 * than the last row's time. */
static int64_t sampler_row_time(struct sampler *s, int64_t due_ns, int64_t now_ns)
{
	int64_t t_ns = now_ns, newest = 0;

	for (size_t i = 0; s->timed && i < s->n_read; i++)
		if (s->slots[i].probe->read_ns > newest)
			newest = s->slots[i].probe->read_ns;
	if (s->timed)
		t_ns = newest ? newest : due_ns - s->grid.period_ns;
	if (t_ns <= s->newest_ns)
		t_ns = s->newest_ns + 1;
	s->newest_ns = t_ns;
	return t_ns;
}

bool sampler_tick(struct sampler *s, int64_t due_ns, int64_t now_ns, uint64_t late)
{
	bool renewed = false;
	int64_t t_ns;

	for (size_t i = 0; i < s->n_read; i++) {
		if (due_ns < s->slots[i].due_ns)
			continue;
		if (!sampler_read_slot(s, &s->slots[i], due_ns, now_ns))
			return false;
		renewed = true;
	}
	t_ns = sampler_row_time(s, due_ns, now_ns);
	for (size_t i = s->n_read; renewed && i < s->n_slots; i++)
		probe_read(s->slots[i].probe, t_ns, s->row);
	sampler_round(s);

	if (ring_push(s->ring, t_ns, late, s->rounded))
		atomic_fetch_add_explicit(&s->rows, 1, memory_order_relaxed);
	if (late)
		atomic_fetch_add_explicit(&s->late, late, memory_order_relaxed);
	atomic_store_explicit(&s->newest, t_ns, memory_order_relaxed);
	return true;
}

/* Only the sampling thread writes these: plain loads and stores suffice. */
static void sampler_count_lateness(struct sampler *s, int64_t late_ns)
{
	atomic_uint_least32_t *n = &s->lateness[lateness_step(late_ns)];

	if (late_ns > atomic_load_explicit(&s->worst_late, memory_order_relaxed))
		atomic_store_explicit(&s->worst_late, late_ns, memory_order_relaxed);
	atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
}

void sampler_begin(struct sampler *s, int64_t grid_ns)
{
	s->grid.start_ns = grid_ns;
	s->grid.tick = 0;
	for (size_t i = 0; i < s->n_slots; i++)
		s->slots[i].due_ns = INT64_MIN;
}

int64_t sampler_due(const struct sampler *s)
{
	return grid_due(&s->grid);
}

int64_t sampler_run(struct sampler *s, int64_t now_ns)
{
	sampler_count_lateness(s, now_ns - grid_due(&s->grid));
	s->skipped += grid_begin(&s->grid, now_ns);
	if (!sampler_tick(s, grid_due(&s->grid), now_ns, s->skipped))
		return -1;
	now_ns = clock_now_ns();
	s->skipped = grid_end(&s->grid, now_ns);
	return now_ns;
}

void sampler_run_past(struct sampler *s)
{
	int64_t due_ns = grid_due(&s->grid);

	sampler_tick(s, due_ns, due_ns, 0);
	grid_end(&s->grid, due_ns);
}

struct ring *sampler_ring(struct sampler *s)
{
	return s->ring;
}

int64_t sampler_period_ns(const struct sampler *s)
{
	return s->grid.period_ns;
}

void sampler_counts(const struct sampler *s, struct sampler_counts *out)
{
	out->rows = atomic_load_explicit(&s->rows, memory_order_relaxed);
	out->late = atomic_load_explicit(&s->late, memory_order_relaxed);
	out->lost = ring_lost(s->ring);
	out->worst_late_ns = atomic_load_explicit(&s->worst_late, memory_order_relaxed);
	out->newest_ns = atomic_load_explicit(&s->newest, memory_order_relaxed);
}

void sampler_lateness(const struct sampler *s, struct lateness *out)
{
	for (size_t i = 0; i < LATENESS_STEPS; i++)
		out->n[i] = atomic_load_explicit(&s->lateness[i], memory_order_relaxed);
}
