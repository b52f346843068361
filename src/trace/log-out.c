/* The thread of an output is a cursor in a log: it copies the cells from one up to another, into as many files as its limits
 * want. Nothing but it knows where a file ends: one that ends early is followed by one that begins with the chunk that
 * could not be written. Whoever fills the log waits for no disk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "trace/log-output.h"
#include "util/array.h"
#include "util/intl.h"
#include "util/text.h"
#include "util/thread.h"

#define SYNC_NS     (5 * NS_PER_S)
#define FILE_BUFFER ((size_t)32 << 20)
#define PIPE_BUFFER ((size_t)1 << 20)
#define READY_BYTES ((size_t)256 << 10)
#define HANGS_NS    (3 * NS_PER_S)   /* a write that takes longer is reported */
#define LATE_CELLS  15               /* how long a file waits for the rows of a tier */
#define LEAST_LEFT  4096             /* for the chunks that end a file */
#define GROUPS_NS   (60 * NS_PER_S)  /* files at least this long begin with a group */
#define LOOK_NS     (50 * NS_PER_MS) /* how often the disk is looked after */
#define RETRY_NS    NS_PER_S

/* --- chunks that are read again --- */

/* Drops the first n. */
static void kept_drop(struct log_out *o, size_t n)
{
	for (size_t i = 0; i < n; i++)
		log_chunk_free(o->kept.p[i]);
	o->kept.n -= n;
	o->kept.at -= o->kept.at < n ? o->kept.at : n;
	if (n > 0)
		memmove(o->kept.p, o->kept.p + n, o->kept.n * sizeof(*o->kept.p));
}

/* Keeps a chunk that was read, of which the next file may want something. */
static void kept_add(struct log_out *o, struct log_chunk *c)
{
	struct log_chunk **at = array_add(&o->kept.p, &o->kept.n, sizeof(struct log_chunk *));

	if (at) {
		atomic_fetch_add(&c->refs, 1);
		*at = c;
		o->kept.at = o->kept.n;
	} else if (c->about.cell >= o->to) {
		log_skip(&o->skipped, c);
	}
}

/* --- what was before --- */

/* Facts change until the file begins; rows that are not kept any more are lost. */
static void past_take(struct log_out *o, const struct log_look *k)
{
	const struct look_shelf *notes = &k->shelf[SHELF_NOTES];
	struct log_event ev;

	for (size_t i = 0; i < notes->n; i++) {
		struct log_in in = {notes->p[i]->bytes, notes->p[i]->bytes + notes->p[i]->n, false}, record;

		if (notes->p[i]->about.kind == LOG_STATE && log_get_record(&in, &record) && log_event_get(LOG_STATE, &record, &ev) &&
		    ev.t_ns < log_cell_ns(o->from))
			facts_change(o->facts, o->about.n_facts, &ev.u.change);
	}
	for (int t = 0; t < TIERS && o->from < k->now.rows_from; t++) {
		int64_t to = k->now.rows_from < o->to ? k->now.rows_from : o->to;
		uint64_t n = (uint64_t)((double)log_cell_ns(to - o->from) * o->about.hz[t] / (double)NS_PER_S);

		n = n < k->now.gone[t] ? n : k->now.gone[t];
		o->skipped.rows[t] += n;
		o->skipped.chunks += n > 0;
	}
	if (k->now.ranges_gone > 0 && o->from < k->now.ranges_from) {
		int64_t first = log_cell(k->now.first_ns), from = o->from > first ? o->from : first,
			to = k->now.ranges_from < o->to ? k->now.ranges_from : o->to;

		if (to > from)
			o->skipped.ranges = (uint64_t)((double)k->now.ranges_gone * (double)(to - from) / (double)(k->now.ranges_from - first) + 0.5);
		o->skipped.chunks += o->skipped.ranges > 0;
	}
	o->past = k->now.serial;
}

/* --- limits --- */

static bool out_splits(const struct log_out *o)
{
	return o->to < o->end;
}

/* Upper bound of the bytes still to come for a file that must end: half a second of rows, and the chunks that close
 * it. */
static uint64_t margin(const struct session *about, uint64_t limit)
{
	double bytes = LEAST_LEFT;

	for (int t = 0; t < TIERS; t++)
		bytes += about->hz[t] / 2 * 8 * (double)(about->width[t] + 1);
	return bytes < (double)limit / 6 ? (uint64_t)bytes : limit / 6;
}

