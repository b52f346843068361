/* The recording of one stream: what comes goes to a log in memory, from which the thread of its output copies it.
 * Nothing here waits for a disk. */
#include "trace/log-writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/log-output.h"
#include "util/intl.h"
#include "util/text.h"
#include "util/thread.h"

#define SYNC_NS     (5 * NS_PER_S)
#define FILE_BUFFER ((size_t)32 << 20)
#define PIPE_BUFFER ((size_t)1 << 20)
#define READY_BYTES ((size_t)256 << 10)
#define HANGS_NS    (3 * NS_PER_S) /* a write that takes longer is reported */

static struct log_writer *writer_of(struct sink *s)
{
	return (struct log_writer *)s;
}

/* --- the sink --- */

static struct sink *log_of(struct sink *s)
{
	return log_sink(writer_of(s)->log);
}

/* Begins to copy what the log has from from_ns on, INT64_MIN: all that comes, up to to_ns, INT64_MAX: to its end. */
static int start(struct log_writer *w, struct log *log, int64_t from_ns, int64_t to_ns, struct err *e)
{
	bool past = from_ns != INT64_MIN;
	int num;

	pthread_mutex_lock(&w->lock);
	w->log = log;
	w->from = past ? log_cell(from_ns) : INT64_MIN;
	w->to = to_ns == INT64_MAX ? to_ns : log_cell(to_ns) + 1;
	w->then = THEN_END;
	w->until = past ? UINT64_MAX : 0;
	num = out_start(w, !past);
	w->begun = !num;
	w->quit |= !w->begun;
	pthread_mutex_unlock(&w->lock);
	if (num)
		err_sys(e, ERR_FAILED, num, _("cannot record to %s: no thread"), w->shown);
	return w->begun ? 0 : -1;
}

static int writer_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct log_writer *w = writer_of(sink);

	if (w->begun)
		return err_set(e, ERR_FAILED, _("%s is already being recorded"), w->shown);
	w->log = log_new(&(struct log_bound) {.now = w->options.live}, e);
	if (!w->log || log_of(sink)->ops->begin(log_of(sink), about, e) < 0)
		return -1;
	return start(w, w->log, INT64_MIN, INT64_MAX, e);
}

static void writer_rows(struct sink *sink, const struct rows *r)
{
	log_of(sink)->ops->rows(log_of(sink), r);
}

static void writer_mark(struct sink *sink, const struct mark *m)
{
	log_of(sink)->ops->mark(log_of(sink), m);
}

static void writer_gap(struct sink *sink, const struct gap *g)
{
	log_of(sink)->ops->gap(log_of(sink), g);
}

static void writer_change(struct sink *sink, const struct change *c)
{
	log_of(sink)->ops->change(log_of(sink), c);
}

static void writer_ranges(struct sink *sink, const struct range *list, size_t n)
{
	log_of(sink)->ops->ranges(log_of(sink), list, n);
}

static void writer_rest(struct sink *sink)
{
	log_of(sink)->ops->rest(log_of(sink));
}

static void writer_described(struct sink *sink, const struct channel *channels)
{
	log_of(sink)->ops->described(log_of(sink), channels);
}

static int writer_end(struct sink *sink, struct err *e)
{
	struct log_writer *w = writer_of(sink);
	struct err unheard;

	log_writer_finish(w);
	if (w->go_on || !w->begun)
		return 0;
	log_writer_wait(w, INT64_MAX);
	return log_writer_result(w, e ? e : &unheard);
}

void log_writer_finish(struct log_writer *w)
{
	bool own;

	pthread_mutex_lock(&w->lock);
	own = w->log && !w->copies;
	w->quit = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (own)
		log_of(&w->sink)->ops->end(log_of(&w->sink), NULL);
}

int log_writer_copy(struct log_writer *w, struct log *log, int64_t from_ns, int64_t to_ns, struct err *e)
{
	w->copies = true;
	return start(w, log, from_ns, to_ns, e);
}

