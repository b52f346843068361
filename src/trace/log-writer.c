/* Rows are packed by the thread that brings them, which never waits: chunks go into a queue
 * that is bounded in bytes, one thread writes them, and another one syncs, so that a disk
 * that stalls costs rows, which are counted, and nobody's time. */
#include "trace/log-writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/thread.h"

#define SYNC_NS     (5 * NS_PER_S)
#define FILE_BUFFER ((size_t)32 << 20)
#define PIPE_BUFFER ((size_t)1 << 20)
#define READY_BYTES ((size_t)256 << 10)
#define PATIENCE_NS (2 * NS_PER_S) /* with a reader that takes nothing more, at the end */
#define LOOK_MS     50
#define PIECE       4096 /* a pipe that can be written to has room for this much: PIPE_BUF */

enum output { OUT_FILE, OUT_PIPE, OUT_SOCKET, OUT_OTHER };

struct block {
	struct block *next;
	struct log_entry about;
	size_t n;
	uint8_t bytes[];
};

struct log_writer {
	struct sink sink;
	char path[PATH_MAX], shown[PATH_MAX];
	int fd;
	enum output output;
	pthread_mutex_t lock;                 /* for all below */
	pthread_cond_t wake, syncer, changed; /* to the writing thread, to the syncing one, to who waits */
	struct log_options options;
	struct log_builder *builder;
	enum log_reason reason;
	char next[NAME_MAX + 1];
	struct block *head, **end;
	size_t limit;
	int64_t sync_ns;
	unsigned threads; /* that run */
	bool begun, quit, done, abandoned, unsynced, listed;
	struct log_writer_stats stats;
};

/* --- the queue --- */

/* With the lock held, as all that the builder calls. */
static bool queue_put(void *to, const struct log_entry *e, const uint8_t *chunk, size_t n)
{
	struct log_writer *w = to;
	struct block *b = NULL;

	if (e->kind == LOG_DATA)
		w->stats.dropping = w->stats.queued + n > w->limit;
	if (!w->stats.failed && !(e->kind == LOG_DATA && w->stats.dropping))
		b = malloc(sizeof(*b) + n);
	if (!b)
		return false;
	b->next = NULL;
	b->about = *e;
	b->n = n;
	memcpy(b->bytes, chunk, n);
	*w->end = b;
	w->end = &b->next;
	w->stats.queued += n;
	pthread_cond_signal(&w->wake);
	return true;
}

static struct block *queue_take(struct log_writer *w)
{
	struct block *b = w->head;

	w->head = b->next;
	if (!w->head)
		w->end = &w->head;
	return b;
}

/* It was written, or it is lost. */
static void block_done(struct log_writer *w, struct block *b, bool written)
{
	w->stats.queued -= b->n;
	if (written) {
		w->stats.bytes += b->n;
		w->stats.kind[b->about.kind] += b->n;
		w->unsynced = true;
	}
	for (int t = 0; b->about.kind == LOG_DATA && t < TIERS; t++)
		*(written ? &w->stats.rows[t] : &w->stats.lost_rows) += b->about.rows[t];
	free(b);
	pthread_cond_broadcast(&w->changed);
}

static void fail(struct log_writer *w, int num)
{
	struct err *e = &w->stats.err;

	if (w->stats.failed)
		return;
	w->stats.failed = true;
	w->stats.reader_gone = w->output != OUT_FILE && (num == EPIPE || num == ECONNRESET);
	if (w->stats.reader_gone)
		err_set(e, ERR_FAILED, _("the reader closed the stream: the recording ended"));
	else if (w->output == OUT_FILE)
		err_sys(e, ERR_FAILED, num, _("recording to %s ended early"), w->shown);
	else if (num == ETIMEDOUT)
		err_set(e, ERR_FAILED, _("the reader of the stream does not respond: its end is lost"));
	else
		err_sys(e, ERR_FAILED, num, _("the stream to standard output ended early"));
	while (w->head)
		block_done(w, queue_take(w), false);
	pthread_cond_broadcast(&w->changed);
}

