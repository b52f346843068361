/* Turns the bytes of a growing log into chunks, and these into the calls of a stream. A chunk that is cut
 * short at the end of the input is awaited; bytes that belong to no chunk are skipped up to the next valid
 * one, so damage costs only the chunks it hits. Memory is bounded by one chunk, two generations of META,
 * the names of ranges and the events that wait for the rows of their time. */
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
#define BUFFER	  (LOG_HEAD + LOG_STORED_MAX + PIECE)
#define FOREIGN	  65536 /* so many bytes without a chunk are no log */
#define EVENTS	  1024
#define VALUES_MOST (1 << 22) /* of a section */
#define QUIET_NS  (2 * NS_PER_S) /* a file has ended after so long without growth or a writer */

struct follow {
	struct sink *to;
	char path[4096], shown[512];
	int fd;
	bool growing; /* a regular file: its end is not the end of the log */
	bool locked;  /* a writer was seen to lock the file */
	bool ended;
	int64_t grown_ns; /* when the file grew last */
	uint8_t *in;
	size_t have;
	uint64_t bytes;
	bool any, seq_known, mangled, other, newer;
	bool rows_first; /* DATA came before META */
	bool closed;	 /* END came */
	bool all_known;  /* all columns of the chunk are of a known form */
	char next[256];
	uint64_t seq; /* of the latest chunk */
	struct log_reader *meta;
	struct channel *channels; /* of the session passed to the sink */
	struct fact *facts;
	struct session about;
	struct log_bytes raw;
	struct ranges *ranges; /* the store of names and lanes; NULL: there were none */
	int64_t last_ns[TIERS];
	struct log_event events[EVENTS];
	size_t n_events;
	struct follow_state state;
};

static int no_memory(struct err *e)
{
	return err_set(e, ERR_FAILED, _("out of memory"));
}

/* --- events --- */

/* Returns the tier with whose rows the event is sent. */
static int event_tier(const struct log_event *ev)
{
	return ev->kind == LOG_GAP ? (int)ev->u.gap.tier : TIER_FAST;
}

/* Sends the events before that time, of one tier or (TIERS) of all. */
static void events_send(struct follow *f, int tier, int64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n_events; i++) {
		const struct log_event *ev = &f->events[i];

		if (ev->t_ns < before_ns && (tier == TIERS || tier == event_tier(ev)))
			log_event_send(ev, f->to);
		else
			f->events[kept++] = *ev;
	}
	f->n_events = kept;
}

static void event_add(struct follow *f, const struct log_event *ev)
{
	if (f->n_events == EVENTS && f->state.begun)
		events_send(f, TIERS, INT64_MAX);
	if (f->n_events == EVENTS)
		return;
	f->events[f->n_events++] = *ev;
	f->state.marks += ev->kind == LOG_MARK;
	if (ev->kind == LOG_GAP && ev->u.gap.cause == GAP_LATE)
		f->state.late[ev->u.gap.tier] += ev->u.gap.missed;
	else if (ev->kind == LOG_GAP && ev->u.gap.cause == GAP_LOST)
		f->state.lost[ev->u.gap.tier] += ev->u.gap.missed;
}

static int take_events(struct follow *f, const struct log_head *h, struct err *e)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false}, record;
	struct log_event ev;

	(void)e;
	while (in.p < in.end && log_get_record(&in, &record))
		if (!log_event_get(h->kind, &record, &ev))
			in.bad = true;
		else if (h->kind != LOG_GAP || ev.u.gap.cause <= GAP_LOST)
			event_add(f, &ev);
	f->state.chunks += in.bad;
	return 0;
}

/* --- META --- */

static void take_tally(struct follow *f)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false}, record;
	struct log_tally tally = {.marks = 0};
	unsigned tag;
	bool part = false;

	while (log_get_tagged(&in, &tag, &record)) {
		if (tag == LOG_TAG_TALLY)
			log_tally_get(&record, &tally);
		part |= tag == LOG_TAG_PART && log_get_u32(&record) > 0;
	}
	/* The counts of a later file of a split recording include earlier files: those rows are not
	 * missing. */
	for (int t = 0; t < TIERS && !part; t++) {
		f->state.missed += tally.rows[t];
		f->state.lost[t] += tally.rows[t];
	}
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
	take_tally(f);
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
		f->to->ops->described(f->to);
	free(f->channels);
	f->channels = channels;
	return 0;
}

