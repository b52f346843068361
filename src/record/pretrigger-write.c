/* A job records a stretch of time: first from memory, then as rows arrive, until it ends. The job waits for
 * the disk; the ring does not, and continues. */
#include <stdlib.h>
#include <string.h>

#include "record/naming.h"
#include "record/pretrigger-state.h"
#include "trace/log-decode.h"
#include "trace/log-range.h"
#include "trace/log-writer.h"
#include "util/intl.h"

#define COMING_NS  NS_PER_S /* how long to wait for rows that do not arrive */
#define LOOK_NS    (NS_PER_S / 10)
#define GIVE_UP_NS (10 * NS_PER_S)       /* at the end, if the disk accepts nothing */
#define STOP_NS    (NS_PER_S / 2)        /* for the job to stop */
#define QUEUED     ((uint64_t)256 << 10) /* bytes that may be queued for the disk before more are read */
#define CELL_NS    (INT64_C(1) << LOG_CELL_ZOOM)

/* The copy from the ring to a file. */
struct copy {
	struct pretrigger *k;
	struct pretrigger_file *out;
	struct log_writer *writer;
	struct sink *to; /* of the writer */
	struct session about;
	struct fact *facts; /* as of the beginning */
	struct log_unpacker *unpacker;
	struct log_entry entry; /* the current chunk, and its payload */
	struct log_bytes raw;
	struct ranges *names; /* and lanes of the ranges in the file */
	uint64_t gone[TIERS];        /* rows dropped from memory, not reported as a gap yet */
	int64_t last_ns[TIERS];      /* of the last row */
	int64_t until_ns, newest_ns; /* end of the stretch; newest time of all rows and marks in the file */
	uint64_t marks;
	bool all;   /* the ring has all chunks of the stretch */
	bool ended; /* the stream ended before the stretch did */
};

/* --- contents of a chunk --- */

static void tell_gone(struct copy *c, enum tier tier, int64_t to_ns)
{
	struct gap g = {tier, GAP_LOST, c->last_ns[tier], to_ns, c->gone[tier]};

	if (!c->gone[tier])
		return;
	c->out->lost_rows += c->gone[tier];
	c->gone[tier] = 0;
	c->to->ops->gap(c->to, &g);
}

static void copy_rows(struct copy *c, enum tier tier, size_t n, size_t width, const int64_t *t_ns,
		      const uint8_t *late, double *values)
{
	size_t first = 0;

	while (first < n && t_ns[first] < c->out->from_ns)
		first++;
	while (n > first && t_ns[n - 1] > c->until_ns)
		n--;
	if (n == first)
		return;
	tell_gone(c, tier, t_ns[first]);
	log_late_send(c->to, tier, t_ns + first, late + first, n - first, c->last_ns[tier]);
	c->last_ns[tier] = t_ns[n - 1];
	if (t_ns[n - 1] > c->newest_ns)
		c->newest_ns = t_ns[n - 1];
	c->to->ops->rows(c->to,
			 &(struct rows) {tier, n - first, width, t_ns + first, values + first * width});
}

/* Returns false if the chunk is unreadable. */
static bool copy_data(struct copy *c)
{
	struct log_in in = {c->raw.p, c->raw.p + c->raw.n, false};
	struct log_section s;
	bool good = true;

	while (good && log_data_next(&in, &s) == 1) {
		int64_t *t_ns = malloc(s.n * sizeof(*t_ns));
		uint8_t *late = malloc(s.n);
		double *values = malloc(s.n * (s.columns + (size_t)1) * sizeof(*values));

		good = t_ns && late && values && log_section_times(&s, c->entry.cell, t_ns, late) == 0;
		if (good) {
			log_section_values(&s, NULL, 0, s.columns, values, values + (size_t)s.n * s.columns);
			copy_rows(c, (enum tier)s.tier, s.n, s.columns, t_ns, late, values);
		}
		free(t_ns);
		free(late);
		free(values);
	}
	return good;
}

