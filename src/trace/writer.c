/* The stream ends here in memory, under a lock that is held for the time of a
 * memcpy; a thread of its own takes it to the disk.  So a disk that stalls
 * costs rows (counted, and recorded as a gap) and never a sample of anybody
 * else. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/intl.h"
#include "nvmtop/trace.h"
#include "trace/join.h"
#include "trace/lanes.h"
#include "trace/output.h"
#include "trace/stream-out.h"
#include "trace/reserve.h"

#define FLUSH_NS  (140 * NS_PER_MS) /* the kernel has everything that is older than 250 ms */
#define SYNC_NS   (5 * NS_PER_S)
#define PART_STEP ((off_t)1 << 20)
#define SIDE_STEP ((off_t)256 << 10)
#define JOIN_MORE 12288 /* its small chunks, and records that are not full */

/* What the two threads share. */
struct shared {
	pthread_mutex_t lock;
	pthread_cond_t wake, syncer; /* to the writing thread, to the one that syncs */
	pthread_cond_t room;         /* for trace_writer_ready() */
	struct lanes lanes;
	bool quit;
	uint64_t bytes, refused;         /* rows that came after a failure */
	uint64_t refused_marks;          /* and marks */
	struct trace_writer_stats final; /* filled in by the join */
	bool joined, complete, failed, done;
	struct err err;
};

struct trace_writer {
	struct sink sink;
	struct stream_out *stream; /* does all of it instead, or NULL */
	struct shared *shared;
	struct output output;
	off_t part_end, side_end; /* the writing thread's */
	off_t more;               /* what the join adds to what is in the side file, but for JOIN_MORE */
	struct reserve part_room, side_room;
	int64_t sync_ns;
	pthread_t thread, syncer;
	bool running, ended, discard;
	int result; /* of end() */
	struct err result_err;
};

static void fail(struct shared *s, int num, const char *shown)
{
	pthread_mutex_lock(&s->lock);
	if (!s->failed)
		err_sys(&s->err, ERR_FAILED, num, _("recording to %s ended early"), shown);
	s->failed = true;
	pthread_cond_signal(&s->room);
	pthread_mutex_unlock(&s->lock);
}

/* A place for n more bytes, and for joining the two files with them. */
static int place_take(struct trace_writer *w, const struct block *b, off_t n)
{
	off_t part = w->part_end, side = w->side_end;

	*(b->lane == LANE_FAST ? &part : &side) += n;
	if (b->lane == LANE_MARKS)
		w->more += n; /* sync points */
	else if (b->lane >= LANE_PYRAMID && b->lane < LANE_PYRAMID + TIERS)
		w->more += n / 4; /* coarser levels */
	if (reserve_take(&w->part_room, part + side + w->more + JOIN_MORE) < 0)
		return -1;
	return reserve_take(&w->side_room, side + JOIN_MORE);
}

/* Write one block; on error cut off what is not whole. */
static void block_write(struct trace_writer *w, struct block *b)
{
	bool part = b->lane == LANE_FAST;
	int fd = part ? w->output.part_fd : w->output.side_fd;
	off_t *end = part ? &w->part_end : &w->side_end;
	size_t n = block_finish(b);
	struct shared *s = w->shared;

	if (place_take(w, b, (off_t)n) < 0 || write_at(fd, b->bytes, n, *end) < 0) {
		int num = errno;
		struct stat st;

		/* Of fast rows the whole ones stay; a chunk is nothing without its end. */
		if (part && fstat(fd, &st) == 0 && st.st_size > *end && *end >= HEADER_SIZE)
			*end += (st.st_size - *end) / FAST_SIZE * FAST_SIZE;
		if (ftruncate(fd, *end) < 0)
			num = num ? num : errno;
		fail(s, num, w->output.shown);
		return;
	}
	*end += (off_t)n;
	pthread_mutex_lock(&s->lock);
	s->bytes += n;
	pthread_mutex_unlock(&s->lock);
}

/* Wait for a full block, the deadline or the end. True when it is time to
 * write whatever there is. */
