/* What chunks hold. A payload can be wrong although its checksum is right: it is checked here once, as a whole, so that
 * what follows need not. */
#include "trace/log-decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"
#include "trace/log-lod.h"

bool log_section_arrays(const struct log_section *s, const uint16_t *column, unsigned n, size_t width, const uint8_t *bytes,
			struct log_array *out)
{
	size_t parts = s->times ? 1 : LOG_PARTS, each = s->columns / parts;
	const uint8_t *p = s->arrays;
	bool known = true;

	for (size_t i = 0; i < parts * width; i++)
		out[i] = (struct log_array) {bytes, 0, LOG_NONE};
	for (uint32_t c = 0; c < s->columns; c++) {
		size_t of = c % each, to = of < n ? column ? column[of] : of : width;

		if (to < width) {
			struct log_array *a = &out[c / each * width + to];

			*a = (struct log_array) {bytes + (p - s->arrays), 0, s->kinds[c]};
			for (unsigned plane = 0; plane < 8; plane++)
				a->first |= (uint64_t)s->firsts[plane * s->columns + c] << 8 * plane;
			known &= s->kinds[c] >> 6 != LOG_OTHER;
		}
		p += log_array_size(p, (size_t)(s->arrays + s->size - p), s->kinds[c], s->n);
	}
	return known;
}

/* The records of events: begin and end, where they have one, in order. */
static const struct event_form {
	const struct log_field *fields;
	size_t begin, end;
} event_forms[LOG_KINDS] = {
	[LOG_MARK] = {log_mark_fields, offsetof(struct mark, t_ns), offsetof(struct mark, t_ns)},
	[LOG_GAP] = {log_gap_fields, offsetof(struct gap, from_ns), offsetof(struct gap, to_ns)},
	[LOG_STATE] = {log_change_fields, offsetof(struct change, t_ns), offsetof(struct change, t_ns)},
	[LOG_EVENT] = {log_state_fields, offsetof(struct state_event, from_ns), offsetof(struct state_event, to_ns)},
};

bool log_event_get(unsigned kind, struct log_in *record, struct log_event *ev)
{
	const struct event_form *form = log_has_events(kind) ? &event_forms[kind] : NULL;
	int64_t end_ns;

	if (!form || !log_fields_get(record, form->fields, &ev->u))
		return false;
	ev->kind = (enum log_kind)kind;
	memcpy(&ev->t_ns, (char *)&ev->u + form->begin, sizeof(ev->t_ns));
	memcpy(&end_ns, (char *)&ev->u + form->end, sizeof(end_ns));
	return ev->t_ns <= end_ns && (kind != LOG_GAP || (unsigned)ev->u.gap.tier < TIERS);
}

void log_event_put(struct log_bytes *raw, const struct log_event *ev)
{
	size_t start;

	log_put_u16(raw, 0);
	start = raw->n;
	log_fields_put(raw, event_forms[ev->kind].fields, &ev->u);
	if (!raw->failed)
		put_u16(raw->p + start - 2, (uint16_t)(raw->n - start));
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
	while ((got = log_section_next(in, &s, true)) > 0) {
		int64_t end_ns;

		if (seen & 1U << s.tier || !log_section_times(&s, h->cell, NULL, NULL, &end_ns))
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
	while (!in->bad && (got = log_section_next(in, &s, false)) > 0) {
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
