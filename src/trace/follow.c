/* Turns the bytes of a growing log into the calls of a stream: the cursor over its chunks waits where there are no more
 * yet. Memory is bounded by two chunks, two generations of META and the names of
 * ranges. */
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
#include "trace/log-tree.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

#define PIECE	  65536
#define PIECES	  4 /* per call of follow_take() */
#define BUFFER	  (2 * (LOG_HEAD + LOG_STORED_MAX) + PIECE)
#define FOREIGN	  65536 /* so many bytes without a chunk are no log */
#define VALUES_MOST (1 << 22) /* of a section */
#define QUIET_NS  (2 * NS_PER_S) /* a file has ended after so long without growth or a writer */

struct follow {
	struct log_source source; /* first; its size: all bytes so far */
	struct log_chunks chunks;
	uint8_t *in; /* the newest bytes */
	size_t have;
	struct sink *to;
	char path[4096], shown[512];
	int fd;
	bool growing; /* a regular file: its end is not the end of the log */
	bool locked;  /* a writer was seen to lock the file */
	bool ended;
	int64_t grown_ns; /* when the file grew last */
	bool any, seq_known, mangled, other, newer;
	unsigned other_version; /* of the first chunk; 0: it is that of this program */
	bool rows_first; /* DATA came before META */
	bool closed;	 /* END came */
	char next[256];
	uint64_t first_seq, seq; /* of the first and the latest chunk */
	struct log_reader *meta;
	struct channel *channels; /* of the session passed to the sink */
	struct fact *facts;
	struct session about;
	struct log_bytes raw;
	struct log_data data;	  /* of raw, if it is DATA */
	struct log_bytes scratch; /* for the values of a section */
	struct ranges *ranges; /* the store of names and lanes; NULL: there were none */
	int64_t last_ns[TIERS];
	struct follow_state state;
};

/* Those that were not needed any more are gone. */
static const uint8_t *input_get(struct log_source *source, uint64_t at, size_t n)
{
	struct follow *f = (struct follow *)(void *)source;
	uint64_t first = source->size - f->have;

	return at >= first && at <= source->size && n <= source->size - at ? f->in + (at - first) : NULL;
}

static int no_memory(struct err *e)
{
	return err_set(e, ERR_FAILED, _("out of memory"));
}

/* --- events --- */

/* They come before the rows of their time. Those before the stream has begun belong to rows that are lost. */
static int take_events(struct follow *f, const struct log_head *h, struct err *e)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false}, record;
	struct log_event ev;

	(void)e;
	while (f->state.begun && log_get_record(&in, &record)) {
		if (!log_event_get(h->kind, &record, &ev) || (h->kind == LOG_GAP && ev.u.gap.cause > GAP_LOST))
			continue;
		log_event_send(&ev, f->to);
		f->state.marks += h->kind == LOG_MARK;
		if (h->kind == LOG_GAP)
			(ev.u.gap.cause == GAP_LATE ? f->state.late : f->state.lost)[ev.u.gap.tier] += ev.u.gap.missed;
	}
	return 0;
}

/* --- META --- */

/* The first chunk of a recording has number 0; those of a later file of a split one go on. */
static bool begins_late(struct follow *f)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false}, record;
	unsigned tag;
	bool part = false;

	while (log_get_tagged(&in, &tag, &record))
		part |= tag == LOG_TAG_PART && log_get_u32(&record) > 0;
	return !part && f->first_seq > 0;
}

/* Begins the sink's stream. Of later META only the descriptions of channels that were missing are taken. */
static int begin(struct follow *f, struct err *e)
{
	if (!session_copy(&f->about, log_reader_session(f->meta), &f->channels, &f->facts))
		return no_memory(e);
	if (f->to->ops->begin(f->to, &f->about, e) < 0)
		return -1;
	f->state.begun = true;
	f->state.start = f->about.start;
	f->state.newest_ns = f->about.start.mono_ns;
	f->state.beginning_lost = begins_late(f);
	return 0;
}