/* A gap that crosses the beginning is cut there and gets its share of the ticks. */
static void copy_event(struct copy *c, struct log_event *ev)
{
	struct gap *g = &ev->u.gap;
	bool is_gap = ev->kind == LOG_GAP;
	int64_t from = c->out->from_ns, at = is_gap ? g->to_ns : ev->t_ns;

	if (at < from + is_gap || at > c->until_ns)
		return;
	if (ev->kind == LOG_MARK) {
		ev->u.mark.id = ++c->marks;
		c->newest_ns = at > c->newest_ns ? at : c->newest_ns;
	} else if (is_gap && g->from_ns < from) {
		double fit = (double)(at - from) * c->about.hz[g->tier] / (double)NS_PER_S;

		g->from_ns = from;
		g->missed = (double)g->missed > fit ? (uint64_t)fit : g->missed;
	}
	if (!is_gap || g->missed > 0)
		log_event_send(ev, c->to);
}

/* Ranges that reach beyond the stretch are cut there; one that goes on is still open at its end. */
static bool copy_range(void *arg, const struct range *range)
{
	struct copy *c = arg;
	struct range r = *range;

	if (r.end_ns < c->out->from_ns || r.begin_ns > c->until_ns)
		return true;
	if (r.begin_ns < c->out->from_ns)
		r.begin_ns = c->out->from_ns;
	if (r.end_ns > c->until_ns) {
		r.end_ns = c->until_ns;
		r.flags |= RANGE_OPEN;
	}
	c->to->ops->ranges(c->to, &r, 1);
	return true;
}

static bool copy_chunk(struct copy *c)
{
	struct log_in in = {c->raw.p, c->raw.p + c->raw.n, false}, record;
	struct log_event ev;

	if (c->entry.kind == LOG_DATA)
		return copy_data(c);
	if (c->entry.kind == LOG_RANGE)
		return log_ranges_get(c->raw.p, c->raw.n, c->names, copy_range, c);
	while (log_get_record(&in, &record))
		if (log_event_get(c->entry.kind, &record, &ev))
			copy_event(c, &ev);
	return true;
}

/* --- the chunks of a stretch --- */

/* Have all rows of the stretch arrived, or has the wait for them timed out? Call with the lock held. */
static bool complete(const struct pretrigger *k)
{
	if (k->quit || clock_now_ns() >= k->now.to_ns + COMING_NS)
		return true;
	for (int t = 0; t < TIERS; t++)
		if (k->about->width[t] && k->watch.newest_ns[t] <= k->now.to_ns)
			return false;
	return true;
}

/* Packs the rest of the stretch into chunks once all of it has arrived. Call with the lock held. */
static void close_stretch(struct copy *c)
{
	struct pretrigger *k = c->k;

	c->all = true;
	log_builder_run(k->builder, c->until_ns + 2 * CELL_NS + LOG_LATE_NS);
	c->ended = k->quit && pretrigger_newest_ns(k) < c->until_ns;
	k->now.to_ns = INT64_MIN; /* further triggers belong to the next file */
}

/* Waits for the next chunk. Returns 1, 0 at the end, or -1 if it is unreadable. */
static int next_chunk(struct copy *c)
{
	struct pretrigger *k = c->k;
	int got;

	pthread_mutex_lock(&k->lock);
	while (!*k->ring.read && !c->all) {
		c->until_ns = k->now.to_ns;
		log_builder_run(k->builder, clock_now_ns());
		if (complete(k))
			close_stretch(c);
		else if (!*k->ring.read)
			thread_wait(&k->wake, &k->lock, clock_now_ns() + LOOK_NS);
	}
	if (!c->all)
		c->until_ns = k->now.to_ns;
	for (int t = 0; t < TIERS; t++) {
		c->gone[t] += k->ring.skipped[t];
		k->ring.skipped[t] = 0;
	}
	got = chunk_ring_read(&k->ring, c->unpacker, &c->entry, &c->raw);
	if (got > 0)
		k->copied_ns = log_cell_ns(c->entry.cell + 1);
	bool anew = c->about.channels != k->channels;
	c->about.channels = k->channels;
	pthread_mutex_unlock(&k->lock);
	if (anew)
		c->to->ops->described(c->to);
	return got;
}

