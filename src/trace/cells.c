/* Rows are read where they lie in the mapped file.  Values of many rows at once
 * go field by field, so that the loops are plain. */
#include <math.h>

#include "trace/build.h"
#include "trace/log-reader.h"
#include "trace/nonsense.h"

const uint8_t *row_at(const struct trace *t, enum tier tier, uint64_t row)
{
	return t->map + t->section[tier].at + (size_t)row * row_size[tier];
}

int64_t row_ns(const struct trace *t, enum tier tier, uint64_t row)
{
	int64_t ns = 0;

	if (t->log) {
		log_reader_times(t->log, tier, row, 1, &ns);
		return ns;
	}
	row_time(row_at(t, tier, row), &ns);
	return t->session.start.mono_ns + ns;
}

#define TOUCHED_MOST ((size_t)16 << 20)

void trace_touch(struct trace *t, size_t bytes)
{
	if (atomic_fetch_add_explicit(&t->touched, bytes, memory_order_relaxed) + bytes < TOUCHED_MOST)
		return;
	atomic_store_explicit(&t->touched, 0, memory_order_relaxed);
	map_release(&t->file);
	if (t->store)
		store_release(t->store);
	if (t->build)
		build_relax(t->build);
}

/* Rows come at an almost steady rate, so a guess by time is nearly right; after
 * a few of them each second step halves, whatever the times are. */
uint64_t row_find(const struct trace *t, enum tier tier, int64_t t_ns)
{
	uint64_t lo = 0, hi = t->section[tier].rows;
	int64_t lo_ns, hi_ns;

	if (t->log)
		return log_reader_row_from(t->log, tier, t_ns);
	if (hi == 0)
		return 0;
	lo_ns = row_ns(t, tier, 0);
	hi_ns = row_ns(t, tier, hi - 1);
	if (t_ns <= lo_ns)
		return 0;
	if (t_ns > hi_ns)
		return hi;
	hi--; /* row lo is earlier, row hi is not */
	for (int step = 0; hi - lo > 1; step++) {
		uint64_t mid = lo + (hi - lo) / 2;
		int64_t ns;

		if (step % 3 < 2 && hi_ns > lo_ns) {
			double part = (double)(t_ns - lo_ns) / (double)(hi_ns - lo_ns);
			uint64_t guess = lo + (uint64_t)(part * (double)(hi - lo));

			/* A little to the side on which the row then is between two guesses. */
			guess += step % 3 == 0 ? 0 : 1;
			mid = guess <= lo ? lo + 1 : guess >= hi ? hi - 1 : guess;
		}
		ns = row_ns(t, tier, mid);
		if (ns < t_ns)
			lo = mid, lo_ns = ns;
		else
			hi = mid, hi_ns = ns;
	}
	return hi;
}

bool columns_check(struct trace *t, struct columns *c)
{
	if (atomic_load_explicit(&c->sum, memory_order_relaxed) == COLUMNS_NEW) {
		size_t n = COLUMNS_HEAD + (size_t)c->head.rows * c->head.columns * 8;
		const uint8_t *payload = t->map + c->chunk + CHUNK_HEAD;
		bool good = get_u32(payload + n) == chunk_crc(payload, n);

		trace_touch(t, n);
		atomic_store_explicit(&c->sum, good ? COLUMNS_GOOD : COLUMNS_BAD, memory_order_relaxed);
	}
	return atomic_load_explicit(&c->sum, memory_order_relaxed) == COLUMNS_GOOD;
}

/* Of the chunks of a tier, the last that begins at or before the row. */
static size_t columns_find(const struct trace *t, enum tier tier, uint64_t row)
{
	size_t lo = 0, hi = t->n_columns[tier];

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->columns[tier][mid].head.row <= row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? lo - 1 : 0;
}

static void extra_read(struct trace *t, enum tier tier, unsigned slot, uint64_t first, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = NAN;
	for (size_t k = columns_find(t, tier, first); k < t->n_columns[tier]; k++) {
		struct columns *c = &t->columns[tier][k];
		uint64_t from = c->head.row > first ? c->head.row : first;
		uint64_t to = c->head.row + c->head.rows;

		if (c->head.row >= first + n)
			break;
		if (to > first + n)
			to = first + n;
		if (slot >= c->head.columns || from >= to || !columns_check(t, c))
			continue;
		for (uint64_t r = from; r < to; r++)
			out[r - first] =
				get_f64(t->map + c->at + 8 * ((r - c->head.row) * c->head.columns + slot));
	}
}

size_t run_find(const struct trace *t, const struct source *s, uint64_t row)
{
	size_t lo = s->run, hi = s->run + s->n_runs;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->runs[mid].row + t->runs[mid].count <= row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Lay the runs of the channel over the values. */
static void runs_apply(const struct trace *t, const struct source *s, uint64_t first, size_t n, double *out)
{
	size_t lo = run_find(t, s, first);

	for (; lo < s->run + s->n_runs && t->runs[lo].row < first + n; lo++) {
		const struct run *r = &t->runs[lo];
		uint64_t from = r->row > first ? r->row : first;
		uint64_t to = r->row + r->count < first + n ? r->row + r->count : first + n;

		for (; from < to; from++)
			out[from - first] = r->value;
	}
}

void cells_read(struct trace *t, size_t channel, uint64_t first, size_t n, double *out)
{
	const struct source *s = &t->sources[channel];
	enum tier tier = t->channels[channel].tier;
	enum field field;

	if (t->log) {
		log_reader_values(t->log, channel, first, n, out);
		return;
	}
	field = (enum field)s->place.field;
	if (field == FIELD_EXTRA)
		extra_read(t, tier, s->place.slot, first, n, out);
	else if (!cells_decode(row_at(t, tier, first), row_size[tier], field, s->place.slot, n, out, 1))
		nonsense_note(t, channel, first, n);
	if (s->n_runs > 0)
		runs_apply(t, s, first, n, out);
}

double cell_read(struct trace *t, size_t channel, uint64_t row)
{
	double v;

	cells_read(t, channel, row, 1, &v);
	return v;
}

#define ROWS_ONCE 64 /* of which all values are in the nearest cache */

void rows_decode(struct trace *t, enum tier tier, uint64_t first, size_t n, double *out, size_t stride)
{
	double v[ROWS_ONCE];

	for (size_t done = 0, part; done < n; done += part, out += part * stride) {
		part = n - done < ROWS_ONCE ? n - done : ROWS_ONCE;
		for (size_t c = 0; c < t->session.n_channels; c++) {
			const struct source *s = &t->sources[c];
			double *to = out + t->channels[c].column;

			if (t->channels[c].tier != tier)
				continue;
			if (s->place.field != FIELD_EXTRA && s->n_runs == 0) {
				if (!cells_decode(row_at(t, tier, first + done), row_size[tier],
						  (enum field)s->place.field, s->place.slot, part, to,
						  stride))
					nonsense_note(t, c, first + done, part);
				continue;
			}
			cells_read(t, c, first + done, part, v);
			for (size_t i = 0; i < part; i++, to += stride)
				*to = v[i];
		}
	}
}
