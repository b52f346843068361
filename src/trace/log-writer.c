/* The calling thread packs rows and never waits: chunks go into a bounded queue, and a separate thread writes
 * them. If the disk stalls, rows are lost and counted, but nothing is delayed. Also decides where one file
 * ends and the next begins. */
#include "trace/log-writer.h"

#include <errno.h>
#include <math.h>
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
#define LEAD_NS     (2 * NS_PER_S)  /* how early the next file is opened */
#define GROUPS_NS   (60 * NS_PER_S) /* files at least this long begin with a group */

static struct log_writer *writer_of(struct sink *s)
{
	return (struct log_writer *)s;
}

/* --- splitting --- */

/* The first edge of a cell or group at or after t_ns. */
static int64_t edge(int64_t t_ns, bool group)
{
	int bits = LOG_CELL_ZOOM + (group ? LOG_SPAN_BITS : 0);

	return (int64_t)((uint64_t)((t_ns + (INT64_C(1) << bits) - 1) >> bits) << bits);
}

/* Upper bound of the bytes still to come for a file that must end: half a second of rows, and
 * the chunks that close it. */
static uint64_t margin(const struct session *about, uint64_t limit)
{
	double bytes = 4096;

	for (int t = 0; t < TIERS; t++)
		bytes += about->hz[t] / 2 * 8 * (double)(about->width[t] + 1);
	return bytes < (double)limit / 6 ? (uint64_t)bytes : limit / 6;
}

static bool by_group(const struct log_writer *w)
{
	return w->limits.split.ns >= GROUPS_NS;
}

