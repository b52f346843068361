/* The thread that pushes only packs rows under a lock and evaluates the condition;
 * what a trigger asks for (keep-when.c) is a stretch of time in a slot, and the writing
 * thread (keep-write.c) takes it when all of its rows are there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/thread.h"
#include "trace/trace.h"
#include "trace/keep-state.h"

/* And an eighth of all: how far a file's beginning is from being overwritten. */
#define SLACK_NS (3 * NS_PER_S)

static int64_t span_of(const struct keep_options *o)
{
	int64_t span = o->keep_ns + o->after_ns;

	return span + span / 8 + SLACK_NS;
}

static bool too_long(const struct keep_options *o)
{
	return o->keep_ns > INT64_MAX / 8 || o->after_ns > INT64_MAX / 8;
}

static double keep_bytes(const struct keep_options *o, const struct session *about)
{
	return too_long(o) ? 1e30 : hold_bytes(about, span_of(o));
}

static struct keep *keep_of(struct sink *s)
{
	return (struct keep *)s;
}

static int keep_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct keep *k = keep_of(s);
	int num;

	if (k->running || k->ended)
		return err_set(e, ERR_FAILED, _("the last seconds are already being kept"));
	k->facts = calloc(about->n_facts + 1, sizeof(*k->facts));
	if (!k->facts)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (about->n_facts)
		memcpy(k->facts, about->facts, about->n_facts * sizeof(*k->facts));
	k->about = about;
	for (int t = 0; t < TIERS; t++)
		k->newest_ns[t] = about->start.mono_ns;
	if (k->when.n)
		condition_start(&k->eval, &k->when, about->hz);
	num = thread_start(&k->thread, keep_main, k);
	if (num)
		return err_sys(e, ERR_FAILED, num, _("cannot keep the last seconds: no thread"));
	k->running = true;
	return 0;
}

static void keep_rows(struct sink *s, const struct rows *r)
{
	struct keep *k = keep_of(s);

	if (r->width != k->hold.tiers[r->tier].last.width || !r->n || !r->width)
		return;
	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < r->n; i++)
		hold_row(&k->hold, r->tier, r->t_ns[i], r->values + i * r->width);
	k->newest_ns[r->tier] = r->t_ns[r->n - 1];
	if (k->when.n)
		keep_evaluate(k, keep_horizon(k));
	if (k->wanted.is)
		pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

static void keep_mark(struct sink *s, const struct mark *m)
{
	struct keep *k = keep_of(s);

	pthread_mutex_lock(&k->lock);
	hold_mark(&k->hold, m);
	k->marks++;
	pthread_mutex_unlock(&k->lock);
}

static void keep_gap(struct sink *s, const struct gap *g)
{
	struct keep *k = keep_of(s);

	pthread_mutex_lock(&k->lock);
	hold_gap(&k->hold, g);
	pthread_mutex_unlock(&k->lock);
}

static void keep_change(struct sink *s, const struct change *c)
{
	struct keep *k = keep_of(s);
	struct change gone;

	pthread_mutex_lock(&k->lock);
	if (!hold_change(&k->hold, c, &gone))
		facts_change(k->facts, k->about->n_facts, &gone);
	pthread_mutex_unlock(&k->lock);
}

static int keep_end(struct sink *s, struct err *e)
{
	struct keep *k = keep_of(s);

	(void)e;
	if (!k->running)
		return 0;
	pthread_mutex_lock(&k->lock);
	if (k->when.n)
		keep_evaluate(k, INT64_MAX);
	k->quit = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	k->running = false;
	k->ended = true;
	return 0;
}

void keep_trigger(struct keep *k, int64_t t_ns, const char *label)
{
	pthread_mutex_lock(&k->lock);
	if (k->about && !k->quit)
		keep_note(k, t_ns, label, false);
	pthread_mutex_unlock(&k->lock);
}

