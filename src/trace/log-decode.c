/* What chunks hold. A payload can be wrong although its checksum is right: it is checked here once, as a whole, so that
 * what follows need not. */
#include "trace/log-decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"

bool log_section_arrays(const struct log_section *s, const uint16_t *column, unsigned n, size_t width,
			uint8_t *bytes, struct log_array *out)
{
	struct log_walk walk;
	bool known = true;

	memcpy(bytes, s->arrays, s->size);
	for (size_t i = 0; i < width; i++)
		out[i] = (struct log_array) {bytes, LOG_NONE};
	log_walk_begin(&walk, s);
	for (uint32_t c = 0; c < s->columns; c++) {
		if (c < n && column[c] < width) {
			out[column[c]] = (struct log_array) {bytes + (walk.p - s->arrays), s->kinds[c]};
			known &= !(s->kinds[c] & LOG_OTHER);
		}
		log_walk_skip(&walk, 1);
	}
	return known;
}

bool log_event_get(unsigned kind, struct log_in *record, struct log_event *ev)
{
	bool good = false;

	ev->kind = (enum log_kind)kind;
	if (kind == LOG_MARK) {
		good = log_mark_get(record, &ev->u.mark);
		ev->t_ns = good ? ev->u.mark.t_ns : 0;
	} else if (kind == LOG_GAP) {
		good = log_gap_get(record, &ev->u.gap);
		ev->t_ns = good ? ev->u.gap.from_ns : 0;
	} else if (kind == LOG_STATE) {
		good = log_change_get(record, &ev->u.change);
		ev->t_ns = good ? ev->u.change.t_ns : 0;
	} else if (kind == LOG_EVENT) {
		good = log_state_get(record, &ev->u.state) && ev->u.state.from_ns <= ev->u.state.to_ns;
		ev->t_ns = good ? ev->u.state.from_ns : 0;
	}
	return good;
}

void log_event_put(struct log_bytes *raw, const struct log_event *ev)
{
	size_t start;

	log_put_u16(raw, 0);
	start = raw->n;
	if (ev->kind == LOG_MARK)
		log_mark_put(raw, &ev->u.mark);
	else if (ev->kind == LOG_GAP)
		log_gap_put(raw, &ev->u.gap);
	else if (ev->kind == LOG_STATE)
		log_change_put(raw, &ev->u.change);
	else
		log_state_put(raw, &ev->u.state);
	log_record_end(raw, start);
}

/* --- is it right? --- */

/* Whether its clocks can be. */
static bool meta_good(struct log_in *in)
{
	struct log_in record;
	struct clock_anchor a;
	unsigned tag;

	while (log_get_tagged(in, &tag, &record))
		if ((tag == LOG_TAG_START || tag == LOG_TAG_ANCHOR) && !log_anchor_get(&record, &a))
			return false;
	return !in->bad;
}

static bool data_good(const struct log_head *h, struct log_in *in, struct log_data *out)
{
	struct log_section s;
	unsigned seen = 0;
	int got;

	memset(out, 0, sizeof(*out));
	while ((got = log_data_next(in, &s)) > 0) {
		int64_t end_ns;

		if (seen & 1U << s.tier || !log_section_end(&s, h->cell, &end_ns))
			return false;
		seen |= 1U << s.tier;
		if (s.tier >= TIERS)
			continue;
		out->sections[s.tier] = s;
		out->end_ns[s.tier] = end_ns;
	}
	return got == 0;
}

static bool events_good(unsigned kind, struct log_in *in)
{
	struct log_in record;
	struct log_event ev;

	while (log_get_record(in, &record))
		if (!log_event_get(kind, &record, &ev))
			return false;
	return !in->bad;
}

/* All bins are in the span. */
static bool lod_good(const struct log_head *h, struct log_in *in)
{
	unsigned zoom = log_get_u8(in);
	int level = log_zoom_level((int)zoom), got = 0, bits = LOG_CELL_ZOOM + LOG_SPAN_BITS * level - (int)zoom;
	struct log_section s;

	if (!level)
		return true; /* of a newer version */
	log_in_take(in, 3);
	while (!in->bad && (got = log_lod_next(in, &s)) > 0) {
		int64_t first = (int64_t)((uint64_t)log_span(h->cell, level) << bits);

		if (s.first < first || (uint64_t)s.first - (uint64_t)first + s.n > UINT64_C(1) << bits)
			return false;
	}
	return !in->bad && got == 0;
}

static bool stat_good(const struct log_head *h, struct log_in *in)
{
	unsigned level = log_get_u8(in), size = (log_get_u8(in), log_get_u16(in));
	uint32_t n = log_get_u32(in);
	const uint8_t *p = log_in_take(in, LOG_STAT_HEAD - 8) && n <= LOG_CHANNELS && size >= LOG_STAT_SIZE
				   ? log_in_take(in, (size_t)n * size)
				   : NULL;
	uint8_t *plain = p ? malloc((size_t)n * size + 1) : NULL;
	bool good = plain && level >= 1 && level <= LOG_LEVELS;

	if (plain)
		log_unshuffle(plain, p, n, size);
	for (uint32_t i = 0; good && i < n; i++) {
		struct span_stats s;

		good = log_stat_get(&(struct log_in) {plain + (size_t)i * size, plain + (i + 1) * (size_t)size, false}, &s) &&
		       log_span(log_cell(s.first_ns), (int)level) == log_span(h->cell, (int)level) &&
		       log_span(log_cell(s.last_ns), (int)level) == log_span(h->cell, (int)level);
	}
	free(plain);
	return good;
}

static bool end_good(struct log_in *in)
{
	char next[256];

	log_get_u8(in);
	log_get_u64(in);
	log_get_str(in, next, sizeof(next));
	return !in->bad;
}

bool log_payload_good(const struct log_head *h, const uint8_t *p, size_t n, struct log_data *data)
{
	struct log_in in = {p, p + n, false};

	switch (h->kind) {
	case LOG_META: return meta_good(&in);
	case LOG_DATA: return data_good(h, &in, data);
	case LOG_LOD: return lod_good(h, &in);
	case LOG_STAT: return stat_good(h, &in);
	case LOG_END: return end_good(&in);
	default: return !log_has_events(h->kind) || events_good(h->kind, &in);
	}
}
