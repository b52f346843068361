/* Makes the rows of all tiers in one thread: a wake-up costs more than a row, and a tick of a slower tier coincides with
 * one of the fast tier. Anything that could block for long is read by reader threads, so that tiers never wait for each
 * other. A tick reads the probes that are due, rounds the values, and puts one row into the ring of its tier, with no
 * allocation, no lock and no stdio.
 *
 * The thread sleeps until absolute times, so that errors do not add up to a drift, and wakes at once when
 * stopped: the sleep is a futex on the stop word, which costs as much as clock_nanosleep().
 *
 * SCHED_FIFO reduces late wake-ups on a busy machine from some percent to none. If it is refused, the thread
 * runs without it. The priority stays below 50, at which the kernel runs its threaded interrupts. */
#include "engine/sampler.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "util/intl.h"
#include "util/thread.h"

#define PRIORITY      20
#define RING_SECONDS  2 /* the engine thread may stall for this long */
#define RING_ROWS_MIN 64

struct sampler_tier {
	struct ring *ring; /* NULL: the tier has no channel */
	struct grid grid;
	size_t width;
	double *row;                /* what the probes write; keeps the previous values */
	double *seen;               /* the row when it was last rounded */
	double *rounded;            /* the rounded values for the stream */
	enum channel_kind *kinds;   /* by column */
	struct probe **probes;      /* those that read, then the derived ones */
	size_t n_read, n_probes;
	bool timed; /* a row has the time at which its rails were read */
	uint64_t skipped; /* ticks skipped since the previous row */

	atomic_uint_least64_t late;
	atomic_int_least64_t newest_ns;
};

struct sampler {
	struct sampler_tier tiers[TIERS];
	atomic_uint_least32_t lateness[LATENESS_STEPS]; /* of the fast tier */
	pthread_t thread;
	bool started;
	const struct probe_set *probes; /* whose niceness it runs at, and not with SCHED_FIFO, if that has one */
	_Atomic uint32_t stop, done;
	atomic_bool realtime;
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
	g->tick++;
	if (now_ns < grid_due(g)) {
		g->overran = false;
		return 0;
	}
	g->overran = !g->overran;
	return g->overran ? 0 : grid_skip(g, (now_ns - g->start_ns) / g->period_ns + 1);
}

/* --- ticks --- */

/* Sets up the tier's columns, probes and ring. Returns false if out of memory. */
static bool sampler_set_up(struct sampler_tier *s, enum tier tier, const struct probe_set *probes, double hz)
{
	size_t rows = (size_t)(hz * RING_SECONDS);

	s->width = probes->width[tier];
	s->grid.period_ns = llround((double)NS_PER_S / hz);
	if (!s->width)
		return true;
	s->kinds = calloc(s->width, sizeof(*s->kinds));
	s->row = calloc(3 * s->width, sizeof(*s->row));
	s->probes = calloc(probes->n_probes + 1, sizeof(*s->probes));
	s->ring = ring_new(s->width, rows < RING_ROWS_MIN ? RING_ROWS_MIN : rows);
	if (!s->kinds || !s->row || !s->probes || !s->ring)
		return false;
	s->seen = s->row + s->width;
	s->rounded = s->seen + s->width;
	for (size_t i = 0; i < 3 * s->width; i++)
		s->row[i] = NAN;
	for (size_t i = 0; i < probes->n_channels; i++)
		if (probes->channels[i].tier == tier)
			s->kinds[probes->channels[i].column] = probes->channels[i].kind;
	for (int derived = 0; derived <= 1; derived++) {
		for (size_t i = 0; i < probes->n_probes; i++) {
			struct probe *p = probes->probes[i];

			if (p->tier != tier || p->derived != derived)
				continue;
			s->probes[s->n_probes++] = p;
			s->timed |= p->timed && tier != TIER_FAST;
		}
		if (!derived)
			s->n_read = s->n_probes;
	}
	return true;
}

struct sampler *sampler_new(const struct probe_set *probes, const double hz[TIERS], struct err *e)
{
	struct sampler *s = calloc(1, sizeof(*s));

