/* Tiers are handed over one after the other, so when the first row of a new part
 * has come there may still be older ones of another tier: the part before stays
 * open for those until every tier has passed the cut.  So no row is lost and
 * none is in two files, and nobody waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/thread.h"
#include "trace/series.h"

#define BEHIND_NS (10 * NS_PER_S) /* a tier that hangs is waited for so long */

static void give_rows(struct trace_series *s, struct part *to, const struct rows *r, size_t from, size_t n)
{
	struct sink *sink = to ? trace_writer_sink(to->writer) : NULL;
	struct rows some = *r;

	if (n == 0)
		return;
	some.n = n;
	some.t_ns += from;
	some.values += from * r->width;
	if (sink)
		sink->ops->rows(sink, &some);
	else
		s->gone.lost_rows += n;
}

/* The first row that is not older. */
static size_t first_at(const struct rows *r, int64_t ns)
{
	size_t i = 0;

	while (i < r->n && r->t_ns[i] < ns)
		i++;
	return i;
}

static void series_rows(struct sink *sink, const struct rows *r)
{
	struct trace_series *s = (struct trace_series *)sink;
	size_t cut, end;
	bool passed = true;

	if (r->n == 0)
		return;
	pthread_mutex_lock(&s->lock);
	series_look(s, r->t_ns[r->n - 1]);
	cut = first_at(r, s->cut_ns);
	end = first_at(r, s->end_ns);
	if (cut > end)
		cut = end;
	give_rows(s, s->old, r, 0, cut);
	give_rows(s, s->current, r, cut, end - cut);
	if (end > 0)
		s->newest_ns[r->tier] = r->t_ns[end - 1];
	for (int t = 0; t < TIERS; t++)
		passed &= !s->about.width[t] || s->newest_ns[t] >= s->cut_ns;
	if (passed || series_newest(s) - s->cut_ns > BEHIND_NS)
		series_old_end(s);
	pthread_mutex_unlock(&s->lock);
}

static void series_mark(struct sink *sink, const struct mark *m)
{
	struct trace_series *s = (struct trace_series *)sink;
	struct trace_writer_stats w;
	struct mark own = *m;
	struct part *p;

	pthread_mutex_lock(&s->lock);
	series_look_current(s, &w);
	p = s->old && m->t_ns < s->cut_ns ? s->old : s->current;
	if (p && p == s->current && own.t_ns < s->cut_ns) /* too late for the file it belongs to */
		mark_move(&own, s->cut_ns);
	if (m->t_ns >= s->end_ns)
		; /* nor are there rows of that time */
	else if (p)
		trace_writer_sink(p->writer)->ops->mark(trace_writer_sink(p->writer), &own);
	else if (!marks_hold(&s->held, m))
		s->gone.lost_marks++;
	pthread_mutex_unlock(&s->lock);
}

static void give_gap(struct part *p, const struct gap *g)
{
	if (p && g->missed > 0 && g->from_ns < g->to_ns)
		trace_writer_sink(p->writer)->ops->gap(trace_writer_sink(p->writer), g);
}

