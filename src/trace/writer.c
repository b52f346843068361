/* The stream ends here in memory, under a lock that is held for the time of a
 * memcpy; a thread of its own takes it to the disk.  So a disk that stalls
 * costs rows (counted, and recorded as a gap) and never a sample of anybody
 * else. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/thread.h"
#include "trace/stream-out.h"
#include "trace/writer.h"

#define SYNC_NS   (5 * NS_PER_S)
#define REST_NS   (120 * NS_PER_MS) /* what has come since then is written when there is a rest */
#define PART_STEP ((off_t)1 << 20)
#define SIDE_STEP ((off_t)256 << 10)

/* Nobody who can wait has more than two blocks wait for the disk, beside one a lane that is
 * being filled: the rest of the pool is not touched, and takes no memory. */
#define BLOCKS_READY (BLOCK_COUNT - LANES - 2)

static struct trace_writer *writer_of(struct sink *s)
{
	return (struct trace_writer *)s;
}

static int writer_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct trace_writer *w = writer_of(sink);
	int num;

	if (w->running || w->ended)
		return err_set(e, ERR_FAILED, _("%s is already being recorded"), w->output.shown);
	if (lanes_begin(&w->shared->lanes, about, e) < 0)
		return -1;
	num = writer_threads_start(w);
	if (num)
		return err_sys(e, ERR_FAILED, num, _("cannot record to %s: no thread"), w->output.shown);
	w->running = true;
	return 0;
}

static void writer_rows(struct sink *sink, const struct rows *r)
{
	struct shared *s = writer_of(sink)->shared;
	bool wake;

	pthread_mutex_lock(&s->lock);
	if (s->failed)
		s->refused += r->n;
	else
		lanes_rows(&s->lanes, r);
	wake = s->lanes.head != NULL;
	pthread_mutex_unlock(&s->lock);
	if (wake)
		pthread_cond_signal(&s->wake);
}

static void writer_mark(struct sink *sink, const struct mark *m)
{
	struct shared *s = writer_of(sink)->shared;

	pthread_mutex_lock(&s->lock);
	if (!s->failed) {
		lanes_mark(&s->lanes, m);
	} else {
		s->refused_marks++;
		if (s->n_unwritten < HELD_MARKS)
			s->unwritten[s->n_unwritten++] = *m;
	}
	pthread_mutex_unlock(&s->lock);
}

static void writer_gap(struct sink *sink, const struct gap *g)
{
	struct shared *s = writer_of(sink)->shared;

	pthread_mutex_lock(&s->lock);
	if (!s->failed)
		lanes_gap(&s->lanes, g);
	pthread_mutex_unlock(&s->lock);
}

static void writer_change(struct sink *sink, const struct change *c)
{
	struct shared *s = writer_of(sink)->shared;

	pthread_mutex_lock(&s->lock);
	if (!s->failed)
		lanes_change(&s->lanes, c);
	pthread_mutex_unlock(&s->lock);
}

/* All tiers have handed over what they had: it goes to the kernel together.  By the
 * time of the last rest, since the disk may have held up what was due then. */
static void writer_rest(struct sink *sink)
{
	struct shared *s = writer_of(sink)->shared;
	int64_t now = clock_now_ns();

	if (now - s->rest_ns < REST_NS)
		return;
	pthread_mutex_lock(&s->lock);
	s->rest_ns = now;
	s->due = true;
	pthread_mutex_unlock(&s->lock);
	pthread_cond_signal(&s->wake);
}

static int writer_end(struct sink *sink, struct err *e)
{
	struct trace_writer *w = writer_of(sink);

	if (!w->running)
		return 0;
	trace_writer_finish(w);
	pthread_join(w->thread, NULL);
	w->running = false;
	w->ended = true;
	/* Rows come behind the header.  What has none is nothing to recover, and must not
	 * stand in the way. */
	if (w->discard || (w->result < 0 && !w->part_end))
		output_discard(&w->output);
	else
		output_close(&w->output);
	if (w->result < 0 && e)
		*e = w->result_err;
	return w->result;
}

static struct shared *shared_new(struct err *e)
{
	struct shared *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	if (lanes_init(&s->lanes, e) < 0) {
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	thread_cond_init(&s->wake);
	thread_cond_init(&s->syncer);
	pthread_cond_init(&s->room, NULL);
	return s;
}

static struct trace_writer *version1_new(const char *path, bool force, struct err *e)
{
	static const struct sink_ops ops = {writer_begin, writer_rows, writer_mark,  writer_gap,
					    writer_end,   writer_rest, writer_change};
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	w->sink.ops = &ops;
	w->sync_ns = SYNC_NS;
	w->shared = shared_new(e);
	if (w->shared && output_open(&w->output, path, force, e) == 0) {
		w->part_room = (struct reserve) {.fd = w->output.part_fd, .step = PART_STEP};
		w->side_room = (struct reserve) {.fd = w->output.side_fd, .step = SIDE_STEP};
		return w;
	}
	if (w->shared)
		lanes_free(&w->shared->lanes);
	free(w->shared);
	free(w);
	return NULL;
}

/* By its name a log (docs/format-nvmt.md), which is complete at every moment. */
static struct trace_writer *log_new(const char *path, bool force, struct err *e)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	snprintf(w->output.path, sizeof(w->output.path), "%s", path);
	w->log = log_writer_new(path, force, e);
	if (w->log)
		return w;
	free(w);
	return NULL;
}

struct trace_writer *trace_writer_new(const char *path, bool force, struct err *e)
{
	size_t n = strlen(path);

	if (n > 5 && !strcmp(path + n - 5, ".nvmt"))
		return log_new(path, force, e);
	return version1_new(path, force, e);
}

