/* Rows of version 1, the columns beyond it and the runs that say what was missing
 * come in chunks of their own.  Each tier keeps what has come until all of a row
 * is there, hands it over, and forgets it: memory is bounded whatever comes.
 * Marks and gaps wait for their place between the rows. */
#include "trace/stream-in.h"

#include <math.h>
#include <stdlib.h>

#include "nvmtop/intl.h"

#define BATCH     64
#define ROWS_MOST 65536             /* waiting for their columns; then they go without */
#define COLS_MOST ((size_t)8 << 20) /* bytes of columns that wait for their rows */
#define RUNS_MOST 131072
#define WAIT_MOST 1024 /* marks, gaps */
#define TIME_MOST (INT64_C(1) << 61)

/* Bytes that come at one end and leave at the other. */
struct fifo {
	uint8_t *p;
	size_t at, end, room;
};

struct lane_in {
	struct fifo rows; /* of version 1, from number `next` on */
	struct fifo cols; /* rows of f64, from number `cols_next` on */
	uint64_t next, cols_next;
	struct run *runs; /* in the order in which they came */
	size_t n_runs, room_runs;
	int64_t last_ns;
	size_t *channels; /* of this tier; owned */
	size_t n_channels;
	size_t extra; /* columns beyond version 1 */
	struct gap *gaps;
	size_t n_gaps;
	bool suspect;                  /* a run that belongs to the next rows may be missing */
	uint64_t blank_from, blank_to; /* rows of which only runs and columns are sure */
	double *values;                /* BATCH rows */
};

struct stream_in {
	struct sink *to;
	struct session about;
	struct channel *channels;
	struct place *places;
	struct fact *facts;
	bool spoiled, anchor, rates, begun, closed;
	struct lane_in tier[TIERS];
	struct {
		struct mark mark;
		uint64_t row;
	} * marks;
	size_t n_marks;
	struct trace_tail_state state;
};

static bool fifo_add(struct fifo *f, const uint8_t *p, size_t n)
{
	if (f->at > 0 && f->at == f->end)
		f->at = f->end = 0;
	if (f->at > 0 && n > f->room - f->end) {
		memmove(f->p, f->p + f->at, f->end - f->at);
		f->end -= f->at;
		f->at = 0;
	}
	if (n > f->room - f->end) {
		size_t room = f->end + n > 2 * f->room ? f->end + n : 2 * f->room;
		uint8_t *more = realloc(f->p, room);

		if (!more)
			return false;
		f->p = more;
		f->room = room;
	}
	memcpy(f->p + f->end, p, n);
	f->end += n;
	return true;
}

/* --- the description --- */

static int no_memory(struct err *e)
{
	return err_set(e, ERR_FAILED, _("out of memory"));
}

/* Room for one more at the end of an array of n; it doubles. */
static bool grow(void **array, size_t n, size_t size)
{
	void *bigger;

	if (n & (n - 1) || n == 1)
		return true;
	bigger = reallocarray(*array, n ? 2 * n : 2, size);
	if (bigger)
		*array = bigger;
	return bigger != NULL;
}

static bool take_channels(struct stream_in *s, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0 && s->about.n_channels < MAX_CHANNELS; p += used, n -= used) {
		size_t at = s->about.n_channels;

		if (!grow((void **)&s->channels, at, sizeof(*s->channels)) ||
		    !grow((void **)&s->places, at, sizeof(*s->places)))
			return false;
		used = channel_decode(p, n, &s->channels[at], &s->places[at]);
		if (used == 0)
			break;
		s->about.n_channels++;
	}
	return true;
}

static bool take_facts(struct stream_in *s, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0 && s->about.n_facts < MAX_CHANNELS; p += used, n -= used) {
		if (!grow((void **)&s->facts, s->about.n_facts, sizeof(*s->facts)))
			return false;
		used = fact_decode(p, n, &s->facts[s->about.n_facts]);
		if (used == 0)
			break;
		s->about.n_facts++;
	}
	return true;
}