const char *writer_part_name(const struct log_writer *w, unsigned number, char path[PATH_MAX])
{
	const char *slash;

	part_path(w->path, number, path, PATH_MAX);
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void split(struct log_writer *w, int64_t cut_ns)
{
	char this[PATH_MAX], next[PATH_MAX];

	w->cutting = true;
	w->cut_ns = cut_ns;
	log_builder_split(w->builder, cut_ns, writer_part_name(w, w->file.number, this),
			  writer_part_name(w, w->next.number, next));
}

/* Called before rows up to until_ns are accepted: ends the file, or the recording, if
 * it is long or large enough. */
static void look(struct log_writer *w, int64_t until_ns)
{
	const struct trace_limits *l = &w->limits;
	uint64_t bytes = log_builder_bytes(w->builder), near;

	if (l->max_bytes && w->until_ns == INT64_MAX &&
	    w->made + bytes + margin(w->about, l->max_bytes) >= l->max_bytes) {
		w->until_ns = edge(w->newest_ns + 1, false);
		w->stats.full = true;
	}
	if (w->cutting || w->until_ns != INT64_MAX)
		return;
	near = bytes + margin(w->about, l->split.bytes);
	w->want |= l->split.bytes && near + 3 * margin(w->about, l->split.bytes) >= l->split.bytes;
	w->want |= l->split.ns && until_ns >= w->due_ns - LEAD_NS;
	if (w->next.fd < 0 || w->file.part != w->part) /* not open yet, or already in use */
		return;
	if (l->split.bytes && near >= l->split.bytes)
		split(w, edge(w->newest_ns + 1, false));
	else if (l->split.ns && until_ns >= w->due_ns - LEAD_NS)
		split(w, w->newest_ns < w->due_ns ? w->due_ns : edge(w->newest_ns + 1, false));
}

/* Drops rows past the end of a full recording. */
static void take_rows(struct log_writer *w, const struct rows *r)
{
	struct rows some = *r;

	while (some.n > 0 && some.t_ns[some.n - 1] >= w->until_ns)
		some.n--;
	if (some.n == 0)
		return;
	log_builder_rows(w->builder, &some);
	for (size_t i = 0; i < w->n_meters * some.n; i++)
		energy_meter_row(w->meters[i / some.n], &some, i % some.n);
	if (some.t_ns[some.n - 1] > w->newest_ns)
		w->newest_ns = some.t_ns[some.n - 1];
}

/* Following chunks belong to the next file; bytes: size of the previous one. */
static void part_ended(struct log_writer *w, uint64_t bytes)
{
	w->made += bytes;
	w->part++;
	w->cutting = false;
	while (w->limits.split.ns && w->due_ns <= w->cut_ns)
		w->due_ns = edge(w->due_ns + w->limits.split.ns, by_group(w));
}

static uint64_t part_limit(const struct log_writer *w)
{
	uint64_t left = w->limits.max_bytes - w->made, most = w->limits.split.bytes;

	return w->limits.max_bytes && (!most || left < most) ? left : most;
}

int writer_part_add(struct log_writer *w, unsigned number)
{
	struct file_done *files = reallocarray(w->files, w->n_files + 1, sizeof(*files));

	if (!files)
		return ENOMEM;
	files[w->n_files++] = (struct file_done) {.number = number};
	w->files = files;
	return 0;
}

/* --- the queue of chunks, in order of creation --- */

/* Once the queue was full, half of it must be free before rows are accepted again: one long gap is
 * better than many short ones. */
static bool has_room(struct log_writer *w, size_t n)
{
	size_t limit = w->stats.dropping ? w->options.buffer / 2 : w->options.buffer;

	w->stats.dropping = w->stats.queued + n > limit;
	return !w->stats.dropping;
}

static bool queue_put(void *writer, const struct log_entry *e, const uint8_t *chunk, size_t n)
{
	struct log_writer *w = writer;
	struct block *b;

	if (e->kind == LOG_META && e->distance == 0 && w->builder)
		log_builder_limit(w->builder, part_limit(w));
	if (w->stats.failed || ((e->kind == LOG_DATA || e->kind == LOG_RANGE) && !has_room(w, n)))
		return false;
	b = malloc(sizeof(*b) + n);
	if (!b)
		return false;
	*b = (struct block) {.about = *e, .part = w->part, .n = n};
	memcpy(b->bytes, chunk, n);
	*w->end = b;
	w->end = &b->next;
	w->stats.queued += n;
	if (e->kind == LOG_END)
		part_ended(w, e->distance + n);
	pthread_cond_signal(&w->wake);
	return true;
}

static struct block *unlink_first(struct log_writer *w)
{
	struct block *b = w->head;

	w->head = b->next;
	if (!w->head)
		w->end = &w->head;
	w->stats.queued -= b->n;
	return b;
}

/* The number of marks in a chunk. */
static uint64_t marks_in(const struct block *b)
{
	struct log_bytes raw = {.n = 0};
	struct log_in in, record;
	uint64_t n = 0;

	if (b->about.kind == LOG_MARK && log_chunk_unpack(b->bytes, &raw)) {
		in = (struct log_in) {raw.p, raw.p + raw.n, false};
		while (log_get_record(&in, &record))
			n++;
	}
	log_bytes_free(&raw);
	return n;
}

void queue_taken(struct log_writer *w, bool written)
{
	struct block *b = unlink_first(w);

	if (written)
		w->stats.bytes += b->n;
	else
		w->stats.lost_marks += marks_in(b);
	for (int t = 0; b->about.kind == LOG_DATA && t < TIERS; t++)
		*(written ? &w->stats.rows[t] : &w->stats.lost_rows) += b->about.rows[t];
	free(b);
	pthread_cond_broadcast(&w->changed);
}

void queue_return(struct log_writer *w, unsigned part)
{
	while (w->head && w->head->part == part) {
		struct block *b = unlink_first(w);

		log_builder_lost(w->builder, &b->about, b->bytes);
		free(b);
	}
	pthread_cond_broadcast(&w->changed);
}

/* --- the sink --- */

static struct energy_meter *meter_of(const struct log_writer *w, size_t power)
{
	for (size_t i = 0; i < w->n_meters; i++)
		if (w->meters[i]->source->power == power)
			return w->meters[i];
	return NULL;
}

/* Also of sources that came late. */
static void meters_begin(struct log_writer *w)
{
	struct power_parts parts;

	for (size_t i = 0; i < w->n_meters; i++)
		energy_meter_described(w->meters[i], w->about);
	power_parts_find(&parts, w->about);
	for (size_t i = 0; i < parts.n; i++) {
		if (meter_of(w, parts.channel[i]) || w->n_meters == POWER_PARTS)
			continue;
		w->meters[w->n_meters] = malloc(sizeof(struct energy_meter));
		if (w->meters[w->n_meters])
			energy_meter_begin(w->meters[w->n_meters++], w->about, parts.channel[i]);
	}
}

static int writer_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct log_writer *w = writer_of(sink);
	int num = 0;

	if (w->begun)
		return err_set(e, ERR_FAILED, _("%s is already being recorded"), w->shown);
	pthread_mutex_lock(&w->lock);
	w->about = about;
	w->newest_ns = w->cut_ns = about->start.mono_ns;
	meters_begin(w);
	w->due_ns = edge(about->start.mono_ns + w->limits.split.ns, by_group(w));
	w->options.limit = part_limit(w);
	w->builder = log_builder_new(about, &w->options, queue_put, w, e);
	if (w->builder) {
		num = disk_start(w);
		w->begun = num == 0;
		w->quit = num != 0;
	}
	pthread_mutex_unlock(&w->lock);
	if (num)
		err_sys(e, ERR_FAILED, num, _("cannot record to %s: no thread"), w->shown);
	return w->builder && !num ? 0 : -1;
}

