/* A recording that grows is a stream of chunks, from a pipe as from a file: each is decoded when
 * all of it has come.  Bytes that are no chunk are skipped, and numbers that are missing are
 * counted. */
#include "trace/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/log-tree.h"
#include "trace/nvmt1.h"

#define ROOM	 (LOG_HEAD + LOG_STORED_MAX)
#define SILENT_NS (2 * NS_PER_S) /* without growth and without a recorder a file has ended */
#define ONCE	 (256 << 10)	 /* bytes a call of follow_take() */

struct follow {
	int fd;
	bool regular;
	char shown[512], path[4096];
	struct sink *to;
	struct log_reader about; /* session and generations only */
	uint64_t seq;		 /* of the newest chunk; LOG_SEQ_NONE: none yet */
	bool ended, mangled;	 /* END came; a terminal changed the bytes */
	int64_t grown_ns;	 /* when something came last */
	int64_t last_ns[TIERS];
	size_t width[TIERS]; /* of the session that the sink has */
	struct follow_state state;
	struct log_bytes raw;
	uint8_t *bytes;
	size_t n;
	double *rows, *column;
	int64_t *t_ns;
	size_t room; /* doubles in rows */
};

/* --- what chunks hold --- */

static void begin(struct follow *f, struct err *e)
{
	const struct session *s = &f->about.session;

	f->state.start = s->start;
	memcpy(f->width, s->width, sizeof(f->width));
	f->state.begun = f->to->ops->begin(f->to, s, e) == 0;
	f->state.waits = false;
}

static void take_meta(struct follow *f, const struct log_head *h, struct err *e)
{
	if (log_generation_find(&f->about, h->generation))
		return;
	if (f->about.n_generations < LOG_CHANNELS && log_meta_take(&f->about, h, f->raw.p, f->raw.n) == 0 &&
	    !f->state.begun)
		begin(f, e);
}

static bool make_room(struct follow *f, size_t doubles, size_t rows)
{
	if (doubles > f->room) {
		double *more = reallocarray(f->rows, doubles, sizeof(*more));

		if (!more)
			return false;
		f->rows = more;
		f->room = doubles;
	}
	if (!f->t_ns) {
		f->t_ns = malloc(LOG_ROWS_MAX * sizeof(*f->t_ns));
		f->column = malloc(LOG_ROWS_MAX * sizeof(*f->column));
	}
	return f->t_ns && f->column && rows <= LOG_ROWS_MAX;
}

/* False: damaged. */
static bool take_section(struct follow *f, const struct log_section *s, const struct log_generation *g, int64_t cell)
{
	enum tier tier = (enum tier)s->tier;
	size_t width = f->width[tier];
	struct log_walk w;

	if (!make_room(f, width * s->n + 1, s->n) || log_section_times(s, cell, f->t_ns) < 0 ||
	    f->t_ns[0] <= f->last_ns[tier])
		return false;
	for (size_t i = 0; i < width * s->n; i++)
		f->rows[i] = (double)NAN;
	log_walk_begin(&w, s);
	for (size_t c = 0; c < s->columns; c++) {
		unsigned to = c < g->width[tier] ? g->column[tier][c] : NO_COLUMN;

		if (to >= width) {
			log_walk_skip(&w, 1);
			continue;
		}
		log_walk_get(&w, f->column);
		for (size_t i = 0; i < s->n; i++)
			f->rows[i * width + to] = f->column[i];
	}
	f->to->ops->rows(f->to, &(struct rows) {tier, s->n, width, f->t_ns, f->rows});
	f->state.rows[tier] += s->n;
	f->last_ns[tier] = f->t_ns[s->n - 1];
	if (f->last_ns[tier] > f->state.newest_ns)
		f->state.newest_ns = f->last_ns[tier];
	return true;
}

static void take_data(struct follow *f, const struct log_head *h)
{
	const struct log_generation *g = log_generation_find(&f->about, h->generation);
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false};
	struct log_section s;
	bool good = g != NULL;
	int more = 0;

	while (good && (more = log_data_next(&in, &s)) > 0)
		good = s.tier < TIERS && g->column[s.tier] && take_section(f, &s, g, h->cell);
	f->state.missing += !good || more < 0;
}

static void take_events(struct follow *f, const struct log_head *h)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false}, record;
	struct change change;
	struct mark mark;
	struct gap gap;

	while (log_get_record(&in, &record)) {
		if (h->kind == LOG_MARK && log_mark_get(&record, &mark)) {
			f->state.marks++;
			f->to->ops->mark(f->to, &mark);
		} else if (h->kind == LOG_GAP && log_gap_get(&record, &gap) && gap.cause <= GAP_LOST) {
			*(gap.cause == GAP_LATE ? &f->state.late[gap.tier] : &f->state.lost[gap.tier]) += gap.missed;
			f->to->ops->gap(f->to, &gap);
		} else if (h->kind == LOG_STATE && log_change_get(&record, &change) && f->to->ops->change) {
			f->to->ops->change(f->to, &change);
		}
	}
	f->state.missing += in.bad;
}