/* Ends the file, or the recording, before that chunk if it is long or large enough. */
static void limits_look(struct log_out *o, const struct log_chunk *c)
{
	const struct trace_limits *l = &o->limits;
	int64_t cell = c->about.cell, due = log_cell(o->due_ns);
	uint64_t bytes = o->file.bytes + c->n;

	if (!o->go_on || o->to != INT64_MAX || o->newest == INT64_MIN || cell <= o->newest ||
	    !log_of_group(c->about.kind))
		return;
	if (l->max_bytes && out_made(o) + bytes + margin(&o->about, l->max_bytes) >= l->max_bytes) {
		o->to = o->end = cell;
		o->stats.full = true;
	} else if (clock_now_ns() >= o->retry_ns &&
		   ((l->split.bytes && bytes + margin(&o->about, l->split.bytes) >= l->split.bytes) ||
		    (l->split.ns && cell >= due))) {
		o->to = l->split.ns && cell >= due && due > o->newest ? due : cell;
		if (o->kept.at > 0) /* it is read again */
			kept_drop(o, o->kept.at - 1);
	}
}

/* Have all rows before the end of the file arrived, or has the wait for them timed out? The clock says so only where no
 * chunk waits (c is NULL): those that a slow disk has held up come late. */
static bool is_over(const struct log_out *o, const struct log_chunk *c)
{
	bool all = true;

	for (int t = 0; t < TIERS; t++)
		all &= o->read[t] >= o->to || o->about.width[t] == 0 || o->about.hz[t] <= 0;
	return all || (c && c->about.kind == LOG_DATA && c->about.cell >= o->to + LATE_CELLS) ||
	       (log_is_now(o->log) && !c && clock_now_ns() >= log_cell_ns(o->to + LATE_CELLS));
}

/* The first edge of a cell or group at or after t_ns. */
static int64_t edge(int64_t t_ns, bool group)
{
	int bits = LOG_CELL_ZOOM + (group ? LOG_SPAN_BITS : 0);

	return (int64_t)((uint64_t)((t_ns + (INT64_C(1) << bits) - 1) >> bits) << bits);
}

/* --- files that follow each other --- */

/* Ends the file at `to`, and goes on in the next one, or in this one if there can be none yet. */
static void next_begin(struct log_out *o)
{
	struct out_file next;
	struct err e;

	o->kept.at = 0;
	for (int t = 0; t < TIERS; t++)
		o->read[t] = INT64_MIN;
	o->from = o->to;
	o->to = o->end;
	o->until = o->serial;
	if (disk_open(o, false, &next, &e) < 0) {
		err_set(&o->stats.err, ERR_FAILED, _("%s; the recording continues in the previous file"), e.text);
		o->retry_ns = clock_now_ns() + RETRY_NS;
		return;
	}
	if (!o->failed_ns)
		o->stats.err.code = ERR_NONE;
	if (out_file_end(o, LOG_SPLIT, basename(next.path)))
		disk_close(o);
	out_file_begin(o, o->from);
	disk_use(o, &next);
	while (o->limits.split.ns && o->due_ns <= log_cell_ns(o->from))
		o->due_ns = edge(o->due_ns + o->limits.split.ns, o->limits.split.ns >= GROUPS_NS);
}

/* The first chunk that is to be copied, with a reference; NULL: none for now, or ever (*ended). */
static struct log_chunk *next_chunk(struct log_out *o, bool *ended)
{
	struct log_chunk *c;

	*ended = false;
	if (o->kept.at < o->kept.n) {
		c = o->kept.p[o->kept.at++];
		atomic_fetch_add(&c->refs, 1);
		return c;
	}
	if (!out_splits(o))
		kept_drop(o, o->kept.n);
	pthread_mutex_unlock(&o->lock);
	log_queue_wait(o->queue, clock_now_ns() + LOOK_NS);
	pthread_mutex_lock(&o->lock);
	/* Of what was before, marks can precede the rows of their cell. */
	while ((c = log_queue_take(o->queue, &o->skipped, ended)) && c->serial <= o->past && c->about.cell < o->from - 1) {
		out_states_note(o, c);
		log_chunk_free(c);
	}
	return c;
}

