/* Keeps what the rows of a stream come to. The newest values are not kept: the rings of the engine still have them, and
 * without the delay of sinks. */
#include "live/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/missing.h"
#include "util/intl.h"

#define STALE_PERIODS 3
#define STALE_NS      (50 * NS_PER_MS) /* at least: a late tick is no missing value */
#define ROWS_BACK     64
#define TRACK_LEAST   64
#define TRACK_MOST    (1 << 16)

static struct tally *of_sink(struct sink *s)
{
	return (struct tally *)s;
}

/* A window takes its readings up to three times reach_ns after them, and those of so long before it. */
static bool power_set(struct power *p, const struct session *about, size_t channel)
{
	p->channel = channel;
	energy_meter_begin(&p->meter, about, channel);
	for (int k = 0; k < TRACKS; k++) {
		const struct energy_source *s = &p->meter.source[k];
		int64_t wanted = (8 * s->reach_ns + NS_PER_S) / (s->tick_ns > 0 ? s->tick_ns : 1);

		if (k == BY_COUNTER && s->counter == SIZE_MAX)
			continue;
		free(p->tracks[k].ring);
		p->tracks[k] = (struct track) {.room = TRACK_LEAST};
		while ((int64_t)p->tracks[k].room < wanted && p->tracks[k].room < TRACK_MOST)
			p->tracks[k].room *= 2;
		p->tracks[k].ring = calloc(p->tracks[k].room, sizeof(*p->tracks[k].ring));
		if (!p->tracks[k].ring)
			return false;
	}
	return true;
}

static int tally_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct tally *t = of_sink(s);
	size_t n = about->n_channels;
	bool whole = true;

	pthread_mutex_lock(&t->lock);
	t->bins = calloc(SECONDS * n + 1, sizeof(*t->bins));
	t->busy = calloc(n + 1, sizeof(*t->busy));
	t->facts = calloc(about->n_facts + 1, sizeof(*t->facts));
	t->powers = calloc(n + 1, sizeof(*t->powers));
	for (size_t i = 0; t->powers && i < n && whole; i++) {
		const struct channel *c = &about->channels[i];

		if (c->unit == UNIT_MILLIWATT && c->column < about->width[c->tier])
			whole = power_set(&t->powers[t->n_powers++], about, i);
	}
	whole = whole && t->bins && t->busy && t->facts && t->powers;
	if (whole) {
		memcpy(t->hz, about->hz, sizeof(t->hz));
		if (about->n_facts)
			memcpy(t->facts, about->facts, about->n_facts * sizeof(*t->facts));
		t->about = about;
		t->n_channels = n;
		atomic_store(&t->channels, about->channels);
	}
	pthread_mutex_unlock(&t->lock);
	return whole ? 0 : err_set(e, ERR_FAILED, "%s", _("out of memory"));
}

/* Rows of one second: a bin for each channel. */
static void take_bins(struct tally *t, const struct rows *r, size_t from, size_t to)
{
	int64_t second = r->t_ns[from] / NS_PER_S;
	struct bin *of = &t->bins[(size_t)(second % SECONDS) * t->n_channels];

	if (t->second[second % SECONDS] != second)
		memset(of, 0, t->n_channels * sizeof(*of));
	t->second[second % SECONDS] = t->now[r->tier] = second;
	for (size_t c = 0; c < t->n_channels; c++) {
		const struct channel *ch = &t->about->channels[c];
		struct bin b = {.n = 0};

		if (ch->tier != r->tier || ch->column >= r->width)
			continue;
		for (size_t i = from; i < to; i++)
			bin_add(&b, r->values[i * r->width + ch->column]);
		bin_merge(&of[c], &b);
	}
}