static int take_meta(struct follow *f, const struct log_head *h, struct err *e)
{
	const struct session *s = log_reader_session(f->meta);

	if (!log_meta_good(f->raw.p, f->raw.n)) {
		f->state.chunks++;
		return 0;
	}
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

/* Sends rows, and between them the events of their time. */
static void rows_send(struct follow *f, enum tier tier, const int64_t *t_ns, const double *values, size_t n)
{
	size_t width = f->about.width[tier];

	for (size_t at = 0; at < n;) {
		int64_t next = INT64_MAX;
		size_t end = at;

		events_send(f, (int)tier, t_ns[at] + 1);
		for (size_t i = 0; i < f->n_events; i++)
			if (event_tier(&f->events[i]) == (int)tier && f->events[i].t_ns < next)
				next = f->events[i].t_ns;
		while (end < n && t_ns[end] < next)
			end++;
		f->to->ops->rows(f->to, &(struct rows) {.tier = tier, .n = end - at, .width = width,
							.t_ns = t_ns + at, .values = values + at * width});
		at = end;
	}
	f->last_ns[tier] = t_ns[n - 1];
	f->state.rows[tier] += n;
	if (t_ns[n - 1] > f->state.newest_ns)
		f->state.newest_ns = t_ns[n - 1];
}

/* Returns 0, 1 if the section is damaged, -1 if out of memory. */
static int take_section(struct follow *f, const struct log_head *h, const struct log_generation *g,
			const struct log_section *s)
{
	size_t width = s->tier < TIERS ? f->about.width[s->tier] : 0;
	double *values;
	int64_t *t_ns;
	int r = 1;

	if (s->tier >= TIERS || (uint64_t)s->n * width > VALUES_MOST)
		return 1;
	t_ns = malloc(s->n * sizeof(*t_ns));
	values = malloc(s->n * (width + 1) * sizeof(*values)); /* and scratch for one column */
	if (!t_ns || !values) {
		r = -1;
	} else if (log_section_times(s, h->cell, t_ns) == 0 && t_ns[0] > f->last_ns[s->tier] &&
		   t_ns[0] >= f->about.start.mono_ns) {
		r = 0;
		f->all_known &= log_section_values(s, g->column[s->tier], g->width[s->tier], width, values,
						   values + (size_t)s->n * width);
		if (width > 0)
			rows_send(f, (enum tier)s->tier, t_ns, values, s->n);
	}
	free(values);
	free(t_ns);
	return r;
}

static int take_data(struct follow *f, const struct log_head *h, struct err *e)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false};
	const struct log_generation *g = log_generation_find(f->meta, h->generation);
	struct log_section s;
	int got = 1, r = g ? 0 : 1;

	if (!f->state.begun) {
		f->rows_first = true;
		return 0;
	}
	f->all_known = true;
	while (r == 0 && (got = log_data_next(&in, &s)) > 0)
		r = take_section(f, h, g, &s);
	f->state.unread += !f->all_known;
	if (r < 0)
		return no_memory(e);
	f->state.chunks += r > 0 || got < 0;
	events_send(f, TIERS, log_cell_ns(h->cell));
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
	struct log_tally tally;
	enum log_reason reason = (enum log_reason)log_get_u8(&in);

	(void)h;
	(void)e;
	log_get_u64(&in);
	log_tally_get(&in, &tally);
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

