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

#define PIECE	 262144 /* per call of follow_take() */
#define QUIET_NS (2 * NS_PER_S) /* a file has ended after so long without growth or a writer */

struct follow {
	struct log_source source; /* first; its size: all bytes so far */
	struct trace *reader; /* has the chunk, the session, how the log ends, and the damage so far */
	struct log_scan scan; /* of no reader before the first chunk */
	struct sink *to;
	struct session about; /* that the sink has */
	char path[4096], shown[512];
	int fd;
	bool growing; /* a regular file: its end is not the end of the log */
	bool locked;  /* a writer was seen to lock the file */
	int64_t grown_ns; /* when the file grew last */
	bool ended;
	bool beginning_lost;
	uint64_t first_seq;    /* of the first chunk */
	struct log_bytes rows; /* of a section */
	struct follow_state state;
	size_t have;
	uint8_t in[2 * (LOG_HEAD + LOG_STORED_MAX) + PIECE]; /* the newest bytes */
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
static int follow_meta(struct follow *f, const struct log_item *meta, struct err *e)
{
	struct trace *r = f->reader;
	size_t known = r->n_generations;

	log_meta_new(r, meta);
	f->about.channels = r->channels; /* they may have moved */
	if (r->n_generations == known || r->session.n_channels == 0)
		return 0;
	if (f->state.begun) {
		if (f->to->ops->described)
			f->to->ops->described(f->to, r->channels);
		return 0;
	}
	f->about = r->session;
	for (int t = 0; t < TIERS; t++)
		f->list.last_ns[t] = f->about.start.mono_ns - 1;
	f->beginning_lost = f->first_seq > 0 && log_part_at(r, meta->at) <= 0;
	f->state.begun = f->to->ops->begin(f->to, &f->about, e) == 0;
	f->state.waits = false;
	return f->state.begun ? 0 : -1;
}

static void follow_gap(struct follow *f, const struct gap *g)
{
	(g->cause == GAP_LATE ? f->state.late : f->state.lost)[g->tier] += g->missed;
	if (f->to->ops->gap)
		f->to->ops->gap(f->to, g);
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
		size_t apart;
		const double *column = log_block_values(b, c, &apart);

		for (size_t i = 0; i < b->n; i++)
			v[i * width + c] = column[i * apart];
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->late[i])
			follow_gap(f, &(struct gap) {t, GAP_LATE, i > 0 ? b->t_ns[i - 1] : f->list.last_ns[t], b->t_ns[i], 1});
	f->to->ops->rows(f->to, &(struct rows) {.tier = t, .n = b->n, .width = width, .t_ns = b->t_ns, .values = v});
	f->list.last_ns[t] = b->t_ns[b->n - 1];
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

/* Events come before the rows of their time; states are found in the rows again. Returns -1 if the stream cannot go on. */
static int follow_chunk(struct follow *f, struct log_item *item, struct err *e)
{
	const struct sink_ops *ops = f->to->ops;
	struct trace *r = f->reader;
	struct log_in in, record;
	struct log_event ev;
	struct log_head h;

	r->tail.ended = false;
	if (!log_read_chunk(r, item, &h))
		return 0;
	if (h.kind == LOG_META)
		return follow_meta(f, item, e);
	if (h.kind == LOG_END)
		log_end_take(r);
	f->state.waits |= !f->state.begun && h.kind == LOG_DATA;
	if (!f->state.begun)
		return 0;
	in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
	while (log_has_events(h.kind) && log_get_record(&in, &record) && log_event_get(h.kind, &record, &ev))
		if (h.kind == LOG_MARK && ops->mark)
			ops->mark(f->to, &ev.u.mark);
		else if (h.kind == LOG_STATE && ops->change)
			ops->change(f->to, &ev.u.change);
		else if (h.kind == LOG_GAP && ev.u.gap.cause <= GAP_LOST)
			follow_gap(f, &ev.u.gap);
	if (h.kind == LOG_RANGE && ops->ranges && !log_ranges_get(r->raw.p, r->raw.n, r->ranges, follow_range, f))
		log_note(r, LOG_FAULT_CONTENT, item->at, h.seq, h.cell, 0);
	if (h.kind == LOG_DATA && log_rows_count(r, &f->list, item))
		for (enum tier t = 0; t < TIERS; t++)
			follow_rows(f, item, t);
	if (h.kind == LOG_DATA && ops->rest)
		ops->rest(f->to);
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

	if (!f->scan.r) {
		rc = log_begins_at(r, e);
		if (rc <= 0)
			return rc;
		log_head_at(r, r->begin, &h);
		f->first_seq = h.seq;
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
static int follow_finish(struct follow *f, struct err *e)
{
	static const uint8_t lines[] = {0xAB, 0x4E, 0x56, 0x0D, 0x0A}; /* a magic number that went through a terminal */
	struct trace *r = f->reader;
	char text[512];
	bool begun;

	if (follow_chunks(f, true, e) < 0)
		return follow_stop(f);
	begun = f->state.begun;
	r->mangled |= !f->scan.r && memmem(f->in, f->have, lines, sizeof(lines));
	if (r->newer || (!begun && (r->mangled || f->state.waits)))
		log_undescribed(r, e);
	else if (!begun && f->source.size == 0)
		err_set(e, ERR_FAILED, _("no data on %s: the recorder did not start"), f->shown);
	else if (!begun && f->scan.r)
		err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), f->shown);
	else if (!begun)
		err_set(e, ERR_FAILED, _("%s is not a recording that nvmtop can follow"), f->shown);
	else if (f->scan.other)
		err_set(e, ERR_DAMAGED, _("only the first of the streams in %s was used"), f->shown);
	else if (f->beginning_lost)
		err_set(e, ERR_DAMAGED, _("the beginning of the stream is lost"));
	else if (!r->tail.ended)
		err_set(e, ERR_DAMAGED, _("the stream was truncated: its recorder did not end it"));
	else if (trace_damage_text(r, text, sizeof(text)))
		err_set(e, ERR_DAMAGED, _("%s is damaged: %s"), f->shown, text);
	else
		trace_notice(r, e->text, sizeof(e->text));
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

int follow_take(struct follow *f, struct err *e)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	size_t room = sizeof(f->in) - f->have;
	ssize_t n;

	*e = (struct err) {.code = ERR_NONE};
	if (f->ended)
		return -1;
	if (poll(&p, 1, 0) <= 0)
		return 0;
	n = read(f->fd, f->in + f->have, room < PIECE ? room : PIECE);
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
	if (follow_chunks(f, false, e) < 0)
		return follow_stop(f);
	return f->reader->newer || f->scan.other || (!f->scan.r && f->source.size >= LOG_FRONT) ? follow_finish(f, e) : 1;
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

struct follow *follow_open(const char *path, struct sink *to, struct err *e)
{
	bool piped = strcmp(path, "-") == 0;
	const char *name = piped ? _("standard input") : path;
	struct follow *f = calloc(1, sizeof(*f));
	struct stat st;

	if (!f) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	f->to = to;
	f->source.get = follow_get;
	f->grown_ns = clock_now_ns();
	snprintf(f->path, sizeof(f->path), "%s", path);
	text_printable(f->shown, sizeof(f->shown), name, strlen(name));
	f->reader = log_files_new(1, f->shown, e);
	if (f->reader) {
		f->reader->source = &f->source;
		f->reader->ranges = ranges_new(0, e); /* their names */
	}
	f->fd = piped ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : trace_file_open(path, f->shown, e);
	if (!f->reader || !f->reader->ranges || (f->fd < 0 && !piped)) {
		follow_close(f);
		return NULL;
	}
	f->growing = !piped && fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode);
	if (f->fd < 0)
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), f->shown);
	else if (!piped && S_ISDIR(st.st_mode))
		err_set(e, ERR_FAILED, _("%s is a folder, not a trace"), f->shown);
	else if (f->growing && is_complete(f))
		err_num(e, ERR_FAILED, ENODATA, _("%s is complete: it does not grow"), f->shown);
	else
		return f;
	follow_close(f);
	return NULL;
}

int follow_fd(const struct follow *f)
{
	return f->growing || f->ended ? -1 : f->fd;
}

const struct follow_state *follow_state(const struct follow *f)
{
	return &f->state;
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
	free(f);
}