static void take_chunk(struct log_out *o, struct log_chunk *c)
{
	o->serial = c->serial > o->serial ? c->serial : o->serial;
	limits_look(o, c);
	if (out_splits(o) && (o->kept.at == 0 || o->kept.p[o->kept.at - 1] != c))
		kept_add(o, c);
	for (int t = 0; t < TIERS; t++)
		if (c->about.rows[t] > 0 && c->about.cell > o->read[t])
			o->read[t] = c->about.cell;
	while (!o->stats.failed && !out_copy(o, c)) {
		if (o->stats.failed)
			break;
		if (o->file.bytes > 0) { /* else there is no file before the next */
			if (o->kept.at == o->kept.n)
				o->until = c->serial - 1;
			out_file_begin(o, c->about.cell - 1 > o->from ? c->about.cell - 1 : o->from);
		}
		if (!disk_next(o))
			break;
	}
	if (o->stats.failed && c->about.cell >= o->from)
		log_skip(&o->skipped, c);
	pthread_cond_broadcast(&o->changed);
}

/* --- the thread --- */

/* Takes the session, which is there. Returns false if out of memory. */
static bool session_begin(struct log_out *o)
{
	const struct session *s = log_session(o->log, &o->generation);

	o->facts = calloc(s->n_facts + 1, sizeof(*o->facts));
	if (!o->facts)
		return false;
	if (s->n_facts > 0)
		memcpy(o->facts, s->facts, s->n_facts * sizeof(*o->facts));
	out_session_take(o);
	if (o->from < log_cell(s->start.mono_ns))
		o->from = log_cell(s->start.mono_ns);
	out_identify(o);
	o->seq = o->options.seq;
	o->start = s->start;
	out_file_begin(o, o->from);
	o->whole = o->all ? INT64_MIN : o->from;
	o->due_ns = edge(o->start.mono_ns + o->limits.split.ns, o->limits.split.ns >= GROUPS_NS);
	return true;
}

/* All of it was copied. A recording without a row has a file, too. */
static void file_finish(struct log_out *o)
{
	while (o->file.bytes == 0 && !o->stats.failed && !o->discard)
		if ((!o->stream && o->file.fd < 0 && !disk_next(o)) || out_meta(o, o->from))
			break;
	if (o->stats.failed || o->discard || (!o->stream && o->file.fd < 0))
		return;
	if (out_lost_tell(o, o->to < INT64_MAX ? o->to : o->newest == INT64_MIN ? o->from : o->newest + 1))
		out_file_end(o, o->stats.full ? LOG_LIMIT : o->options.reason, "");
}

static void out_destroy(struct log_out *o)
{
	log_queue_free(o->queue);
	free(o->facts);
	log_packer_free(o->packer);
	log_unpacker_free(o->unpacker);
	log_index_free(o->index);
	log_bytes_free(&o->raw);
	log_bytes_free(&o->bytes);
	log_bytes_free(&o->events);
	kept_drop(o, o->kept.n);
	free(o->kept.p);
	pthread_cond_destroy(&o->wake);
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
	if (o->file.fd >= 0)
		close(o->file.fd);
	free(o->files);
	free(o);
}

static void *out_main(void *arg)
{
	struct log_out *o = arg;
	bool ended = false, last;

	prctl(PR_SET_NAME, "nvmtop-disk");
	pthread_mutex_lock(&o->lock);
	while (!o->discard) {
		struct log_chunk *c = next_chunk(o, &ended);
		bool over;

		if (!o->facts && (c || (ended && log_session(o->log, &o->generation))) && !session_begin(o))
			disk_fail(o, ENOMEM);
		disk_look(o);
		if (!c && ended && !out_splits(o))
			break;
		if (c)
			take_chunk(o, c);
		over = o->to != INT64_MAX && (ended || is_over(o, c));
		log_chunk_free(c);
		if (over && !out_splits(o))
			break;
		if (over)
			next_begin(o);
	}
	o->over = true;
	if (o->facts)
		file_finish(o);
	disk_finish(o);
	o->stats.longest_ns = o->all ? log_known(o->log).longest_ns : 0;
	log_queue_free(o->queue);
	o->queue = NULL;
	o->running = false;
	last = o->abandoned;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
	if (last)
		out_destroy(o);
	return NULL;
}

