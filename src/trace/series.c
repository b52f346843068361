/* Tiers are handed over one after the other, so when the first row of a new part
 * has come there may still be older ones of another tier: the part before stays
 * open for those until every tier has passed the cut.  So no row is lost and
 * none is in two files, and nobody waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/thread.h"
#include "trace/format.h"
#include "trace/series.h"

#define LEAD_NS   (2 * NS_PER_S)  /* a file is opened so long before it is needed */
#define BEHIND_NS (10 * NS_PER_S) /* a tier that hangs is waited for so long */
#define LASTED_NS (2 * NS_PER_S)  /* what failed sooner is not tried again at once */

static int64_t newest(const struct trace_series *s)
{
	int64_t ns = s->about.start.mono_ns;

	for (int t = 0; t < TIERS; t++)
		if (s->newest_ns[t] > ns)
			ns = s->newest_ns[t];
	return ns;
}

static uint64_t most(const struct part *p)
{
	struct trace_writer_stats w;

	trace_writer_stats(p->writer, &w);
	return w.most;
}

/* Bytes of about half a second: rows that may still come for a file that is to
 * end.  At most a part of the whole, for limits that are small. */
static uint64_t margin(const struct trace_series *s, uint64_t limit)
{
	static const double row[TIERS] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE};
	double bytes = 0;

	for (int t = 0; t < TIERS; t++)
		if (s->about.width[t])
			bytes += s->about.hz[t] * (row[t] + 8 * (double)s->about.width[t]) / 2;
	return bytes < (double)limit / 8 ? (uint64_t)bytes : limit / 8;
}

/* The session of a part that begins at cut_ns, by the clocks as they are now. */
static void about_part(const struct trace_series *s, int64_t cut_ns, struct session *out)
{
	struct clock_anchor now;

	*out = s->about;
	if (cut_ns == s->about.start.mono_ns)
		return;
	clock_anchor(&now);
	out->start.mono_ns = cut_ns;
	out->start.real_ns = now.real_ns - (now.mono_ns - cut_ns);
	out->start.boot_ns = now.boot_ns - (now.mono_ns - cut_ns);
}

static int part_begin(struct trace_series *s, struct part *p, int64_t cut_ns, struct err *e)
{
	struct sink *sink = trace_writer_sink(p->writer);

	about_part(s, cut_ns, &p->about);
	if (sink->ops->begin(sink, &p->about, e) < 0)
		return -1;
	s->current = p;
	s->cut_ns = cut_ns;
	s->number = p->number;
	snprintf(s->shown, sizeof(s->shown), "%s", trace_writer_path(p->writer));
	if (s->limits.split_ns)
		while (s->due_ns <= cut_ns)
			s->due_ns += s->limits.split_ns;
	return 0;
}

static void old_end(struct trace_series *s)
{
	if (s->old)
		part_end(s, s->old);
	s->old = NULL;
}

static void say_failed(struct err *e, const struct err *why)
{
	err_set(e, ERR_FAILED, _("%s; it goes on in a new file as soon as it can"), why->text);
}

/* The file that is written takes nothing any more. */
static void interrupt(struct trace_series *s, const struct trace_writer_stats *w)
{
	int64_t now = clock_now_ns();

	say_failed(&s->err, &w->err);
	s->last = w->err;
	s->failing = true;
	s->failed_ns = now;
	s->gone.holes++;
	if (w->bytes == 0)
		s->number--; /* its name is free again */
	part_end(s, s->current);
	s->current = NULL;
	s->want = true;
	s->retry_ns = now - s->cut_ns > LASTED_NS ? now : now + NS_PER_S;
	pthread_cond_signal(&s->wake);
}

/* The next part takes over from cut_ns on. */
static void advance(struct trace_series *s, int64_t cut_ns)
{
	struct part *before = s->current, *p = s->ready;
	struct err e;

	s->ready = NULL;
	if (part_begin(s, p, cut_ns, &e) < 0) {
		err_set(&s->err, ERR_FAILED, "%s", e.text);
		trace_writer_free(p->writer);
		free(p);
		return;
	}
	old_end(s);
	s->old = before;
	for (const struct part *failed = s->ending; failed; failed = failed->next)
		part_take_back(s, failed);
	s->gone.moved_marks += marks_give(&s->held, trace_writer_sink(p->writer), cut_ns);
	if (s->failing)
		s->gone.hole_ns += clock_now_ns() - s->failed_ns;
	s->failing = false;
	s->err.code = ERR_NONE;
}

static void ask(struct trace_series *s)
{
	if (s->want || s->ready)
		return;
	s->want = true;
	s->retry_ns = 0;
	pthread_cond_signal(&s->wake);
}

/* Bytes of all files, if the recording ended now. */
static uint64_t together(const struct trace_series *s)
{
	uint64_t bytes = s->gone.bytes + most(s->current);

	if (s->old)
		bytes += most(s->old);
	for (const struct part *p = s->ending; p; p = p->next)
		bytes += most(p);
	return bytes;
}

/* Does the file that is written still take something? */
static void check_current(struct trace_series *s, struct trace_writer_stats *w)
{
	if (!s->current)
		return;
	trace_writer_stats(s->current->writer, w);
	if (w->failed)
		interrupt(s, w);
}

/* Before rows up to until_ns are handed over: is the file to end? */
static void look(struct trace_series *s, int64_t until_ns)
{
	const struct trace_limits *l = &s->limits;
	struct trace_writer_stats w;
	uint64_t near;

	check_current(s, &w);
	if (!s->current) {
		if (s->ready)
			advance(s, newest(s) + 1);
		return;
	}
	if (s->end_ns != INT64_MAX)
		return;
	if (l->max_bytes && together(s) + margin(s, l->max_bytes) >= l->max_bytes) {
		s->end_ns = newest(s) + 1;
		return;
	}
	near = w.most + margin(s, l->split_bytes);
	if (l->split_bytes && near + 4 * margin(s, l->split_bytes) >= l->split_bytes)
		ask(s);
	if (l->split_ns && until_ns >= s->due_ns - LEAD_NS)
		ask(s);
	if (!s->ready)
		return;
	if (l->split_bytes && near >= l->split_bytes)
		advance(s, newest(s) + 1);
	else if (l->split_ns && until_ns >= s->due_ns)
		advance(s, s->due_ns > newest(s) ? s->due_ns : newest(s) + 1);
}

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
	look(s, r->t_ns[r->n - 1]);
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
	if (passed || newest(s) - s->cut_ns > BEHIND_NS)
		old_end(s);
	pthread_mutex_unlock(&s->lock);
}

static void series_mark(struct sink *sink, const struct mark *m)
{
	struct trace_series *s = (struct trace_series *)sink;
	struct trace_writer_stats w;
	struct mark own = *m;
	struct part *p;

	pthread_mutex_lock(&s->lock);
	check_current(s, &w);
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
		return err_set(e, ERR_FAILED, _("%s is recorded already"), s->shown);
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

	if (sink)
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
		old_end(s);
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
					    series_gap,   series_end,  series_rest};
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
			say_failed(&out->err, &w.err);
		} else if (w.moved && out->err.code == ERR_NONE) {
			err_set(&out->err, ERR_FAILED,
				_("%s.part is not there any more: its folder was moved, or its mount has "
				  "gone; the recording goes on in it"),
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
