/* Whoever reads the stream may stop for as long as it likes: the rows wait in a
 * queue of fixed size, what then finds no room is counted and becomes a gap, and
 * nobody but the thread here ever waits for the pipe. */
#include "trace/stream-out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/thread.h"
#include "trace/again.h"

#define FLUSH_NS    (100 * NS_PER_MS) /* a remote screen is so much behind */
#define AGAIN_NS    (10 * NS_PER_S)   /* the description comes again so often, */
#define SOON_NS     NS_PER_S          /* and for the first time so soon */
#define PATIENCE_NS (2 * NS_PER_S)    /* with a reader that takes nothing more, at the end */
#define LOOK_MS     50                /* how soon the end is noticed while the pipe is full */
#define PIECE       4096              /* a pipe that can be written to has room for this much: PIPE_BUF */

enum kind { KIND_PIPE, KIND_SOCKET, KIND_OTHER };

struct stream_out {
	struct sink sink;
	int fd;
	enum kind kind;
	pthread_t thread;
	bool running, ended;

	pthread_mutex_t lock; /* what follows is shared with the thread */
	pthread_cond_t wake;
	struct lanes lanes;
	bool quit, failed, gone;
	uint64_t bytes, late[TIERS], lost[TIERS];
	struct err err;

	struct again_out again; /* of the thread alone */
	int64_t again_ns;       /* when it is due */
	bool pending;           /* it comes next, behind this block; NULL: at once */
	const struct block *behind;
};

static bool quitting(struct stream_out *o)
{
	bool quit;

	pthread_mutex_lock(&o->lock);
	quit = o->quit;
	pthread_mutex_unlock(&o->lock);
	return quit;
}

static void fail(struct stream_out *o, int num)
{
	pthread_mutex_lock(&o->lock);
	if (!o->failed) {
		o->gone = num == EPIPE || num == ECONNRESET;
		if (o->gone)
			err_set(&o->err, ERR_FAILED, _("the reader closed the stream: the recording ended"));
		else if (num == ETIMEDOUT)
			err_set(&o->err, ERR_FAILED,
				_("the reader of the stream does not respond: its end is lost"));
		else
			err_sys(&o->err, ERR_FAILED, num, _("the stream to standard output ended early"));
	}
	o->failed = true;
	pthread_mutex_unlock(&o->lock);
}