static int describe(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e)
{
	bool memory = true;

	if (s->begun)
		return 0;
	if (id == CHUNK_ANCHOR && n >= ANCHOR_SIZE && !s->anchor) {
		anchor_decode(p, &s->about.start);
		s->anchor = s->about.start.mono_ns >= 0 && s->about.start.mono_ns <= TIME_MOST;
	} else if (id == CHUNK_RATES && n >= RATES_SIZE) {
		s->rates = true;
		for (int t = 0; t < TIERS; t++) {
			s->about.hz[t] = get_f64(p + 8 * t);
			s->rates = s->rates && s->about.hz[t] >= 1e-3 && s->about.hz[t] <= 1e6;
		}
	} else if (id == CHUNK_FACTS) {
		memory = take_facts(s, p, n);
	} else if (id == CHUNK_CHANNELS) {
		memory = take_channels(s, p, n);
	}
	return memory ? 0 : no_memory(e);
}

/* Every column of a row belongs to exactly one channel, and so does every column
 * of the extension. */
static bool channels_sound(struct stream_in *s)
{
	uint8_t taken[TIERS][MAX_CHANNELS] = {{0}}, beyond[TIERS][MAX_CHANNELS] = {{0}};

	for (size_t i = 0; i < s->about.n_channels; i++) {
		enum tier t = s->channels[i].tier;

		s->about.width[t]++;
		s->tier[t].extra += s->places[i].field == FIELD_EXTRA;
	}
	for (size_t i = 0; i < s->about.n_channels; i++) {
		const struct channel *c = &s->channels[i];
		const struct place *p = &s->places[i];

		if (c->column >= s->about.width[c->tier] || taken[c->tier][c->column]++)
			return false;
		if (p->field == FIELD_EXTRA &&
		    (p->slot >= s->tier[c->tier].extra || beyond[c->tier][p->slot]++))
			return false;
	}
	return s->about.n_channels > 0;
}

static int tier_open(struct stream_in *s, enum tier t, struct err *e)
{
	struct lane_in *l = &s->tier[t];

	l->last_ns = s->about.start.mono_ns - 1;
	l->channels = calloc(s->about.width[t] + 1, sizeof(*l->channels));
	l->values = calloc(BATCH * s->about.width[t] + 1, sizeof(*l->values));
	if (!l->channels || !l->values)
		return no_memory(e);
	for (size_t i = 0; i < s->about.n_channels; i++)
		if (s->channels[i].tier == t)
			l->channels[l->n_channels++] = i;
	return 0;
}

static int begin(struct stream_in *s, struct err *e)
{
	if (s->spoiled || !s->anchor || !s->rates || !channels_sound(s))
		return err_set(
			e, ERR_FAILED,
			_("the beginning of the stream is damaged: it does not say which channels it has"));
	for (int t = 0; t < TIERS; t++)
		if (tier_open(s, (enum tier)t, e) < 0)
			return -1;
	s->about.channels = s->channels;
	s->about.facts = s->facts;
	if (s->to->ops->begin(s->to, &s->about, e) < 0)
		return -1;
	s->begun = true;
	s->state.start = s->about.start;
	s->state.newest_ns = s->about.start.mono_ns;
	return 0;
}

/* --- rows --- */

static void send_gap(struct stream_in *s, const struct gap *g)
{
	if (g->cause == GAP_LATE)
		s->state.late[g->tier] += g->missed;
	else
		s->state.lost[g->tier] += g->missed;
	s->to->ops->gap(s->to, g);
}

/* The gaps that lie before a row of that time. */
static void send_gaps(struct stream_in *s, struct lane_in *l, int64_t before_ns)
{
	size_t n = 0;

	while (n < l->n_gaps && l->gaps[n].from_ns < before_ns)
		send_gap(s, &l->gaps[n++]);
	l->n_gaps -= n;
	memmove(l->gaps, l->gaps + n, l->n_gaps * sizeof(*l->gaps));
}

/* The marks that come before fast row number `before`. */
static void send_marks(struct stream_in *s, uint64_t before)
{
	size_t n = 0;

	while (n < s->n_marks && s->marks[n].row <= before)
		s->to->ops->mark(s->to, &s->marks[n++].mark);
	s->n_marks -= n;
	memmove(s->marks, s->marks + n, s->n_marks * sizeof(*s->marks));
}

