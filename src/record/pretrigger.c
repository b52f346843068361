/* The thread that pushes rows packs them under a lock and evaluates the condition. A trigger requests a
 * stretch of time, which a job (pretrigger-write.c) records from the ring. */
#include "record/pretrigger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/pretrigger-state.h"
#include "trace/log-writer.h"
#include "util/intl.h"
#include "util/thread.h"

/* Plus an eighth of `keep`: how long a disk may stall after a trigger before rows are lost; `keep` longer
 * once it has accepted the rows in memory. */
#define SLACK_NS (3 * NS_PER_S)

static int64_t span_of(const struct pretrigger_options *o)
{
	return o->keep_ns + o->keep_ns / 8 + SLACK_NS;
}

/* --- triggers --- */

static void add_mark(struct pretrigger *k, int64_t t_ns, const char *label)
{
	struct mark m = {.t_ns = t_ns};

	text_printable(m.label, sizeof(m.label), label, strlen(label));
	log_builder_mark(k->builder, &m);
	k->triggers++;
}

/* Requests that stretch, limited to the stream. */
static void want(struct pretrigger *k, int64_t from_ns, int64_t to_ns)
{
	struct stretch *s = k->now.is ? &k->next : &k->now;

	if (from_ns < k->begin_ns)
		from_ns = k->begin_ns;
	*s = (struct stretch) {true, from_ns, to_ns};
	k->written = true;
	k->last_ns = to_ns;
	pretrigger_write(k);
}

static void trigger(struct pretrigger *k, int64_t t_ns, const char *label, bool by_condition)
{
	struct stretch *s = k->next.is ? &k->next : &k->now;
	int64_t to;

	if (t_ns < k->begin_ns)
		t_ns = k->begin_ns;
	to = t_ns + k->o.after_ns;
	add_mark(k, t_ns, label);
	if (s->is && t_ns <= s->to_ns) {
		/* A manual trigger shortens a file that was postponed because of the previous one. */
		if (!by_condition && s == &k->now && to < k->copied_ns)
			to = k->copied_ns;
		if (!by_condition && to < s->to_ns)
			s->to_ns = k->last_ns = to;
	} else if (k->next.is) {
		k->next.to_ns = k->last_ns = to;
	} else if (by_condition && k->written && t_ns < k->last_ns + k->o.keep_ns) {
		want(k, k->last_ns + 1, k->last_ns + k->o.keep_ns + k->o.after_ns);
	} else {
		want(k, t_ns - k->o.keep_ns, to);
	}
}

static bool take_condition(void *arg, int64_t t_ns)
{
	struct pretrigger *k = arg;

	trigger(k, t_ns, k->watch.when.text, true);
	return true;
}

/* --- the sink --- */

/* The time of the oldest row in memory, INT64_MAX if none. Call with the lock held. */
static int64_t oldest_ns(const struct pretrigger *k)
{
	const struct ring_chunk *c = k->ring.first;
	int64_t ns = c ? log_cell_ns(c->entry.cell) : INT64_MAX;

	return ns < k->begin_ns ? k->begin_ns : ns;
}

int64_t pretrigger_newest_ns(const struct pretrigger *k)
{
	int64_t newest = 0;

	for (int t = 0; t < TIERS; t++)
		newest = k->watch.newest_ns[t] > newest ? k->watch.newest_ns[t] : newest;
	return newest;
}

static struct pretrigger *pretrigger_of(struct sink *s)
{
	return (struct pretrigger *)s;
}

static int begin(struct sink *s, const struct session *about, struct err *e)
{
	struct pretrigger *k = pretrigger_of(s);
	struct log_options o = {.live = false, .index = false};

	if (k->attached || k->ended)
		return err_set(e, ERR_FAILED, _("the last seconds are already being kept"));
	k->facts = calloc(about->n_facts + 1, sizeof(*k->facts));
	if (!k->facts)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (about->n_facts)
		memcpy(k->facts, about->facts, about->n_facts * sizeof(*k->facts));
	k->builder = log_builder_new(about, &o, chunk_ring_put, &k->ring, e);
	if (!k->builder)
		return -1;
	k->about = about;
	k->channels = about->channels;
	k->begin_ns = about->start.mono_ns;
	watch_begin(&k->watch, about);
	k->attached = true;
	return 0;
}