static int describe(struct follow *f, struct err *e)
{
	const struct session *now = log_reader_session(f->meta);
	struct channel *channels = calloc(f->about.n_channels + 1, sizeof(*channels));

	if (!channels)
		return no_memory(e);
	memcpy(channels, now->channels, f->about.n_channels * sizeof(*channels));
	f->about.channels = channels;
	if (f->to->ops->described)
		f->to->ops->described(f->to, channels);
	free(f->channels);
	f->channels = channels;
	return 0;
}

static int take_meta(struct follow *f, const struct log_head *h, struct err *e)
{
	const struct session *s = log_reader_session(f->meta);

	if (log_generation_find(f->meta, h->generation))
		return 0;
	if (log_meta_take(f->meta, h, f->raw.p, f->raw.n) < 0)
		return no_memory(e);
	if (!f->state.begun && s->n_channels > 0)
		return begin(f, e);
	if (!f->state.begun || f->meta->n_generations > 2)
		log_generation_drop(f->meta, 0);
	return f->state.begun ? describe(f, e) : 0;
}

/* --- DATA --- */

/* Sends the rows of a tier. Returns false if they cannot be; *known: in all columns. */
static bool take_section(struct follow *f, const struct log_head *h, const struct log_generation *g, enum tier t, bool *known)
{
	const struct log_section *s = &f->data.sections[t];
	size_t width = f->about.width[t], values = s->n * width;
	int64_t *t_ns;
	uint8_t *late;
	double *v;

	if (s->n == 0 || width == 0)
		return true;
	f->scratch.n = 0;
	t_ns = s->first > f->last_ns[t] && s->first >= f->about.start.mono_ns && values <= VALUES_MOST
		       ? (int64_t *)(void *)log_bytes_add(&f->scratch, (2 * s->n + values) * sizeof(*v) + s->n)
		       : NULL;
	if (!t_ns)
		return false;
	v = (double *)(void *)(t_ns + s->n);
	late = (uint8_t *)(v + values + s->n);
	log_section_times(s, h->cell, t_ns, late);
	*known &= log_section_values(s, g->column[t], g->width[t], width, v, v + values);
	f->state.late[t] += log_late_send(f->to, t, t_ns, late, s->n, f->last_ns[t]);
	f->to->ops->rows(f->to, &(struct rows) {.tier = t, .n = s->n, .width = width, .t_ns = t_ns, .values = v});
	f->last_ns[t] = t_ns[s->n - 1];
	f->state.rows[t] += s->n;
	if (f->last_ns[t] > f->state.newest_ns)
		f->state.newest_ns = f->last_ns[t];
	return true;
}

static int take_data(struct follow *f, const struct log_head *h, struct err *e)
{
	const struct log_generation *g = log_generation_find(f->meta, h->generation);
	bool good = g != NULL, known = true;

	(void)e;
	if (!f->state.begun) {
		f->rows_first = true;
		return 0;
	}
	for (enum tier t = 0; good && t < TIERS; t++)
		good = take_section(f, h, g, t, &known);
	f->state.unread += !known;
	f->state.chunks += !good;
	if (f->to->ops->rest)
		f->to->ops->rest(f->to);
	return 0;
}

/* --- ranges --- */

static bool range_send(void *arg, const struct range *range)
{
	struct follow *f = arg;
	struct range r = *range;

	if (r.end_ns < f->about.start.mono_ns)
		return true;
	if (r.begin_ns < f->about.start.mono_ns)
		r.begin_ns = f->about.start.mono_ns;
	f->to->ops->ranges(f->to, &r, 1);
	return true;
}

static int take_ranges(struct follow *f, const struct log_head *h, struct err *e)
{
	(void)h;
	if (!f->state.begun || !f->to->ops->ranges)
		return 0;
	if (!f->ranges && !(f->ranges = ranges_new(0, e)))
		return -1;
	f->state.chunks += !log_ranges_get(f->raw.p, f->raw.n, f->ranges, range_send, f);
	return 0;
}

/* --- chunks --- */