/* A value of a load is its mean since the one before, unless that is too long ago. */
static void take_busy(struct tally *t, const struct rows *r)
{
	int64_t hole_ns = stats_hole_ns(t->hz[r->tier]);

	hole_ns = hole_ns > STALE_NS ? hole_ns : STALE_NS;
	for (size_t c = 0; c < t->n_channels; c++) {
		const struct channel *ch = &t->about->channels[c];
		struct busy *b = &t->busy[c];

		if (ch->tier != r->tier || ch->column >= r->width || ch->unit != UNIT_PERCENT)
			continue;
		for (size_t i = 0; i < r->n; i++) {
			double v = r->values[i * r->width + ch->column];

			if (isnan(v))
				continue;
			if (b->t_ns && r->t_ns[i] - b->t_ns <= hole_ns)
				b->seconds += fmax(0, v) / 100 * ((double)(r->t_ns[i] - b->t_ns) / 1e9);
			b->t_ns = r->t_ns[i];
		}
	}
}

/* Keeps the readings that the meter makes of the rows. */
static void take_readings(struct power *p, const struct rows *r)
{
	for (size_t i = 0; i < r->n && energy_meter_row(&p->meter, r, i); i++)
		for (int by = 0; by < TRACKS; by++)
			for (size_t j = 0; p->tracks[by].ring && j < p->meter.n[by]; j++) {
				struct track *k = &p->tracks[by];

				k->ring[k->n++ & (k->room - 1)] = p->meter.newest[by][j];
			}
}

static void tally_rows(struct sink *s, const struct rows *r)
{
	struct tally *t = of_sink(s);

	pthread_mutex_lock(&t->lock);
	for (size_t from = 0, to = 0; from < r->n; from = to) {
		while (to < r->n && r->t_ns[to] / NS_PER_S == r->t_ns[from] / NS_PER_S)
			to++;
		take_bins(t, r, from, to);
	}
	take_busy(t, r);
	for (size_t k = 0; k < t->n_powers; k++)
		take_readings(&t->powers[k], r);
	if (r->n > 0)
		t->row_ns[r->tier] = r->t_ns[r->n - 1];
	windows_feed(t);
	pthread_mutex_unlock(&t->lock);
}

/* A channel that had no source has one now, and perhaps a counter. */
static void tally_described(struct sink *s, const struct channel *channels)
{
	struct tally *t = of_sink(s);

	pthread_mutex_lock(&t->lock);
	for (size_t k = 0; k < t->n_powers; k++)
		if (t->powers[k].tracks[BY_POWER].n == 0 && t->powers[k].tracks[BY_COUNTER].n == 0)
			power_set(&t->powers[k], t->about, t->powers[k].channel);
	atomic_store(&t->channels, channels);
	pthread_mutex_unlock(&t->lock);
}

static void tally_change(struct sink *s, const struct change *c)
{
	struct tally *t = of_sink(s);

	pthread_mutex_lock(&t->lock);
	facts_change(t->facts, t->about->n_facts, c);
	pthread_mutex_unlock(&t->lock);
}

static int tally_end(struct sink *s, struct err *e)
{
	struct tally *t = of_sink(s);

	(void)e;
	pthread_mutex_lock(&t->lock);
	t->about = NULL;
	pthread_mutex_unlock(&t->lock);
	return 0;
}

static const struct sink_ops tally_ops = {
	.begin = tally_begin,
	.rows = tally_rows,
	.end = tally_end,
	.change = tally_change,
	.described = tally_described,
};

struct tally *tally_new(struct engine *engine, struct err *e)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (!t) {
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
		return NULL;
	}
	t->sink.ops = &tally_ops;
	t->engine = engine;
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

struct sink *tally_sink(struct tally *t)
{
	return &t->sink;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	while (t->windows)
		window_drop(t, &t->windows);
	for (size_t k = 0; k < t->n_powers; k++)
		for (int i = 0; i < TRACKS; i++)
			free(t->powers[k].tracks[i].ring);
	free(t->powers);
	free(t->facts);
	free(t->busy);
	free(t->bins);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

const struct channel *tally_channels(const struct tally *t, size_t *n)
{
	const struct channel *channels = atomic_load(&t->channels);

	*n = channels ? t->n_channels : 0;
	return channels;
}

double tally_hz(const struct tally *t, enum tier tier)
{
	return t->hz[tier];
}

struct tally_value tally_newest(struct tally *t, size_t channel, int64_t now_ns)
{
	struct tally_value out = {(double)NAN, 0, false};
	const struct channel *all = atomic_load(&t->channels), *c;
	int64_t stale_ns;

