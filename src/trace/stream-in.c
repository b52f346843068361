/* Rows of version 1, the columns beyond it and the runs that say what was missing
 * come in chunks of their own, in any order that a damaged stream has them in:
 * memory is bounded whatever comes.  Marks and gaps wait for their place between
 * the rows. */
#include "trace/stream-in.h"

#include <stdlib.h>

#include "trace/stream-state.h"

#define RUNS_MOST 131072
#define WAIT_MOST 1024 /* marks, gaps */

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
				return stream_no_memory(e);
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
		if (s->n_marks == WAIT_MOST && !s->begun)
			return;
		if (s->n_marks == WAIT_MOST)
			stream_send_marks(s, s->marks[0].row);
		s->marks[s->n_marks].mark = m;
		s->marks[s->n_marks++].row = row;
		s->state.marks++;
	}
	if (s->begun)
		stream_send_marks(s, s->tier[TIER_FAST].next);
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
			stream_send_gaps(s, l, l->gaps[0].from_ns + 1);
		l->gaps[l->n_gaps++] = g;
	}
}

/* They need not wait: they are told long after the rows of their time. */
static void take_changes(struct stream_in *s, const uint8_t *p, size_t n)
{
	struct change c;

	for (size_t used; n > 0; p += used, n -= used) {
		used = change_decode(p, n, &c);
		if (used == 0)
			return;
		if (c.t_ns >= s->about.start.mono_ns && c.t_ns <= TIME_MOST && s->to->ops->change)
			s->to->ops->change(s->to, &c);
	}
}

int stream_in_chunk(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e)
{
	enum tier t = id == CHUNK_FAST ? TIER_FAST : id == CHUNK_MEDIUM ? TIER_MEDIUM : TIER_SLOW;

	if (id == CHUNK_STREAM || s->closed)
		return 0;
	if (id == CHUNK_ANCHOR || id == CHUNK_RATES || id == CHUNK_FACTS || id == CHUNK_CHANNELS)
		return stream_describe(s, id, p, n, e);
	if (id == CHUNK_AGAIN)
		return stream_again(s, p, n, e);
	if (!s->begun && stream_not_yet(s, id, p, n, e) < 0)
		return -1;
	/* Marks wait for the description, which has the clocks. */
	if (!s->begun && id != CHUNK_MARKS && id != CHUNK_END)
		return 0;
	switch (id) {
	case CHUNK_FAST:
	case CHUNK_MEDIUM:
	case CHUNK_SLOW:
		if (n % row_size[t] != 8)
			return 0;
		return stream_take_rows(s, t, get_u64(p + n - 8), p, n / row_size[t], e);
	case CHUNK_COLUMNS:
		return stream_take_columns(s, p, n, e);
	case CHUNK_RUNS:
		return take_runs(s, p, n, e);
	case CHUNK_MARKS:
		take_marks(s, p, n);
		return 0;
	case CHUNK_GAPS:
		take_gaps(s, p, n);
		return 0;
	case CHUNK_CHANGES:
		take_changes(s, p, n);
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
	if (!s->begun && stream_begin(s, e) < 0)
		return -1;
	return stream_take_rows(s, TIER_FAST, first, p, n, e);
}

void stream_in_finish(struct stream_in *s)
{
	if (!s->begun)
		return;
	for (int t = 0; t < TIERS; t++) {
		stream_deliver(s, (enum tier)t, UINT64_MAX);
		stream_send_gaps(s, &s->tier[t], INT64_MAX);
	}
	stream_send_marks(s, UINT64_MAX);
	s->to->ops->end(s->to, NULL);
	s->begun = false;
}

bool stream_in_begun(const struct stream_in *s)
{
	return s->begun;
}

bool stream_in_other(const struct stream_in *s)
{
	return s->other;
}

bool stream_in_late(const struct stream_in *s)
{
	return s->late;
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
		stream_no_memory(e);
		return NULL;
	}
	s->to = to;
	s->late_ns = -1;
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
	again_free(&s->again);
	free(s->marks);
	free(s->channels);
	free(s->places);
	free(s->facts);
	free(s);
}
