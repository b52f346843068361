/* Of constant size and added up as rows come, so that the summary of a day costs no more than that of a
 * second, and is complete as soon as the recording ends. */
#include "record/tally.h"

#include "trace/log-writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "trace/trace.h"

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
	s->notice = c->kind == CHANNEL_NOTICE;
	s->last = s->most = NAN;
}

static void power_init(struct tally_power *p, const struct channel *c, double hz)
{
	*p = (struct tally_power) {.known = true,
				   .tier = c->tier,
				   .column = c->column,
				   .most_mw = NAN,
				   .hole_ns = stats_hole_ns(hz)};
}

static void choose(struct tally *t, const struct session *about)
{
	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];
		double hz = about->hz[c->tier];

		if (c->missing[0])
			continue;
		if (c->kind == CHANNEL_POWER_TOTAL && !t->power.known) {
			power_init(&t->power, c, hz);
		} else if (c->kind == CHANNEL_TEMPERATURE) {
			signal_init(&t->zones[t->n_zones++], c);
		} else if (c->kind == CHANNEL_HOTTEST && !t->knows_hottest) {
			t->knows_hottest = true;
			signal_init(&t->hottest, c);
		} else if (c->kind == CHANNEL_THROTTLE || c->kind == CHANNEL_THROTTLE_COUNT ||
			   c->kind == CHANNEL_NOTICE) {
			signal_init(&t->throttles[t->n_throttles++], c);
		}
	}
}

/* Without a total: the first GPU, according to NVML. */
static void choose_gpu(struct tally *t, const struct session *about)
{
	for (size_t i = 0; i < about->n_channels && !t->power.known; i++) {
		const struct channel *c = &about->channels[i];

		if (c->missing[0] || c->kind != CHANNEL_RAIL_POWER || !channel_is_nvml(c))
			continue;
		power_init(&t->power, c, about->hz[c->tier]);
		t->power.gpu_alone = true;
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
	choose_gpu(t, about);
	t->start_ns = about->start.mono_ns;
	t->cpu_ns = clock_cpu_ns();
	t->ran_ns = clock_now_ns();
	return t->next->ops->begin(t->next, about, e);
}

static void power_row(struct tally_power *p, int64_t t_ns, double mw)
{
	integral_add(&p->mj, t_ns, mw, p->hole_ns, INT64_MIN, INT64_MAX);
	p->most_mw = fmax(p->most_mw, mw); /* the other one, where one is NaN */
}

/* A state holds until the next row; of a counter only its rise is reported. */
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

/* The hottest is that of the zones that are measured: not all that are shown are.  Which of
 * them it is, is the one that has its value. */
static void hottest_row(struct tally *t, int64_t t_ns, const double *row)
{
	double v = row[t->hottest.column];

	if (v > t->hottest.most || (isnan(t->hottest.most) && !isnan(v)))
		for (size_t i = 0; i < t->n_zones; i++)
			if (t->zones[i].tier == t->hottest.tier && row[t->zones[i].column] >= v &&
			    row[t->zones[i].column] <= v) {
				memcpy(t->hottest.label, t->zones[i].label, sizeof t->hottest.label);
				break;
			}
	signal_row(&t->hottest, t_ns, v);
}

static void signals_rows(struct tally_signal *s, size_t n_signals, const struct rows *r)
{
	for (struct tally_signal *end = s + n_signals; s < end; s++) {
		if (s->tier != r->tier)
			continue;
		for (size_t i = 0; i < r->n; i++)
			signal_row(s, r->t_ns[i], r->values[i * r->width + s->column]);
	}
}

static int64_t until_ns(const struct tally *t)
{
	return t->writer ? log_writer_until_ns(t->writer) : INT64_MAX;
}

static void count_rows(struct tally *t, const struct rows *r)
{
	int64_t newest = t->newest_ns[r->tier], longest = t->longest_ns[r->tier];

	for (size_t i = 0; i < r->n; i++) {
		if (newest && r->t_ns[i] - newest > longest)
			longest = r->t_ns[i] - newest;
		newest = r->t_ns[i];
		if (t->knows_hottest && t->hottest.tier == r->tier)
			hottest_row(t, newest, r->values + i * r->width);
		if (t->power.known && t->power.tier == r->tier)
			power_row(&t->power, newest, r->values[i * r->width + t->power.column]);
	}
	signals_rows(t->zones, t->n_zones, r);
	signals_rows(t->throttles, t->n_throttles, r);
	t->rows[r->tier] += r->n;
	t->newest_ns[r->tier] = newest;
	t->longest_ns[r->tier] = longest;
}

static void tally_rows(struct sink *s, const struct rows *r)
{
	struct tally *t = tally_of(s);

	t->next->ops->rows(t->next, r);
	if (!t->writer)
		count_rows(t, r);
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
	if (g->to_ns <= until_ns(t))
		*(g->cause == GAP_LATE ? &t->late[g->tier] : &t->lost[g->tier]) += g->missed;
}

static void tally_change(struct sink *s, const struct change *c)
{
	struct tally *t = tally_of(s);

	if (t->changes < TALLY_CHANGES)
		t->change[t->changes] = *c;
	t->changes++;
	if (t->next->ops->change)
		t->next->ops->change(t->next, c);
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
					    tally_gap,   tally_end,  tally_rest, tally_change};

	memset(t, 0, sizeof *t);
	t->sink.ops = &ops;
	t->next = next;
	return &t->sink;
}

static void writer_took(void *of, const struct rows *r)
{
	count_rows(of, r);
}

void tally_of_writer(struct tally *t, struct log_writer *w)
{
	struct log_options *o = log_writer_options(w);

	t->writer = w;
	o->taken = writer_took;
	o->of = t;
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

	if (t->knows_hottest)
		return isnan(t->hottest.most) ? NULL : &t->hottest;
	for (size_t i = 0; i < t->n_zones; i++)
		if (!isnan(t->zones[i].most) && (!best || t->zones[i].most > best->most))
			best = &t->zones[i];
	return best;
}
