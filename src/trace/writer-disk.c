/* From the queue to the disk, and at the end the join: what may take its time. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/thread.h"
#include "trace/join.h"
#include "trace/writer.h"

#define LOOK_NS       NS_PER_S /* whether the files are still there */
/* The kernel has everything that is older than 250 ms.  Whoever says when it rests is
 * waited for that long, so that nobody wakes between two times at which there is more. */
#define FLUSH_NS      (140 * NS_PER_MS)
#define FLUSH_LATE_NS (200 * NS_PER_MS)
#define JOIN_MORE     12288 /* its small chunks, and records that are not full */
#define TOGETHER      8     /* blocks that are written with one call */

static void fail(struct shared *s, int num, const char *shown)
{
	pthread_mutex_lock(&s->lock);
	if (!s->failed)
		err_sys(&s->err, ERR_FAILED, num, _("recording to %s ended early"), shown);
	s->failed = true;
	pthread_cond_signal(&s->room);
	pthread_mutex_unlock(&s->lock);
}

/* Blocks that go to the same file, one behind the other. */
struct some {
	struct block *block[TOGETHER];
	size_t bytes[TOGETHER], all, n;
};

/* A place for these blocks, and for joining the two files with them. */
static int place_take(struct trace_writer *w, const struct some *some)
{
	off_t part = w->part_end, side = w->side_end, more = w->more;

	for (size_t i = 0; i < some->n; i++) {
		enum lane lane = some->block[i]->lane;
		off_t n = (off_t)some->bytes[i];

		*(lane == LANE_FAST ? &part : &side) += n;
		if (lane == LANE_MARKS)
			more += n; /* sync points */
		else if (lane >= LANE_PYRAMID && lane < LANE_PYRAMID + TIERS)
			more += n / 4; /* coarser levels */
	}
	if (reserve_take(&w->part_room, part + side + more + JOIN_MORE) < 0 ||
	    reserve_take(&w->side_room, side + JOIN_MORE) < 0)
		return -1;
	w->more = more;
	return 0;
}

/* With the lock: marks that do not reach the disk are somebody else's again. */
static void marks_return(struct shared *s, const struct block *b)
{
	size_t at = CHUNK_HEAD, used;
	uint64_t row;
	struct mark m;

	for (; b->lane == LANE_MARKS && at < b->used; at += used) {
		used = mark_decode(b->bytes + at, b->used - at, &m, &row);
		if (used == 0)
			return;
		s->unwritten_marks++;
		if (s->n_unwritten < HELD_MARKS)
			s->unwritten[s->n_unwritten++] = m;
	}
}

/* Write them with one call, out of the first; on error cut off what is not whole.
 * 0, or errno. */