/* A split recording goes on in another file. */
static void take_end(struct follow *f)
{
	struct log_in in = {f->raw.p, f->raw.p + f->raw.n, false};
	struct log_tally tally;
	char next[256], path[sizeof(f->path)];
	const char *slash = strrchr(f->path, '/');
	int fd, n;

	f->ended = true;
	log_get_u8(&in);
	log_get_u64(&in);
	log_tally_get(&in, &tally);
	log_get_str(&in, next, sizeof(next));
	if (in.bad || !next[0] || strchr(next, '/') || !f->regular)
		return;
	n = snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - f->path) + 1 : 0, f->path, next);
	fd = n > 0 && (size_t)n < sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return;
	close(f->fd);
	f->fd = fd;
	memcpy(f->path, path, sizeof(path));
	f->ended = false;
	f->seq = LOG_SEQ_NONE;
	f->about.id = 0;
	f->n = 0;
}

static void take_chunk(struct follow *f, const struct log_head *h, const uint8_t *stored, struct err *e)
{
	f->raw.n = 0;
	if (h->version != LOG_VERSION || log_unpack(f->about.unpacker, h, stored, &f->raw) != LOG_OK) {
		f->raw.failed = false;
		f->mangled |= h->kind == LOG_META && memcmp(stored, log_signature, 4) == 0 &&
			      memcmp(stored, log_signature, 8) != 0;
		f->state.missing += h->kind != LOG_LOD && h->kind != LOG_STAT && h->kind != LOG_INDEX;
	} else if (h->kind == LOG_META) {
		take_meta(f, h, e);
	} else if (h->kind == LOG_END) {
		take_end(f);
	} else if (!f->state.begun) {
		f->state.waits = true;
		f->state.missing += h->kind == LOG_DATA;
	} else if (h->kind == LOG_DATA) {
		take_data(f, h);
	} else if (h->kind == LOG_MARK || h->kind == LOG_GAP || h->kind == LOG_STATE) {
		take_events(f, h);
	}
}

/* --- chunks out of bytes --- */

static void drop(struct follow *f, size_t n)
{
	memmove(f->bytes, f->bytes + n, f->n - n);
	f->n -= n;
}

static void count_missing(struct follow *f, const struct log_head *h)
{
	if (f->seq != LOG_SEQ_NONE && h->seq > f->seq + 1)
		f->state.missing += h->seq - f->seq - 1;
	if (f->seq == LOG_SEQ_NONE || h->seq > f->seq)
		f->seq = h->seq;
}

/* The chunks that are whole. */
static void take_chunks(struct follow *f, struct err *e)
{
	size_t at = 0;
	struct log_head h;

	while (!f->ended && f->n >= at + LOG_HEAD) {
		if (!log_head_get(f->bytes + at, &h) || (f->about.id && h.session != f->about.id)) {
			size_t skip = log_find(f->bytes + at + 1, f->n - at - 1, f->about.id) + 1;

			f->state.bytes += skip;
			at += skip;
			continue;
		}
		if (f->n - at < LOG_HEAD + (size_t)h.stored)
			break;
		f->about.id = h.session;
		if (f->seq == LOG_SEQ_NONE || h.seq > f->seq) {
			count_missing(f, &h);
			take_chunk(f, &h, f->bytes + at + LOG_HEAD, e);
			if (f->n == 0)
				return; /* it goes on in another file */
		}
		at += LOG_HEAD + (size_t)h.stored;
	}
	drop(f, at < f->n ? at : f->n);
}

/* --- the interface --- */

/* Is it a file that nothing is appended to any more? */
static bool complete(int fd, const char *shown)
{
	struct err e;
	struct log_reader *r;
	struct log_tail tail;

	if (nvmt1_begins(fd))
		return true;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	r = fd >= 0 && log_begins(fd) ? log_reader_open(fd, 0, shown, &e) : NULL;
	if (!r) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	log_reader_tail(r, &tail);
	log_reader_close(r);
	return tail.ended && !tail.next[0];
}