static bool wait_for_work(struct shared *s, int64_t *deadline)
{
	struct timespec ts = {.tv_sec = (time_t)(*deadline / NS_PER_S),
			      .tv_nsec = (long)(*deadline % NS_PER_S)};

	while (!s->lanes.head && !s->quit)
		if (pthread_cond_timedwait(&s->wake, &s->lock, &ts) == ETIMEDOUT)
			break;
	if (!s->quit && clock_now_ns() < *deadline)
		return false;
	*deadline = clock_now_ns() + FLUSH_NS;
	return true;
}

static void write_all(struct trace_writer *w)
{
	struct shared *s = w->shared;
	int64_t flush = clock_now_ns() + FLUSH_NS;
	struct block *b;
	bool quit;

	pthread_mutex_lock(&s->lock);
	do {
		if (wait_for_work(s, &flush))
			lanes_seal(&s->lanes, s->quit);
		quit = s->quit;
		while ((b = lanes_take(&s->lanes))) {
			bool skip = s->failed;

			pthread_mutex_unlock(&s->lock);
			if (!skip)
				block_write(w, b);
			pthread_mutex_lock(&s->lock);
			lanes_give(&s->lanes, b);
			pthread_cond_signal(&s->room);
		}
	} while (!quit);
	pthread_mutex_unlock(&s->lock);
}

/* A disk can take seconds for this; what is written meanwhile must not wait, or
 * it would be lost when the process is killed. */
