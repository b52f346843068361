/* Follows a log while it grows. The chunks that are there are found, read and checked as those of a file, by a reader
 * whose source has the newest bytes only, and what they hold goes on as the calls of a stream. Where there are no more
 * yet, the next call goes on. Memory is bounded by two chunks, what META says and the names of ranges. */
#include "trace/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/log-range.h"
#include "trace/log-read.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

#define PIECE	    65536
#define PIECES	    4 /* per call of follow_take() */
#define BUFFER	    (2 * (LOG_HEAD + LOG_STORED_MAX) + PIECE)
#define QUIET_NS    (2 * NS_PER_S) /* a file has ended after so long without growth or a writer */

struct follow {
	struct log_source source; /* first; its size: all bytes so far */
	uint8_t *in; /* the newest of them */
	size_t have;
	struct trace *reader; /* has the chunk, the session, how the log ends, and the damage so far */
	struct log_scan scan;
	struct sink *to;
	struct session about; /* that the sink has */
	char path[4096], shown[512];
	int fd;
	bool growing; /* a regular file: its end is not the end of the log */
	bool locked;  /* a writer was seen to lock the file */
	int64_t grown_ns; /* when the file grew last */
	bool ended;
	bool any, mangled; /* a chunk came; bytes that went through a terminal */
	bool rows_first;   /* rows came before the first META that could be read */
	bool beginning_lost;
	uint64_t first_seq;    /* of the first chunk */
	struct log_bytes rows; /* of a section */
	struct follow_state state;
	struct log_list list; /* last; of all rows so far, without their chunks */
};

/* Those that were not needed any more are gone. */
static const uint8_t *follow_get(struct log_source *source, uint64_t at, size_t n)
{
	struct follow *f = (struct follow *)(void *)source;
	uint64_t first = source->size - f->have;

	return at >= first && at <= source->size && n <= source->size - at ? f->in + (at - first) : NULL;
}

/* --- what a chunk holds --- */

/* Begins the sink's stream. The first chunk of a recording has number 0; those of a later file of a split one go on. Of
 * later META only the descriptions of channels that were missing are taken: those that are new have no column. */