/* A gap across a cut is told to both, to each its own ticks. */
static void series_gap(struct sink *sink, const struct gap *g)
{
	struct trace_series *s = (struct trace_series *)sink;
	struct gap before = *g, after = *g;

	pthread_mutex_lock(&s->lock);
	if (g->from_ns < s->cut_ns && g->to_ns > s->cut_ns) {
		double share = (double)(g->to_ns - s->cut_ns) / (double)(g->to_ns - g->from_ns);

		after.from_ns = before.to_ns = s->cut_ns;
		after.missed = (uint64_t)((double)g->missed * share + 0.5);
		before.missed = g->missed - after.missed;
	} else if (g->to_ns > s->cut_ns) {
		before.missed = 0;
	} else {
		after.missed = 0;
	}
	if (g->to_ns <= s->end_ns) {
		give_gap(s->old, &before);
		give_gap(s->current, &after);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Files that begin later have the facts of then. */
static void series_change(struct sink *sink, const struct change *c)
{
	struct trace_series *s = (struct trace_series *)sink;
	struct part *p;
	struct change own = *c;

	pthread_mutex_lock(&s->lock);
	facts_change(s->facts, s->about.n_facts, c);
	p = s->old && c->t_ns < s->cut_ns ? s->old : s->current;
	if (p == s->current && own.t_ns < s->cut_ns)
		own.t_ns = s->cut_ns;
	if (p && own.t_ns < s->end_ns)
		trace_writer_sink(p->writer)->ops->change(trace_writer_sink(p->writer), &own);
	pthread_mutex_unlock(&s->lock);
}

/* What the session points to must outlive the stream: files are completed later. */
static int about_copy(struct trace_series *s, const struct session *about)
{
	s->channels = calloc(about->n_channels + 1, sizeof(*s->channels));
	s->facts = calloc(about->n_facts + 1, sizeof(*s->facts));
	if (!s->channels || !s->facts)
		return -1;
	if (about->n_channels)
		memcpy(s->channels, about->channels, about->n_channels * sizeof(*s->channels));
	if (about->n_facts)
		memcpy(s->facts, about->facts, about->n_facts * sizeof(*s->facts));
	s->about = *about;
	s->about.channels = s->channels;
	s->about.facts = s->facts;
	return 0;
}

static int series_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct trace_series *s = (struct trace_series *)sink;
	struct part *first = s->current;
	int num;

	if (s->running || s->channels || !first)
		return err_set(e, ERR_FAILED, _("%s is already being recorded"), s->shown);
	if (about_copy(s, about) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	s->due_ns = about->start.mono_ns + s->limits.split_ns;
	if (part_begin(s, first, about->start.mono_ns, e) < 0)
		return -1;
	num = thread_start(&s->keeper, series_keep, s);
	if (num) {
		trace_writer_discard(first->writer); /* it has begun, and there is nothing in it */
		return err_sys(e, ERR_FAILED, num, _("cannot record to %s: no thread"), s->shown);
	}
	s->running = true;
	return 0;
}

static void part_rest(struct part *p)
{
	struct sink *sink = p ? trace_writer_sink(p->writer) : NULL;

	if (sink && sink->ops->rest)
		sink->ops->rest(sink);
}

static void series_rest(struct sink *sink)
{
	struct trace_series *s = (struct trace_series *)sink;

	pthread_mutex_lock(&s->lock);
	part_rest(s->old);
	part_rest(s->current);
	pthread_mutex_unlock(&s->lock);
}

static int series_end(struct sink *sink, struct err *e)
{
	struct trace_series *s = (struct trace_series *)sink;

	(void)e;
	pthread_mutex_lock(&s->lock);
	if (s->running && !s->quit) {
		series_old_end(s);
		if (s->current)
			part_end(s, s->current);
		s->current = NULL;
		if (s->failing)
			s->gone.hole_ns += clock_now_ns() - s->failed_ns;
		s->gone.lost_marks += s->held.n;
		s->held.n = 0;
		s->quit = true;
		pthread_cond_signal(&s->wake);
	}
	pthread_mutex_unlock(&s->lock);
	return 0;
}

struct trace_series *trace_series_new(const char *path, bool force, const struct trace_limits *limits,
				      struct err *e)
{
	static const struct sink_ops ops = {series_begin, series_rows, series_mark,
					    series_gap,   series_end,  series_rest, series_change};
	struct trace_series *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	s->sink.ops = &ops;
	s->force = force;
	s->end_ns = INT64_MAX;
	if (limits)
		s->limits = *limits;
	snprintf(s->path, sizeof(s->path), "%.*s", (int)sizeof(s->path) - 1, path);
	pthread_mutex_init(&s->lock, NULL);
	thread_cond_init(&s->wake);
	s->current = part_open(s, 1, e);
	if (s->current) {
		snprintf(s->shown, sizeof(s->shown), "%s", trace_writer_path(s->current->writer));
		return s;
	}
	trace_series_free(s);
	return NULL;
}

struct sink *trace_series_sink(struct trace_series *s)
{
	return &s->sink;
}

int64_t trace_series_until_ns(struct trace_series *s)
{
	int64_t ns;

	pthread_mutex_lock(&s->lock);
	ns = s->end_ns;
	pthread_mutex_unlock(&s->lock);
	return ns;
}

void trace_series_stats(struct trace_series *s, struct trace_series_stats *out)
{
	struct trace_writer_stats w;

	pthread_mutex_lock(&s->lock);
	*out = s->gone;
	out->parts = s->n_done + (s->current != NULL) + (s->old != NULL);
	if (s->current)
		part_account(out, s->current);
	if (s->old)
		part_account(out, s->old);
	for (const struct part *p = s->ending; p; p = p->next, out->parts++)
		part_account(out, p);
	out->full = s->end_ns != INT64_MAX;
	out->failing = s->failing;
	out->err = s->err;
	out->last = s->last;
	/* Nobody may have handed over a row since. */
	if (s->current) {
		trace_writer_stats(s->current->writer, &w);
		if (w.failed) {
			out->failing = true;
			series_say_failed(&out->err, &w.err);
		} else if (w.moved && out->err.code == ERR_NONE) {
			err_set(&out->err, ERR_FAILED,
				_("%s.part is no longer at its path: its folder was moved or unmounted; the "
				  "recording continues in it"),
				s->shown);
		}
	}
	snprintf(out->path, sizeof(out->path), "%s", s->shown);
	pthread_mutex_unlock(&s->lock);
}

int trace_series_wait(struct trace_series *s, struct err *e)
{
	if (s->running) {
		series_end(&s->sink, e);
		pthread_join(s->keeper, NULL);
		s->running = false;
		if (s->ready) {
			trace_writer_free(s->ready->writer);
			free(s->ready);
			s->ready = NULL;
		}
	}
	if (s->last.code == ERR_NONE)
		return 0;
	*e = s->last;
	return -1;
}

bool trace_series_done(struct trace_series *s)
{
	bool done;

	pthread_mutex_lock(&s->lock);
	done = s->done_all || !s->running;
	pthread_mutex_unlock(&s->lock);
	return done;
}

bool trace_series_part(const struct trace_series *s, size_t i, char *path, size_t size, bool *complete)
{
	if (i >= s->n_done)
		return false;
	if (complete)
		*complete = s->done[i].complete;
	return !path || part_path(s->path, s->done[i].number, path, size) == 0;
}

void trace_series_free(struct trace_series *s)
{
	struct err unheard;

	if (!s)
		return;
	trace_series_wait(s, &unheard);
	if (s->current) { /* never begun */
		trace_writer_free(s->current->writer);
		free(s->current);
	}
	free(s->channels);
	free(s->facts);
	free(s->done);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
