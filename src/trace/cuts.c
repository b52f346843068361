/* When a file has to end: it is long or large enough, all of them are, or it takes
 * nothing any more; and how the next takes over.  All with the lock held. */
#include <stdio.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/format.h"
#include "trace/series.h"

#define LEAD_NS   (2 * NS_PER_S) /* a file is opened so long before it is needed */
#define LASTED_NS (2 * NS_PER_S) /* what failed sooner is not tried again at once */

int64_t series_newest(const struct trace_series *s)
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

int part_begin(struct trace_series *s, struct part *p, int64_t cut_ns, struct err *e)
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

void series_old_end(struct trace_series *s)
{
	if (s->old)
		part_end(s, s->old);
	s->old = NULL;
}

void series_say_failed(struct err *e, const struct err *why)
{
	err_set(e, ERR_FAILED, _("%s; the recording continues in a new file as soon as possible"), why->text);
}

/* The file that is written takes nothing any more. */
static void interrupt(struct trace_series *s, const struct trace_writer_stats *w)
{
	int64_t now = clock_now_ns();

	series_say_failed(&s->err, &w->err);
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
	series_old_end(s);
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
void series_look_current(struct trace_series *s, struct trace_writer_stats *w)
{
	if (!s->current)
		return;
	trace_writer_stats(s->current->writer, w);
	if (w->failed)
		interrupt(s, w);
}

/* Before rows up to until_ns are handed over: is the file to end? */
void series_look(struct trace_series *s, int64_t until_ns)
{
	const struct trace_limits *l = &s->limits;
	struct trace_writer_stats w;
	uint64_t near;

	series_look_current(s, &w);
	if (!s->current) {
		if (s->ready)
			advance(s, series_newest(s) + 1);
		return;
	}
	if (s->end_ns != INT64_MAX)
		return;
	if (l->max_bytes && together(s) + margin(s, l->max_bytes) >= l->max_bytes) {
		s->end_ns = series_newest(s) + 1;
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
		advance(s, series_newest(s) + 1);
	else if (l->split_ns && until_ns >= s->due_ns)
		advance(s, s->due_ns > series_newest(s) ? s->due_ns : series_newest(s) + 1);
}