static int follow_meta(struct follow *f, const struct log_head *h, const struct log_item *meta, struct err *e)
{
	struct trace *r = f->reader;
	size_t known = r->n_generations;

	if (known == LOG_CHANNELS || log_generation_find(r, h->generation))
		return 0;
	if (log_meta_take(r, h, &r->raw) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	f->about.channels = r->channels; /* they may have moved */
	if (r->n_generations == known || r->session.n_channels == 0)
		return 0;
	if (f->state.begun) {
		if (f->to->ops->described)
			f->to->ops->described(f->to, r->channels);
		return 0;
	}
	f->about = r->session;
	f->state.start = f->about.start;
	f->state.newest_ns = f->about.start.mono_ns;
	for (int t = 0; t < TIERS; t++)
		f->list.last_ns[t] = f->about.start.mono_ns - 1;
	f->beginning_lost = f->first_seq > 0 && log_part_at(r, meta->at) <= 0;
	f->state.begun = f->to->ops->begin(f->to, &f->about, e) == 0;
	return f->state.begun ? 0 : -1;
}

static void follow_gap(struct follow *f, const struct gap *g)
{
	(g->cause == GAP_LATE ? f->state.late : f->state.lost)[g->tier] += g->missed;
	if (f->to->ops->gap)
		f->to->ops->gap(f->to, g);
}

/* They come before the rows of their time. States are found in the rows again. */
static void follow_events(struct follow *f, unsigned kind)
{
	struct log_in in = {f->reader->raw.p, f->reader->raw.p + f->reader->raw.n, false}, record;
	const struct sink_ops *ops = f->to->ops;
	struct log_event ev;

	while (log_get_record(&in, &record) && log_event_get(kind, &record, &ev))
		if (kind == LOG_MARK && ops->mark)
			ops->mark(f->to, &ev.u.mark);
		else if (kind == LOG_STATE && ops->change)
			ops->change(f->to, &ev.u.change);
		else if (kind == LOG_GAP && ev.u.gap.cause <= GAP_LOST)
			follow_gap(f, &ev.u.gap);
}

/* Sends the rows of a tier. */
static void follow_rows(struct follow *f, const struct log_item *item, enum tier t)
{
	size_t width = f->about.width[t], values = item->rows[t] * width;
	struct log_block *b = values > 0 ? log_block_read(f->reader, item, t) : NULL;
	double *v;

	f->rows = (struct log_bytes) {f->rows.p, 0, f->rows.room, false};
	v = b ? (double *)(void *)log_bytes_add(&f->rows, values * sizeof(*v)) : NULL;
	if (!v)
		return;
	for (unsigned c = 0; c < width; c++) {
		const double *column = log_block_values(b, c);

		for (size_t i = 0; i < b->n; i++)
			v[i * width + c] = column[i];
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->late[i])
			follow_gap(f, &(struct gap) {t, GAP_LATE, i > 0 ? b->t_ns[i - 1] : f->list.last_ns[t], b->t_ns[i], 1});
	f->to->ops->rows(f->to, &(struct rows) {.tier = t, .n = b->n, .width = width, .t_ns = b->t_ns, .values = v});
	f->list.last_ns[t] = b->t_ns[b->n - 1];
	if (f->list.last_ns[t] > f->state.newest_ns)
		f->state.newest_ns = f->list.last_ns[t];
}

static bool follow_range(void *arg, const struct range *range)
{
	struct follow *f = arg;
	struct range r = *range;

	if (r.begin_ns < f->about.start.mono_ns)
		r.begin_ns = f->about.start.mono_ns;
	if (r.end_ns >= r.begin_ns)
		f->to->ops->ranges(f->to, &r, 1);
	return true;
}

/* Returns false if it cannot be used. */
static bool follow_ranges(struct follow *f)
{
	struct trace *r = f->reader;
	struct err unheard;

	if (!r->ranges)
		r->ranges = ranges_new(0, &unheard);
	return !f->to->ops->ranges || (r->ranges && log_ranges_get(r->raw.p, r->raw.n, r->ranges, follow_range, f));
}

/* Returns -1 if the stream cannot go on. */
static int follow_chunk(struct follow *f, struct log_item *item, struct err *e)
{
	struct trace *r = f->reader;
	struct log_head h;

	r->tail.ended = false;
	if (!log_read_chunk(r, item, &h, &r->raw)) {
		f->mangled |= log_through_terminal(r, item);
		return 0;
	}
	if (h.kind == LOG_META)
		return follow_meta(f, &h, item, e);
	if (h.kind == LOG_END)
		log_end_take(r);
	else if (!f->state.begun)
		f->rows_first |= h.kind == LOG_DATA;
	else if (h.kind == LOG_RANGE && !follow_ranges(f))
		log_note(r, LOG_FAULT_CONTENT, item->at, h.seq, h.cell, 0);
	else if (log_has_events(h.kind))
		follow_events(f, h.kind);
	if (h.kind != LOG_DATA || !f->state.begun)
		return 0;
	if (log_rows_count(r, &f->list, item))
		for (enum tier t = 0; t < TIERS; t++)
			follow_rows(f, item, t);
	if (f->to->ops->rest)
		f->to->ops->rest(f->to);
	return 0;
}

/* Takes the chunks that are there. last: no more input follows. Returns -1 if it is not to be gone on. */
static int follow_chunks(struct follow *f, bool last, struct err *e)
{
	struct log_chunks *c = &f->scan.chunks;
	struct trace *r = f->reader;
	uint64_t keep;
	struct log_item item;
	struct log_head h;
	int rc = 0;

	if (!f->any) {
		rc = log_begins_at(r, e);
		if (rc <= 0)
			return rc;
		log_head_at(r, r->begin, &h);
		f->first_seq = h.seq;
		f->any = true;
		log_scan_begin(&f->scan, r, r->begin, 0, r->begin);
		c->session = 0;
		rc = 0;
	}
	c->whole = last;
	c->to = f->source.size;
	while (rc == 0 && !r->newer && log_scan_next(&f->scan, &item, &h)) {
		rc = follow_chunk(f, &item, e);
		f->scan.before = f->scan.seq; /* one that was cut short was noted */
	}
	if (last && !f->scan.other && !r->newer && c->end < c->to && log_note(r, LOG_FAULT_BYTES, c->end, LOG_SEQ_NONE, f->scan.cell, 0))
		r->damage.bytes += c->to - c->end;
	/* The next one may be within the last one. */
	keep = c->lost ? c->at : c->within;
	keep = keep < c->to ? c->to - keep : 0;
	memmove(f->in, f->in + f->have - keep, (size_t)keep);
	f->have = (size_t)keep;
	return rc;
}

/* --- the end --- */

static int follow_stop(struct follow *f)
{
	if (f->state.begun)
		f->to->ops->end(f->to, NULL);
	f->state.begun = false;
	f->ended = true;
	return -1;
}

/* Says what is missing, or why nothing could be used. */
static void follow_verdict(const struct follow *f, struct err *e)
{
	char text[512];

	if (f->reader->newer || (!f->state.begun && (f->mangled || f->rows_first)))
		log_undescribed(f->reader, f->mangled, e);
	else if (!f->state.begun && f->source.size == 0)
		err_set(e, ERR_FAILED, _("no data on %s: the recorder did not start"), f->shown);
	else if (!f->state.begun && f->any)
		err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), f->shown);
	else if (!f->state.begun)
		err_set(e, ERR_FAILED, _("%s is not a recording that nvmtop can follow"), f->shown);
	else if (f->scan.other)
		err_set(e, ERR_DAMAGED, _("only the first of the streams in %s was used"), f->shown);
	else if (f->beginning_lost)
		err_set(e, ERR_DAMAGED, _("the beginning of the stream is lost"));
	else if (!f->reader->tail.ended)
		err_set(e, ERR_DAMAGED, _("the stream was truncated: its recorder did not end it"));
	else if (trace_damage_text(f->reader, text, sizeof(text)))
		err_set(e, ERR_DAMAGED, _("%s is damaged: %s"), f->shown, text);
	else if (f->reader->damage.unknown > 0)
		err_set(e, ERR_NONE,
			_("%s has parts that this version of nvmtop does not know: %llu of its chunks were skipped"),
			f->shown, (unsigned long long)f->reader->damage.unknown);
}

