/* The thread that pushes packs rows under a lock and evaluates the condition; a trigger
 * (pretrigger-when.c) requests a stretch of time, which a job (pretrigger-write.c) records out of the
 * ring. */
#include "record/pretrigger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/pretrigger-state.h"
#include "trace/log-writer.h"
#include "util/intl.h"
#include "util/thread.h"

/* And an eighth: how long a disk may take nothing before rows are lost, or all of `keep` later. */
#define SLACK_NS (3 * NS_PER_S)

static int64_t span_of(const struct pretrigger_options *o)
{
	return o->keep_ns + o->keep_ns / 8 + SLACK_NS;
}

static bool too_long(const struct pretrigger_options *o)
{
	return o->keep_ns > INT64_MAX / 8 || o->after_ns > INT64_MAX / 8;
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
	if (chunk_ring_begin(&k->ring, about, span_of(&k->o)) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	k->builder = log_builder_new(about, &o, chunk_ring_put, &k->ring, e);
	if (!k->builder)
		return -1;
	k->about = about;
	k->begin_ns = about->start.mono_ns;
	for (int t = 0; t < TIERS; t++)
		k->newest_ns[t] = about->start.mono_ns;
	if (k->when.n)
		condition_start(&k->eval, &k->when, about->hz);
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
	k->newest_ns[r->tier] = r->t_ns[r->n - 1];
	if (k->when.n)
		pretrigger_watch(k, r);
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

static void take_change(struct sink *s, const struct change *c)
{
	struct pretrigger *k = pretrigger_of(s);

	pthread_mutex_lock(&k->lock);
	log_builder_change(k->builder, c);
	pthread_mutex_unlock(&k->lock);
}

static int end(struct sink *s, struct err *e)
{
	struct pretrigger *k = pretrigger_of(s);

	(void)e;
	if (!k->attached)
		return 0;
	pthread_mutex_lock(&k->lock);
	if (k->when.n)
		pretrigger_evaluate(k, INT64_MAX);
	k->quit = true;
	pthread_cond_broadcast(&k->wake);
	while (k->writing)
		pthread_cond_wait(&k->wake, &k->lock);
	pthread_mutex_unlock(&k->lock);
	k->attached = false;
	k->ended = true;
	return 0;
}

void pretrigger_trigger(struct pretrigger *k, int64_t t_ns, const char *label)
{
	pthread_mutex_lock(&k->lock);
	if (k->about && !k->quit)
		pretrigger_note(k, t_ns, label, false);
	pthread_mutex_unlock(&k->lock);
}

static int check(const struct pretrigger_options *o, const struct session *about, struct err *e)
{
	double bytes = too_long(o) ? 1e30 : chunk_ring_bytes(about, span_of(o));
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
	/* An existing file is replaced by the first recorded one, not earlier. */
	if (o->force && access(o->path, F_OK) == 0)
		return log_file_check(o->path, true, e);
	w = log_writer_new(o->path, false, e); /* all that a writer checks */
	log_writer_free(w);
	return w ? 0 : -1;
}

struct pretrigger *pretrigger_new(const struct pretrigger_options *o, const struct session *about,
				  struct err *e)
{
	static const struct sink_ops ops = {begin, take_rows, take_mark, take_gap, end, NULL, take_change};
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
	k->armed = true;
	k->ring.limit = (size_t)chunk_ring_bytes(about, span_of(o));
	if (o->path)
		strcpy(k->path, o->path);
	if (o->when)
		k->when = *o->when;
	pthread_mutex_init(&k->lock, NULL);
	thread_cond_init(&k->wake);
	return k;
}

struct sink *pretrigger_sink(struct pretrigger *k)
{
	return &k->sink;
}

/* With the lock: the time of the oldest row held; INT64_MAX: none. */
static int64_t oldest_ns(const struct pretrigger *k)
{
	const struct ring_chunk *c = chunk_ring_at(&k->ring, k->ring.first);
	int64_t ns = c ? c->entry.cell << LOG_CELL_ZOOM : INT64_MAX;

	return ns < k->begin_ns ? k->begin_ns : ns;
}

void pretrigger_stats(struct pretrigger *k, struct pretrigger_stats *out)
{
	int64_t oldest, newest = 0;

	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&k->lock);
	oldest = oldest_ns(k);
	for (int t = 0; t < TIERS; t++)
		if (k->newest_ns[t] > newest)
			newest = k->newest_ns[t];
	if (newest > oldest)
		out->held_ns = newest - oldest < k->o.keep_ns ? newest - oldest : k->o.keep_ns;
	memcpy(out->rows, k->taken, sizeof(out->rows));
	out->memory = k->ring.bytes_most;
	out->memory_most = k->ring.limit;
	out->triggers = k->triggers;
	out->marks = k->marks;
	out->files = k->n_files;
	out->failed = k->n_failed;
	out->writing = k->now.is;
	out->waiting = k->next.is;
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

void pretrigger_free(struct pretrigger *k)
{
	if (!k)
		return;
	end(&k->sink, NULL);
	log_builder_free(k->builder);
	chunk_ring_free(&k->ring);
	for (int t = 0; t < TIERS; t++) {
		free(k->unseen[t].t_ns);
		free(k->unseen[t].values);
	}
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k->files);
	free(k);
}