static int take_end(struct follow *f, const struct log_head *h, struct err *e)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false};
	enum log_reason reason = (enum log_reason)log_get_u8(&in);

	(void)h;
	(void)e;
	log_get_u64(&in);
	log_get_str(&in, f->next, sizeof(f->next));
	if (in.bad || reason != LOG_SPLIT || strchr(f->next, '/'))
		f->next[0] = '\0';
	f->closed = true;
	return 0;
}

/* Sequence numbers increase. Returns false for a repeated chunk. */
static bool take_seq(struct follow *f, const struct log_head *h)
{
	if (f->seq_known && h->seq <= f->seq) {
		f->state.chunks++;
		return false;
	}
	if (f->seq_known)
		f->state.chunks += h->seq - f->seq - 1;
	f->seq = h->seq;
	f->seq_known = true;
	return true;
}

/* Whether a terminal changed the line feed of the magic number, or of the signature of a META. */
static bool is_mangled(const uint8_t *p, size_t n)
{
	static const uint8_t lines[] = {0xAB, 0x4E, 0x56, 0x0D, 0x0A};

	return memmem(p, n, lines, sizeof(lines)) != NULL;
}

static bool is_changed_meta(const struct log_head *h, const uint8_t *payload)
{
	return h->kind == LOG_META && h->stored >= 8 && memcmp(payload, log_signature, 4) == 0 &&
	       memcmp(payload, log_signature, 8) != 0;
}

/* Unpacks and checks a chunk. Returns whether it can be used; -1 if out of memory. */
static int unpack(struct follow *f, const struct log_head *h, const uint8_t *stored, struct err *e)
{
	switch (log_unpack(f->meta->unpacker, h, stored, &f->raw)) {
	case LOG_OK: break;
	case LOG_NO_MEMORY: return no_memory(e);
	case LOG_BAD_CODEC:
		f->state.unread++;
		return 0;
	default:
		f->state.chunks++;
		return 0;
	}
	if (log_payload_good(h, f->raw.p, f->raw.n, &f->data))
		return 1;
	f->state.chunks++;
	return 0;
}

static int take_chunk(struct follow *f, const struct log_head *h, const uint8_t *stored, struct err *e)
{
	static int (*const take[LOG_KINDS])(struct follow *f, const struct log_head *h, struct err *e) = {
		[LOG_META] = take_meta,	  [LOG_DATA] = take_data,    [LOG_MARK] = take_events,
		[LOG_GAP] = take_events, [LOG_STATE] = take_events, [LOG_END] = take_end,
		[LOG_RANGE] = take_ranges};
	int good;

	if (!f->any) {
		f->meta->id = h->session;
		f->first_seq = h->seq;
		f->other_version = h->version != LOG_VERSION ? h->version : 0;
	}
	f->state.damaged += f->any ? f->chunks.skipped : 0;
	f->any = true;
	f->other = h->session != f->meta->id;
	if (f->other || f->other_version || !take_seq(f, h))
		return 0;
	f->closed = false;
	if (log_crc(stored, h->stored) != h->crc) {
		f->mangled |= is_changed_meta(h, stored);
		f->state.chunks++;
		return 0;
	}
	if (h->version != LOG_VERSION || h->kind == 0 || h->kind >= LOG_KINDS) {
		f->newer |= h->flags & LOG_CRITICAL;
		(*(h->kind == LOG_DATA ? &f->state.unread : &f->state.unknown))++;
		return 0;
	}
	good = take[h->kind] ? unpack(f, h, stored, e) : 0;
	return good > 0 ? take[h->kind](f, h, e) : good;
}