/* --- the writing thread --- */

/* All of it, or nothing of it is left.  0, or errno. */
static int write_file(struct log_writer *w, const struct block *b)
{
	size_t done = 0;
	struct stat st;
	int num;

	while (done < b->n) {
		ssize_t n = write(w->fd, b->bytes + done, b->n - done);

		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			num = n == 0 ? ENOSPC : errno;
			if (done > 0 && fstat(w->fd, &st) == 0 &&
			    ftruncate(w->fd, st.st_size - (off_t)done) < 0)
				return errno;
			return num;
		}
	}
	return 0;
}

static bool quitting(struct log_writer *w)
{
	bool quit;

	pthread_mutex_lock(&w->lock);
	quit = w->quit;
	pthread_mutex_unlock(&w->lock);
	return quit;
}

static ssize_t write_some(const struct log_writer *w, const uint8_t *p, size_t n)
{
	if (w->output == OUT_SOCKET)
		return send(w->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(w->fd, p, w->output == OUT_PIPE && n > PIECE ? PIECE : n);
}

/* However long the reader takes, but not at the end. */
static int write_stream(struct log_writer *w, const struct block *b)
{
	struct pollfd ready = {.fd = w->fd, .events = POLLOUT};
	int64_t give_up = INT64_MAX;
	size_t done = 0;

	while (done < b->n) {
		ssize_t n = -1;

		errno = EAGAIN;
		if (w->output == OUT_OTHER || poll(&ready, 1, LOOK_MS) > 0)
			n = write_some(w, b->bytes + done, b->n - done);
		if (n > 0) {
			done += (size_t)n;
			give_up = INT64_MAX;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			return n == 0 ? ENOSPC : errno;
		} else if (give_up == INT64_MAX && quitting(w)) {
			give_up = clock_now_ns() + PATIENCE_NS;
		} else if (clock_now_ns() >= give_up) {
			return ETIMEDOUT;
		}
	}
	return 0;
}

/* With the lock held, which is let go meanwhile. */
static void sync_once(struct log_writer *w)
{
	bool list = !w->listed, removed;
	struct stat st;
	int num;

	w->unsynced = false;
	w->listed = true;
	pthread_mutex_unlock(&w->lock);
	num = fdatasync(w->fd) < 0 ? errno : 0;
	if (list)
		log_file_list(w->path);
	removed = fstat(w->fd, &st) == 0 && st.st_nlink == 0;
	pthread_mutex_lock(&w->lock);
	w->stats.removed = removed;
	if (num)
		fail(w, num);
}

/* The same while it writes. */
static void write_next(struct log_writer *w)
{
	struct block *b = queue_take(w);
	int num;

	pthread_mutex_unlock(&w->lock);
	num = w->output == OUT_FILE ? write_file(w, b) : write_stream(w, b);
	pthread_mutex_lock(&w->lock);
	block_done(w, b, num == 0);
	if (num)
		fail(w, num);
}

/* With the lock held: rows whose cell ended without more of them. */
static void wait_for_chunks(struct log_writer *w)
{
	int64_t now = clock_now_ns(), due = now + (INT64_C(1) << LOG_CELL_ZOOM);

	if (w->builder && w->options.live && log_builder_due(w->builder) < due)
		due = log_builder_due(w->builder);
	if (due <= now)
		log_builder_run(w->builder, now);
	else
		thread_wait(&w->wake, &w->lock, due);
}

static void destroy(struct log_writer *w)
{
	while (w->head)
		free(queue_take(w));
	log_builder_free(w->builder);
	pthread_cond_destroy(&w->wake);
	pthread_cond_destroy(&w->syncer);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	close(w->fd);
	free(w);
}

/* With the lock held, at the end of a thread. */
static void leave(struct log_writer *w)
{
	bool last = --w->threads == 0 && w->abandoned;

	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (last)
		destroy(w);
}

static void *write_main(void *arg)
{
	struct log_writer *w = arg;

	pthread_mutex_lock(&w->lock);
	while (w->head || !w->quit) {
		if (w->head)
			write_next(w);
		else
			wait_for_chunks(w);
	}
	if (w->output == OUT_FILE && !w->stats.failed)
		sync_once(w);
	w->done = true;
	leave(w);
	return NULL;
}

/* --- the syncing thread --- */

static void *sync_main(void *arg)
{
	struct log_writer *w = arg;
	int64_t due;

	pthread_mutex_lock(&w->lock);
	while (!w->quit && !w->stats.failed) {
		due = clock_now_ns() + w->sync_ns;
		while (!w->quit && thread_wait(&w->syncer, &w->lock, due))
			continue;
		if (!w->quit && w->unsynced)
			sync_once(w);
	}
	leave(w);
	return NULL;
}

/* --- the sink --- */

static struct log_writer *writer_of(struct sink *s)
{
	return (struct log_writer *)s;
}

static int start(struct log_writer *w, void *(*run)(void *))
{
	pthread_t thread;
	int num = thread_start(&thread, run, w);

	if (num)
		return num;
	pthread_detach(thread);
	w->threads++;
	return 0;
}

static int writer_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct log_writer *w = writer_of(sink);
	int num = 0;

	if (w->begun)
		return err_set(e, ERR_FAILED, _("%s is already being recorded"), w->shown);
	pthread_mutex_lock(&w->lock);
	w->builder = log_builder_new(about, &w->options, queue_put, w, e);
	if (w->builder) {
		w->begun = true;
		num = start(w, write_main);
		if (!num && w->output == OUT_FILE && w->sync_ns > 0)
			num = start(w, sync_main);
		w->quit = num != 0;
	}
	pthread_mutex_unlock(&w->lock);
	if (num)
		err_sys(e, ERR_FAILED, num, _("cannot record to %s: no thread"), w->shown);
	return w->builder && !num ? 0 : -1;
}

