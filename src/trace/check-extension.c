/* The chunks behind the last sync point, each for itself and against the rows. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/check.h"
#include "trace/pyramid.h"

struct walk {
	struct check *c;
	size_t at; /* of the chunk */
	char name[5];
	uint64_t chunks;
	bool anchor, closed;
	size_t n_channels;
	struct place place[MAX_CHANNELS];
	uint8_t tier[MAX_CHANNELS];
	uint64_t run_end[MAX_CHANNELS]; /* of the channel's latest run */
	uint8_t taken[TIERS][MAX_CHANNELS];
	uint64_t columns_end[TIERS], marks;
	uint8_t *sync_taken; /* one a sync point: a mark has its id */
	struct kind runs, gaps, marks_bad;
	uint64_t late[TIERS], lost[TIERS];
};

static void __attribute__((format(printf, 2, 3))) say(struct walk *w, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	check_say(w->c, _("extension, offset %zu, chunk %s: %s"), w->at, w->name, text);
}

static void wrong_size(struct walk *w, uint64_t n)
{
	say(w, _("%llu bytes are not whole records of its kind"), (unsigned long long)n);
}

static void check_anchor(struct walk *w, const uint8_t *p, size_t n)
{
	struct clock_anchor a;

	if (n == 0 || n % ANCHOR_SIZE) {
		wrong_size(w, n);
		return;
	}
	anchor_decode(p, &a);
	if (a.mono_ns < 0 || a.mono_ns > INT64_C(1) << 61)
		say(w, _("the monotonic clock is %lld ns"), (long long)a.mono_ns);
	else if (!w->anchor)
		w->c->start_ns = a.mono_ns;
	w->anchor = true;
}

static void check_rates(struct walk *w, const uint8_t *p, size_t n)
{
	if (n != RATES_SIZE) {
		wrong_size(w, n);
		return;
	}
	for (int t = 0; t < TIERS; t++) {
		double hz = get_f64(p + 8 * t);
		uint32_t whole = get_u32(w->c->map + H_HZ + 4 * t);

		if (!(hz > 0 && hz <= 1e6))
			say(w, _("the rate of the %s tier is %g Hz"), tier_name((enum tier)t), hz);
		else if (fabs(hz - (double)whole) > 0.5 && !(hz < 1 && whole == 1))
			say(w, _("the rate of the %s tier is %g Hz, and %u Hz in the header"),
			    tier_name((enum tier)t), hz, whole);
	}
}

static void check_facts(struct walk *w, const uint8_t *p, size_t n)
{
	struct fact f;

	for (size_t used; n > 0; p += used, n -= used) {
		used = fact_decode(p, n, &f);
		if (used == 0) {
			say(w, _("a record is not two texts"));
			return;
		}
	}
}

static void check_channels(struct walk *w, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0; p += used, n -= used) {
		struct channel ch;
		struct place place;

		used = channel_decode(p, n, &ch, &place);
		if (used == 0 || w->n_channels == MAX_CHANNELS) {
			say(w, _("record %zu is no channel, or one too many"), w->n_channels);
			return;
		}
		if (ch.column >= MAX_CHANNELS || w->taken[ch.tier][ch.column]++)
			say(w, _("channel %s has the column of another one"), ch.name);
		w->place[w->n_channels] = place;
		w->tier[w->n_channels++] = (uint8_t)ch.tier;
	}
}

/* Marks stand in the order in which they came, sync points in that of their ids.  False:
 * there is none of that id, or it was asked for before. */
static bool sync_of(struct walk *w, uint64_t id, uint64_t *row)
{
	const uint8_t *first = w->c->map + w->c->sync_at;
	uint64_t lo = 0, hi = w->c->n_sync;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (get_u64(first + mid * SYNC_SIZE) < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == w->c->n_sync || get_u64(first + lo * SYNC_SIZE) != id)
		return false;
	*row = get_u64(first + lo * SYNC_SIZE + 8);
	if (!w->sync_taken)
		w->sync_taken = calloc(w->c->n_sync, 1);
	return w->sync_taken && !w->sync_taken[lo]++;
}

static void check_marks(struct walk *w, const uint8_t *p, size_t n)
{
	struct mark m;
	uint64_t row, at;

	for (size_t used; n > 0; p += used, n -= used) {
		used = mark_decode(p, n, &m, &row);
		if (used == 0) {
			say(w, _("record %llu is no mark"), (unsigned long long)w->marks);
			return;
		}
		if (!sync_of(w, m.id, &at))
			kind_note(&w->marks_bad, w->at, w->marks,
				  _("no sync point has the id %llu of this mark, or another mark has it, too"),
				  (unsigned long long)m.id);
		else if (at != row)
			kind_note(&w->marks_bad, w->at, w->marks,
				  _("mark %llu is at fast row %llu, and its sync point at %llu"),
				  (unsigned long long)m.id, (unsigned long long)row, (unsigned long long)at);
		w->marks++;
	}
}