/* Takes the chunks that are there. last: no more input follows. */
static int parse(struct follow *f, bool last, struct err *e)
{
	struct log_head h;
	uint64_t at, size = f->source.size, keep;
	int r = 0;

	f->chunks.whole = last;
	f->chunks.to = size;
	while (r == 0 && !f->other && !f->newer && !f->other_version && log_chunks_next(&f->chunks, &h, &at))
		r = take_chunk(f, &h, input_get(&f->source, at + LOG_HEAD, h.stored), e);
	if (last && f->any && !f->other && !f->newer)
		f->state.damaged += size - f->chunks.end;
	/* The next one may be within the last one. */
	keep = f->chunks.lost ? f->chunks.at : f->chunks.within;
	keep = keep < size ? size - keep : 0;
	memmove(f->in, f->in + f->have - keep, (size_t)keep);
	f->have = (size_t)keep;
	return r;
}

/* --- the end --- */

static void stop(struct follow *f)
{
	if (f->state.begun) {
		f->to->ops->end(f->to, NULL);
	}
	f->state.begun = false;
	f->ended = true;
}

static void end_sentence(struct follow *f, struct err *e)
{
	const struct follow_state *s = &f->state;

	if (f->other)
		err_set(e, ERR_DAMAGED, _("only the first of the streams in %s was used"), f->shown);
	else if (s->beginning_lost)
		err_set(e, ERR_DAMAGED, _("the beginning of the stream is lost"));
	else if (!f->closed)
		err_set(e, ERR_DAMAGED, _("the stream was truncated: its recorder did not end it"));
	else if (s->chunks > 0)
		err_set(e, ERR_DAMAGED, _("the stream was damaged: %llu of its chunks are missing"),
			(unsigned long long)s->chunks);
	else if (s->damaged > 0)
		err_set(e, ERR_DAMAGED, _("the stream was damaged: %llu bytes could not be used"),
			(unsigned long long)s->damaged);
	else if (s->unread > 0)
		err_set(e, ERR_DAMAGED,
			_("values of the stream are missing: this version of nvmtop cannot read %llu of its "
			  "chunks"),
			(unsigned long long)s->unread);
	else if (s->unknown > 0)
		err_set(e, ERR_NONE,
			_("%s has parts that this version of nvmtop does not know: %llu of its chunks were "
			  "skipped"),
			f->shown, (unsigned long long)s->unknown);
}

static int finish(struct follow *f, struct err *e)
{
	if (parse(f, true, e) < 0) {
		stop(f);
		return -1;
	}
	if (f->other_version)
		log_other_version(f->other_version, f->shown, e);
	else if (f->newer)
		err_set(e, ERR_FAILED, _("%s needs a newer version of nvmtop"), f->shown);
	else if (f->state.begun)
		end_sentence(f, e);
	else if (f->source.size == 0)
		err_set(e, ERR_FAILED, _("no data on %s: the recorder did not start"), f->shown);
	else if (f->mangled)
		err_set(e, ERR_FAILED,
			_("%s went through a terminal, which changed its bytes: use ssh -T"), f->shown);
	else if (f->rows_first)
		err_set(e, ERR_FAILED,
			_("the beginning of the stream is damaged: its list of signals is lost"));
	else if (f->any)
		err_set(e, ERR_FAILED, _("the stream on %s ended before its first sample"), f->shown);
	else
		err_set(e, ERR_FAILED, _("%s is not a recording that nvmtop can follow"), f->shown);
	stop(f);
	return -1;
}

/* Opens the next file of a split recording, in the same folder. Returns false if it does not exist yet. */
static bool next_file(struct follow *f)
{
	const char *slash = strrchr(f->path, '/');
	char path[sizeof(f->path)];
	int n = snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - f->path) + 1 : 0, f->path, f->next);
	int fd = n > 0 && (size_t)n < sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0)
		return false;
	close(f->fd);
	f->fd = fd;
	memcpy(f->path, path, (size_t)n + 1);
	text_printable(f->shown, sizeof(f->shown), path, (size_t)n);
	f->next[0] = '\0';
	f->closed = f->locked = false;
	f->grown_ns = clock_now_ns();
	return true;
}

/* Called when a file does not grow. Returns 1 if the next file was opened, -1 if the writer has ended, else
 * 0. */
