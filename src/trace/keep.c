/* Triggers, and the one thread that writes.  The thread that pushes only packs
 * rows under a lock and evaluates the condition; what a trigger asks for is a
 * stretch of time in a slot, and the writing thread takes it when all of its
 * rows are there. */
#include "nvmtop/keep.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvmtop/intl.h"
#include "nvmtop/thread.h"
#include "nvmtop/trace.h"
#include "trace/kept.h"

#define SLACK_NS                                                                                             \
	(3 * NS_PER_S) /* and an eighth of all: how far a file's beginning is from being overwritten */
/* And two periods: what tiers may be apart before one counts as stalled.  They come one after the
 * other, each with what there is of the last 200 ms. */
#define LAG_NS      (300 * NS_PER_MS)
#define LAG_MOST_NS NS_PER_S /* less than the slack: what was not evaluated yet is still held */
#define COMING_NS   NS_PER_S /* how long rows are waited for that do not come */

/* What is to be written, from_ns .. to_ns. */
struct stretch_wanted {
	bool is;
	int64_t from_ns, to_ns;
};

struct keep {
	struct sink sink;
	struct keep_options o;
	struct condition when;
	char path[4096];
	const struct session *about;
	pthread_t thread;
	bool running, ended;

	pthread_mutex_t lock; /* for all that follows */
	pthread_cond_t wake;
	struct hold hold;
	struct condition_eval eval;
	bool armed;
	uint64_t seen[TIERS];         /* rows that the condition has seen */
	struct hold_cursor at[TIERS]; /* the next one */
	int64_t newest_ns[TIERS];
	struct stretch_wanted wanted;
	bool written; /* some stretch was asked for: last_ns is the end of the latest */
	int64_t last_ns;
	bool quit, writing;
	uint64_t triggers, marks;
	struct keep_file *files;
	size_t n_files, n_failed;
	unsigned name, number; /* of the latest complete file and of the present one; the writing thread's */
};

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

/* A name that nothing has yet: neither a trace nor what is left of one. */
static bool name_next(struct keep *k, struct keep_file *f)
{
	bool over = k->o.force && k->path[0]; /* what was there before, not its own files */
	char now[64] = "";

	if (!k->path[0])
		k->o.name(now, sizeof(now));
	k->number = over ? k->name + 1 : 1;
	return kept_name(f, k->path[0] ? k->path : now, &k->number, over);
}

/* With the lock: are all rows of the wanted stretch there? */
static bool complete(const struct keep *k)
{
	if (k->quit || clock_now_ns() >= k->wanted.to_ns + COMING_NS)
		return true;
	for (int t = 0; t < TIERS; t++)
		if (k->about->width[t] && k->newest_ns[t] <= k->wanted.to_ns)
			return false;
	return true;
}

/* With the lock: until there is something to write; false: there never will be. */
static bool wait_for_stretch(struct keep *k)
{
	while (!(k->wanted.is && complete(k))) {
		if (k->quit && !k->wanted.is)
			return false;
		if (k->wanted.is)
			thread_wait(&k->wake, &k->lock, clock_now_ns() + NS_PER_S / 4);
		else
			pthread_cond_wait(&k->wake, &k->lock);
	}
	return true;
}

/* With the lock. */
static void file_add(struct keep *k, const struct keep_file *f)
{
	k->n_failed += f->err.code != ERR_NONE;
	if (k->n_files < KEEP_FILES) {
		struct keep_file *more = reallocarray(k->files, k->n_files + 1, sizeof(*more));

		if (!more)
			return;
		k->files = more;
	}
	k->files[k->n_files++ % KEEP_FILES] = *f;
}

/* With the lock: where the stretch ends, which may be the end of the stream.  What
 * triggered it may be newer than all rows. */
static int64_t wanted_until(const struct keep *k)
{
	int64_t newest = k->wanted.from_ns;

	for (size_t i = k->hold.n_marks; i-- > 0 && k->hold.marks[i].t_ns > newest;)
		if (k->hold.marks[i].t_ns <= k->wanted.to_ns)
			newest = k->hold.marks[i].t_ns;
	for (int t = 0; t < TIERS; t++)
		if (k->newest_ns[t] > newest)
			newest = k->newest_ns[t];
	return k->quit && newest < k->wanted.to_ns ? newest : k->wanted.to_ns;
}

static void *keep_main(void *arg)
{
	struct keep *k = arg;
	struct kept kept = {
		.about = k->about, .hold = &k->hold, .lock = &k->lock, .force = k->o.force && k->path[0]};
	struct keep_file *f = calloc(1, sizeof(*f));

	pthread_mutex_lock(&k->lock);
	while (f && wait_for_stretch(k)) {
		memset(f, 0, sizeof(*f));
		f->from_ns = k->wanted.from_ns;
		f->to_ns = wanted_until(k);
		k->wanted.is = false;
		k->writing = true;
		pthread_mutex_unlock(&k->lock);
		while (name_next(k, f) && !kept_write(&kept, f))
			;
		if (f->err.code == ERR_NONE)
			k->name = k->number;
		pthread_mutex_lock(&k->lock);
		k->writing = false;
		file_add(k, f);
	}
	pthread_mutex_unlock(&k->lock);
	free(f);
	return NULL;
}

static void note_trigger(struct keep *k, int64_t t_ns, const char *label)
{
	struct mark m = {.t_ns = t_ns < k->about->start.mono_ns ? k->about->start.mono_ns : t_ns};
	size_t n = strlen(label);

	/* A label that is too long ends between two characters. */
	if (n >= sizeof(m.label))
		for (n = sizeof(m.label) - 1; n && ((unsigned char)label[n] & 0xc0) == 0x80;)
			n--;
	text_printable(m.label, sizeof(m.label), label, n);
	hold_mark(&k->hold, &m);
	k->triggers++;
}