static void take_rows(struct sink *s, const struct rows *r)
{
	struct pretrigger *k = pretrigger_of(s);

	if (r->width != k->about->width[r->tier] || !r->n || !r->width)
		return;
	pthread_mutex_lock(&k->lock);
	log_builder_rows(k->builder, r);
	k->taken[r->tier] += r->n;
	watch_rows(&k->watch, r);
	if (k->now.is)
		pthread_cond_broadcast(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

static void take_mark(struct sink *s, const struct mark *m)
{
	struct pretrigger *k = pretrigger_of(s);

	pthread_mutex_lock(&k->lock);
	log_builder_mark(k->builder, m);
	k->marks++;
	pthread_mutex_unlock(&k->lock);
}

static void take_gap(struct sink *s, const struct gap *g)
{
	struct pretrigger *k = pretrigger_of(s);

	pthread_mutex_lock(&k->lock);
	log_builder_gap(k->builder, g);
	pthread_mutex_unlock(&k->lock);
}

/* Changes older than the ring become facts. */
static void change_add(struct pretrigger *k, const struct change *c)
{
	struct change *more = reallocarray(k->changes, k->n_changes + 1, sizeof(*more));
	size_t old = 0;

	if (!more)
		return;
	k->changes = more;
	k->changes[k->n_changes++] = *c;
	while (k->ring.first && old < k->n_changes && k->changes[old].t_ns < oldest_ns(k))
		facts_change(k->facts, k->about->n_facts, &k->changes[old++]);
	k->n_changes -= old;
	memmove(k->changes, k->changes + old, k->n_changes * sizeof(*k->changes));
}

static void take_change(struct sink *s, const struct change *c)
{
	struct pretrigger *k = pretrigger_of(s);

	pthread_mutex_lock(&k->lock);
	change_add(k, c);
	log_builder_change(k->builder, c);
	pthread_mutex_unlock(&k->lock);
}

static void take_ranges(struct sink *s, const struct range *list, size_t n)
{
	struct pretrigger *k = pretrigger_of(s);

	pthread_mutex_lock(&k->lock);
	log_builder_ranges(k->builder, list, n);
	pthread_mutex_unlock(&k->lock);
}

static void take_described(struct sink *s)
{
	struct pretrigger *k = pretrigger_of(s);

	pthread_mutex_lock(&k->lock);
	k->channels = k->about->channels;
	log_builder_described(k->builder);
	pthread_mutex_unlock(&k->lock);
}

static int end(struct sink *s, struct err *e)
{
	struct pretrigger *k = pretrigger_of(s);

	(void)e;
	if (!k->attached)
		return 0;
	pthread_mutex_lock(&k->lock);
	watch_end(&k->watch);
	/* Names of ranges are not valid after this. */
	log_builder_run(k->builder, clock_now_ns() + NS_PER_S);
	k->quit = true;
	pthread_cond_broadcast(&k->wake);
	pthread_mutex_unlock(&k->lock);
	pretrigger_wait(k);
	k->attached = false;
	k->ended = true;
	return 0;
}

void pretrigger_trigger(struct pretrigger *k, int64_t t_ns, const char *label)
{
	pthread_mutex_lock(&k->lock);
	if (k->about && !k->quit)
		trigger(k, t_ns, label, false);
	pthread_mutex_unlock(&k->lock);
}

static int check(const struct pretrigger_options *o, const struct session *about, struct err *e)
{
	bool too_long = o->keep_ns > INT64_MAX / 8 || o->after_ns > INT64_MAX / 8;
	double bytes = too_long ? 1e30 : chunk_ring_bytes(about, span_of(o));
	double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	struct log_writer *w;

	if (o->keep_ns < PRETRIGGER_MIN_NS)
		return err_set(e, ERR_USAGE, _("the time to keep must be at least 0.1 s"));
	if (bytes > most / 2)
		return err_set(
			e, ERR_FAILED,
			_("keeping that long could take %.0f MB of memory and the machine has %.0f MB: keep "
			  "less or sample less often"),
			bytes / 1e6, most / 1e6);
	if (!o->path)
		return 0;
	if (strlen(o->path) + sizeof(".99999.nvmt.tmp") > sizeof(((struct pretrigger *)0)->path))
		return err_set(e, ERR_FAILED, _("the path is too long"));
	/* An existing file is replaced when the first file is recorded, not earlier. */
	if (o->force && access(o->path, F_OK) == 0)
		return log_file_check(o->path, true, e);
	w = log_writer_new(o->path, false, e); /* performs all checks of a writer */
	log_writer_free(w);
	return w ? 0 : -1;
}

struct pretrigger *pretrigger_new(const struct pretrigger_options *o, const struct session *about,
				  struct err *e)
{
	static const struct sink_ops ops = {begin, take_rows,	take_mark,   take_gap,	    end,
					    NULL,  take_change, take_ranges, take_described};
	struct pretrigger *k;

	if (check(o, about, e) < 0)
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	k->sink.ops = &ops;
	k->o = *o;
	k->watch.take = take_condition;
	k->watch.arg = k;
	chunk_ring_begin(&k->ring, span_of(o), (size_t)chunk_ring_bytes(about, span_of(o)));
	if (o->path)
		strcpy(k->path, o->path);
	if (o->when)
		k->watch.when = *o->when;
	pthread_mutex_init(&k->lock, NULL);
	thread_cond_init(&k->wake);
	return k;
}

struct sink *pretrigger_sink(struct pretrigger *k)
{
	return &k->sink;
}

void pretrigger_stats(struct pretrigger *k, struct pretrigger_stats *out)
{
	int64_t oldest, newest;

	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&k->lock);
	oldest = oldest_ns(k);
	newest = pretrigger_newest_ns(k);
	if (newest > oldest)
		out->held_ns = newest - oldest < k->o.keep_ns ? newest - oldest : k->o.keep_ns;
	memcpy(out->rows, k->taken, sizeof(out->rows));
	out->memory = k->ring.bytes_most;
	out->memory_most = k->ring.limit + (k->ring.range_bytes ? CHUNK_RING_RANGES : 0);
	out->triggers = k->triggers;
	out->marks = k->marks;
	out->files = k->n_files;
	out->failed = k->n_failed;
	out->writing = k->now.is;
	pthread_mutex_unlock(&k->lock);
}

bool pretrigger_file(struct pretrigger *k, size_t i, struct pretrigger_file *out)
{
	bool there;

	pthread_mutex_lock(&k->lock);
	there = i < k->n_files && k->n_files - i <= PRETRIGGER_FILES;
	if (there)
		*out = k->files[i % PRETRIGGER_FILES];
	pthread_mutex_unlock(&k->lock);
	return there;
}

void pretrigger_end_when(struct pretrigger *k, pretrigger_enough *enough, void *arg)
{
	k->enough = enough;
	k->enough_arg = arg;
}

void pretrigger_free(struct pretrigger *k)
{
	if (!k)
		return;
	end(&k->sink, NULL);
	if (k->stuck)
		job_cancel(&k->job);
	else
		pretrigger_destroy(k);
}

void pretrigger_destroy(struct pretrigger *k)
{
	log_builder_free(k->builder);
	chunk_ring_free(&k->ring);
	watch_free(&k->watch);
	free(k->facts);
	free(k->changes);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k);
}