static void check_gaps(struct walk *w, const uint8_t *p, size_t n)
{
	struct gap g;

	if (n % GAP_SIZE)
		wrong_size(w, n);
	for (uint64_t i = 0; n >= GAP_SIZE; p += GAP_SIZE, n -= GAP_SIZE, i++) {
		if (!gap_decode(p, &g))
			kind_note(&w->gaps, w->at, i, _("it is no gap"));
		else
			*(g.cause == GAP_LATE ? &w->late[g.tier] : &w->lost[g.tier]) += g.missed;
	}
}

static void check_runs(struct walk *w, const uint8_t *p, size_t n)
{
	if (n % RUN_SIZE)
		wrong_size(w, n);
	for (uint64_t i = 0; n >= RUN_SIZE; p += RUN_SIZE, n -= RUN_SIZE, i++) {
		struct run r;
		uint64_t rows;

		run_decode(p, &r);
		rows = r.channel < w->n_channels ? w->c->rows[w->tier[r.channel]] : 0;
		if (r.channel >= w->n_channels)
			kind_note(&w->runs, w->at, i, _("there is no channel %u"), r.channel);
		else if (r.count == 0 || r.row >= rows || r.count > rows - r.row)
			kind_note(&w->runs, w->at, i, _("rows %llu + %llu of %llu"),
				  (unsigned long long)r.row, (unsigned long long)r.count,
				  (unsigned long long)rows);
		else if (r.row < w->run_end[r.channel])
			kind_note(&w->runs, w->at, i, _("those of channel %u are out of order"), r.channel);
		else
			w->run_end[r.channel] = r.row + r.count;
	}
}

static void check_columns(struct walk *w, const uint8_t *p, uint64_t n)
{
	struct columns_head h;

	if (!columns_decode(p, n, &h)) {
		wrong_size(w, n);
		return;
	}
	if (h.row < w->columns_end[h.tier])
		say(w, _("row %llu of the %s tier was in the chunk before it"), (unsigned long long)h.row,
		    tier_name(h.tier));
	if (h.row > w->c->rows[h.tier] || h.rows > w->c->rows[h.tier] - h.row)
		say(w, _("rows %llu + %llu of %llu"), (unsigned long long)h.row, (unsigned long long)h.rows,
		    (unsigned long long)w->c->rows[h.tier]);
	else
		w->columns_end[h.tier] = h.row + h.rows;
}

static void check_pyramid(struct walk *w, const uint8_t *p, uint64_t n)
{
	struct pyramid_head h;

	if (!pyramid_head_decode(p, n, &h))
		wrong_size(w, n);
	else if (h.row > w->c->rows[h.tier] || h.rows > w->c->rows[h.tier] - h.row)
		say(w, _("rows %llu + %llu of %llu"), (unsigned long long)h.row, (unsigned long long)h.rows,
		    (unsigned long long)w->c->rows[h.tier]);
}

static void check_tally(struct walk *w, const uint8_t *p, size_t n)
{
	if (n != TALLY_SIZE) {
		wrong_size(w, n);
		return;
	}
	for (int t = 0; t < TIERS; t++)
		if (get_u64(p + 24 * t) != w->c->rows[t])
			say(w, _("%llu rows in the %s tier, and %llu in the header"),
			    (unsigned long long)get_u64(p + 24 * t), tier_name((enum tier)t),
			    (unsigned long long)w->c->rows[t]);
}

static void check_close(struct walk *w, const uint8_t *p, size_t n, size_t first)
{
	const struct check *c = w->c;

	w->closed = true;
	if (n != CLOSE_SIZE) {
		wrong_size(w, n);
		return;
	}
	if (get_u64(p) != first)
		say(w, _("the extension begins at %zu, not at %llu"), first, (unsigned long long)get_u64(p));
	if (get_u64(p + 8) != w->chunks)
		say(w, _("%llu chunks are before it, not %llu"), (unsigned long long)w->chunks,
		    (unsigned long long)get_u64(p + 8));
	if (memcmp(p + 16, c->map + H_COUNTS, 32) != 0)
		say(w, _("its counts are not those of the header"));
	if (get_u32(p + 48) != chunk_crc(c->map, HEADER_SIZE))
		say(w, _("the header is not as it was written"));
}

