/* The chunks of the last seconds stay in memory; a trigger starts an output that copies a stretch of them, and of those
 * that follow, into a file. */
#include "record/pretrigger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/naming.h"
#include "record/watch.h"
#include "util/intl.h"
#include "util/thread.h"

#define CELL_NS	    (INT64_C(1) << LOG_CELL_ZOOM)
#define SLACK_NS    (3 * NS_PER_S) /* plus an eighth of `keep`: how much later than its time a trigger may come */
#define EVENT_BYTES 4096	   /* of marks, gaps and changes per second */
#define GROUP_NS    (CELL_NS << LOG_SPAN_BITS)
#define STRETCHES   2 /* that are written at a time */

struct pretrigger {
	struct sink sink;
	struct pretrigger_options o;
	char path[4096];
	struct log *log;
	int64_t since_ns; /* earlier rows trigger nothing: the past of a demo */
	size_t most;	  /* bytes of chunks */

	pthread_mutex_t lock; /* for all following members */
	bool ended;
	struct watch watch;
	uint64_t triggers;
	struct stretch {
		struct log_out *writer;
		int64_t from_ns, to_ns;
	} now[STRETCHES]; /* that are being written, each behind the one before */
	size_t n_now;
	int64_t last_ns;   /* the end of the latest; INT64_MIN: there was none yet */
	int64_t marked_ns; /* of the last trigger */
	struct pretrigger_file files[PRETRIGGER_FILES];
	size_t n_files, n_failed;
};

static int64_t span_of(const struct pretrigger_options *o)
{
	return o->keep_ns + o->keep_ns / 8 + SLACK_NS;
}

/* Upper bound of the bytes of the chunks for that time, for any values. */
static double bytes_of(const struct session *about, int64_t span_ns)
{
	double second = EVENT_BYTES, cells = (double)NS_PER_S / (double)CELL_NS;

	for (int t = 0; t < TIERS; t++)
		second += about->hz[t] * (8 * (double)about->width[t] + 4) + cells * ((double)about->width[t] + 32);
	second += cells * (double)(sizeof(struct log_chunk) + LOG_HEAD + sizeof(void *));
	return second * ((double)span_ns / (double)NS_PER_S + 1);
}

/* --- files; call these with the lock held --- */

static void file_add(struct pretrigger *k, const struct pretrigger_file *f)
{
	k->n_failed += f->err.code != ERR_NONE || log_out_lacks(&f->written);
	k->files[k->n_files++ % PRETRIGGER_FILES] = *f;
}

/* The first stretch is complete, or not waited for any more. */
static void stretch_end(struct pretrigger *k)
{
	const struct stretch s = k->now[0];
	struct pretrigger_file f = {.from_ns = s.from_ns, .to_ns = s.to_ns};
	const struct log_known log = log_known(k->log);

	log_out_result(s.writer, &f.err);
	log_out_stats(s.writer, &f.written);
	if (!log_out_file(s.writer, 0, f.path, sizeof(f.path), NULL))
		memcpy(f.path, k->path, sizeof(f.path));
	if (k->ended && log.any && log.last_ns < f.to_ns)
		f.to_ns = log.last_ns > k->marked_ns ? log.last_ns : k->marked_ns;
	log_out_free(s.writer);
	file_add(k, &f);
	k->n_now--;
	memmove(k->now, k->now + 1, k->n_now * sizeof(*k->now));
}

/* Takes the results of files that are complete. */
static void files_look(struct pretrigger *k)
{
	while (k->n_now > 0 && log_out_wait(k->now[0].writer, 0))
		stretch_end(k);
}

/* Starts to write that stretch, limited to the stream. */
static void stretch_begin(struct pretrigger *k, int64_t from_ns, int64_t to_ns)
{
	struct pretrigger_file f = {.from_ns = from_ns, .to_ns = to_ns};
	uint32_t generation;
	const struct session *about = log_session(k->log, &generation);
	char name[64] = "";
	struct log_out *w;

	if (about && from_ns < about->start.mono_ns)
		from_ns = about->start.mono_ns;
	if (!k->path[0]) {
		name_now(name, sizeof(name) - sizeof(".nvmt"));
		strcat(name, ".nvmt");
	}
	k->last_ns = to_ns;
	w = log_out_later(k->path[0] ? k->path : name, k->o.force && !k->n_files && !k->n_now, &f.err);
	if (w && log_out_begin(w, k->log, from_ns, to_ns, &f.err) == 0) {
		k->now[k->n_now++] = (struct stretch) {w, from_ns, to_ns};
		return;
	}
	log_out_free(w);
	file_add(k, &f);
}

/* --- triggers --- */

static void trigger(struct pretrigger *k, int64_t t_ns, const char *label, bool by_condition)
{
	int64_t to_ns = t_ns + k->o.after_ns;
	struct stretch *s;

	files_look(k);
	s = k->n_now > 0 ? &k->now[k->n_now - 1] : NULL;
	k->triggers++;
	if (k->o.mark)
		k->o.mark(k->o.mark_arg, t_ns, label);
	if (t_ns > k->marked_ns)
		k->marked_ns = t_ns;
	if ((s && t_ns <= s->to_ns) || k->n_now == STRETCHES) {
		/* It is in that file, which becomes longer if there can be no other one. By hand one becomes shorter that was
		 * postponed because of another. */
		bool less = t_ns <= s->to_ns;

		if ((!less || (!by_condition && to_ns < s->to_ns)) && log_out_end_at(s->writer, &to_ns, less))
			s->to_ns = k->last_ns = to_ns;
	} else if (by_condition && k->last_ns != INT64_MIN && t_ns < k->last_ns + k->o.keep_ns) {
		/* From what the file before does not have. */
		stretch_begin(k, log_cell_ns(log_cell(k->last_ns) + 1), k->last_ns + k->o.keep_ns + k->o.after_ns);
	} else {
		stretch_begin(k, t_ns - k->o.keep_ns, to_ns);
	}
}