int log_out_begin(struct log_out *o, struct log *log, int64_t from_ns, int64_t to_ns, struct err *e)
{
	struct log_look look = {.version = 0};
	pthread_t thread;
	struct err none;
	int num = ENOMEM;

	pthread_mutex_lock(&o->lock);
	o->log = log;
	o->all = from_ns == INT64_MIN;
	o->from = o->all ? INT64_MIN : log_cell(from_ns);
	o->to = o->end = to_ns == INT64_MAX ? to_ns : log_cell(to_ns) + 1;
	o->until = o->all ? 0 : UINT64_MAX;
	o->newest = INT64_MIN;
	for (int t = 0; t < TIERS; t++)
		o->tier_cell[t] = o->read[t] = INT64_MIN;
	o->packer = log_packer_new();
	o->unpacker = log_unpacker_new();
	if (o->packer && o->unpacker && (o->all || session_begin(o)))
		o->queue = log_queue_new(log, o->options.buffer, !o->all, &none);
	if (o->queue && !o->all && log_look(log, &look))
		past_take(o, &look);
	log_look_free(&look);
	o->file.since_ns = o->look_ns = clock_now_ns();
	o->sync_ns = o->file.since_ns + o->options.sync_ns;
	if (o->queue)
		num = thread_start(&thread, out_main, o);
	if (!num)
		pthread_detach(thread);
	o->running = !num;
	pthread_mutex_unlock(&o->lock);
	return num ? err_sys(e, ERR_FAILED, num, _("cannot record to %s: no thread"), o->shown) : 0;
}

bool log_out_end_at(struct log_out *o, int64_t *to_ns, bool less)
{
	int64_t to = log_cell(*to_ns) + 1;
	bool open, splits;

	pthread_mutex_lock(&o->lock);
	open = !o->over;
	splits = out_splits(o); /* the next file has the rest */
	if (less && to <= o->newest) { /* these cells are in the file */
		to = o->newest + 1;
		*to_ns = log_cell_ns(to) - 1;
	}
	if (open && (less ? to < o->end : to > o->end)) {
		o->end = to;
		if (!splits || o->to > to)
			o->to = to;
	}
	pthread_mutex_unlock(&o->lock);
	return open;
}

void log_out_finish(struct log_out *o)
{
	pthread_mutex_lock(&o->lock);
	o->quit = true;
	pthread_cond_broadcast(&o->wake);
	pthread_mutex_unlock(&o->lock);
}

/* --- results --- */

/* Bytes; adds what was lost. Call with the lock held. */
static size_t queued(const struct log_out *o, struct log_skipped *lost)
{
	return o->stats.held + (o->queue && !o->over ? log_queue_look(o->queue, lost) : 0);
}

bool log_out_wait(struct log_out *o, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&o->lock);
	while (o->running && thread_wait(&o->changed, &o->lock, until_ns))
		continue;
	done = !o->running;
	pthread_mutex_unlock(&o->lock);
	return done;
}

int log_out_result(struct log_out *o, struct err *e)
{
	struct log_skipped lost = {.chunks = 0};
	char size[32];
	int r = -1;

	e->code = ERR_NONE;
	pthread_mutex_lock(&o->lock);
	if (o->stats.failed)
		*e = o->stats.err;
	else if (o->running && queued(o, &lost) > 0)
		err_set(e, ERR_FAILED, _("the disk does not respond: the last %s of %s are not written"),
			(text_bytes(size, sizeof(size), queued(o, &lost)), size), o->stats.path);
	else if (o->running)
		err_set(e, ERR_FAILED,
			_("the disk does not respond: %s is written, but perhaps not stored yet"),
			o->stats.path);
	else if (o->stats.last.code != ERR_NONE)
		*e = o->stats.last;
	else
		r = 0;
	pthread_mutex_unlock(&o->lock);
	return r;
}

int log_out_end(struct log_out *o, struct err *e)
{
	log_out_finish(o);
	log_out_wait(o, INT64_MAX);
	return log_out_result(o, e);
}

bool log_out_ready(struct log_out *o)
{
	struct log_skipped lost = {.chunks = 0};
	bool ready;

	pthread_mutex_lock(&o->lock);
	while (!o->stats.failed && o->running && queued(o, &lost) > READY_BYTES)
		pthread_cond_wait(&o->changed, &o->lock);
	ready = !o->stats.failed;
	pthread_mutex_unlock(&o->lock);
	return ready;
}