	if (s)
		s->probes = probes;
	else
		err_set(e, ERR_FAILED, _("out of memory"));
	for (enum tier t = 0; s && t < TIERS; t++) {
		if (sampler_set_up(&s->tiers[t], t, probes, hz[t]))
			continue;
		err_set(e, ERR_FAILED, _("out of memory for the rows of the %s tier: lower its rate"),
			tier_name(t));
		sampler_free(s);
		s = NULL;
	}
	return s;
}

void sampler_free(struct sampler *s)
{
	for (struct sampler_tier *t = s ? s->tiers : NULL; s && t < s->tiers + TIERS; t++) {
		ring_free(t->ring);
		free(t->probes);
		free(t->row);
		free(t->kinds);
	}
	free(s);
}

bool sampler_tick(struct sampler *sampler, enum tier tier, int64_t due_ns, int64_t now_ns, uint64_t late)
{
	struct sampler_tier *s = &sampler->tiers[tier];
	int64_t t_ns = now_ns, newest_ns = 0, last_ns = atomic_load_explicit(&s->newest_ns, memory_order_relaxed);
	bool renewed = false;

	for (size_t i = 0; i < s->n_read; i++) {
		struct probe *p = s->probes[i];

		if (due_ns < p->due_ns)
			continue;
		/* Due times stay on multiples of the probe's period, independent of the tier's. */
		if (p->period_ns > 0)
			p->due_ns = s->grid.start_ns + ((due_ns - s->grid.start_ns) / p->period_ns + 1) * p->period_ns;
		probe_read(p, now_ns, s->row);
		if (probes_left_me())
			return false; /* the sampler may have been freed */
		s->timed |= p->timed && tier != TIER_FAST; /* rails that came late */
		renewed = true;
	}
	/* The time of the row is that of the tick, or, with rails, that of their newest reading. Without a new reading it
	 * is that of the previous tick, because a later reading goes into a later row. It is always later than the last
	 * row's. */
	for (size_t i = 0; s->timed && i < s->n_read; i++)
		if (s->probes[i]->read_ns > newest_ns)
			newest_ns = s->probes[i]->read_ns;
	if (s->timed)
		t_ns = newest_ns ? newest_ns : due_ns - s->grid.period_ns;
	t_ns -= t_ns % NS_PER_US; /* a reading takes longer, and the rest would be a twelfth of a recording */
	t_ns = t_ns > last_ns ? t_ns : last_ns + NS_PER_US;
	for (size_t i = s->n_read; renewed && i < s->n_probes; i++)
		probe_read(s->probes[i], t_ns, s->row);
	/* Most values did not change since they were rounded. Bits are compared, so that NaN equals NaN. */
	for (size_t i = 0; i < s->width; i++) {
		if (!memcmp(&s->row[i], &s->seen[i], sizeof(s->row[i])))
			continue;
		s->seen[i] = s->row[i];
		s->rounded[i] = channel_round(s->kinds[i], s->row[i]);
	}
	ring_push(s->ring, t_ns, late, s->rounded);
	if (late)
		atomic_fetch_add_explicit(&s->late, late, memory_order_relaxed);
	atomic_store_explicit(&s->newest_ns, t_ns, memory_order_relaxed);
	return true;
}

void sampler_begin(struct sampler *s, int64_t grid_ns)
{
	for (struct sampler_tier *t = s->tiers; t < s->tiers + TIERS; t++) {
		t->grid.start_ns = grid_ns;
		t->grid.tick = 0;
	}
}

int64_t sampler_due(const struct sampler *s)
{
	int64_t due_ns = INT64_MAX;

	for (int t = 0; t < TIERS; t++)
		if (s->tiers[t].ring && grid_due(&s->tiers[t].grid) < due_ns)
			due_ns = grid_due(&s->tiers[t].grid);
	return due_ns;
}

void sampler_run_past(struct sampler *s)
{
	int64_t due_ns = sampler_due(s);

	for (enum tier t = 0; t < TIERS; t++)
		if (s->tiers[t].ring && grid_due(&s->tiers[t].grid) <= due_ns) {
			sampler_tick(s, t, due_ns, due_ns, 0);
			grid_end(&s->tiers[t].grid, due_ns);
		}
}

