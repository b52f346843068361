/* Each tier keeps what has come until all of a row is there, hands it over, and
 * forgets it. */
#include <math.h>
#include <stdlib.h>

#include "trace/stream-state.h"

#define ROWS_MOST 65536             /* waiting for their columns; then they go without */
#define COLS_MOST ((size_t)8 << 20) /* bytes of columns that wait for their rows */

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

static void send_gap(struct stream_in *s, const struct gap *g)
{
	if (g->cause == GAP_LATE)
		s->state.late[g->tier] += g->missed;
	else
		s->state.lost[g->tier] += g->missed;
	s->to->ops->gap(s->to, g);
}

void stream_send_gaps(struct stream_in *s, struct lane_in *l, int64_t before_ns)
{
	size_t n = 0;

	while (n < l->n_gaps && l->gaps[n].from_ns < before_ns)
		send_gap(s, &l->gaps[n++]);
	l->n_gaps -= n;
	memmove(l->gaps, l->gaps + n, l->n_gaps * sizeof(*l->gaps));
}

void stream_send_marks(struct stream_in *s, uint64_t before)
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
	if (l->missed > 0)
		send_gap(s, &(struct gap) {t, GAP_LOST, s->about.start.mono_ns, times[0], l->missed});
	l->missed = 0;
	stream_send_gaps(s, l, times[0]);
	if (t == TIER_FAST)
		stream_send_marks(s, l->next);
	fill(s, l, t, out.n);
	out.t_ns = times;
	s->to->ops->rows(s->to, &out);
	s->state.rows[t] += out.n;
	if (l->last_ns > s->state.newest_ns)
		s->state.newest_ns = l->last_ns;
	forget(l, t, out.n);
	return out.n;
}

void stream_deliver(struct stream_in *s, enum tier t, uint64_t upto)
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

int stream_take_rows(struct stream_in *s, enum tier t, uint64_t first, const uint8_t *p, size_t n,
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
		stream_deliver(s, t, UINT64_MAX);
		s->state.lost[t] += first - end;
		l->next = first;
	}
	if (l->suspect) {
		/* A value that was not read must not come out as 0. */
		stream_deliver(s, t, UINT64_MAX);
		l->suspect = false;
		l->blank_from = first;
		l->blank_to = first + n;
	}
	if (!fifo_add(&l->rows, p, n * row_size[t]))
		return stream_no_memory(e);
	stream_deliver(s, t, (l->rows.end - l->rows.at) / row_size[t] > ROWS_MOST ? UINT64_MAX : 0);
	return 0;
}

int stream_take_columns(struct stream_in *s, const uint8_t *p, size_t n, struct err *e)
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
		stream_deliver(s, h.tier, h.row);
		l->cols.at = l->cols.end = 0;
		l->cols_next = h.row;
		s->state.damaged += h.row > end;
	}
	if (!fifo_add(&l->cols, p + COLUMNS_HEAD, n - COLUMNS_HEAD))
		return stream_no_memory(e);
	stream_deliver(s, h.tier, 0);
	return 0;
}