/* Takes a complete chunk with a correct checksum. */
static int take_chunk(struct follow *f, const struct log_head *h, const uint8_t *stored, struct err *e)
{
	static int (*const take[LOG_KINDS])(struct follow *f, const struct log_head *h, struct err *e) = {
		[LOG_META] = take_meta,	  [LOG_DATA] = take_data,    [LOG_MARK] = take_events,
		[LOG_GAP] = take_events, [LOG_STATE] = take_events, [LOG_END] = take_end,
		[LOG_RANGE] = take_ranges};

	if (!f->any)
		f->meta->id = h->session;
	f->any = true;
	if (h->session != f->meta->id) {
		f->other = true;
		return 0;
	}
	if (!take_seq(f, h))
		return 0;
	f->closed = false;
	if (h->version != LOG_VERSION || h->kind == 0 || h->kind >= LOG_KINDS) {
		f->newer |= h->flags & LOG_CRITICAL;
		(*(h->kind == LOG_DATA ? &f->state.unread : &f->state.unknown))++;
		return 0;
	}
	if (!take[h->kind])
		return 0;
	switch (log_unpack(f->meta->unpacker, h, stored, &f->raw)) {
	case LOG_OK: return take[h->kind](f, h, e);
	case LOG_NO_MEMORY: return no_memory(e);
	case LOG_BAD_CODEC:
		f->state.unread++;
		return 0;
	default: f->state.chunks++; return 0;
	}
}

/* Whether a terminal changed the line feed of the magic number. */
static bool is_mangled(const uint8_t *p, size_t n)
{
	static const uint8_t lines[] = {0xAB, 0x4E, 0x56, 0x0D, 0x0A};

	return n >= sizeof(lines) && memcmp(p, lines, sizeof(lines)) == 0;
}

static bool is_changed_meta(const struct log_head *h, const uint8_t *payload)
{
	return h->kind == LOG_META && h->stored >= 8 && memcmp(payload, log_signature, 4) == 0 &&
	       memcmp(payload, log_signature, 8) != 0;
}

/* Returns how many bytes to skip from p, where no chunk begins, to where the next may begin. */
static size_t skip(struct follow *f, const uint8_t *p, size_t n)
{
	size_t at = 1;

	for (; at < n && p[at] != log_magic[0]; at++)
		;
	f->mangled |= !f->any && is_mangled(p, n);
	f->state.damaged += f->any ? at : 0;
	return at;
}

/* Takes the chunks in the buffer. last: no more input follows. */
static int parse(struct follow *f, bool last, struct err *e)
{
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < f->have && !f->other && !f->newer) {
		const uint8_t *p = f->in + at;
		size_t left = f->have - at;
		struct log_head h;

		if (left < LOG_HEAD && !last)
			break;
		if (left < LOG_HEAD || !log_head_get(p, &h)) {
			at += skip(f, p, left);
			continue;
		}
		if (left - LOG_HEAD < h.stored && !last)
			break;
		if (left - LOG_HEAD < h.stored || log_crc(p + LOG_HEAD, h.stored) != h.crc) {
			f->mangled |= left - LOG_HEAD >= h.stored && is_changed_meta(&h, p + LOG_HEAD);
			at += skip(f, p, left);
			continue;
		}
		r = take_chunk(f, &h, p + LOG_HEAD, e);
		at += LOG_HEAD + h.stored;
	}
	f->have -= at;
	memmove(f->in, f->in + at, f->have);
	return r;
}

/* --- the end --- */

static void stop(struct follow *f)
{
	if (f->state.begun) {
		events_send(f, TIERS, INT64_MAX);
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
	else if (s->missed > 0)
		err_set(e, ERR_DAMAGED, _("the beginning of the stream is lost, and %llu samples with it"),
			(unsigned long long)s->missed);
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
	if (f->newer)
		err_set(e, ERR_FAILED, _("%s needs a newer version of nvmtop"), f->shown);
	else if (f->state.begun)
		end_sentence(f, e);
	else if (f->bytes == 0)
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
	f->bytes += (uint64_t)n;
	if (parse(f, false, e) < 0) {
		stop(f);
		return -1;
	}
	f->state.waits = !f->state.begun && f->rows_first;
	return f->other || f->newer || (!f->any && f->bytes >= FOREIGN) ? finish(f, e) : 1;
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
	ranges_free(f->ranges);
	free(f->channels);
	free(f->facts);
	free(f->in);
	free(f);
}