static void lay_runs(struct stream_in *s, struct lane_in *l, enum tier t, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_runs; i++) {
		const struct run *r = &l->runs[i];
		uint64_t from = r->row > l->next ? r->row : l->next;
		uint64_t to = r->row + r->count < l->next + n ? r->row + r->count : l->next + n;

		for (; from < to; from++)
			l->values[(from - l->next) * s->about.width[t] + s->channels[r->channel].column] =
				r->value;
		if (r->row + r->count > l->next + n)
			l->runs[kept++] = *r;
	}
	l->n_runs = kept;
}

static void fill(struct stream_in *s, struct lane_in *l, enum tier t, size_t n)
{
	const uint8_t *rows = l->rows.p + l->rows.at;

	for (size_t k = 0; k < l->n_channels; k++) {
		const struct place *p = &s->places[l->channels[k]];
		double *out = l->values + s->channels[l->channels[k]].column;

		for (size_t i = 0; i < n; i++, out += s->about.width[t]) {
			uint64_t at = l->next + i - l->cols_next;

			if (p->field != FIELD_EXTRA && l->next + i >= l->blank_from &&
			    l->next + i < l->blank_to)
				*out = NAN;
			else if (p->field != FIELD_EXTRA)
				*out = cell_decode(rows + i * row_size[t], (enum field)p->field, p->slot);
			else if (l->next + i >= l->cols_next &&
				 at < (l->cols.end - l->cols.at) / (8 * l->extra))
				*out = get_f64(l->cols.p + l->cols.at + 8 * (at * l->extra + p->slot));
			else
				*out = NAN;
		}
	}
	lay_runs(s, l, t, n);
}

/* n rows are handed over or cannot be. */
static void forget(struct lane_in *l, enum tier t, size_t n)
{
	l->rows.at += n * row_size[t];
	l->next += n;
	while (l->extra && l->cols_next < l->next && l->cols.at < l->cols.end) {
		l->cols.at += 8 * l->extra;
		l->cols_next++;
	}
}

/* At most n rows in one call; those whose time cannot be right are left out.
 * Returns how many were used up. */
static size_t hand_over(struct stream_in *s, enum tier t, size_t n)
{
	struct lane_in *l = &s->tier[t];
	struct rows out = {.tier = t, .width = s->about.width[t], .values = l->values};
	int64_t ns, times[BATCH];

	for (out.n = 0; out.n < n && out.n < BATCH; out.n++) {
		if (!row_time(l->rows.p + l->rows.at + out.n * row_size[t], &ns) ||
		    (ns += s->about.start.mono_ns) <= l->last_ns)
			break;
		if (out.n > 0 && ((l->n_gaps > 0 && l->gaps[0].from_ns < ns) ||
				  (t == TIER_FAST && s->n_marks > 0 && s->marks[0].row <= l->next + out.n)))
			break;
		times[out.n] = l->last_ns = ns;
	}
	if (out.n == 0) {
		s->state.damaged += row_size[t];
		forget(l, t, 1);
		return 1;
	}
	send_gaps(s, l, times[0]);
	if (t == TIER_FAST)
		send_marks(s, l->next);
	fill(s, l, t, out.n);
	out.t_ns = times;
	s->to->ops->rows(s->to, &out);
	s->state.rows[t] += out.n;
	if (l->last_ns > s->state.newest_ns)
		s->state.newest_ns = l->last_ns;
	forget(l, t, out.n);
	return out.n;
}

/* Hand over the rows of which everything is there, and those before number
 * `upto` of which some is missing and will not come. */
static void deliver(struct stream_in *s, enum tier t, uint64_t upto)
{
	struct lane_in *l = &s->tier[t];
	size_t n = (l->rows.end - l->rows.at) / row_size[t];
	uint64_t known = UINT64_MAX;

	if (l->extra)
		known = l->cols_next + (l->cols.end - l->cols.at) / (8 * l->extra);
	if (known < upto)
		known = upto;
	while (n > 0 && l->next < known) {
		uint64_t whole = known - l->next < n ? known - l->next : n;

		n -= hand_over(s, t, (size_t)whole);
	}
}

