/* A job records a stretch: what is held of it, and then what comes, until it ends.  It waits for
 * the disk; the ring does not, and goes on without it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/convert.h"
#include "record/pretrigger-state.h"
#include "util/intl.h"
#include "util/job.h"

#define COMING_NS  NS_PER_S /* how long rows are waited for that do not come */
#define LOOK_NS    (NS_PER_S / 10)
#define GIVE_UP_NS (10 * NS_PER_S)       /* at the end, with a disk that takes nothing */
#define QUEUED     ((uint64_t)256 << 10) /* bytes that may wait for it before more are read */
#define NAMES      100000
#define CELL_NS    (INT64_C(1) << LOG_CELL_ZOOM)

/* From the ring to a file. */
struct copy {
	struct sink sink;
	struct pretrigger *k;
	struct pretrigger_file *out;
	struct sink *to;
	struct fact *facts; /* of the beginning */
	struct joules joules;
	struct ring_reader reader;
	struct ring_chunk *chunk;
	uint64_t next;               /* chunk of the ring */
	uint64_t before[TIERS];      /* rows in those that were read */
	uint64_t gone[TIERS];        /* rows that were no longer held, not reported yet */
	int64_t last_ns[TIERS];      /* of the last row */
	int64_t until_ns, newest_ns; /* where the stretch ends; of all rows and marks that are in the file */
	uint64_t marks;
	bool all;   /* chunks of all of the stretch are in the ring */
	bool ended; /* the stream ended before */
};

static struct copy *copy_of(struct sink *s)
{
	return (struct copy *)s;
}

static void tell_gone(struct copy *c, enum tier tier, int64_t to_ns)
{
	struct gap g = {tier, GAP_LOST, c->last_ns[tier], to_ns, c->gone[tier]};

	if (!c->gone[tier])
		return;
	c->out->lost_rows += c->gone[tier];
	c->gone[tier] = 0;
	c->to->ops->gap(c->to, &g);
}

static void copy_rows(struct sink *s, const struct rows *r)
{
	struct copy *c = copy_of(s);
	struct rows some = *r;

	while (some.n > 0 && some.t_ns[0] < c->out->from_ns) {
		some.t_ns++;
		some.values += some.width;
		some.n--;
	}
	while (some.n > 0 && some.t_ns[some.n - 1] > c->until_ns)
		some.n--;
	if (some.n == 0)
		return;
	tell_gone(c, some.tier, some.t_ns[0]);
	/* The values are those of the reader, which are decoded for this. */
	joules_count(&c->joules, some.tier, c->reader.values + (some.values - r->values), some.width, some.n,
		     NULL);
	c->last_ns[some.tier] = some.t_ns[some.n - 1];
	if (c->last_ns[some.tier] > c->newest_ns)
		c->newest_ns = c->last_ns[some.tier];
	c->to->ops->rows(c->to, &some);
}

static void copy_mark(struct sink *s, const struct mark *m)
{
	struct copy *c = copy_of(s);
	struct mark own = *m;

	if (m->t_ns < c->out->from_ns || m->t_ns > c->until_ns)
		return;
	own.id = ++c->marks;
	if (m->t_ns > c->newest_ns)
		c->newest_ns = m->t_ns;
	c->to->ops->mark(c->to, &own);
}

/* One across the beginning has its share of the ticks. */
static void copy_gap(struct sink *s, const struct gap *g)
{
	struct copy *c = copy_of(s);
	struct gap own = *g;
	double fit;

	if (g->to_ns <= c->out->from_ns || g->to_ns > c->until_ns)
		return;
	if (g->from_ns < c->out->from_ns) {
		own.from_ns = c->out->from_ns;
		fit = (double)(own.to_ns - own.from_ns) * c->k->about->hz[g->tier] / (double)NS_PER_S;
		own.missed = (double)g->missed > fit ? (uint64_t)fit : g->missed;
	}
	if (own.missed > 0)
		c->to->ops->gap(c->to, &own);
}

static void copy_change(struct sink *s, const struct change *change)
{
	struct copy *c = copy_of(s);

	if (change->t_ns >= c->out->from_ns && change->t_ns <= c->until_ns)
		c->to->ops->change(c->to, change);
}

/* With the lock: rows of the tier in front of the next chunk. */
static uint64_t rows_before(const struct copy *c, enum tier t)
{
	const struct ring_chunk *chunk = chunk_ring_at(&c->k->ring, c->next);

	return chunk ? chunk->before[t] : c->k->ring.rows[t];
}

/* With the lock: what went before it was read. */
static void count_gone(struct copy *c)
{
	if (c->next < c->k->ring.first)
		c->next = c->k->ring.first;
	for (enum tier t = 0; t < TIERS; t++) {
		c->gone[t] += rows_before(c, t) - c->before[t];
		c->before[t] = rows_before(c, t);
	}
}