static int some_put(struct trace_writer *w, const struct some *some)
{
	bool part = some->block[0]->lane == LANE_FAST;
	int fd = part ? w->output.part_fd : w->output.side_fd;
	off_t *end = part ? &w->part_end : &w->side_end;
	struct shared *s = w->shared;

	if (place_take(w, some) < 0 || write_at(fd, some->block[0]->bytes, some->all, *end) < 0) {
		int num = errno;
		struct stat st;

		/* Of fast rows the whole ones stay; a chunk is nothing without its end. */
		if (part && fstat(fd, &st) == 0 && st.st_size > *end && *end >= HEADER_SIZE)
			*end += (st.st_size - *end) / FAST_SIZE * FAST_SIZE;
		if (ftruncate(fd, *end) < 0)
			num = num ? num : errno;
		if (part && *end == 0) { /* what stands beside a header that is not there is nothing */
			pthread_mutex_lock(&s->lock);
			s->bytes = 0;
			pthread_mutex_unlock(&s->lock);
		}
		return num;
	}
	*end += (off_t)some->all;
	pthread_mutex_lock(&s->lock);
	s->bytes += some->all;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* Returns how many are written: where there is no room for all of them there may be
 * for the first. */
static size_t some_write(struct trace_writer *w, struct some *some)
{
	for (size_t i = 0; i < some->n; i++) {
		some->bytes[i] = block_finish(some->block[i]);
		if (i > 0)
			memcpy(some->block[0]->bytes + some->all, some->block[i]->bytes, some->bytes[i]);
		some->all += some->bytes[i];
	}
	if (some->n > 1 && some_put(w, some) == 0)
		return some->n;
	for (size_t i = 0; i < some->n; i++) {
		int num = some_put(w, &(struct some) {{some->block[i]}, {some->bytes[i]}, some->bytes[i], 1});

		if (num) {
			fail(w->shared, num, w->output.shown);
			return i;
		}
	}
	return some->n;
}

/* With the lock held: what is ready next and fits into one block of the same file. */
static bool some_take(struct lanes *q, struct some *some)
{
	size_t room = BLOCK_BYTES;

	for (some->n = some->all = 0; some->n < TOGETHER && q->head; some->n++) {
		const struct block *b = q->head;

		if (some->n > 0 &&
		    (b->lane == LANE_FAST || some->block[0]->lane == LANE_FAST || block_most(b) > room))
			break;
		room -= block_most(b);
		some->block[some->n] = lanes_take(q);
	}
	return some->n > 0;
}

/* Wait for a full block, the deadline or the end. True when it is time to
 * write whatever there is. */
static bool wait_for_work(struct shared *s)
{
	int64_t now, deadline = s->sealed_ns + (s->rest_ns ? FLUSH_LATE_NS : FLUSH_NS);

	while (!s->lanes.head && !s->quit && !s->due && thread_wait(&s->wake, &s->lock, deadline))
		continue;
	now = clock_now_ns();
	if (!s->quit && !s->due && now < deadline)
		return false;
	s->due = false;
	s->sealed_ns = now;
	return true;
}

static void write_all(struct trace_writer *w)
{
	struct shared *s = w->shared;
	struct some some;
	bool quit;

	pthread_mutex_lock(&s->lock);
	s->sealed_ns = clock_now_ns();
	do {
		if (wait_for_work(s))
			lanes_seal(&s->lanes, s->quit);
		quit = s->quit;
		while (some_take(&s->lanes, &some)) {
			size_t written = 0;

			if (!s->failed) {
				pthread_mutex_unlock(&s->lock);
				written = some_write(w, &some);
				pthread_mutex_lock(&s->lock);
			}
			for (size_t i = 0; i < some.n; i++) {
				if (i >= written)
					marks_return(s, some.block[i]);
				lanes_give(&s->lanes, some.block[i]);
			}
			pthread_cond_signal(&s->room);
		}
	} while (!quit);
	pthread_mutex_unlock(&s->lock);
}

static bool removed(const struct trace_writer *w)
{
	return w->named && output_removed(&w->output);
}

/* With the disk, which may take seconds for it. */
static void look_after(struct trace_writer *w, bool sync)
{
	struct shared *s = w->shared;
	bool moved;

	if (sync && (fdatasync(w->output.side_fd) < 0 || fdatasync(w->output.part_fd) < 0))
		fail(s, errno, w->output.shown);
	else if (removed(w))
		fail(s, ENOENT, w->output.shown);
	/* Where that cannot be synced, nobody can help it. */
	if (sync && !w->listed)
		w->listed = fsync(w->output.dir_fd) == 0 || errno == EBADF || errno == EINVAL;
	moved = w->found && output_moved(&w->output, ".part");
	pthread_mutex_lock(&s->lock);
	s->moved = moved;
	pthread_mutex_unlock(&s->lock);
}

/* What is written meanwhile must not wait for this, or it would be lost when the process
 * is killed. */
static void *syncer_main(void *arg)
{
	struct trace_writer *w = arg;
	struct shared *s = w->shared;
	int64_t now = clock_now_ns(), look = now + LOOK_NS, sync = now + w->sync_ns;

	w->named = !output_removed(&w->output);
	w->found = !output_moved(&w->output, ".part");
	pthread_mutex_lock(&s->lock);
	while (!s->quit) {
		if (thread_wait(&s->syncer, &s->lock, look < sync ? look : sync))
			continue;
		now = clock_now_ns();
		bool due = now >= sync;
		if (due)
			sync = now + w->sync_ns;
		look = now + LOOK_NS;
		if (s->quit || s->failed)
			continue;
		pthread_mutex_unlock(&s->lock);
		look_after(w, due);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void finish(struct trace_writer *w)
{
	struct joined joined;
	struct err e = {.code = ERR_NONE};
	struct shared *s = w->shared;
	bool gone, moved;
	int r;

	/* The join needs as much in their stead. */
	pthread_mutex_lock(&s->lock);
	lanes_release(&s->lanes);
	pthread_mutex_unlock(&s->lock);
	r = trace_join(w->output.part_fd, w->output.side_fd, w->output.shown, &joined, &e);

	if (r == 0)
		r = output_publish(&w->output, &e);
	gone = r < 0 && removed(w);
	moved = r == 0 && w->found && output_moved(&w->output, "");
	pthread_mutex_lock(&s->lock);
	s->moved = false;
	s->complete = r == 0;
	if (e.code == ERR_NONE) {
		memcpy(s->final.rows, joined.rows, sizeof(joined.rows));
		s->final.marks = joined.marks;
		s->final.bytes = joined.bytes;
		s->joined = true;
		output_left(&w->output, &s->final.left);
	} else {
		s->joined = s->final.removed = gone;
		if (!s->failed)
			s->err = e;
	}
	if (s->failed && r == 0) {
		err_set(&w->result_err, ERR_FAILED, _("%s; the samples until then are in %s"), s->err.text,
			w->output.shown);
		r = -1;
	} else if (r < 0) {
		/* Why there is no header is the first failure. */
		w->result_err = s->failed && !w->part_end ? s->err : e;
	} else if (moved) {
		r = err_set(&w->result_err, ERR_FAILED,
			    _("%s was completed, but its folder was moved or unmounted"), w->output.shown);
	}
	s->failed = r < 0;
	w->result = r;
	s->done = true;
	pthread_mutex_unlock(&s->lock);
}

/* Nobody wants what is there, or not without what is missing. */
static bool given_up(struct trace_writer *w)
{
	struct shared *s = w->shared;
	bool up;

	pthread_mutex_lock(&s->lock);
	if (w->whole && s->failed && !w->discard) {
		w->discard = true;
		w->result_err = s->err;
	}
	up = w->discard;
	pthread_mutex_unlock(&s->lock);
	return up;
}

static void *writer_main(void *arg)
{
	struct trace_writer *w = arg;

	write_all(w);
	pthread_join(w->syncer, NULL);
	if (given_up(w))
		w->result = -1;
	else
		finish(w);
	return NULL;
}

int writer_threads_start(struct trace_writer *w)
{
	/* SIGXFSZ is blocked there: a file that may not grow is EFBIG and no death. */
	int num = thread_start(&w->syncer, syncer_main, w);

	if (num == 0) {
		num = thread_start(&w->thread, writer_main, w);
		if (num) {
			trace_writer_finish(w);
			pthread_join(w->syncer, NULL);
		}
	}
	return num;
}