bool log_writer_copy_to(struct log_writer *w, int64_t *to_ns, bool less)
{
	int64_t to = log_cell(*to_ns) + 1;
	bool open;

	pthread_mutex_lock(&w->lock);
	open = !w->over;
	if (less && to <= w->newest) { /* these cells are in the file */
		to = w->newest + 1;
		*to_ns = log_cell_ns(to) - 1;
	}
	if (open && (less || to > w->to))
		w->to = to;
	memset(w->seen, 0, sizeof(w->seen));
	pthread_mutex_unlock(&w->lock);
	return open;
}

/* --- results --- */

/* Call with the lock held. */
static size_t queued(const struct log_writer *w)
{
	return w->stats.held + (w->queue && !w->over ? log_queue_bytes(w->queue) : 0);
}

bool log_writer_wait(struct log_writer *w, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&w->lock);
	while (w->thread && !w->done && thread_wait(&w->changed, &w->lock, until_ns))
		continue;
	done = w->done || !w->thread;
	pthread_mutex_unlock(&w->lock);
	return done;
}

bool log_writer_done(struct log_writer *w)
{
	return log_writer_wait(w, 0);
}

int log_writer_result(struct log_writer *w, struct err *e)
{
	char size[32];
	int r = -1;

	e->code = ERR_NONE;
	pthread_mutex_lock(&w->lock);
	if (w->stats.failed)
		*e = w->stats.err;
	else if (w->thread && !w->done && queued(w) > 0)
		err_set(e, ERR_FAILED, _("the disk does not respond: the last %s of %s are not written"),
			(text_bytes(size, sizeof(size), queued(w)), size), w->stats.path);
	else if (w->thread && !w->done)
		err_set(e, ERR_FAILED,
			_("the disk does not respond: %s is written, but perhaps not stored yet"),
			w->stats.path);
	else if (w->stats.last.code != ERR_NONE)
		*e = w->stats.last;
	else
		r = 0;
	pthread_mutex_unlock(&w->lock);
	return r;
}

bool log_writer_ready(struct log_writer *w)
{
	bool ready;

	pthread_mutex_lock(&w->lock);
	while (!w->stats.failed && w->thread && !w->done && queued(w) > READY_BYTES)
		pthread_cond_wait(&w->changed, &w->lock);
	ready = !w->stats.failed;
	pthread_mutex_unlock(&w->lock);
	return ready;
}

void log_writer_stats(struct log_writer *w, struct log_writer_stats *out)
{
	struct log_skipped skipped = {.chunks = 0};
	char size[32], most[32];

	pthread_mutex_lock(&w->lock);
	if (w->queue && !w->over)
		log_queue_skipped(w->queue, &skipped);
	*out = w->stats;
	out->files = w->n_files;
	out->queued = queued(w);
	out->marks = w->tally.marks;
	out->longest_ns = w->log && !w->copies ? log_longest_ns(w->log) : 0;
	out->lost_marks += skipped.marks;
	out->given_lost = 0;
	for (int t = 0; t < TIERS; t++) {
		out->lost_rows += skipped.rows[t];
		out->given_lost += w->tally.lost[t];
	}
	out->given_lost -= w->stats.gap_rows;
	out->dropping = skipped.chunks > 0;
	if (out->dropping && out->err.code == ERR_NONE)
		err_set(&out->err, ERR_FAILED, _("the disk is too slow: %llu rows were dropped so far"),
			(unsigned long long)out->lost_rows);
	else if (w->output == OUT_FILE && w->write_ns && clock_now_ns() - w->write_ns > HANGS_NS &&
		 out->err.code == ERR_NONE)
		err_set(&out->err, ERR_FAILED,
			_("the disk does not respond: %s wait in memory, of at most %s"),
			(text_bytes(size, sizeof(size), out->queued), size),
			(text_bytes(most, sizeof(most), w->options.buffer), most));
	else if (w->moved && out->err.code == ERR_NONE && !w->done)
		err_set(&out->err, ERR_FAILED,
			_("%s is no longer at its path: its folder was moved or unmounted; the recording "
			  "continues in it"),
			w->stats.path);
	if (w->failed_ns)
		out->hole_ns += clock_now_ns() - w->failed_ns;
	pthread_mutex_unlock(&w->lock);
}