static void *syncer_main(void *arg)
{
	struct trace_writer *w = arg;
	struct shared *s = w->shared;
	int64_t at = clock_now_ns() + w->sync_ns;
	bool named = !output_removed(&w->output); /* or its file system counts no names */

	pthread_mutex_lock(&s->lock);
	while (!s->quit) {
		struct timespec ts = {.tv_sec = (time_t)(at / NS_PER_S), .tv_nsec = (long)(at % NS_PER_S)};

		if (pthread_cond_timedwait(&s->syncer, &s->lock, &ts) != ETIMEDOUT)
			continue;
		at = clock_now_ns() + w->sync_ns;
		if (s->quit || s->failed)
			continue;
		pthread_mutex_unlock(&s->lock);
		if (fdatasync(w->output.side_fd) < 0 || fdatasync(w->output.part_fd) < 0)
			fail(s, errno, w->output.shown);
		else if (named && output_removed(&w->output))
			fail(s, ENOENT, w->output.shown);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void finish(struct trace_writer *w)
{
	struct joined joined;
	struct err e = {ERR_NONE, ""};
	struct shared *s = w->shared;
	int r;

	/* The join needs as much in their stead. */
	pthread_mutex_lock(&s->lock);
	lanes_release(&s->lanes);
	pthread_mutex_unlock(&s->lock);
	r = trace_join(w->output.part_fd, w->output.side_fd, w->output.shown, &joined, &e);

	if (r == 0)
		r = output_publish(&w->output, &e);
	pthread_mutex_lock(&s->lock);
	s->complete = r == 0;
	if (e.code == ERR_NONE) {
		memcpy(s->final.rows, joined.rows, sizeof(joined.rows));
		s->final.marks = joined.marks;
		s->final.bytes = joined.bytes;
		s->joined = true;
	} else if (!s->failed) {
		s->err = e;
	}
	if (s->failed && r == 0) {
		err_set(&w->result_err, ERR_FAILED, _("%s; what was recorded until then is in %s"),
			s->err.text, w->output.shown);
		r = -1;
	} else if (r < 0) {
		w->result_err = e;
	}
	s->failed = r < 0;
	w->result = r;
	s->done = true;
	pthread_mutex_unlock(&s->lock);
}

static void *writer_main(void *arg)
{
	struct trace_writer *w = arg;

	write_all(w);
	pthread_join(w->syncer, NULL);
	if (w->discard)
		w->result = -1;
	else
		finish(w);
	return NULL;
}

static int threads_start(struct trace_writer *w)
{
	sigset_t all, before;
	int num;

	/* SIGXFSZ among them: a file that may not grow is EFBIG and no death. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	num = pthread_create(&w->syncer, NULL, syncer_main, w);
	if (num == 0) {
		num = pthread_create(&w->thread, NULL, writer_main, w);
		if (num) {
			trace_writer_finish(w);
			pthread_join(w->syncer, NULL);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return num;
}

static struct trace_writer *writer_of(struct sink *s)
{
	return (struct trace_writer *)s;
}

static int writer_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct trace_writer *w = writer_of(sink);
	int num;

	if (w->running || w->ended)
		return err_set(e, ERR_FAILED, _("%s is recorded already"), w->output.shown);
	if (lanes_begin(&w->shared->lanes, about, e) < 0)
		return -1;
	num = threads_start(w);
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
	for (size_t i = 0; i < r->n && !s->failed; i++)
		lanes_row(&s->lanes, r->tier, r->t_ns[i], r->values + i * r->width);
	wake = s->lanes.head != NULL;
	pthread_mutex_unlock(&s->lock);
	if (wake)
		pthread_cond_signal(&s->wake);
}

static void writer_mark(struct sink *sink, const struct mark *m)
{
	struct shared *s = writer_of(sink)->shared;

	pthread_mutex_lock(&s->lock);
	if (s->failed)
		s->refused_marks++;
	else
		lanes_mark(&s->lanes, m);
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

static int writer_end(struct sink *sink, struct err *e)
{
	struct trace_writer *w = writer_of(sink);

	if (!w->running)
		return 0;
	trace_writer_finish(w);
	pthread_join(w->thread, NULL);
	w->running = false;
	w->ended = true;
	/* What never held a byte is nothing to recover, and must not stand in the way. */
	if (w->discard || (w->result < 0 && !w->part_end && !w->side_end))
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
	pthread_condattr_t attr;

	if (!s) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	if (lanes_init(&s->lanes, e) < 0) {
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_cond_init(&s->syncer, &attr);
	pthread_cond_init(&s->room, NULL);
	pthread_condattr_destroy(&attr);
	return s;
}

struct trace_writer *trace_writer_new(const char *path, bool force, struct err *e)
{
	static const struct sink_ops ops = {writer_begin, writer_rows, writer_mark, writer_gap, writer_end};
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
	return w->stream ? stream_out_sink(w->stream) : &w->sink;
}

void trace_writer_sync_every(struct trace_writer *w, int64_t ns)
{
	w->sync_ns = ns;
}

void trace_writer_finish(struct trace_writer *w)
{
	pthread_mutex_lock(&w->shared->lock);
	w->shared->quit = true;
	pthread_mutex_unlock(&w->shared->lock);
	pthread_cond_signal(&w->shared->wake);
	pthread_cond_signal(&w->shared->syncer);
}

bool trace_writer_done(const struct trace_writer *w)
{
	bool done;

	pthread_mutex_lock(&w->shared->lock);
	done = w->shared->done;
	pthread_mutex_unlock(&w->shared->lock);
	return done;
}

void trace_writer_discard(struct trace_writer *w)
{
	if (!w->shared)
		return;
	pthread_mutex_lock(&w->shared->lock);
	w->discard = true;
	if (w->shared->failed)
		w->result_err = w->shared->err;
	pthread_mutex_unlock(&w->shared->lock);
	writer_end(&w->sink, NULL);
}

void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out)
{
	struct shared *s = w->shared;

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
		out->marks = s->lanes.marks;
	}
	out->lost_rows = s->lanes.lost + s->refused;
	out->lost_marks = s->lanes.lost_marks + s->refused_marks;
	if (s->joined && s->lanes.marks > s->final.marks)
		out->lost_marks += s->lanes.marks - s->final.marks;
	for (int t = 0; s->joined && t < TIERS; t++)
		if (s->lanes.rows[t] > s->final.rows[t])
			out->lost_rows += s->lanes.rows[t] - s->final.rows[t];
	out->most = s->joined ? out->bytes : lanes_most(&s->lanes);
	out->complete = s->complete;
	out->failed = s->failed;
	out->err = s->err;
	pthread_mutex_unlock(&s->lock);
}

bool trace_writer_ready(struct trace_writer *w)
{
	struct shared *s = w->shared;
	bool ready;

	pthread_mutex_lock(&s->lock);
	while (!s->failed && s->lanes.head && s->lanes.n_free < BLOCK_COUNT / 2)
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
	if (w->stream) {
		stream_out_free(w->stream);
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