static int look_at_writer(struct follow *f, struct err *e)
{
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int64_t quiet = clock_now_ns() - f->grown_ns;

	if (f->closed && f->next[0] && next_file(f))
		return 1;
	if (f->closed && (!f->next[0] || quiet > QUIET_NS))
		return finish(f, e);
	if (fcntl(f->fd, F_OFD_GETLK, &l) < 0)
		return 0;
	f->locked |= l.l_type != F_UNLCK;
	return f->locked && l.l_type == F_UNLCK && quiet > QUIET_NS ? finish(f, e) : 0;
}

/* Reads what is available. Returns 1 if there may be more. */
static int take_piece(struct follow *f, struct err *e)
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
		stop(f);
		return -1;
	}
	if (n == 0)
		return f->growing ? look_at_writer(f, e) : finish(f, e);
	f->grown_ns = clock_now_ns();
	f->have += (size_t)n;
	f->source.size += (uint64_t)n;
	f->mangled |= !f->any && is_mangled(f->in, f->have);
	if (parse(f, false, e) < 0) {
		stop(f);
		return -1;
	}
	f->state.waits = !f->state.begun && f->rows_first;
	return f->other || f->newer || f->other_version || (!f->any && f->source.size >= FOREIGN) ? finish(f, e) : 1;
}

int follow_take(struct follow *f, struct err *e)
{
	int r = 1;

	*e = (struct err) {.code = ERR_NONE};
	if (f->ended)
		return -1;
	for (int i = 0; i < PIECES && r > 0; i++)
		r = take_piece(f, e);
	return r;
}

/* --- open --- */

static int open_input(struct follow *f, struct err *e)
{
	f->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	snprintf(f->shown, sizeof(f->shown), "%s", _("standard input"));
	return f->fd < 0 ? err_sys(e, ERR_FAILED, errno, _("cannot read %s"), f->shown) : 0;
}

static bool is_complete(struct follow *f)
{
	struct log_tail tail = {.ended = false};

	if (nvmt1_begins(f->fd))
		return true;
	if (log_begins(f->fd))
		trace_file_tail(f->fd, 0, f->shown, &tail);
	return tail.ended && !tail.next[0];
}

static int open_path(struct follow *f, const char *path, struct err *e)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return open_input(f, e);
	text_printable(f->shown, sizeof(f->shown), path, strlen(path));
	if ((size_t)snprintf(f->path, sizeof(f->path), "%s", path) >= sizeof(f->path))
		return err_sys(e, ERR_FAILED, ENAMETOOLONG, _("cannot read %s"), f->shown);
	f->fd = trace_file_open(f->path, f->shown, e);
	if (f->fd < 0) {
		errno = e->num;
		return -1;
	}
	if (fstat(f->fd, &st) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), f->shown);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_FAILED, _("%s is a folder, not a trace"), f->shown);
	f->growing = S_ISREG(st.st_mode);
	if (!f->growing || !is_complete(f))
		return 0;
	err_set(e, ERR_FAILED, _("%s is complete: it does not grow"), f->shown);
	errno = ENODATA;
	return -1;
}

struct follow *follow_open(const char *path, struct sink *to, struct err *e)
{
	struct follow *f = calloc(1, sizeof(*f));
	int num;

	if (!f) {
		no_memory(e);
		return NULL;
	}
	f->fd = -1;
	f->source.get = input_get;
	log_chunks_begin(&f->chunks, &f->source, 0, 0, 0);
	f->to = to;
	f->grown_ns = clock_now_ns();
	for (int t = 0; t < TIERS; t++)
		f->last_ns[t] = INT64_MIN;
	f->in = malloc(BUFFER);
	f->meta = log_about_new();
	if (!f->in || !f->meta)
		no_memory(e);
	else if (open_path(f, path, e) == 0)
		return f;
	num = errno;
	follow_close(f);
	errno = num;
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
	stop(f);
	if (f->fd >= 0)
		close(f->fd);
	log_about_free(f->meta);
	log_bytes_free(&f->raw);
	log_bytes_free(&f->scratch);
	ranges_free(f->ranges);
	free(f->channels);
	free(f->facts);
	free(f->in);
	free(f);
}