static void check_payload(struct walk *w, const struct chunk *k, const uint8_t *p, size_t first)
{
	size_t n = (size_t)k->length;

	switch (k->version == CHUNK_VERSION ? k->id : 0) {
	case CHUNK_OPEN:
		if (n < 2 || get_u16(p) != n - 2)
			say(w, _("it is not one text"));
		break;
	case CHUNK_ANCHOR:
		check_anchor(w, p, n);
		break;
	case CHUNK_RATES:
		check_rates(w, p, n);
		break;
	case CHUNK_FACTS:
		check_facts(w, p, n);
		break;
	case CHUNK_CHANNELS:
		check_channels(w, p, n);
		break;
	case CHUNK_MARKS:
		check_marks(w, p, n);
		break;
	case CHUNK_GAPS:
		check_gaps(w, p, n);
		break;
	case CHUNK_COLUMNS:
		check_columns(w, p, n);
		break;
	case CHUNK_PYRAMID:
		check_pyramid(w, p, n);
		break;
	case CHUNK_TALLY:
		check_tally(w, p, n);
		break;
	case CHUNK_CLOSE:
		check_close(w, p, n, first);
		break;
	default:
		break; /* of a kind that is not known: whoever wrote it knows */
	}
}

/* The runs once more: only behind all of it is it known which channels there are. */
static void walk_runs(struct walk *w, size_t first)
{
	struct check *c = w->c;
	struct chunk k;
	size_t end = w->at;

	for (w->at = first; w->at < end; w->at += CHUNK_HEAD + (size_t)k.length + CHUNK_CRC) {
		const uint8_t *p = c->map + w->at + CHUNK_HEAD;

		if (!chunk_head_decode(c->map + w->at, &k) ||
		    k.length > end - w->at) /* it has changed meanwhile */
			return;
		chunk_name(k.id, w->name);
		if (k.id == CHUNK_RUNS && k.version == CHUNK_VERSION &&
		    get_u32(p + k.length) == chunk_crc(p, (size_t)k.length))
			check_runs(w, p, (size_t)k.length);
	}
}

/* Every chunk; false where they stop being chunks. */
static bool walk_chunks(struct walk *w, size_t first)
{
	struct check *c = w->c;
	struct chunk k;

	while (c->size - w->at >= CHUNK_HEAD + CHUNK_CRC && !w->closed) {
		const uint8_t *p = c->map + w->at + CHUNK_HEAD;
		bool whole = chunk_head_decode(c->map + w->at, &k);

		chunk_name(k.id, w->name);
		if (!whole) {
			say(w, _("its head has the wrong sum; what follows cannot be found"));
			return false;
		}
		if (k.length > c->size - w->at - CHUNK_HEAD - CHUNK_CRC) {
			say(w, _("it is %llu bytes long and the file ends before that"),
			    (unsigned long long)k.length);
			return false;
		}
		if (get_u32(p + k.length) != chunk_crc(p, (size_t)k.length))
			say(w, _("its payload has the wrong sum"));
		else
			check_payload(w, &k, p, first);
		w->chunks += k.id != CHUNK_CLOSE;
		w->at += CHUNK_HEAD + (size_t)k.length + CHUNK_CRC;
	}
	return true;
}

/* Channels and what they need. */
static void check_sum(struct walk *w)
{
	size_t width[TIERS] = {0};

	for (size_t i = 0; i < w->n_channels; i++)
		width[w->tier[i]]++;
	for (int t = 0; t < TIERS; t++)
		for (size_t i = 0; i < width[t]; i++)
			if (!w->taken[t][i]) {
				check_say(w->c, _("extension: no channel of the %s tier has column %zu"),
					  tier_name((enum tier)t), i);
				break;
			}
	if (!w->anchor)
		check_say(w->c, _("extension: there are no clocks (ANCH)"));
	if (w->n_channels == 0)
		check_say(w->c, _("extension: there are no channels (CHAN)"));
	if (w->marks > 0 && w->marks != w->c->n_sync)
		check_say(w->c, _("extension: %llu marks, and %llu sync points"),
			  (unsigned long long)w->marks, (unsigned long long)w->c->n_sync);
}

void check_extension(struct check *c, size_t at)
{
	struct walk *w = calloc(1, sizeof(*w));

	if (!w) {
		check_say(c, _("out of memory"));
		return;
	}
	w->c = c;
	w->at = at;
	c->out->extended = true;
	if (walk_chunks(w, at)) {
		if (!w->closed)
			check_say(c, _("extension, offset %zu: there is no closing chunk (ENDX)"), w->at);
		else if (w->at != c->size)
			check_say(c, _("extension, offset %zu: %zu bytes follow the closing chunk"), w->at,
				  c->size - w->at);
	}
	walk_runs(w, at);
	kind_say(c, "MARK", &w->marks_bad);
	kind_say(c, "GAPS", &w->gaps);
	kind_say(c, "RUNS", &w->runs);
	check_sum(w);
	c->out->chunks = w->chunks + w->closed;
	free(w->sync_taken);
	free(w);
}