struct trace_writer *trace_writer_stream(int fd, struct err *e)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		close(fd);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	strcpy(w->output.path, "-");
	w->stream = stream_out_new(fd, e);
	if (w->stream)
		return w;
	free(w);
	return NULL;
}

struct sink *trace_writer_sink(struct trace_writer *w)
{
	if (w->log)
		return log_writer_sink(w->log);
	return w->stream ? stream_out_sink(w->stream) : &w->sink;
}

void trace_writer_sync_every(struct trace_writer *w, int64_t ns)
{
	w->sync_ns = ns;
	if (w->log)
		log_writer_sync_every(w->log, ns);
}

void trace_writer_whole(struct trace_writer *w)
{
	w->whole = true;
}

void trace_writer_finish(struct trace_writer *w)
{
	if (w->log) {
		log_writer_finish(w->log);
		return;
	}
	pthread_mutex_lock(&w->shared->lock);
	w->shared->quit = true;
	pthread_mutex_unlock(&w->shared->lock);
	pthread_cond_signal(&w->shared->wake);
	pthread_cond_signal(&w->shared->syncer);
}

bool trace_writer_done(const struct trace_writer *w)
{
	bool done;

	if (w->log)
		return log_writer_done(w->log);
	pthread_mutex_lock(&w->shared->lock);
	done = w->shared->done;
	pthread_mutex_unlock(&w->shared->lock);
	return done;
}

void trace_writer_discard(struct trace_writer *w)
{
	if (w->log)
		unlink(w->output.path);
	if (!w->shared)
		return;
	pthread_mutex_lock(&w->shared->lock);
	w->discard = true;
	if (w->shared->failed)
		w->result_err = w->shared->err;
	pthread_mutex_unlock(&w->shared->lock);
	writer_end(&w->sink, NULL);
}

static void log_stats(const struct trace_writer *w, struct trace_writer_stats *out)
{
	struct log_writer_stats l;

	log_writer_stats(w->log, &l);
	*out = (struct trace_writer_stats) {.bytes = l.bytes,
					    .most = l.bytes + l.queued,
					    .marks = l.marks,
					    .lost_rows = l.lost_rows,
					    .failed = l.failed,
					    .removed = l.removed,
					    .complete = log_writer_done(w->log) && !l.failed,
					    .err = l.err};
	memcpy(out->rows, l.rows, sizeof(out->rows));
}

void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out)
{
	struct shared *s = w->shared;

	if (w->log) {
		log_stats(w, out);
		return;
	}
	if (w->stream) {
		stream_out_stats(w->stream, out);
		return;
	}
	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&s->lock);
	if (s->joined) {
		*out = s->final;
	} else {
		memcpy(out->rows, s->lanes.rows, sizeof(out->rows));
		out->bytes = s->bytes;
		out->marks = s->lanes.marks - s->unwritten_marks;
		out->lost_marks = s->unwritten_marks;
	}
	out->lost_rows = s->lanes.lost + s->refused;
	if (s->joined && s->lanes.marks > s->final.marks)
		out->lost_marks = s->lanes.marks - s->final.marks;
	out->lost_marks += s->lanes.lost_marks + s->refused_marks;
	out->lost_marks -= out->lost_marks < s->returned_marks ? out->lost_marks : s->returned_marks;
	for (int t = 0; s->joined && t < TIERS; t++)
		if (s->lanes.rows[t] > s->final.rows[t])
			out->lost_rows += s->lanes.rows[t] - s->final.rows[t];
	out->most = s->joined ? out->bytes : lanes_most(&s->lanes);
	out->complete = s->complete;
	out->failed = s->failed;
	out->moved = s->moved;
	out->err = s->err;
	pthread_mutex_unlock(&s->lock);
}

bool trace_writer_take_back(struct trace_writer *w, struct mark *m)
{
	struct shared *s = w->shared;
	bool any;

	if (w->log)
		return false;
	pthread_mutex_lock(&s->lock);
	any = s->n_unwritten > 0;
	if (any) {
		*m = s->unwritten[0];
		s->n_unwritten--;
		s->returned_marks++;
		memmove(s->unwritten, s->unwritten + 1, s->n_unwritten * sizeof(*m));
	}
	pthread_mutex_unlock(&s->lock);
	return any;
}

bool trace_writer_ready(struct trace_writer *w)
{
	struct shared *s = w->shared;
	bool ready;

	if (w->log)
		return log_writer_ready(w->log);
	pthread_mutex_lock(&s->lock);
	while (!s->failed && s->lanes.head && s->lanes.n_free < BLOCKS_READY)
		pthread_cond_wait(&s->room, &s->lock);
	ready = !s->failed;
	pthread_mutex_unlock(&s->lock);
	return ready;
}

const char *trace_writer_path(const struct trace_writer *w)
{
	return w->output.path;
}

void trace_writer_free(struct trace_writer *w)
{
	if (!w)
		return;
	if (w->stream || w->log) {
		struct trace_writer_stats stats = {.bytes = 1};

		if (w->log)
			log_stats(w, &stats);
		stream_out_free(w->stream);
		log_writer_free(w->log);
		if (!stats.bytes) /* it never began */
			unlink(w->output.path);
		free(w);
		return;
	}
	if (w->running)
		writer_end(&w->sink, NULL);
	if (!w->ended)
		output_discard(&w->output);
	pthread_cond_destroy(&w->shared->wake);
	pthread_cond_destroy(&w->shared->syncer);
	pthread_cond_destroy(&w->shared->room);
	pthread_mutex_destroy(&w->shared->lock);
	lanes_free(&w->shared->lanes);
	free(w->shared);
	free(w);
}