int64_t log_writer_until_ns(struct log_writer *w)
{
	int64_t ns;

	pthread_mutex_lock(&w->lock);
	ns = w->begun ? w->stats.until_ns : INT64_MAX;
	pthread_mutex_unlock(&w->lock);
	return ns;
}

bool log_writer_file(struct log_writer *w, size_t i, char *path, size_t size, bool *complete)
{
	struct file_done f = {.number = 0};

	pthread_mutex_lock(&w->lock);
	if (i < w->n_files)
		f = w->files[i];
	pthread_mutex_unlock(&w->lock);
	if (complete)
		*complete = f.complete;
	if (f.number == 0 || !path)
		return f.number > 0;
	return part_path(w->path, f.number, path, size) == 0;
}

/* --- construction --- */

static struct log_writer *make(const char *path, int fd, enum output output, struct err *e)
{
	static const struct sink_ops ops = {writer_begin, writer_rows, writer_mark,  writer_gap,
					    writer_end,   writer_rest, writer_change, writer_ranges,
					    writer_described};
	struct log_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		if (fd >= 0)
			close(fd);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	w->sink.ops = &ops;
	text_printable(w->shown, sizeof(w->shown), path, strlen(path));
	memcpy(w->path, path, strnlen(path, sizeof(w->path) - 1));
	w->file = (struct part) {.fd = fd};
	w->output = output;
	w->stats.until_ns = INT64_MAX;
	w->options = (struct log_options) {.live = true,
					   .index = true,
					   .buffer = output == OUT_FILE ? FILE_BUFFER : PIPE_BUFFER,
					   .sync_ns = SYNC_NS};
	pthread_mutex_init(&w->lock, NULL);
	thread_cond_init(&w->wake);
	thread_cond_init(&w->changed);
	return w;
}

struct log_writer *log_writer_new(const char *path, bool force, struct err *e)
{
	struct log_writer *w;
	int fd;

	if (strlen(path) >= PATH_MAX) {
		err_set(e, ERR_FAILED, _("the name of the file to record to is too long"));
		return NULL;
	}
	fd = log_file_make(path, force, NULL, e);
	w = fd < 0 ? NULL : make(path, fd, OUT_FILE, e);
	if (!w)
		return NULL;
	w->force = force;
	w->number = w->file.number = 1;
	strcpy(w->file.path, path);
	if (disk_use(w, &w->file))
		return w;
	log_writer_free(w);
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
}

struct log_writer *log_writer_later(const char *path, bool force, struct err *e)
{
	struct log_writer *w = make(path, -1, OUT_FILE, e);

	if (w) {
		w->force = force;
		w->go_on = true;
	}
	return w;
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

struct log_options *log_writer_options(struct log_writer *w)
{
	return &w->options;
}

void log_writer_limits(struct log_writer *w, const struct trace_limits *limits)
{
	w->go_on = true;
	w->limits = *limits;
	if (limits->sync_ns)
		w->options.sync_ns = limits->sync_ns;
}

void log_writer_discard(struct log_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->discard = w->quit = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	log_writer_wait(w, INT64_MAX);
	if (w->output == OUT_FILE)
		unlink(w->file.path);
}

static void destroy(struct log_writer *w)
{
	log_queue_free(w->queue);
	if (!w->copies)
		log_free(w->log);
	free(w->facts);
	log_packer_free(w->packer);
	log_index_free(w->index);
	log_bytes_free(&w->raw);
	log_bytes_free(&w->bytes);
	chunk_list_free(&w->later);
	chunk_list_free(&w->again);
	pthread_cond_destroy(&w->wake);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	if (w->file.fd >= 0)
		close(w->file.fd);
	free(w->files);
	free(w);
}

void writer_leave(struct log_writer *w)
{
	bool last = w->abandoned;

	w->done = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (last)
		destroy(w);
}

void log_writer_free(struct log_writer *w)
{
	bool last;

	if (!w)
		return;
	if (!w->begun && w->file.fd >= 0 && w->output == OUT_FILE)
		unlink(w->file.path);
	log_writer_finish(w);
	pthread_mutex_lock(&w->lock);
	w->abandoned = true;
	last = w->done || !w->thread;
	pthread_mutex_unlock(&w->lock);
	if (last)
		destroy(w);
}