/* With the lock: the first chunk of the stretch. */
static void find_first(struct copy *c)
{
	const struct chunk_ring *r = &c->k->ring;
	const struct ring_chunk *first = chunk_ring_at(r, r->first);
	int64_t late;

	/* Marks can be in front of the rows of their cell. */
	c->next = chunk_ring_find(r, c->out->from_ns - CELL_NS);
	for (enum tier t = 0; t < TIERS; t++)
		c->before[t] = rows_before(c, t);
	if (r->first == 0 || c->next != r->first || !first)
		return;
	/* What had to wait too long has lost its first rows already. */
	late = (first->entry.cell << LOG_CELL_ZOOM) - c->out->from_ns;
	for (int t = 0; late > 0 && t < TIERS; t++)
		if (c->k->about->width[t])
			c->gone[t] = (uint64_t)((double)late * c->k->about->hz[t] / (double)NS_PER_S);
}

/* With the lock: have all rows of the stretch arrived, or is the wait for them over? */
static bool complete(const struct pretrigger *k)
{
	if (k->quit || clock_now_ns() >= k->now.to_ns + COMING_NS)
		return true;
	for (int t = 0; t < TIERS; t++)
		if (k->about->width[t] && k->newest_ns[t] <= k->now.to_ns)
			return false;
	return true;
}

/* With the lock: puts the rest of the stretch into chunks once all of it has arrived. */
static void close_stretch(struct copy *c)
{
	struct pretrigger *k = c->k;
	int64_t newest = INT64_MIN;

	c->all = true;
	log_builder_run(k->builder, c->until_ns + 2 * CELL_NS + LOG_LATE_NS);
	for (int t = 0; t < TIERS; t++)
		if (k->newest_ns[t] > newest)
			newest = k->newest_ns[t];
	c->ended = k->quit && newest < c->until_ns;
	k->now.to_ns = INT64_MIN; /* further triggers are for the next file */
}

/* A copy of the next chunk, once it exists. 1: copied; 0: the end; -1: out of memory. */
static int next_chunk(struct copy *c)
{
	struct pretrigger *k = c->k;
	int got = 0;

	pthread_mutex_lock(&k->lock);
	for (;;) {
		count_gone(c);
		if (c->next < k->ring.end || c->all)
			break;
		c->until_ns = k->now.to_ns;
		log_builder_run(k->builder, clock_now_ns());
		if (complete(k))
			close_stretch(c);
		else if (c->next >= k->ring.end)
			thread_wait(&k->wake, &k->lock, clock_now_ns() + LOOK_NS);
	}
	if (!c->all)
		c->until_ns = k->now.to_ns;
	if (c->next < k->ring.end) {
		if (chunk_ring_copy(&k->ring, c->next++, &c->chunk) < 0) {
			pthread_mutex_unlock(&k->lock);
			return -1;
		}
		got = 1;
		for (int t = 0; t < TIERS; t++)
			c->before[t] += c->chunk->entry.kind == LOG_DATA ? c->chunk->entry.rows[t] : 0;
		k->copied_ns = (c->chunk->entry.cell + 1) << LOG_CELL_ZOOM;
	}
	pthread_mutex_unlock(&k->lock);
	return got;
}

static bool copy_begin(struct copy *c, struct session *about)
{
	struct pretrigger *k = c->k;
	struct clock_anchor now;
	int64_t ago;

	c->facts = calloc(k->about->n_facts + 1, sizeof(*c->facts));
	if (!c->facts)
		return false;
	pthread_mutex_lock(&k->lock);
	find_first(c);
	chunk_ring_facts(&k->ring, c->out->from_ns, c->facts);
	pthread_mutex_unlock(&k->lock);
	joules_begin(&c->joules, k->about);
	for (int t = 0; t < TIERS; t++)
		c->last_ns[t] = c->out->from_ns;
	c->newest_ns = c->out->from_ns;
	/* The session as if it had begun with the stretch. */
	*about = *k->about;
	about->facts = c->facts;
	clock_anchor(&now);
	ago = now.mono_ns - c->out->from_ns;
	about->start = (struct clock_anchor) {c->out->from_ns, now.real_ns - ago, now.boot_ns - ago};
	return true;
}

static bool quitting(struct pretrigger *k)
{
	bool quit;

	pthread_mutex_lock(&k->lock);
	quit = k->quit;
	pthread_mutex_unlock(&k->lock);
	return quit;
}

/* Until little, or nothing, waits for the disk.  False: writing failed, or the program is to end and
 * the disk does not respond. */
static bool wait_for_disk(struct pretrigger *k, struct log_writer *w, bool all)
{
	struct log_writer_stats s;
	uint64_t bytes = 0;
	int64_t since = 0;

	for (;;) {
		log_writer_stats(w, &s);
		if (all ? log_writer_done(w) : s.failed || s.queued <= QUEUED)
			return !s.failed;
		if (since == 0 || s.bytes != bytes || !quitting(k))
			since = clock_now_ns();
		else if (clock_now_ns() - since > GIVE_UP_NS)
			return false;
		bytes = s.bytes;
		log_writer_wait(w, clock_now_ns() + (all ? LOOK_NS : LOOK_NS / 10));
	}
}