/* Seeks to the first chunk of the stretch. Call with the lock held. */
static void find_first(struct copy *c)
{
	struct pretrigger *k = c->k;
	const struct ring_chunk *first = k->ring.first;
	int64_t late;

	/* Marks can precede the rows of their cell. */
	chunk_ring_seek(&k->ring, log_cell(c->out->from_ns - CELL_NS));
	if (!first || !k->ring.dropped || k->ring.read != &k->ring.first)
		return;
	/* A stretch that had to wait too long has lost its first rows already. */
	late = log_cell_ns(first->entry.cell) - c->out->from_ns;
	for (int t = 0; late > 0 && t < TIERS; t++)
		if (c->about.width[t])
			c->gone[t] = (uint64_t)((double)late * c->about.hz[t] / (double)NS_PER_S);
}

/* Describes the session as if it had begun with the stretch. */
static int copy_begin(struct copy *c)
{
	struct pretrigger *k = c->k;
	int64_t from = c->out->from_ns, ago;
	struct clock_anchor now;

	c->about = *k->about;
	c->unpacker = log_unpacker_new();
	c->names = ranges_new(0, &c->out->err);
	c->about.facts = c->facts = calloc(c->about.n_facts + 1, sizeof(*c->facts));
	if (!c->facts || !c->unpacker || !c->names)
		return err_set(&c->out->err, ERR_FAILED, _("out of memory"));
	pthread_mutex_lock(&k->lock);
	c->about.channels = k->channels;
	find_first(c);
	memcpy(c->facts, k->facts, c->about.n_facts * sizeof(*c->facts));
	for (size_t i = 0; i < k->n_changes; i++)
		if (k->changes[i].t_ns < from)
			facts_change(c->facts, c->about.n_facts, &k->changes[i]);
	pthread_mutex_unlock(&k->lock);
	for (int t = 0; t < TIERS; t++)
		c->last_ns[t] = from;
	c->newest_ns = from;
	clock_anchor(&now);
	ago = now.mono_ns - from;
	c->about.start = (struct clock_anchor) {from, now.real_ns - ago, now.boot_ns - ago};
	return c->to->ops->begin(c->to, &c->about, &c->out->err);
}

/* How long to wait for a disk that accepts nothing. */
static int64_t patience_ns(struct pretrigger *k)
{
	int64_t ns;

	pthread_mutex_lock(&k->lock);
	ns = k->stop ? 0 : k->quit ? GIVE_UP_NS : INT64_MAX;
	pthread_mutex_unlock(&k->lock);
	return ns;
}

/* Waits until little or, with `all`, nothing is queued for the disk. Returns false if writing failed, or if
 * the program is to end and the disk does not respond. */
static bool wait_for_disk(struct pretrigger *k, struct log_writer *w, bool all)
{
	struct log_writer_stats s;
	uint64_t bytes = 0;
	int64_t since = 0;

	for (;;) {
		int64_t patience = patience_ns(k);

		log_writer_stats(w, &s);
		if (all ? log_writer_done(w) : s.failed || s.queued <= QUEUED)
			return !s.failed;
		if (since == 0 || s.bytes != bytes || patience == INT64_MAX)
			since = clock_now_ns();
		if (clock_now_ns() - since >= patience)
			return false;
		bytes = s.bytes;
		log_writer_wait(w, clock_now_ns() + (all ? LOOK_NS : LOOK_NS / 10));
	}
}

static void copy_run(struct copy *c)
{
	if (copy_begin(c) < 0)
		return;
	while (wait_for_disk(c->k, c->writer, false) && next_chunk(c) > 0)
		if (!copy_chunk(c))
			break;
	for (enum tier t = 0; t < TIERS; t++)
		tell_gone(c, t, c->until_ns);
	log_writer_finish(c->writer);
	wait_for_disk(c->k, c->writer, true);
	if (log_writer_result(c->writer, &c->out->err) == 0)
		c->out->err.code = ERR_NONE;
}

static void copy_end(struct copy *c)
{
	struct pretrigger_file *f = c->out;
	struct log_writer_stats stats;

	log_writer_stats(c->writer, &stats);
	memcpy(f->rows, stats.rows, sizeof(stats.rows));
	f->marks = stats.marks;
	f->bytes = stats.bytes;
	f->lost_rows += stats.lost_rows;
	f->to_ns = c->ended ? c->newest_ns : c->until_ns;
	log_writer_free(c->writer);
	log_unpacker_free(c->unpacker);
	ranges_free(c->names);
	log_bytes_free(&c->raw);
	free(c->facts);
	pthread_mutex_lock(&c->k->lock);
	c->k->ring.read = NULL;
	pthread_mutex_unlock(&c->k->lock);
}

