/* What was lost at the front is a gap in the trace, and counted there. */
#include "trace/resettle.h"

#include <stdlib.h>
#include <unistd.h>

#include "trace/output.h"

struct resettle {
	int side;
	off_t end;
	const struct front *front;
	struct clock_anchor start;
	uint8_t tiers[MAX_CHANNELS]; /* of the channels */
	size_t n_channels;
	uint64_t told, dropped; /* broken bytes that are passed on; runs that are not */
	struct journal journal;
	uint8_t chunk[BLOCK_BYTES];
};

static int put_bytes(struct resettle *r, const void *p, size_t n)
{
	if (write_at(r->side, p, n, r->end) < 0)
		return -1;
	r->end += (off_t)n;
	return 0;
}

static int put_chunk(struct resettle *r, uint32_t id, const uint8_t *p, size_t n)
{
	if (n > sizeof(r->chunk) - CHUNK_HEAD - CHUNK_CRC)
		return 0;
	memcpy(r->chunk + CHUNK_HEAD, p, n);
	return put_bytes(r, r->chunk, chunk_seal(r->chunk, id, n));
}

static void note_channels(struct resettle *r, const uint8_t *p, size_t n)
{
	struct channel c;
	struct place place;

	for (size_t used; n > 0 && r->n_channels < MAX_CHANNELS; p += used, n -= used) {
		used = channel_decode(p, n, &c, &place);
		if (used == 0)
			return;
		r->tiers[r->n_channels++] = (uint8_t)c.tier;
	}
}

static int visit_about(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct resettle *r = to;

	if (id == CHUNK_ANCHOR && n >= ANCHOR_SIZE)
		anchor_decode(p, &r->start);
	if (id == CHUNK_CHANNELS)
		note_channels(r, p, n);
	return journal_describes(id) ? put_chunk(r, id, p, n) : 0;
}

/* Something else must stand between the description and what is broken; this also
 * vouches for no row. */
static int put_front(struct resettle *r)
{
	static const uint8_t none[COVER_SIZE];
	uint8_t gaps[TIERS * GAP_SIZE];
	size_t n = 0;

	for (int t = 0; t < TIERS; t++) {
		const struct front *f = r->front;
		struct gap g = {(enum tier)t, GAP_LOST, r->start.mono_ns, r->start.mono_ns + f->first_ns[t],
				f->base[t]};

		if (f->base[t] > 0 && f->first_ns[t] >= 0)
			n += gap_encode(gaps + n, &g);
	}
	if (n > 0 && put_chunk(r, CHUNK_GAPS, gaps, n) < 0)
		return -1;
	return put_chunk(r, CHUNK_COVER, none, sizeof(none));
}

/* Count the u64 at p from the first row on; false: it is before that. */
static bool shift(uint8_t *p, uint64_t base)
{
	uint64_t row = get_u64(p);

	put_u64(p, row > base ? row - base : 0);
	return row >= base;
}

/* Runs in the same place, without those of rows that are lost.  Returns the bytes left. */
static size_t shift_runs(struct resettle *r, uint8_t *p, size_t n)
{
	uint8_t *out = p;

	for (const uint8_t *in = p; n >= RUN_SIZE; in += RUN_SIZE, n -= RUN_SIZE) {
		struct run run;
		uint64_t base, end;

		run_decode(in, &run);
		base = run.channel < r->n_channels ? r->front->base[r->tiers[run.channel]] : 0;
		end = run.row + run.count;
		if (end < run.row || end <= base) {
			r->dropped++;
			continue;
		}
		run.row = run.row > base ? run.row - base : 0;
		run.count = end - base - run.row;
		out += run_encode(out, &run);
	}
	return (size_t)(out - p);
}

static void shift_marks(struct resettle *r, uint8_t *p, size_t n)
{
	struct mark m;
	uint64_t row;

	for (size_t used; n > 0; p += used, n -= used) {
		used = mark_decode(p, n, &m, &row);
		if (used == 0)
			return;
		shift(p + 16, r->front->base[TIER_FAST]);
	}
}

static void shift_cover(struct resettle *r, uint8_t *p)
{
	for (int t = 0; t < TIERS; t++)
		shift(p + 8 * t, r->front->base[t]);
	shift(p + 8 * TIERS, r->dropped);
}

/* Rows of version 1 have the number of the first behind them. */
static bool shift_rows(struct resettle *r, enum tier t, uint8_t *p, size_t n)
{
	return n % row_size[t] == 8 && shift(p + n - 8, r->front->base[t]);
}

static int visit(void *to, uint32_t id, uint8_t *p, size_t n)
{
	static const uint8_t none[4096];
	struct resettle *r = to;
	struct columns_head h;

	while (r->told < r->journal.broken) {
		uint64_t lost = r->journal.broken - r->told;

		lost = lost < sizeof(none) ? lost : sizeof(none);
		if (put_bytes(r, none, (size_t)lost) < 0)
			return -1;
		r->told += lost;
	}
	if ((id == CHUNK_MEDIUM && !shift_rows(r, TIER_MEDIUM, p, n)) ||
	    (id == CHUNK_SLOW && !shift_rows(r, TIER_SLOW, p, n)) ||
	    (id == CHUNK_COLUMNS && (!columns_decode(p, n, &h) || !shift(p + 8, r->front->base[h.tier]))))
		return 0;
	if (id == CHUNK_RUNS)
		n = shift_runs(r, p, n);
	else if (id == CHUNK_MARKS)
		shift_marks(r, p, n);
	else if (id == CHUNK_COVER && n == COVER_SIZE)
		shift_cover(r, p);
	return put_chunk(r, id, p, n);
}

static int copy(int from, int to, uint8_t *piece, size_t size)
{
	off_t at = 0;
	ssize_t n;

	while ((n = read_at(from, piece, size, at)) > 0) {
		if (write_at(to, piece, (size_t)n, at) < 0)
			return -1;
		at += n;
	}
	return n < 0 ? -1 : 0;
}

int side_resettle(int side, int spare, const struct again_in *about, const struct front *front)
{
	struct resettle *r = calloc(1, sizeof(*r));
	int done = -1;

	if (r) {
		r->side = side;
		r->front = front;
		r->journal.fd = spare;
		if (copy(side, spare, r->chunk, sizeof(r->chunk)) == 0 && ftruncate(side, 0) == 0 &&
		    again_each(about, visit_about, r) == 0 && put_front(r) == 0)
			done = journal_each(&r->journal, visit, r);
	}
	free(r);
	return done;
}
