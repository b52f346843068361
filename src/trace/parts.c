/* Files of a series are opened before they are needed and completed after they
 * were, on a thread of its own: neither must hold up the stream, which has only
 * so much room.  A file that cannot be opened is tried again every second for
 * as long as the recording lasts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/thread.h"
#include "trace/series.h"

#define RETRY_NS NS_PER_S
#define LOOK_NS  (20 * NS_PER_MS) /* at parts that are ending */

struct part *part_open(struct trace_series *s, unsigned number, struct err *e)
{
	struct part *p = calloc(1, sizeof(*p));
	char path[PATH_MAX];

	if (!p) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	for (;; number++) {
		if (part_path(s->path, number, path, sizeof(path)) < 0) {
			err_set(e, ERR_FAILED, _("the path is too long for the name of a next file"));
			break;
		}
		/* The first one says itself what is wrong with its name. */
		if (number == 1 || trace_name_free(path, false)) {
			p->writer = trace_writer_new(path, number == 1 && s->force, e);
			break;
		}
	}
	if (!p->writer) {
		free(p);
		return NULL;
	}
	if (s->limits.sync_ns)
		trace_writer_sync_every(p->writer, s->limits.sync_ns);
	p->number = number;
	return p;
}

void part_end(struct trace_series *s, struct part *p)
{
	trace_writer_finish(p->writer);
	p->next = s->ending;
	s->ending = p;
	pthread_cond_signal(&s->wake);
}

void part_account(struct trace_series_stats *sum, const struct part *p)
{
	struct trace_writer_stats w;

	trace_writer_stats(p->writer, &w);
	sum->bytes += w.bytes;
	sum->marks += w.marks;
	sum->lost_rows += w.lost_rows;
	sum->lost_marks += w.lost_marks;
	for (int t = 0; t < TIERS; t++)
		sum->rows[t] += w.rows[t];
}

void part_take_back(struct trace_series *s, const struct part *p)
{
	struct mark m;

	while (s->held.n < HELD_MARKS && trace_writer_take_back(p->writer, &m))
		marks_hold_again(&s->held, &m);
}

/* With the lock held: remember a part that has ended. */
static void note_done(struct trace_series *s, const struct part *p, bool complete)
{
	struct done *more = reallocarray(s->done, s->n_done + 1, sizeof(*more));
	size_t i;

	if (!more)
		return;
	s->done = more;
	for (i = s->n_done++; i > 0 && more[i - 1].number > p->number; i--)
		more[i] = more[i - 1];
	more[i] = (struct done) {p->number, complete};
}

static struct part *find_done(const struct trace_series *s)
{
	struct part *p = s->ending;

	while (p && !trace_writer_done(p->writer))
		p = p->next;
	return p;
}

static void unlink_part(struct trace_series *s, const struct part *p)
{
	struct part **at = &s->ending;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
}

/* With the lock held, and let go meanwhile.  A part is counted among those that
 * end until it is counted among those that have. */
static void reap(struct trace_series *s)
{
	struct part *p;

	while ((p = find_done(s))) {
		struct sink *sink = trace_writer_sink(p->writer);
		struct trace_writer_stats w;
		struct err e = {.code = ERR_NONE};
		bool kept;

		pthread_mutex_unlock(&s->lock);
		sink->ops->end(sink, &e);
		trace_writer_stats(p->writer, &w);
		pthread_mutex_lock(&s->lock);
		unlink_part(s, p);
		if (!s->quit)
			part_take_back(s, p);
		if (s->current)
			s->gone.moved_marks +=
				marks_give(&s->held, trace_writer_sink(s->current->writer), s->cut_ns);
		/* One that never held a byte has left nothing. */
		kept = w.complete || w.bytes > 0;
		if (kept)
			note_done(s, p, w.complete);
		part_account(&s->gone, p);
		if (w.left.code != ERR_NONE) {
			s->gone.n_left++;
			s->gone.left = w.left;
		}
		if (!kept) {
			s->gone.marks -= w.marks;
			s->gone.lost_marks += w.marks;
		}
		for (int t = 0; !kept && t < TIERS; t++) {
			s->gone.rows[t] -= w.rows[t];
			s->gone.lost_rows += w.rows[t];
		}
		if (e.code != ERR_NONE && (kept || w.removed || s->last.code == ERR_NONE))
			s->last = e;
		pthread_mutex_unlock(&s->lock);
		trace_writer_free(p->writer);
		free(p);
		pthread_mutex_lock(&s->lock);
	}
}

/* The same: open the next part. */
static void prepare(struct trace_series *s)
{
	unsigned number = s->number + 1;
	struct part *p;
	struct err e = {.code = ERR_NONE};

	pthread_mutex_unlock(&s->lock);
	p = part_open(s, number, &e);
	pthread_mutex_lock(&s->lock);
	s->want = !p;
	s->ready = p;
	s->retry_ns = clock_now_ns() + RETRY_NS;
	if (!s->failing && !p)
		err_set(&s->err, ERR_FAILED, _("%s; the recording continues in the previous file"), e.text);
	else if (!s->failing)
		s->err.code = ERR_NONE;
}

void *series_keep(void *series)
{
	struct trace_series *s = series;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		int64_t now = clock_now_ns();

		reap(s);
		if (s->quit && !s->ending)
			break;
		if (s->want && !s->ready && !s->quit && now >= s->retry_ns)
			prepare(s);
		else if (s->ending)
			thread_wait(&s->wake, &s->lock, now + LOOK_NS);
		else if (s->want && !s->ready)
			thread_wait(&s->wake, &s->lock, s->retry_ns);
		else
			pthread_cond_wait(&s->wake, &s->lock);
	}
	s->done_all = true;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}