static int open_input(struct follow *f, const char *path, struct err *e)
{
	struct stat st;

	snprintf(f->path, sizeof(f->path), "%s", path);
	f->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (f->fd < 0 && errno == ENOENT && snprintf(f->path, sizeof(f->path), "%s.nvmt", path) < (int)sizeof(f->path)) {
		f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		errno = f->fd < 0 ? ENOENT : 0;
	}
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), f->shown);
	f->regular = S_ISREG(st.st_mode);
	if (S_ISDIR(st.st_mode))
		return err_num(e, ERR_FAILED, EISDIR, _("%s is a folder, not a trace"), f->shown);
	if (f->regular && strcmp(path, "-") && complete(f->fd, f->shown)) {
		err_set(e, ERR_FAILED, _("%s is complete: nothing is recorded to it any more"), f->shown);
		errno = ENODATA;
		return -1;
	}
	return 0;
}

struct follow *follow_open(const char *path, struct sink *to, struct err *e)
{
	struct follow *f = calloc(1, sizeof(*f));
	int num;

	if (!f) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	f->fd = -1;
	f->to = to;
	f->seq = LOG_SEQ_NONE;
	f->grown_ns = clock_now_ns();
	for (int t = 0; t < TIERS; t++)
		f->last_ns[t] = INT64_MIN;
	text_printable(f->shown, sizeof(f->shown), path, strlen(path));
	f->bytes = malloc(ROOM);
	f->about.unpacker = log_unpacker_new();
	if (!f->bytes || !f->about.unpacker)
		err_set(e, ERR_FAILED, _("out of memory"));
	else if (open_input(f, path, e) == 0)
		return f;
	num = errno;
	follow_close(f);
	errno = num;
	return NULL;
}

int follow_fd(const struct follow *f)
{
	return f->regular ? -1 : f->fd;
}

/* The lock of a recorder is free, and nothing was written for a while. */
static bool abandoned(const struct follow *f)
{
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	if (!f->regular || clock_now_ns() < f->grown_ns + SILENT_NS)
		return false;
	return fcntl(f->fd, F_OFD_GETLK, &l) == 0 && l.l_type == F_UNLCK;
}

static void judge(struct follow *f, bool in_order, struct err *e)
{
	if (f->mangled && !f->state.begun)
		err_set(e, ERR_FAILED, _("%s went through a terminal, which changes bytes: use ssh -T"), f->shown);
	else if (!f->state.begun)
		err_set(e, ERR_FAILED, _("%s has no recording that can be shown"), f->shown);
	else if (f->state.missing > 0)
		err_set(e, ERR_DAMAGED,
			P_("%s is damaged: %llu chunk is missing", "%s is damaged: %llu chunks are missing",
			   f->state.missing),
			f->shown, (unsigned long long)f->state.missing);
	else if (!in_order)
		err_set(e, ERR_DAMAGED, _("%s ended abruptly: the recorder did not end it"), f->shown);
	else
		e->code = ERR_NONE;
}

static int finish(struct follow *f, bool in_order, struct err *e)
{
	struct err unused;

	f->state.bytes += f->n;
	if (f->state.begun)
		f->to->ops->end(f->to, &unused);
	f->to = NULL;
	judge(f, in_order, e);
	return -1;
}

int follow_take(struct follow *f, struct err *e)
{
	struct pollfd ready = {.fd = f->fd, .events = POLLIN};
	size_t taken = 0;
	ssize_t n = 1;

	e->code = ERR_NONE;
	while (taken < ONCE && !f->ended && f->to) {
		if (!f->regular && poll(&ready, 1, 0) <= 0)
			return 0;
		n = read(f->fd, f->bytes + f->n, ROOM - f->n);
		if (n <= 0)
			break;
		f->grown_ns = clock_now_ns();
		f->n += (size_t)n;
		taken += (size_t)n;
		take_chunks(f, e);
		if (f->to->ops->rest && f->state.begun)
			f->to->ops->rest(f->to);
	}
	if (f->ended)
		return finish(f, true, e);
	if (n > 0)
		return 1;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0) {
		finish(f, false, e);
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), f->shown);
		return -1;
	}
	return f->regular && !abandoned(f) ? 0 : finish(f, false, e);
}

void follow_state(const struct follow *f, struct follow_state *out)
{
	*out = f->state;
}

void follow_close(struct follow *f)
{
	struct log_reader *r;
	struct err e;

	if (!f)
		return;
	if (f->to && f->state.begun)
		f->to->ops->end(f->to, &e);
	r = &f->about;
	for (size_t i = 0; i < r->n_generations; i++)
		for (int t = 0; t < TIERS; t++)
			free(r->generations[i].column[t]);
	log_unpacker_free(r->unpacker);
	free(r->generations);
	free(r->channels);
	free(r->numbers);
	free(r->facts);
	log_bytes_free(&f->raw);
	free(f->bytes);
	free(f->rows);
	free(f->column);
	free(f->t_ns);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}