/* --- files --- */

static void disk_hangs(const struct pretrigger *k, struct pretrigger_file *f)
{
	char shown[512];

	text_printable(shown, sizeof(shown), k->current, strlen(k->current));
	err_set(&f->err, ERR_FAILED, _("the disk does not respond: %s is not complete"), shown);
}

/* Writes the file under a name that neither a recording nor the remains of one use. */
static void write_file(struct pretrigger *k, struct pretrigger_file *f)
{
	struct copy c = {.k = k, .out = f, .until_ns = f->to_ns};
	bool over = k->o.force && k->path[0]; /* replace earlier files, but not its own */
	const char *path = k->path;
	char now[64] = "", shown[512];
	unsigned number = over ? k->number + 1 : 1;

	if (!path[0]) {
		trace_name_now(now, sizeof(now));
		path = now;
	}
	while (!c.writer) {
		if (!part_path_free(path, over, &number, f->path, sizeof(f->path))) {
			text_printable(shown, sizeof(shown), path, strlen(path));
			err_set(&f->err, ERR_FAILED,
				_("no unused name is left for another file beside %s: move earlier files "
				  "away"),
				shown);
			return;
		}
		pthread_mutex_lock(&k->lock);
		memcpy(k->current, f->path, sizeof(k->current));
		pthread_mutex_unlock(&k->lock);
		c.writer = log_writer_new(f->path, over, &f->err);
		if (!c.writer && trace_name_free(f->path, over))
			return; /* it failed for another reason */
	}
	if (patience_ns(k) == 0) {
		log_writer_free(c.writer);
		disk_hangs(k, f);
		return;
	}
	c.to = log_writer_sink(c.writer);
	copy_run(&c);
	copy_end(&c);
	if (f->err.code == ERR_NONE)
		k->number = number;
}

/* Call with the lock held. */
static void file_add(struct pretrigger *k, const struct pretrigger_file *f)
{
	k->n_failed += f->err.code != ERR_NONE;
	k->files[k->n_files++ % PRETRIGGER_FILES] = *f;
}

static struct pretrigger *pretrigger_of(struct job *j)
{
	return (struct pretrigger *)((char *)j - offsetof(struct pretrigger, job));
}

static void write_stretches(struct job *j)
{
	struct pretrigger *k = pretrigger_of(j);
	struct pretrigger_file f;

	pthread_mutex_lock(&k->lock);
	while (k->now.is) {
		f = (struct pretrigger_file) {.from_ns = k->now.from_ns, .to_ns = k->now.to_ns};
		k->copied_ns = INT64_MIN;
		pthread_mutex_unlock(&k->lock);
		write_file(k, &f);
		pthread_mutex_lock(&k->lock);
		k->now = k->next;
		k->next.is = false;
		file_add(k, &f);
	}
	k->writing = false;
	pthread_mutex_unlock(&k->lock);
}

void pretrigger_wait(struct pretrigger *k)
{
	struct pretrigger_file f = {.from_ns = k->now.from_ns, .to_ns = k->now.to_ns};
	int64_t until = INT64_MAX;

	while (k->started && !k->stuck && !job_done(&k->job, clock_now_ns() + LOOK_NS)) {
		bool stop = !k->stop && k->enough && k->enough(k->enough_arg);

		pthread_mutex_lock(&k->lock);
		if (stop) {
			k->stop = true;
			until = clock_now_ns() + STOP_NS;
		} else if (clock_now_ns() >= until) {
			k->stuck = true;
			disk_hangs(k, &f);
			file_add(k, &f);
		}
		pthread_mutex_unlock(&k->lock);
	}
}

static void drop(struct job *j)
{
	pretrigger_destroy(pretrigger_of(j));
}

void pretrigger_write(struct pretrigger *k)
{
	struct pretrigger_file f = {.from_ns = k->now.from_ns, .to_ns = k->now.to_ns};

	if (k->writing)
		return;
	if (k->started)
		job_done(&k->job, INT64_MAX); /* returns soon: it has nothing left to do */
	k->started = k->writing = job_start(&k->job, write_stretches, drop, &f.err) == 0;
	if (k->writing)
		return;
	k->now.is = false;
	file_add(k, &f);
}