static void writer_rows(struct sink *sink, const struct rows *r)
{
	struct log_writer *w = writer_of(sink);

	pthread_mutex_lock(&w->lock);
	if (w->builder && !w->quit)
		log_builder_rows(w->builder, r);
	pthread_mutex_unlock(&w->lock);
}

static void writer_mark(struct sink *sink, const struct mark *m)
{
	struct log_writer *w = writer_of(sink);

	pthread_mutex_lock(&w->lock);
	if (w->builder && !w->quit)
		log_builder_mark(w->builder, m);
	pthread_mutex_unlock(&w->lock);
}

static void writer_gap(struct sink *sink, const struct gap *g)
{
	struct log_writer *w = writer_of(sink);

	pthread_mutex_lock(&w->lock);
	if (w->builder && !w->quit)
		log_builder_gap(w->builder, g);
	pthread_mutex_unlock(&w->lock);
}

static void writer_change(struct sink *sink, const struct change *c)
{
	struct log_writer *w = writer_of(sink);

	pthread_mutex_lock(&w->lock);
	if (w->builder && !w->quit)
		log_builder_change(w->builder, c);
	pthread_mutex_unlock(&w->lock);
}

static int writer_end(struct sink *sink, struct err *e)
{
	struct log_writer *w = writer_of(sink);
	int r = 0;

	log_writer_finish(w);
	pthread_mutex_lock(&w->lock);
	while (w->threads > 0 && !w->done)
		pthread_cond_wait(&w->changed, &w->lock);
	if (w->stats.failed) {
		if (e)
			*e = w->stats.err;
		r = -1;
	}
	pthread_mutex_unlock(&w->lock);
	return r;
}

void log_writer_finish(struct log_writer *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->builder && !w->quit)
		log_builder_end(w->builder, w->reason, w->next);
	w->quit = true;
	pthread_cond_broadcast(&w->wake);
	pthread_cond_broadcast(&w->syncer);
	pthread_mutex_unlock(&w->lock);
}