/* Rows first .. first+n-1, in the bytes at p. */
static int take_rows(struct stream_in *s, enum tier t, uint64_t first, const uint8_t *p, size_t n,
		     struct err *e)
{
	struct lane_in *l = &s->tier[t];
	uint64_t end = l->next + (l->rows.end - l->rows.at) / row_size[t];

	if (n == 0 || s->about.width[t] == 0)
		return 0;
	if (first != end) {
		/* A chunk of rows is missing, or comes again. */
		s->state.damaged += row_size[t];
		if (first < end || first > UINT64_MAX / 4)
			return 0;
		deliver(s, t, UINT64_MAX);
		s->state.lost[t] += first - end;
		l->next = first;
	}
	if (l->suspect) {
		/* A value that was not read must not come out as 0. */
		deliver(s, t, UINT64_MAX);
		l->suspect = false;
		l->blank_from = first;
		l->blank_to = first + n;
	}
	if (!fifo_add(&l->rows, p, n * row_size[t]))
		return no_memory(e);
	deliver(s, t, (l->rows.end - l->rows.at) / row_size[t] > ROWS_MOST ? UINT64_MAX : 0);
	return 0;
}

static int take_columns(struct stream_in *s, const uint8_t *p, size_t n, struct err *e)
{
	struct columns_head h;
	struct lane_in *l;
	uint64_t end;

	if (!columns_decode(p, n, &h) || h.columns != s->tier[h.tier].extra) {
		s->state.damaged += n;
		return 0;
	}
	l = &s->tier[h.tier];
	end = l->cols_next + (l->cols.end - l->cols.at) / (8 * l->extra);
	if (h.row < end) {
		s->state.damaged += n;
		return 0;
	}
	if (h.row > end || l->cols.end - l->cols.at > COLS_MOST) {
		/* What waits for them need not wait any more. */
		deliver(s, h.tier, h.row);
		l->cols.at = l->cols.end = 0;
		l->cols_next = h.row;
		s->state.damaged += h.row > end;
	}
	if (!fifo_add(&l->cols, p + COLUMNS_HEAD, n - COLUMNS_HEAD))
		return no_memory(e);
	deliver(s, h.tier, 0);
	return 0;
}

/* --- what stands between the rows --- */

static int take_runs(struct stream_in *s, const uint8_t *p, size_t n, struct err *e)
{
	for (; n >= RUN_SIZE; p += RUN_SIZE, n -= RUN_SIZE) {
		struct lane_in *l;
		struct run r;

		run_decode(p, &r);
		if (r.channel >= s->about.n_channels || r.count > UINT64_MAX / 4 || r.row > UINT64_MAX / 4)
			continue;
		l = &s->tier[s->channels[r.channel].tier];
		if (r.row + r.count <= l->next || l->n_runs == RUNS_MOST)
			continue;
		if (l->n_runs == l->room_runs) {
			size_t room = l->room_runs ? 2 * l->room_runs : 256;
			struct run *more = reallocarray(l->runs, room, sizeof(*more));

			if (!more)
				return no_memory(e);
			l->runs = more;
			l->room_runs = room;
		}
		l->runs[l->n_runs++] = r;
	}
	return 0;
}

static void take_marks(struct stream_in *s, const uint8_t *p, size_t n)
{
	uint64_t row;

	for (size_t used; n > 0; p += used, n -= used) {
		struct mark m;

		used = mark_decode(p, n, &m, &row);
		if (used == 0)
			return;
		if (m.t_ns < s->about.start.mono_ns || m.t_ns > TIME_MOST)
			continue;
		if (s->n_marks == WAIT_MOST)
			send_marks(s, s->marks[0].row);
		s->marks[s->n_marks].mark = m;
		s->marks[s->n_marks++].row = row;
		s->state.marks++;
	}
	send_marks(s, s->tier[TIER_FAST].next);
}