void log_out_stats(struct log_out *o, struct log_out_stats *out)
{
	struct log_skipped lost = {.chunks = 0};
	char size[32], most[32];

	pthread_mutex_lock(&o->lock);
	*out = o->stats;
	out->files = o->n_files;
	out->until_ns = out->full ? log_cell_ns(o->end) : INT64_MAX;
	out->queued = queued(o, &lost);
	if (o->queue && o->all)
		out->longest_ns = log_known(o->log).longest_ns;
	out->dropping = lost.chunks > 0;
	out->gap_rows = log_skipped_rows(&out->lost);
	log_skipped_add(&out->lost, &o->skipped);
	log_skipped_add(&out->lost, &lost);
	out->lost_rows = log_skipped_rows(&out->lost);
	if (out->dropping && out->err.code == ERR_NONE)
		err_set(&out->err, ERR_FAILED, _("the disk is too slow: %llu rows were dropped so far"),
			(unsigned long long)out->lost_rows);
	else if (!o->stream && o->write_ns && clock_now_ns() - o->write_ns > HANGS_NS &&
		 out->err.code == ERR_NONE)
		err_set(&out->err, ERR_FAILED,
			_("the disk does not respond: %s wait in memory, of at most %s"),
			(text_bytes(size, sizeof(size), out->queued), size),
			(text_bytes(most, sizeof(most), o->options.buffer), most));
	else if (o->moved && out->err.code == ERR_NONE)
		err_set(&out->err, ERR_FAILED,
			_("%s is no longer at its path: its folder was moved or unmounted; the recording "
			  "continues in it"),
			o->stats.path);
	if (o->failed_ns)
		out->hole_ns += clock_now_ns() - o->failed_ns;
	pthread_mutex_unlock(&o->lock);
}

bool log_out_file(struct log_out *o, size_t i, char *path, size_t size, bool *complete)
{
	struct out_written f = {.number = 0};

	pthread_mutex_lock(&o->lock);
	if (i < o->n_files)
		f = o->files[i];
	pthread_mutex_unlock(&o->lock);
	if (complete)
		*complete = f.complete;
	if (f.number == 0 || !path)
		return f.number > 0;
	return part_path(o->path, f.number, path, size) == 0;
}

/* --- construction --- */

static struct log_out *out_make(const char *path, int fd, bool stream, struct err *e)
{
	struct log_out *o = calloc(1, sizeof(*o));

	if (!o) {
		if (fd >= 0)
			close(fd);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	text_printable(o->shown, sizeof(o->shown), path, strlen(path));
	memcpy(o->path, path, strnlen(path, sizeof(o->path) - 1));
	o->file.fd = fd;
	o->stream = stream;
	o->options.buffer = stream ? PIPE_BUFFER : FILE_BUFFER;
	o->options.sync_ns = SYNC_NS;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->wake, NULL);
	pthread_cond_init(&o->changed, NULL);
	return o;
}

struct log_out *log_out_new(const char *path, bool force, struct err *e)
{
	struct log_out *o;
	int fd;

	if (strlen(path) >= PATH_MAX) {
		err_set(e, ERR_FAILED, _("the name of the file to record to is too long"));
		return NULL;
	}
	fd = log_file_make(path, force, NULL, e);
	o = fd < 0 ? NULL : out_make(path, fd, false, e);
	if (!o)
		return NULL;
	o->force = force;
	o->file.number = 1;
	strcpy(o->file.path, path);
	if (disk_use(o, &o->file))
		return o;
	log_out_free(o);
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
}

struct log_out *log_out_later(const char *path, bool force, struct err *e)
{
	struct log_out *o = out_make(path, -1, false, e);

	if (o) {
		o->force = force;
		o->go_on = true;
	}
	return o;
}

struct log_out *log_out_fd(int fd, struct err *e)
{
	return out_make("-", fd, true, e);
}

struct log_out_options *log_out_options(struct log_out *o)
{
	return &o->options;
}

void log_out_limits(struct log_out *o, const struct trace_limits *limits)
{
	o->go_on = true;
	o->limits = *limits;
	if (limits->sync_ns)
		o->options.sync_ns = limits->sync_ns;
}

void log_out_discard(struct log_out *o)
{
	pthread_mutex_lock(&o->lock);
	o->discard = o->quit = true;
	pthread_cond_broadcast(&o->wake);
	pthread_mutex_unlock(&o->lock);
	log_out_wait(o, INT64_MAX);
	if (!o->stream)
		unlink(o->file.path);
}

void log_out_free(struct log_out *o)
{
	bool last;

	if (!o)
		return;
	pthread_mutex_lock(&o->lock);
	o->quit = o->abandoned = true;
	pthread_cond_broadcast(&o->wake);
	last = !o->running;
	if (last && o->file.fd >= 0 && !o->stream)
		unlink(o->file.path);
	pthread_mutex_unlock(&o->lock);
	if (last)
		out_destroy(o);
}