bool log_writer_done(struct log_writer *w)
{
	bool done;

	pthread_mutex_lock(&w->lock);
	done = w->done;
	pthread_mutex_unlock(&w->lock);
	return done;
}

bool log_writer_ready(struct log_writer *w)
{
	bool ready;

	pthread_mutex_lock(&w->lock);
	while (!w->stats.failed && w->threads > 0 && w->stats.queued > READY_BYTES)
		pthread_cond_wait(&w->changed, &w->lock);
	ready = !w->stats.failed;
	pthread_mutex_unlock(&w->lock);
	return ready;
}

void log_writer_stats(struct log_writer *w, struct log_writer_stats *out)
{
	const struct log_tally *t;

	pthread_mutex_lock(&w->lock);
	*out = w->stats;
	t = w->builder ? log_builder_tally(w->builder) : NULL;
	out->marks = t ? t->marks : 0;
	for (int i = 0; t && i < TIERS; i++)
		out->lost_rows += t->lost[i];
	pthread_mutex_unlock(&w->lock);
}

static struct log_writer *make(const char *path, int fd, enum output output, struct err *e)
{
	static const struct sink_ops ops = {writer_begin, writer_rows, writer_mark,  writer_gap,
					    writer_end,   NULL,        writer_change};
	struct log_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		close(fd);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	w->sink.ops = &ops;
	text_printable(w->shown, sizeof(w->shown), path, strlen(path));
	memcpy(w->path, path, strnlen(path, sizeof(w->path) - 1));
	w->fd = fd;
	w->output = output;
	w->options = (struct log_options) {.live = true, .index = true};
	w->limit = output == OUT_FILE ? FILE_BUFFER : PIPE_BUFFER;
	w->sync_ns = SYNC_NS;
	w->end = &w->head;
	pthread_mutex_init(&w->lock, NULL);
	thread_cond_init(&w->wake);
	thread_cond_init(&w->syncer);
	pthread_cond_init(&w->changed, NULL);
	return w;
}

struct log_writer *log_writer_new(const char *path, bool force, struct err *e)
{
	int fd = log_file_make(path, force, e);

	return fd < 0 ? NULL : make(path, fd, OUT_FILE, e);
}

struct log_writer *log_writer_fd(int fd, struct err *e)
{
	enum output output = OUT_OTHER;
	struct stat st;

	if (fstat(fd, &st) == 0)
		output = S_ISFIFO(st.st_mode) ? OUT_PIPE : S_ISSOCK(st.st_mode) ? OUT_SOCKET : OUT_OTHER;
	return make("-", fd, output, e);
}

struct sink *log_writer_sink(struct log_writer *w)
{
	return &w->sink;
}

const char *log_writer_path(const struct log_writer *w)
{
	return w->path;
}

struct log_options *log_writer_options(struct log_writer *w)
{
	return &w->options;
}

void log_writer_sync_every(struct log_writer *w, int64_t ns)
{
	w->sync_ns = ns;
}

void log_writer_buffer(struct log_writer *w, size_t bytes)
{
	w->limit = bytes;
}

void log_writer_reason(struct log_writer *w, enum log_reason reason, const char *next)
{
	pthread_mutex_lock(&w->lock);
	w->reason = reason;
	text_printable(w->next, sizeof(w->next), next ? next : "", next ? strlen(next) : 0);
	pthread_mutex_unlock(&w->lock);
}

void log_writer_next(struct log_writer *w, struct log_options *o)
{
	pthread_mutex_lock(&w->lock);
	if (w->builder)
		log_builder_next(w->builder, o);
	pthread_mutex_unlock(&w->lock);
}

void log_writer_free(struct log_writer *w)
{
	bool last;

	if (!w)
		return;
	log_writer_finish(w);
	pthread_mutex_lock(&w->lock);
	w->abandoned = true;
	last = w->threads == 0;
	pthread_mutex_unlock(&w->lock);
	if (last)
		destroy(w);
}