static ssize_t put_some(const struct stream_out *o, const uint8_t *p, size_t n)
{
	if (o->kind == KIND_SOCKET)
		return send(o->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(o->fd, p, o->kind == KIND_PIPE && n > PIECE ? PIECE : n);
}

/* All of it, however long the reader takes while the recording runs. */
static int put(struct stream_out *o, const uint8_t *p, size_t n)
{
	struct pollfd ready = {.fd = o->fd, .events = POLLOUT};
	int64_t give_up = INT64_MAX;

	while (n > 0) {
		ssize_t done = -1;

		errno = EAGAIN;
		if (o->kind == KIND_OTHER || poll(&ready, 1, LOOK_MS) > 0)
			done = put_some(o, p, n);
		if (done > 0) {
			p += done;
			n -= (size_t)done;
			give_up = INT64_MAX;
		} else if (done == 0 || (errno != EAGAIN && errno != EINTR)) {
			fail(o, done == 0 ? ENOSPC : errno);
			return -1;
		} else if (give_up == INT64_MAX && quitting(o)) {
			give_up = clock_now_ns() + PATIENCE_NS;
		} else if (clock_now_ns() >= give_up) {
			fail(o, ETIMEDOUT);
			return -1;
		}
	}
	return 0;
}

static void tally(const struct stream_out *o, uint8_t p[TALLY_SIZE])
{
	for (int t = 0; t < TIERS; t++) {
		put_u64(p + 24 * t, o->lanes.rows[t]);
		put_u64(p + 24 * t + 8, o->late[t]);
		put_u64(p + 24 * t + 16, o->lost[t]);
	}
}

/* With the lock held, and everything ready: the description belongs behind it. */
static void again_due(struct stream_out *o)
{
	uint8_t now[TALLY_SIZE];

	if (o->pending || clock_now_ns() < o->again_ns)
		return;
	o->again_ns = clock_now_ns() + AGAIN_NS;
	o->pending = true;
	o->behind = o->lanes.head;
	while (o->behind && o->behind->next)
		o->behind = o->behind->next;
	tally(o, now);
	again_tally(&o->again, now);
}

/* With the lock held, which is let go meanwhile. */
static void put_again(struct stream_out *o)
{
	bool put_it = !o->failed;

	o->pending = false;
	pthread_mutex_unlock(&o->lock);
	put_it = put_it && put(o, o->again.bytes, o->again.size) == 0;
	pthread_mutex_lock(&o->lock);
	o->bytes += put_it ? o->again.size : 0;
}

/* With the lock held: take over what is ready. */
static void put_ready(struct stream_out *o)
{
	struct block *b;

	if (o->pending && !o->behind)
		put_again(o);
	while ((b = lanes_take(&o->lanes))) {
		bool skip = o->failed, again = o->pending && b == o->behind;
		size_t n = 0;

		pthread_mutex_unlock(&o->lock);
		if (!skip) {
			n = block_finish(b);
			if (put(o, b->bytes, n) < 0)
				n = 0;
		}
		pthread_mutex_lock(&o->lock);
		o->bytes += n;
		lanes_give(&o->lanes, b);
		if (again)
			put_again(o);
	}
}

/* With the lock held: until a block is full, the time is over or it is the end. */
static void wait_for_work(struct stream_out *o, int64_t until_ns)
{
	while (!o->lanes.head && !o->quit && thread_wait(&o->wake, &o->lock, until_ns))
		continue;
}

static void put_end(struct stream_out *o)
{
	uint8_t p[CHUNK_HEAD + TALLY_SIZE + CHUNK_CRC];

	tally(o, p + CHUNK_HEAD);
	put(o, p, chunk_seal(p, CHUNK_END, TALLY_SIZE));
}

static void *stream_main(void *arg)
{
	struct stream_out *o = arg;
	int64_t flush = clock_now_ns();
	bool failed, sealed = false;

	pthread_mutex_lock(&o->lock);
	while (!o->quit && !o->failed) {
		wait_for_work(o, flush);
		if (clock_now_ns() >= flush) {
			if (lanes_seal(&o->lanes, false))
				again_due(o);
			flush = clock_now_ns() + FLUSH_NS;
		}
		put_ready(o);
	}
	while (!o->failed && !sealed) {
		put_ready(o);
		sealed = lanes_seal(&o->lanes, true);
	}
	/* A stream that is short has it twice, too. */
	o->again_ns = 0;
	if (sealed)
		again_due(o);
	put_ready(o);
	failed = o->failed;
	pthread_mutex_unlock(&o->lock);
	if (!failed)
		put_end(o);
	return NULL;
}

static struct stream_out *out_of(struct sink *s)
{
	return (struct stream_out *)s;
}

static int out_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct stream_out *o = out_of(sink);
	int num;

	if (o->running || o->ended)
		return err_set(e, ERR_FAILED, _("%s is already being recorded"), _("standard output"));
	if (lanes_begin(&o->lanes, about, e) < 0)
		return -1;
	if (again_make(&o->again, o->lanes.head) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	o->again_ns = clock_now_ns() + SOON_NS;
	num = thread_start(&o->thread, stream_main, o);
	if (num)
		return err_sys(e, ERR_FAILED, num, _("cannot record to %s: no thread"), _("standard output"));
	o->running = true;
	return 0;
}

static void out_rows(struct sink *sink, const struct rows *r)
{
	struct stream_out *o = out_of(sink);
	uint64_t lost;
	bool wake;

	pthread_mutex_lock(&o->lock);
	lost = o->lanes.lost;
	if (!o->failed)
		lanes_rows(&o->lanes, r);
	o->lost[r->tier] += o->lanes.lost - lost;
	wake = o->lanes.head != NULL;
	pthread_mutex_unlock(&o->lock);
	if (wake)
		pthread_cond_signal(&o->wake);
}

static void out_mark(struct sink *sink, const struct mark *m)
{
	struct stream_out *o = out_of(sink);

	pthread_mutex_lock(&o->lock);
	if (!o->failed)
		lanes_mark(&o->lanes, m);
	pthread_mutex_unlock(&o->lock);
}

static void out_gap(struct sink *sink, const struct gap *g)
{
	struct stream_out *o = out_of(sink);

	pthread_mutex_lock(&o->lock);
	if (!o->failed)
		lanes_gap(&o->lanes, g);
	*(g->cause == GAP_LATE ? &o->late[g->tier] : &o->lost[g->tier]) += g->missed;
	pthread_mutex_unlock(&o->lock);
}

static void out_change(struct sink *sink, const struct change *c)
{
	struct stream_out *o = out_of(sink);

	pthread_mutex_lock(&o->lock);
	if (!o->failed)
		lanes_change(&o->lanes, c);
	pthread_mutex_unlock(&o->lock);
}

static int out_end(struct sink *sink, struct err *e)
{
	struct stream_out *o = out_of(sink);

	if (!o->running)
		return 0;
	pthread_mutex_lock(&o->lock);
	o->quit = true;
	pthread_mutex_unlock(&o->lock);
	pthread_cond_signal(&o->wake);
	pthread_join(o->thread, NULL);
	o->running = false;
	o->ended = true;
	close(o->fd); /* its reader sees the end now */
	o->fd = -1;
	if (o->failed && e)
		*e = o->err;
	return o->failed ? -1 : 0;
}

/* A pipe is opened anew, so that the flag that says not to wait is ours alone and
 * not that of everybody who writes to it. */
static void fd_prepare(struct stream_out *o)
{
	char name[32];
	struct stat st;
	int fd;

	o->kind = KIND_OTHER;
	if (fstat(o->fd, &st) < 0)
		return;
	if (S_ISSOCK(st.st_mode))
		o->kind = KIND_SOCKET;
	if (!S_ISFIFO(st.st_mode))
		return;
	o->kind = KIND_PIPE;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", o->fd);
	fd = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) /* not allowed: small pieces, when there is room */
		return;
	close(o->fd);
	o->fd = fd;
}