static void take_gaps(struct stream_in *s, const uint8_t *p, size_t n)
{
	for (; n >= GAP_SIZE; p += GAP_SIZE, n -= GAP_SIZE) {
		struct lane_in *l;
		struct gap g;

		if (!gap_decode(p, &g) || g.from_ns < s->about.start.mono_ns || g.to_ns > TIME_MOST)
			continue;
		l = &s->tier[g.tier];
		if (l->n_gaps == WAIT_MOST)
			send_gaps(s, l, l->gaps[0].from_ns + 1);
		l->gaps[l->n_gaps++] = g;
	}
}

int stream_in_chunk(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e)
{
	enum tier t = id == CHUNK_FAST ? TIER_FAST : id == CHUNK_MEDIUM ? TIER_MEDIUM : TIER_SLOW;

	if (id == CHUNK_STREAM || s->closed)
		return 0;
	if (id == CHUNK_ANCHOR || id == CHUNK_RATES || id == CHUNK_FACTS || id == CHUNK_CHANNELS)
		return describe(s, id, p, n, e);
	if (!s->begun && begin(s, e) < 0)
		return -1;
	switch (id) {
	case CHUNK_FAST:
	case CHUNK_MEDIUM:
	case CHUNK_SLOW:
		if (n % row_size[t] != 8)
			return 0;
		return take_rows(s, t, get_u64(p + n - 8), p, n / row_size[t], e);
	case CHUNK_COLUMNS:
		return take_columns(s, p, n, e);
	case CHUNK_RUNS:
		return take_runs(s, p, n, e);
	case CHUNK_MARKS:
		take_marks(s, p, n);
		return 0;
	case CHUNK_GAPS:
		take_gaps(s, p, n);
		return 0;
	case CHUNK_END:
		s->closed = true;
		return 0;
	default:
		return 0;
	}
}

void stream_in_damage(struct stream_in *s)
{
	s->spoiled |= !s->begun;
	for (int t = 0; t < TIERS; t++)
		s->tier[t].suspect = true;
}

int stream_in_fast(struct stream_in *s, uint64_t first, const uint8_t *p, size_t n, struct err *e)
{
	if (!s->begun && begin(s, e) < 0)
		return -1;
	return take_rows(s, TIER_FAST, first, p, n, e);
}

void stream_in_finish(struct stream_in *s)
{
	if (!s->begun)
		return;
	for (int t = 0; t < TIERS; t++) {
		deliver(s, (enum tier)t, UINT64_MAX);
		send_gaps(s, &s->tier[t], INT64_MAX);
	}
	send_marks(s, UINT64_MAX);
	s->to->ops->end(s->to, NULL);
	s->begun = false;
}

bool stream_in_begun(const struct stream_in *s)
{
	return s->begun;
}

bool stream_in_only_fast(const struct stream_in *s)
{
	return s->about.width[TIER_MEDIUM] == 0 && s->about.width[TIER_SLOW] == 0;
}

bool stream_in_closed(const struct stream_in *s)
{
	return s->closed;
}

void stream_in_state(const struct stream_in *s, struct trace_tail_state *out)
{
	*out = s->state;
}

struct stream_in *stream_in_new(struct sink *to, struct err *e)
{
	struct stream_in *s = calloc(1, sizeof(*s));
	bool ok = s && (s->marks = calloc(WAIT_MOST, sizeof(*s->marks)));

	for (int t = 0; ok && t < TIERS; t++)
		ok = (s->tier[t].gaps = calloc(WAIT_MOST, sizeof(struct gap)));
	if (!ok) {
		stream_in_free(s);
		no_memory(e);
		return NULL;
	}
	s->to = to;
	return s;
}

void stream_in_free(struct stream_in *s)
{
	if (!s)
		return;
	stream_in_finish(s);
	for (int t = 0; t < TIERS; t++) {
		struct lane_in *l = &s->tier[t];

		free(l->rows.p);
		free(l->cols.p);
		free(l->runs);
		free(l->channels);
		free(l->gaps);
		free(l->values);
	}
	free(s->marks);
	free(s->channels);
	free(s->places);
	free(s->facts);
	free(s);
}