static bool take_condition(void *arg, int64_t t_ns)
{
	struct pretrigger *k = arg;

	trigger(k, t_ns, k->watch.when.text, true);
	return true;
}

void pretrigger_trigger(struct pretrigger *k, int64_t t_ns, const char *label)
{
	uint32_t generation;

	pthread_mutex_lock(&k->lock);
	if (!k->ended && log_session(k->log, &generation))
		trigger(k, t_ns, label, false);
	pthread_mutex_unlock(&k->lock);
}

/* --- the sink: what the condition sees --- */

static int sink_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct pretrigger *k = (struct pretrigger *)s;

	(void)e;
	watch_begin(&k->watch, about);
	return 0;
}

static void sink_rows(struct sink *s, const struct rows *r)
{
	struct pretrigger *k = (struct pretrigger *)s;

	pthread_mutex_lock(&k->lock);
	if (r->n && r->width && r->t_ns[0] >= k->since_ns)
		watch_rows(&k->watch, r);
	pthread_mutex_unlock(&k->lock);
}

static int sink_end(struct sink *s, struct err *e)
{
	struct pretrigger *k = (struct pretrigger *)s;

	(void)e;
	pthread_mutex_lock(&k->lock);
	watch_end(&k->watch);
	pthread_mutex_unlock(&k->lock);
	return 0;
}

void pretrigger_end(struct pretrigger *k, pretrigger_wait *wait, void *arg)
{
	int64_t now = clock_now_ns();

	pthread_mutex_lock(&k->lock);
	k->ended = true;
	pthread_mutex_unlock(&k->lock);
	for (size_t i = 0; i < k->n_now; i++) { /* nothing else changes them now */
		if (k->o.log) /* it goes on */
			log_out_end_at(k->now[i].writer, &now, true);
		log_out_finish(k->now[i].writer);
	}
	while (k->n_now > 0) {
		if (wait && !wait(arg, k->now[0].writer))
			wait = NULL;
		pthread_mutex_lock(&k->lock);
		stretch_end(k);
		pthread_mutex_unlock(&k->lock);
	}
}

/* --- construction --- */

static int check(const struct pretrigger_options *o, const struct session *about, struct err *e)
{
	bool too_long = o->keep_ns > INT64_MAX / 8 || o->after_ns > INT64_MAX / 8;
	double bytes = too_long ? 1e30 : bytes_of(about, span_of(o));
	double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	struct log_out *w;

	if (o->keep_ns < PRETRIGGER_MIN_NS)
		return err_set(e, ERR_USAGE, _("the time to keep must be at least 0.1 s"));
	if (!o->log && bytes > most / 2)
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
	w = log_out_new(o->path, false, e); /* performs all checks of a writer */
	log_out_free(w);
	return w ? 0 : -1;
}

struct pretrigger *pretrigger_new(const struct pretrigger_options *o, const struct session *about, struct err *e)
{
	static const struct sink_ops ops = {.begin = sink_begin, .rows = sink_rows, .end = sink_end};
	struct pretrigger *k;

	if (check(o, about, e) < 0)
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	k->log = o->log ? o->log : log_new(&(struct log_bound) {.rows_ns = span_of(o), .now = true}, e);
	if (!k->log) {
		free(k);
		return NULL;
	}
	k->sink.ops = &ops;
	k->o = *o;
	k->since_ns = o->log ? clock_now_ns() : INT64_MIN;
	k->most = (size_t)bytes_of(about, span_of(o) + GROUP_NS);
	k->watch.take = take_condition;
	k->watch.arg = k;
	k->last_ns = INT64_MIN;
	if (o->path)
		strcpy(k->path, o->path);
	if (o->when)
		k->watch.when = *o->when;
	pthread_mutex_init(&k->lock, NULL);
	return k;
}

struct log *pretrigger_log(struct pretrigger *k)
{
	return k->log;
}

struct sink *pretrigger_sink(struct pretrigger *k)
{
	return &k->sink;
}

void pretrigger_stats(struct pretrigger *k, struct pretrigger_stats *out)
{
	const struct log_known log = log_known(k->log);

	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&k->lock);
	files_look(k);
	if (log.any)
		out->held_ns = log.last_ns - log.first_ns < k->o.keep_ns ? log.last_ns - log.first_ns : k->o.keep_ns;
	out->memory = log.bytes;
	out->memory_most = k->most + (log_range_store(k->log) ? LOG_RANGES_BYTES : 0);
	out->triggers = k->triggers;
	out->files = k->n_files;
	out->failed = k->n_failed;
	out->writing = k->n_now > 0;
	if (out->writing)
		log_out_stats(k->now[0].writer, &out->written);
	memcpy(out->written.rows, log.rows, sizeof(log.rows));
	out->written.marks = log.marks;
	out->written.failed = out->written.full = false; /* the keeping goes on */
	pthread_mutex_unlock(&k->lock);
}

bool pretrigger_file(struct pretrigger *k, size_t i, struct pretrigger_file *out)
{
	bool there;

	pthread_mutex_lock(&k->lock);
	files_look(k);
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
	pretrigger_end(k, NULL, NULL);
	if (!k->o.log)
		log_free(k->log);
	watch_free(&k->watch);
	pthread_mutex_destroy(&k->lock);
	free(k);
}
