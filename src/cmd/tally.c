/* Everything in it is of constant size and is added up as the rows come, so
 * that the summary of a day costs no more than that of a second, and is there
 * at once when the recording ends. */
#include "cmd/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/report.h"
#include "nvmtop/trace.h"

static struct tally *tally_of(struct sink *s)
{
	return (struct tally *)s;
}

static void signal_init(struct tally_signal *s, const struct channel *c)
{
	memset(s, 0, sizeof *s);
	memcpy(s->label, c->label, sizeof s->label);
	s->tier = c->tier;
	s->column = c->column;
	s->counts = c->kind == CHANNEL_THROTTLE_COUNT;
	s->last = s->most = NAN;
}

static void choose(struct tally *t, const struct session *about)
{
	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];
		double hz = about->hz[c->tier];

		if (c->missing[0])
			continue;
		if (c->kind == CHANNEL_POWER_TOTAL && !t->power.known) {
			t->power = (struct tally_power) {.known = true,
							 .tier = c->tier,
							 .column = c->column,
							 .last_mw = NAN,
							 .most_mw = NAN};
			/* as a report of the file has it */
			t->power.hole_ns = (int64_t)(COVER_PERIODS / hz * (double)NS_PER_S);
		} else if (c->kind == CHANNEL_TEMPERATURE) {
			signal_init(&t->zones[t->n_zones++], c);
		} else if (c->kind == CHANNEL_THROTTLE || c->kind == CHANNEL_THROTTLE_COUNT) {
			signal_init(&t->throttles[t->n_throttles++], c);
		}
	}
}

static int tally_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct tally *t = tally_of(s);

	t->zones = calloc(about->n_channels + 1, sizeof *t->zones);
	t->throttles = calloc(about->n_channels + 1, sizeof *t->throttles);
	if (!t->zones || !t->throttles)
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	choose(t, about);
	t->start_ns = about->start.mono_ns;
	t->cpu_ns = clock_cpu_ns();
	t->ran_ns = clock_now_ns();
	return t->next->ops->begin(t->next, about, e);
}

static void power_row(struct tally_power *p, int64_t t_ns, double mw)
{
	if (p->last_ns && t_ns - p->last_ns <= p->hole_ns && !isnan(mw) && !isnan(p->last_mw)) {
		p->joules += (mw + p->last_mw) / 2 / 1000 * (double)(t_ns - p->last_ns) / (double)NS_PER_S;
		p->covered_ns += t_ns - p->last_ns;
	}
	p->most_mw = fmax(p->most_mw, mw); /* the other one, where one is NaN */
	p->last_ns = t_ns;
	p->last_mw = mw;
}

/* A state holds until the next row; of a count only what it rises by is told. */
static void signal_row(struct tally_signal *s, int64_t t_ns, double v)
{
	if (s->counts && v > s->last)
		s->events += (uint64_t)(v - s->last);
	if (!s->counts && s->last > 0)
		s->above_ns += t_ns - s->last_ns;
	if (!s->counts && v > 0 && !(s->last > 0))
		s->events++;
	s->values += !isnan(v);
	s->most = fmax(s->most, v);
	/* A count that is missing for a while is compared with what it was. */
	if (!s->counts || !isnan(v))
		s->last = v;
	s->last_ns = t_ns;
}

/* The first n rows. */
static void signals_rows(struct tally_signal *s, size_t n_signals, const struct rows *r, size_t n)
{
	for (struct tally_signal *end = s + n_signals; s < end; s++) {
		if (s->tier != r->tier)
			continue;
		for (size_t i = 0; i < n; i++)
			signal_row(s, r->t_ns[i], r->values[i * r->width + s->column]);
	}
}

static int64_t until_ns(const struct tally *t)
{
	return t->until ? t->until(t->until_of) : INT64_MAX;
}

static void tally_rows(struct sink *s, const struct rows *r)
{
	struct tally *t = tally_of(s);
	int64_t newest = t->newest_ns[r->tier], longest = t->longest_ns[r->tier];
	int64_t until;
	size_t i;

	t->next->ops->rows(t->next, r);
	until = until_ns(t); /* these rows may have been too many */
	for (i = 0; i < r->n && r->t_ns[i] < until; i++) {
		if (newest && r->t_ns[i] - newest > longest)
			longest = r->t_ns[i] - newest;
		newest = r->t_ns[i];
		if (t->power.known && t->power.tier == r->tier)
			power_row(&t->power, newest, r->values[i * r->width + t->power.column]);
	}
	signals_rows(t->zones, t->n_zones, r, i);
	signals_rows(t->throttles, t->n_throttles, r, i);
	t->rows[r->tier] += i;
	t->newest_ns[r->tier] = newest;
	t->longest_ns[r->tier] = longest;
}

static void tally_mark(struct sink *s, const struct mark *m)
{
	struct tally *t = tally_of(s);

	t->next->ops->mark(t->next, m);
}

static void tally_gap(struct sink *s, const struct gap *g)
{
	struct tally *t = tally_of(s);

	t->next->ops->gap(t->next, g);
}

static int tally_end(struct sink *s, struct err *e)
{
	struct tally *t = tally_of(s);

	int64_t until = until_ns(t);

	t->end_ns = clock_now_ns();
	t->ran_ns = t->end_ns - t->ran_ns;
	if (t->end_ns > until)
		t->end_ns = until;
	t->cpu_ns = clock_cpu_ns() - t->cpu_ns;
	return t->next->ops->end(t->next, e);
}

static void tally_rest(struct sink *s)
{
	struct tally *t = tally_of(s);

	if (t->next->ops->rest)
		t->next->ops->rest(t->next);
}

struct sink *tally_init(struct tally *t, struct sink *next)
{
	static const struct sink_ops ops = {tally_begin, tally_rows, tally_mark,
					    tally_gap,   tally_end,  tally_rest};

	memset(t, 0, sizeof *t);
	t->sink.ops = &ops;
	t->next = next;
	return &t->sink;
}

static int64_t series_until(void *of)
{
	return trace_series_until_ns(of);
}

void tally_of_series(struct tally *t, struct trace_series *s)
{
	t->until = series_until;
	t->until_of = s;
}

void tally_free(struct tally *t)
{
	free(t->zones);
	free(t->throttles);
	t->zones = t->throttles = NULL;
	t->n_zones = t->n_throttles = 0;
}

const struct tally_signal *tally_hottest(const struct tally *t)
{
	const struct tally_signal *best = NULL;

	for (size_t i = 0; i < t->n_zones; i++)
		if (!isnan(t->zones[i].most) && (!best || t->zones[i].most > best->most))
			best = &t->zones[i];
	return best;
}