static int follow_finish(struct follow *f, struct err *e)
{
	if (follow_chunks(f, true, e) == 0)
		follow_verdict(f, e);
	return follow_stop(f);
}

/* --- input --- */

/* Opens the next file of a split recording, in the same folder. Returns false if it does not exist yet. */
static bool follow_next(struct follow *f)
{
	const char *slash = strrchr(f->path, '/');
	char path[sizeof(f->path)];
	int n = snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - f->path) + 1 : 0, f->path,
			 f->reader->tail.next);
	int fd = n > 0 && (size_t)n < sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0)
		return false;
	close(f->fd);
	f->fd = fd;
	memcpy(f->path, path, (size_t)n + 1);
	text_printable(f->shown, sizeof(f->shown), path, (size_t)n);
	f->reader->tail = (struct log_tail) {.ended = false};
	f->locked = false;
	f->grown_ns = clock_now_ns();
	return true;
}

/* Called when a file does not grow. Returns 1 if the next file was opened, -1 if the writer has ended, else
 * 0. */
static int follow_writer(struct follow *f, struct err *e)
{
	const struct log_tail *tail = &f->reader->tail;
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	bool quiet = clock_now_ns() - f->grown_ns > QUIET_NS;

	if (tail->ended && tail->next[0] && follow_next(f))
		return 1;
	if (tail->ended && (!tail->next[0] || quiet))
		return follow_finish(f, e);
	if (fcntl(f->fd, F_OFD_GETLK, &l) < 0)
		return 0;
	f->locked |= l.l_type != F_UNLCK;
	return f->locked && l.l_type == F_UNLCK && quiet ? follow_finish(f, e) : 0;
}