static void copy_run(struct copy *c, struct log_writer *w)
{
	struct session about;
	int got;

	c->to = log_writer_sink(w);
	if (!copy_begin(c, &about)) {
		err_set(&c->out->err, ERR_FAILED, _("out of memory"));
		return;
	}
	if (c->to->ops->begin(c->to, &about, &c->out->err) < 0)
		return;
	while (wait_for_disk(c->k, w, false) && (got = next_chunk(c)) != 0)
		if (got < 0 || chunk_ring_read(&c->reader, c->chunk, &c->sink) < 0)
			break;
	for (enum tier t = 0; t < TIERS; t++)
		tell_gone(c, t, c->until_ns);
	log_writer_finish(w);
	wait_for_disk(c->k, w, true);
	if (log_writer_result(w, &c->out->err) < 0)
		return;
	c->out->err.code = ERR_NONE;
	record_convert(w, NULL, NULL, &c->out->err);
}

static void count_file(struct pretrigger_file *f, struct log_writer *w)
{
	struct log_writer_stats stats;
	struct stat st;

	log_writer_stats(w, &stats);
	memcpy(f->rows, stats.rows, sizeof(stats.rows));
	f->marks = stats.marks;
	f->bytes = stat(f->path, &st) == 0 ? (uint64_t)st.st_size : stats.bytes;
	f->lost_rows += stats.lost_rows;
}

/* False: the name was taken meanwhile. */
static bool write_file(struct pretrigger *k, struct pretrigger_file *f)
{
	static const struct sink_ops ops = {NULL, copy_rows, copy_mark, copy_gap, NULL, NULL, copy_change};
	struct copy c = {.sink = {&ops}, .k = k, .out = f};
	bool over = k->o.force && k->path[0];
	struct log_writer *w = log_writer_new(f->path, over, &f->err);

	c.until_ns = f->to_ns;
	if (!w)
		return trace_name_free(f->path, over);
	log_writer_options(w)->live = true;
	copy_run(&c, w);
	count_file(f, w);
	log_writer_free(w);
	f->to_ns = c.until_ns;
	if (c.ended)
		f->to_ns = c.newest_ns;
	ring_reader_free(&c.reader);
	free(c.chunk);
	free(c.facts);
	return true;
}

/* A name that nothing has yet: neither a recording nor what is left of one. */
static bool name_next(struct pretrigger *k, struct pretrigger_file *f)
{
	bool over = k->o.force && k->path[0]; /* files that existed before, not its own */
	const char *path = k->path;
	char now[64] = "";

	if (!k->path[0]) {
		k->o.name(now, sizeof(now));
		path = now;
	}
	for (k->number = over ? k->name + 1 : 1;
	     k->number < NAMES && part_path(path, k->number, f->path, sizeof(f->path)) == 0; k->number++)
		if (trace_name_free(f->path, over))
			return true;
	err_set(&f->err, ERR_FAILED, _("%s: no name is left for another file"), path);
	return false;
}

/* With the lock. */
static void file_add(struct pretrigger *k, const struct pretrigger_file *f)
{
	k->n_failed += f->err.code != ERR_NONE;
	if (k->n_files < PRETRIGGER_FILES) {
		struct pretrigger_file *more = reallocarray(k->files, k->n_files + 1, sizeof(*more));

		if (!more)
			return;
		k->files = more;
	}
	k->files[k->n_files++ % PRETRIGGER_FILES] = *f;
}

struct write_job {
	struct job job;
	struct pretrigger *k;
};

static void write_stretches(struct job *j)
{
	struct pretrigger *k = ((struct write_job *)j)->k;
	struct pretrigger_file f;

	pthread_mutex_lock(&k->lock);
	while (k->now.is) {
		f = (struct pretrigger_file) {.from_ns = k->now.from_ns, .to_ns = k->now.to_ns};
		k->copied_ns = INT64_MIN;
		pthread_mutex_unlock(&k->lock);
		while (name_next(k, &f) && !write_file(k, &f))
			continue;
		if (f.err.code == ERR_NONE)
			k->name = k->number;
		pthread_mutex_lock(&k->lock);
		k->now = k->next;
		k->next.is = false;
		file_add(k, &f);
	}
	k->writing = false;
	pthread_cond_broadcast(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

static void job_free(struct job *j)
{
	free(j);
}

void pretrigger_write(struct pretrigger *k)
{
	struct pretrigger_file f = {.from_ns = k->now.from_ns, .to_ns = k->now.to_ns};
	struct write_job *j;

	if (k->writing)
		return;
	j = calloc(1, sizeof(*j));
	if (!j) {
		err_set(&f.err, ERR_FAILED, _("out of memory"));
	} else {
		j->k = k;
		k->writing = job_start(&j->job, write_stretches, job_free, &f.err) == 0;
	}
	if (k->writing) {
		job_detach(&j->job);
		return;
	}
	free(j);
	k->now.is = false;
	file_add(k, &f);
}