/* Takes the lock, which the caller must release. Returns NULL if nothing more is accepted. */
static struct log_builder *builder_of(struct log_writer *w)
{
	pthread_mutex_lock(&w->lock);
	return w->quit ? NULL : w->builder;
}

static void writer_rows(struct sink *sink, const struct rows *r)
{
	struct log_writer *w = writer_of(sink);

	if (builder_of(w) && r->n > 0) {
		if (w->go_on)
			look(w, r->t_ns[r->n - 1]);
		take_rows(w, r);
	}
	pthread_mutex_unlock(&w->lock);
}

static void writer_mark(struct sink *sink, const struct mark *m)
{
	struct log_writer *w = writer_of(sink);
	struct log_builder *b = builder_of(w);

	if (b && m->t_ns < w->until_ns)
		log_builder_mark(b, m);
	pthread_mutex_unlock(&w->lock);
}

static void writer_gap(struct sink *sink, const struct gap *g)
{
	struct log_writer *w = writer_of(sink);
	struct log_builder *b = builder_of(w);

	if (b && g->to_ns <= w->until_ns) {
		log_builder_gap(b, g);
		w->stats.given_lost += g->cause == GAP_LOST ? g->missed : 0;
	}
	pthread_mutex_unlock(&w->lock);
}

static void writer_change(struct sink *sink, const struct change *c)
{
	struct log_writer *w = writer_of(sink);
	struct log_builder *b = builder_of(w);

	if (b && c->t_ns < w->until_ns) {
		log_builder_change(b, c);
		if (!change_is_reason(c) && w->stats.changes++ < LOG_CHANGES)
			w->stats.change[w->stats.changes - 1] = *c;
	}
	pthread_mutex_unlock(&w->lock);
}

static void writer_ranges(struct sink *sink, const struct range *list, size_t n)
{
	struct log_writer *w = writer_of(sink);
	struct log_builder *b = builder_of(w);

	if (b && n > 0 && list[0].begin_ns < w->until_ns)
		log_builder_ranges(b, list, n);
	pthread_mutex_unlock(&w->lock);
}