	if (!all || channel >= t->n_channels || all[channel].missing[0])
		return out;
	c = &all[channel];
	stale_ns = STALE_PERIODS * (int64_t)fmax((double)c->period_ns, 1e9 / t->hz[c->tier]);
	stale_ns = now_ns - (stale_ns > STALE_NS ? stale_ns : STALE_NS);
	/* A reading that came too late for its row left it without value and reason: the one before counts. */
	for (size_t made = engine_made(t->engine, c->tier), back = 1; back <= made && back <= ROWS_BACK; back++) {
		struct tally_value v = {.value = (double)NAN};

		v.t_ns = engine_peek(t->engine, c->tier, made - back, &c->column, 1, &v.value);
		v.old = v.t_ns < stale_ns;
		if (!v.old && !isnan(v.value))
			return v;
		if (back == 1)
			out = v;
		if (v.old || (missing_why(v.value) != MISSING && missing_why(v.value) != MISSING_PART))
			break;
	}
	out.value = out.old ? (double)NAN : out.value;
	return out;
}

int tally_read(struct tally *t, const int64_t *channels, size_t n, double *values, int64_t *t_ns)
{
	int64_t now_ns = clock_now_ns();
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		struct tally_value v = tally_newest(t, channels[i] < 0 ? SIZE_MAX : (size_t)channels[i], now_ns);

		status = channels[i] < 0 || (size_t)channels[i] >= t->n_channels ? -1 : status;
		values[i] = v.value;
		if (t_ns)
			t_ns[i] = v.t_ns;
	}
	return status;
}

void tally_reason(const struct tally *t, size_t channel, struct tally_value v, char *out, size_t size)
{
	size_t n;
	const struct channel *all = tally_channels(t, &n), *c = &all[channel];
	char reason[MISSING_REASON];

	missing_reason(reason, v.value, c, all, n);
	missing_at(out, size, c, v.old ? _("there is no new reading") : reason);
}

struct bin tally_last(struct tally *t, size_t channel, int seconds)
{
	const struct channel *all = atomic_load(&t->channels);
	struct bin out = {.n = 0};
	int64_t now;

	if (!all || channel >= t->n_channels)
		return out;
	pthread_mutex_lock(&t->lock);
	now = t->now[all[channel].tier];
	for (int64_t s = now > seconds ? now - seconds : 0; s < now; s++)
		if (t->second[s % SECONDS] == s)
			bin_merge(&out, &t->bins[(size_t)(s % SECONDS) * t->n_channels + channel]);
	if (out.n == 0 && t->second[now % SECONDS] == now)
		out = t->bins[(size_t)(now % SECONDS) * t->n_channels + channel];
	pthread_mutex_unlock(&t->lock);
	return out;
}

double tally_joules(struct tally *t, size_t channel)
{
	double joules = (double)NAN;

	pthread_mutex_lock(&t->lock);
	for (size_t k = 0; k < t->n_powers; k++) {
		struct power *p = &t->powers[k];
		struct energy_result r;

		if (p->channel != channel)
			continue;
		r = energy_meter_get(&p->meter, t->row_ns[p->meter.source->tier]);
		p->joules = fmax(p->joules, isnan(r.joules) ? 0 : r.joules);
		joules = r.known_s > 0 || p->joules > 0 ? p->joules : (double)NAN;
	}
	pthread_mutex_unlock(&t->lock);
	return joules;
}

double tally_busy(struct tally *t, size_t channel)
{
	double seconds = (double)NAN;

	pthread_mutex_lock(&t->lock);
	if (t->about && channel < t->n_channels && t->busy[channel].t_ns)
		seconds = t->busy[channel].seconds;
	pthread_mutex_unlock(&t->lock);
	return seconds;
}

struct fact *tally_facts(struct tally *t, size_t *n)
{
	struct fact *out = NULL;

	*n = 0;
	pthread_mutex_lock(&t->lock);
	if (t->about && (out = malloc((t->about->n_facts + 1) * sizeof(*out)))) {
		*n = t->about->n_facts;
		memcpy(out, t->facts, *n * sizeof(*out));
	}
	pthread_mutex_unlock(&t->lock);
	return out;
}