/* --- the thread --- */

int engine_realtime_refused(void)
{
	struct sched_param fifo = {.sched_priority = PRIORITY}, before;
	int policy, refused;

	if (pthread_getschedparam(pthread_self(), &policy, &before))
		return EINVAL;
	refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &fifo);
	if (!refused)
		pthread_setschedparam(pthread_self(), policy, &before);
	return refused;
}

static void *sampler_run(void *arg)
{
	struct sched_param param = {.sched_priority = PRIORITY};
	struct sampler *s = arg;
	int64_t now;

	prctl(PR_SET_NAME, "nvmtop-sampler");
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (s->probes->has_nice)
		setpriority(PRIO_PROCESS, 0, s->probes->nice);
	else if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0)
		atomic_store_explicit(&s->realtime, true, memory_order_relaxed);
	now = clock_now_ns();
	for (;;) {
		int64_t due = sampler_due(s);

		while (!atomic_load_explicit(&s->stop, memory_order_acquire) && now < due) {
			thread_flag_wait(&s->stop, due);
			now = clock_now_ns();
		}
		if (atomic_load_explicit(&s->stop, memory_order_acquire))
			break;
		for (enum tier i = 0; i < TIERS; i++) {
			struct sampler_tier *t = &s->tiers[i];
			int64_t late = now - grid_due(&t->grid);

			if (!t->ring || late < 0)
				continue;
			if (i == TIER_FAST)
				atomic_fetch_add_explicit(&s->lateness[lateness_step(late)], 1, memory_order_relaxed);
			t->skipped += grid_begin(&t->grid, now);
			if (!sampler_tick(s, i, grid_due(&t->grid), now, t->skipped))
				return NULL;
			now = clock_now_ns();
			t->skipped = grid_end(&t->grid, now);
		}
	}
	thread_flag_set(&s->done);
	return NULL;
}

int sampler_start(struct sampler *s, struct err *e)
{
	int failed = thread_start(&s->thread, sampler_run, s);

	s->started = !failed;
	return failed ? err_sys(e, ERR_FAILED, failed, _("cannot start the sampling thread")) : 0;
}

bool sampler_replace(struct sampler *s)
{
	if (s->started)
		pthread_detach(s->thread);
	s->started = thread_start(&s->thread, sampler_run, s) == 0;
	return s->started;
}

/* Waits on a futex because pthread_timedjoin_np() uses the wall clock, which may step. */
bool sampler_stop(struct sampler *s, int64_t until_ns)
{
	thread_flag_set(&s->stop);
	while (s->started && !atomic_load_explicit(&s->done, memory_order_acquire)) {
		if (clock_now_ns() >= until_ns)
			return false;
		thread_flag_wait(&s->done, until_ns);
	}
	if (s->started)
		pthread_join(s->thread, NULL);
	s->started = false;
	return true;
}

/* --- for other threads --- */

struct ring *sampler_ring(const struct sampler *s, enum tier tier)
{
	return s->tiers[tier].ring;
}

int64_t sampler_period_ns(const struct sampler *s, enum tier tier)
{
	return s->tiers[tier].grid.period_ns;
}

void sampler_stats(const struct sampler *s, struct engine_stats *out)
{
	out->realtime = atomic_load_explicit(&s->realtime, memory_order_relaxed);
	for (size_t i = 0; i < LATENESS_STEPS; i++)
		out->lateness.n[i] = atomic_load_explicit(&s->lateness[i], memory_order_relaxed);
	for (int i = 0; i < TIERS; i++) {
		const struct sampler_tier *t = &s->tiers[i];

		out->rows[i] = t->ring ? ring_pushed(t->ring) : 0;
		out->late[i] = atomic_load_explicit(&t->late, memory_order_relaxed);
		out->lost[i] = t->ring ? ring_lost(t->ring) : 0;
		out->newest_ns[i] = atomic_load_explicit(&t->newest_ns, memory_order_relaxed);
	}
}