struct stream_out *stream_out_new(int fd, struct err *e)
{
	static const struct sink_ops ops = {out_begin, out_rows, out_mark, out_gap, out_end, NULL, out_change};
	struct stream_out *o = calloc(1, sizeof(*o));

	if (!o || lanes_init(&o->lanes, e) < 0) {
		free(o);
		close(fd);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	o->sink.ops = &ops;
	o->lanes.stream = true;
	o->fd = fd;
	fd_prepare(o);
	pthread_mutex_init(&o->lock, NULL);
	thread_cond_init(&o->wake);
	return o;
}

void stream_out_free(struct stream_out *o)
{
	if (!o)
		return;
	if (o->running)
		out_end(&o->sink, NULL);
	if (o->fd >= 0)
		close(o->fd);
	pthread_cond_destroy(&o->wake);
	pthread_mutex_destroy(&o->lock);
	lanes_free(&o->lanes);
	free(o->again.bytes);
	free(o);
}

struct sink *stream_out_sink(struct stream_out *o)
{
	return &o->sink;
}

void stream_out_stats(struct stream_out *o, struct trace_writer_stats *out)
{
	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&o->lock);
	memcpy(out->rows, o->lanes.rows, sizeof(out->rows));
	out->bytes = o->bytes;
	out->marks = o->lanes.marks;
	out->lost_marks = o->lanes.lost_marks;
	out->lost_rows = o->lanes.lost;
	out->failed = o->failed;
	out->reader_gone = o->gone;
	out->err = o->err;
	pthread_mutex_unlock(&o->lock);
}