static void writer_described(struct sink *sink)
{
	struct log_writer *w = writer_of(sink);
	struct log_builder *b = builder_of(w);

	meters_begin(w);
	if (b)
		log_builder_described(b);
	pthread_mutex_unlock(&w->lock);
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
	pthread_mutex_lock(&w->lock);
	if (w->builder && !w->quit)
		log_builder_end(w->builder, w->stats.full ? LOG_LIMIT : w->options.reason, NULL);
	w->quit = true;
	w->about = NULL;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

/* --- results --- */

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
	else if (w->thread && !w->done && w->stats.queued > 0)
		err_set(e, ERR_FAILED, _("the disk does not respond: the last %s of %s are not written"),
			(text_bytes(size, sizeof(size), w->stats.queued), size), w->stats.path);
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
	while (!w->stats.failed && w->thread && !w->done && w->stats.queued > READY_BYTES)
		pthread_cond_wait(&w->changed, &w->lock);
	ready = !w->stats.failed;
	pthread_mutex_unlock(&w->lock);
	return ready;
}

void log_writer_stats(struct log_writer *w, struct log_writer_stats *out)
{
	const struct log_tally *t;
	char size[32], most[32];

	pthread_mutex_lock(&w->lock);
	*out = w->stats;
	out->files = w->n_files;
	t = w->builder ? log_builder_tally(w->builder) : NULL;
	out->marks = t ? t->marks - w->stats.lost_marks : 0;
	out->longest_ns = t ? log_builder_longest_ns(w->builder) : 0;
	for (int i = 0; t && i < TIERS; i++) {
		out->lost_rows += t->lost[i];
		out->late[i] = t->late[i];
	}
	out->lost_rows -= out->given_lost;
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

const struct span_stats *log_writer_total(const struct log_writer *w, size_t channel)
{
	return &log_builder_total(w->builder)[channel];
}

struct energy_result log_writer_energy(struct log_writer *w, size_t power)
{
	const struct span_stats *written = log_writer_total(w, power);
	const struct energy_meter *m = meter_of(w, power);
	struct log_writer_stats stats;

	/* The meter has rows that were lost later, too. */
	log_writer_stats(w, &stats);
	if (stats.lost_rows > 0 || !m)
		return (struct energy_result) {written->known_ns > 0 ? written->integral / 1e3 : (double)NAN, NAN,
					       (double)written->known_ns / 1e9, NULL};
	return energy_meter_get(m, w->newest_ns < w->until_ns ? w->newest_ns : w->until_ns);
}

int64_t log_writer_until_ns(struct log_writer *w)
{
	int64_t ns;

	pthread_mutex_lock(&w->lock);
	ns = w->until_ns;
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
					    writer_end,   NULL,        writer_change, writer_ranges,
					    writer_described};
	struct log_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		close(fd);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	w->sink.ops = &ops;
	text_printable(w->shown, sizeof(w->shown), path, strlen(path));
	memcpy(w->path, path, strnlen(path, sizeof(w->path) - 1));
	w->file = (struct part) {.fd = fd, .number = 1};
	w->next.fd = -1;
	w->number = 1;
	w->output = output;
	w->options = (struct log_options) {.live = true,
					   .index = true,
					   .buffer = output == OUT_FILE ? FILE_BUFFER : PIPE_BUFFER,
					   .sync_ns = SYNC_NS};
	w->until_ns = INT64_MAX;
	w->end = &w->head;
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
	fd = log_file_make(path, force, e);
	w = fd < 0 ? NULL : make(path, fd, OUT_FILE, e);
	if (!w)
		return NULL;
	strcpy(w->file.path, path);
	text_printable(w->stats.path, sizeof(w->stats.path), path, strlen(path));
	if (writer_part_add(w, 1) == 0)
		return w;
	log_writer_free(w);
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
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
	while (w->head)
		queue_taken(w, false);
	log_builder_free(w->builder);
	for (size_t i = 0; i < w->n_meters; i++)
		free(w->meters[i]);
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
	if (!w->begun && w->output == OUT_FILE)
		unlink(w->file.path);
	log_writer_finish(w);
	pthread_mutex_lock(&w->lock);
	w->abandoned = true;
	last = w->done || !w->thread;
	pthread_mutex_unlock(&w->lock);
	if (last)
		destroy(w);
}