/* The stretch from there; never before the stream. */
static void want(struct keep *k, int64_t from_ns, int64_t to_ns)
{
	if (from_ns < k->about->start.mono_ns)
		from_ns = k->about->start.mono_ns;
	k->wanted = (struct stretch_wanted) {true, from_ns, to_ns};
	k->written = true;
	k->last_ns = to_ns;
	pthread_cond_signal(&k->wake);
}

/* With the lock. */
static void trigger(struct keep *k, int64_t t_ns, const char *label, bool by_condition)
{
	int64_t to = t_ns + k->o.after_ns;

	note_trigger(k, t_ns, label);
	if (k->wanted.is && t_ns <= k->wanted.to_ns) {
		/* One that was put off, because of a file just before it, is wanted now. */
		if (!by_condition && to < k->wanted.to_ns)
			k->wanted.to_ns = k->last_ns = to;
	} else if (k->wanted.is) {
		k->wanted.to_ns = k->last_ns = to;
	} else if (by_condition && k->written && t_ns < k->last_ns + k->o.keep_ns) {
		want(k, k->last_ns + 1, k->last_ns + k->o.keep_ns + k->o.after_ns);
	} else {
		want(k, t_ns - k->o.keep_ns, to);
	}
}

/* Rows of several tiers come in batches of one: the oldest first, as far as all
 * tiers that matter have come.  One that is stalled is not waited for. */
static int64_t horizon(const struct keep *k)
{
	int64_t newest = 0, low = INT64_MAX;

	for (int t = 0; t < TIERS; t++)
		if (condition_uses(&k->when, (enum tier)t) && k->newest_ns[t] > newest)
			newest = k->newest_ns[t];
	for (int t = 0; t < TIERS; t++) {
		double apart = 2 * (double)NS_PER_S / k->about->hz[t] + (double)LAG_NS;
		int64_t least = newest - (int64_t)fmin(apart, (double)LAG_MOST_NS);

		if (!condition_uses(&k->when, (enum tier)t))
			continue;
		if (k->newest_ns[t] > least)
			least = k->newest_ns[t];
		if (least < low)
			low = least;
	}
	return low;
}

static void evaluate(struct keep *k, int64_t until)
{
	for (;;) {
		enum tier tier = TIERS;
		int64_t t_ns = 0;
		bool holds;

		for (int t = 0; t < TIERS; t++) {
			struct hold_cursor *c = &k->at[t];

			if (!condition_uses(&k->when, (enum tier)t))
				continue;
			if (k->seen[t] < hold_oldest(&k->hold, (enum tier)t))
				k->seen[t] = hold_oldest(&k->hold, (enum tier)t);
			if (hold_at(&k->hold, c, k->seen[t]) && c->row.t_ns <= until &&
			    (tier == TIERS || c->row.t_ns < t_ns)) {
				tier = (enum tier)t;
				t_ns = c->row.t_ns;
			}
		}
		if (tier == TIERS)
			return;
		holds = condition_row(&k->eval, tier, t_ns, k->at[tier].row.values);
		k->seen[tier]++;
		if (holds && k->armed)
			trigger(k, t_ns, k->when.text, true);
		k->armed = !holds;
	}
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
		return err_set(e, ERR_FAILED, _("the last stretch is held already"));
	k->about = about;
	for (int t = 0; t < TIERS; t++)
		k->newest_ns[t] = about->start.mono_ns;
	if (k->when.n)
		condition_start(&k->eval, &k->when, about->hz);
	num = thread_start(&k->thread, keep_main, k);
	if (num)
		return err_sys(e, ERR_FAILED, num, _("cannot hold the last stretch: no thread"));
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
		evaluate(k, horizon(k));
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

static int keep_end(struct sink *s, struct err *e)
{
	struct keep *k = keep_of(s);

	(void)e;
	if (!k->running)
		return 0;
	pthread_mutex_lock(&k->lock);
	if (k->when.n)
		evaluate(k, INT64_MAX);
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
		trigger(k, t_ns, label, false);
	pthread_mutex_unlock(&k->lock);
}

static int check(const struct keep_options *o, const struct session *about, struct err *e)
{
	double bytes = keep_bytes(o, about);
	double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	struct trace_writer *w;

	if (o->keep_ns < KEEP_MIN_NS)
		return err_set(e, ERR_USAGE, _("the stretch to keep is at least 0.1 s"));
	if (too_long(o) || bytes > most / 2)
		return err_set(
			e, ERR_FAILED,
			_("to keep that long could take %.0f MB of memory and the machine has %.0f MB: "
			  "keep less, or sample less often"),
			bytes / 1e6, most / 1e6);
	if (!o->path)
		return 0;
	if (strlen(o->path) + sizeof(".99999.part.side") > sizeof(((struct keep *)0)->path))
		return err_set(e, ERR_FAILED, _("the path is too long"));
	/* Everything that a writer checks, now. */
	w = trace_writer_new(o->path, o->force, e);
	trace_writer_free(w);
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
	static const struct sink_ops ops = {keep_begin, keep_rows, keep_mark, keep_gap, keep_end, NULL};
	struct keep *k;

	if (check(o, about, e) < 0)
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k || !take_memory(k, o, about)) {
		err_set(e, ERR_FAILED, _("there is no memory to keep that long: %.0f MB"),
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
	give_memory(k);
}