static int check(const struct keep_options *o, const struct session *about, struct err *e)
{
	double bytes = keep_bytes(o, about);
	double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	struct log_writer *w;

	if (o->keep_ns < KEEP_MIN_NS)
		return err_set(e, ERR_USAGE, _("the time to keep must be at least 0.1 s"));
	if (too_long(o) || bytes > most / 2)
		return err_set(
			e, ERR_FAILED,
			_("keeping that long could take %.0f MB of memory and the machine has %.0f MB: keep "
			  "less or sample less often"),
			bytes / 1e6, most / 1e6);
	if (!o->path)
		return 0;
	if (strlen(o->path) + sizeof(".99999.part.side") > sizeof(((struct keep *)0)->path))
		return err_set(e, ERR_FAILED, _("the path is too long"));
	/* Everything that a writer checks, now. */
	w = log_writer_new(o->path, o->force, e);
	log_writer_free(w);
	return w ? 0 : -1;
}

static bool take_memory(struct keep *k, const struct keep_options *o, const struct session *about)
{
	bool ok = hold_init(&k->hold, about, span_of(o));

	for (int t = 0; t < TIERS && ok; t++)
		ok = hold_cursor_init(&k->at[t], &k->hold, (enum tier)t);
	return ok;
}

static void give_memory(struct keep *k)
{
	for (int t = 0; k && t < TIERS; t++)
		hold_cursor_free(&k->at[t]);
	if (k)
		hold_free(&k->hold);
	free(k);
}

struct keep *keep_new(const struct keep_options *o, const struct session *about, struct err *e)
{
	static const struct sink_ops ops = {keep_begin, keep_rows, keep_mark, keep_gap, keep_end, NULL, keep_change};
	struct keep *k;

	if (check(o, about, e) < 0)
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k || !take_memory(k, o, about)) {
		err_set(e, ERR_FAILED, _("not enough memory to keep that long: %.0f MB"),
			keep_bytes(o, about) / 1e6);
		give_memory(k);
		return NULL;
	}
	k->sink.ops = &ops;
	k->o = *o;
	k->armed = true;
	if (o->path)
		strcpy(k->path, o->path);
	if (o->when)
		k->when = *o->when;
	pthread_mutex_init(&k->lock, NULL);
	thread_cond_init(&k->wake);
	return k;
}

struct sink *keep_sink(struct keep *k)
{
	return &k->sink;
}

void keep_stats(struct keep *k, struct keep_stats *out)
{
	int64_t oldest = INT64_MAX, newest = 0;

	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&k->lock);
	for (int t = 0; t < TIERS; t++) {
		out->rows[t] = k->hold.tiers[t].head;
		if (!out->rows[t])
			continue;
		if (hold_oldest_ns(&k->hold, (enum tier)t) < oldest)
			oldest = hold_oldest_ns(&k->hold, (enum tier)t);
		if (k->newest_ns[t] > newest)
			newest = k->newest_ns[t];
	}
	if (newest > oldest)
		out->held_ns = newest - oldest < k->o.keep_ns ? newest - oldest : k->o.keep_ns;
	out->memory = hold_touched(&k->hold);
	out->memory_most = k->hold.size;
	out->triggers = k->triggers;
	out->marks = k->marks;
	out->files = k->n_files;
	out->failed = k->n_failed;
	out->writing = k->writing;
	out->waiting = k->wanted.is;
	pthread_mutex_unlock(&k->lock);
}

bool keep_file(struct keep *k, size_t i, struct keep_file *out)
{
	bool there;

	pthread_mutex_lock(&k->lock);
	there = i < k->n_files && k->n_files - i <= KEEP_FILES;
	if (there)
		*out = k->files[i % KEEP_FILES];
	pthread_mutex_unlock(&k->lock);
	return there;
}

void keep_free(struct keep *k)
{
	if (!k)
		return;
	keep_end(&k->sink, NULL);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k->files);
	free(k->facts);
	give_memory(k);
}