/* Whether a terminal changed the line feed of the magic number. */
static bool is_mangled(const uint8_t *p, size_t n)
{
	static const uint8_t lines[] = {0xAB, 0x4E, 0x56, 0x0D, 0x0A};

	return memmem(p, n, lines, sizeof(lines)) != NULL;
}

/* Reads what is available. Returns 1 if there may be more. */
static int follow_piece(struct follow *f, struct err *e)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	ssize_t n;

	if (!f->growing && poll(&p, 1, 0) <= 0)
		return 0;
	n = read(f->fd, f->in + f->have, BUFFER - f->have < PIECE ? BUFFER - f->have : PIECE);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0) {
		err_sys(e, ERR_DAMAGED, errno, _("cannot read %s"), f->shown);
		return follow_stop(f);
	}
	if (n == 0)
		return f->growing ? follow_writer(f, e) : follow_finish(f, e);
	f->grown_ns = clock_now_ns();
	f->have += (size_t)n;
	f->source.size += (uint64_t)n;
	f->mangled |= !f->any && is_mangled(f->in, f->have);
	if (follow_chunks(f, false, e) < 0)
		return follow_stop(f);
	f->state.waits = !f->state.begun && f->rows_first;
	return f->reader->newer || f->scan.other || (!f->any && f->source.size >= LOG_FRONT) ? follow_finish(f, e) : 1;
}

int follow_take(struct follow *f, struct err *e)
{
	int r = f->ended ? -1 : 1;

	*e = (struct err) {.code = ERR_NONE};
	for (int i = 0; i < PIECES && r > 0; i++)
		r = follow_piece(f, e);
	return r;
}

/* --- open --- */

/* Whether the file has its end already. */
static bool is_complete(const struct follow *f)
{
	bool complete = nvmt1_begins(f->fd);
	int fd = complete ? -1 : fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
	struct err unheard;
	struct trace *r = fd >= 0 ? trace_open_logs(&fd, 1, f->shown, &unheard) : NULL;

	complete |= r && r->tail.ended && !r->tail.next[0];
	trace_close(r);
	return complete;
}

static int follow_input(struct follow *f, const char *path, struct err *e)
{
	bool piped = strcmp(path, "-") == 0;
	struct stat st;

	if (strlen(path) >= sizeof(f->path))
		return err_sys(e, ERR_FAILED, ENAMETOOLONG, _("cannot read %s"), f->shown);
	strcpy(f->path, path);
	f->fd = piped ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : trace_file_open(path, f->shown, e);
	if (f->fd < 0 && !piped)
		return -1;
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), f->shown);
	if (S_ISDIR(st.st_mode) && !piped)
		return err_set(e, ERR_FAILED, _("%s is a folder, not a trace"), f->shown);
	f->growing = S_ISREG(st.st_mode) && !piped;
	if (f->growing && is_complete(f))
		return err_num(e, ERR_FAILED, ENODATA, _("%s is complete: it does not grow"), f->shown);
	return 0;
}

struct follow *follow_open(const char *path, struct sink *to, struct err *e)
{
	const char *name = strcmp(path, "-") == 0 ? _("standard input") : path;
	struct follow *f = calloc(1, sizeof(*f));

	if (!f) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	f->fd = -1;
	f->to = to;
	f->source.get = follow_get;
	f->grown_ns = clock_now_ns();
	text_printable(f->shown, sizeof(f->shown), name, strlen(name));
	f->in = malloc(BUFFER);
	f->reader = log_files_new(1, f->shown, e);
	if (f->in && f->reader) {
		f->reader->source = &f->source;
		if (follow_input(f, path, e) == 0)
			return f;
	} else {
		err_set(e, ERR_FAILED, _("out of memory"));
	}
	follow_close(f);
	return NULL;
}

int follow_fd(const struct follow *f)
{
	return f->growing || f->ended ? -1 : f->fd;
}

void follow_state(const struct follow *f, struct follow_state *out)
{
	*out = f->state;
}

void follow_close(struct follow *f)
{
	if (!f)
		return;
	follow_stop(f);
	if (f->fd >= 0)
		close(f->fd);
	trace_close(f->reader);
	log_bytes_free(&f->rows);
	free(f->in);
	free(f);
}
