/* Chunks are self-describing, summed and skippable, so that a reader of today
 * can walk past what a writer of tomorrow adds.  Enums travel as their names:
 * an unknown kind becomes "other" and not some other kind. */
#include <zlib.h>

#include "trace/chunk.h"

static void chunk_head_encode(uint8_t *p, uint32_t id, uint64_t length)
{
	put_u32(p, id);
	put_u32(p + 4, CHUNK_VERSION);
	put_u64(p + 8, length);
	put_u32(p + 16, chunk_crc(p, 16));
}

bool chunk_head_decode(const uint8_t *p, struct chunk *out)
{
	out->id = get_u32(p);
	out->version = get_u32(p + 4);
	out->length = get_u64(p + 8);
	return get_u32(p + 16) == chunk_crc(p, 16);
}

uint32_t chunk_crc_more(uint32_t before, const uint8_t *p, size_t n)
{
	uLong crc = before;

	while (n > 0) { /* its length is an unsigned int */
		uInt part = n > 1U << 30 ? 1U << 30 : (uInt)n;

		crc = crc32(crc, p, part);
		p += part;
		n -= part;
	}
	return (uint32_t)crc;
}

uint32_t chunk_crc(const uint8_t *p, size_t n)
{
	return chunk_crc_more(0, p, n);
}

size_t chunk_seal(uint8_t *p, uint32_t id, size_t length)
{
	chunk_head_encode(p, id, length);
	put_u32(p + CHUNK_HEAD + length, chunk_crc(p + CHUNK_HEAD, length));
	return CHUNK_HEAD + length + CHUNK_CRC;
}

void chunk_name(uint32_t id, char out[5])
{
	for (int i = 0; i < 4; i++) {
		unsigned c = id >> (8 * i) & 0xFF;

		out[i] = c >= ' ' && c < 0x7F ? (char)c : '?';
	}
	out[4] = '\0';
}

size_t anchor_encode(uint8_t *p, const struct clock_anchor *a)
{
	put_u64(p, (uint64_t)a->mono_ns);
	put_u64(p + 8, (uint64_t)a->real_ns);
	put_u64(p + 16, (uint64_t)a->boot_ns);
	return ANCHOR_SIZE;
}

/* So that neither sums nor differences of two times overflow. */
static bool time_sound(int64_t t_ns)
{
	return t_ns >= 0 && t_ns < INT64_C(1) << 62;
}

/* A time that cannot be is one that is not known. */
static int64_t known(uint64_t t_ns)
{
	return time_sound((int64_t)t_ns) ? (int64_t)t_ns : 0;
}

void anchor_decode(const uint8_t *p, struct clock_anchor *a)
{
	a->mono_ns = (int64_t)get_u64(p);
	a->real_ns = known(get_u64(p + 8));
	a->boot_ns = known(get_u64(p + 16));
}

size_t mark_encode(uint8_t *p, const struct mark *m, uint64_t fast_row)
{
	size_t n = strnlen(m->label, sizeof(m->label) - 1);

	put_u64(p, m->id);
	put_u64(p + 8, (uint64_t)m->t_ns);
	put_u64(p + 16, fast_row);
	put_u16(p + 24, (uint16_t)n);
	memcpy(p + MARK_SIZE, m->label, n);
	return MARK_SIZE + n;
}

size_t mark_decode(const uint8_t *p, size_t left, struct mark *m, uint64_t *fast_row)
{
	size_t n;

	if (left < MARK_SIZE)
		return 0;
	m->id = get_u64(p);
	m->t_ns = (int64_t)get_u64(p + 8);
	*fast_row = get_u64(p + 16);
	n = get_u16(p + 24);
	if (n > left - MARK_SIZE || !time_sound(m->t_ns))
		return 0;
	text_printable(m->label, sizeof(m->label), (const char *)p + MARK_SIZE, n);
	return MARK_SIZE + n;
}

size_t gap_encode(uint8_t *p, const struct gap *g)
{
	put_u32(p, 0);
	p[0] = (uint8_t)g->tier;
	p[1] = (uint8_t)g->cause;
	put_u64(p + 4, (uint64_t)g->from_ns);
	put_u64(p + 12, (uint64_t)g->to_ns);
	put_u64(p + 20, g->missed);
	return GAP_SIZE;
}

bool gap_decode(const uint8_t *p, struct gap *g)
{
	g->tier = (enum tier)p[0];
	g->cause = p[1] == GAP_LOST ? GAP_LOST : GAP_LATE;
	g->from_ns = (int64_t)get_u64(p + 4);
	g->to_ns = (int64_t)get_u64(p + 12);
	g->missed = get_u64(p + 20);
	return p[0] < TIERS && g->from_ns <= g->to_ns && time_sound(g->from_ns) && time_sound(g->to_ns);
}

size_t run_encode(uint8_t *p, const struct run *r)
{
	put_u32(p, r->channel);
	put_u64(p + 4, r->row);
	put_u64(p + 12, r->count);
	put_f64(p + 20, r->value);
	return RUN_SIZE;
}

void run_decode(const uint8_t *p, struct run *r)
{
	r->channel = get_u32(p);
	r->row = get_u64(p + 4);
	r->count = get_u64(p + 12);
	r->value = get_f64(p + 20);
}

size_t columns_encode(uint8_t *p, const struct columns_head *h)
{
	put_u32(p, (uint32_t)h->tier);
	put_u32(p + 4, h->columns);
	put_u64(p + 8, h->row);
	put_u64(p + 16, h->rows);
	return COLUMNS_HEAD;
}

bool columns_decode(const uint8_t *p, uint64_t length, struct columns_head *h)
{
	uint32_t tier;

	if (length < COLUMNS_HEAD)
		return false;
	tier = get_u32(p);
	h->columns = get_u32(p + 4);
	h->row = get_u64(p + 8);
	h->rows = get_u64(p + 16);
	if (tier >= TIERS || h->columns == 0 || h->columns > UINT16_MAX || h->rows == 0)
		return false;
	h->tier = (enum tier)tier;
	length -= COLUMNS_HEAD;
	return length % (8 * h->columns) == 0 && length / (8 * h->columns) == h->rows &&
	       h->row <= UINT64_MAX - h->rows;
}

static size_t text_encode(uint8_t *p, const char *text, size_t size)
{
	size_t n = strnlen(text, size - 1);

	put_u16(p, (uint16_t)n);
	memcpy(p + 2, text, n);
	return 2 + n;
}

size_t writer_encode(uint8_t *p)
{
	return text_encode(p, PACKAGE_NAME " " PACKAGE_VERSION, WRITER_MAX - 2 + 1);
}

/* 0 when it does not fit into what is left. */
static size_t text_decode(const uint8_t *p, size_t left, char *out, size_t size)
{
	size_t n;

	if (left < 2)
		return 0;
	n = get_u16(p);
	if (n > left - 2)
		return 0;
	text_printable(out, size, (const char *)p + 2, n);
	return 2 + n;
}

size_t fact_encode(uint8_t *p, const struct fact *f)
{
	size_t n = text_encode(p, f->key, sizeof(f->key));

	return n + text_encode(p + n, f->value, sizeof(f->value));
}

size_t fact_decode(const uint8_t *p, size_t left, struct fact *f)
{
	size_t n = text_decode(p, left, f->key, sizeof(f->key));
	size_t m = n ? text_decode(p + n, left - n, f->value, sizeof(f->value)) : 0;

	return m ? n + m : 0;
}

size_t change_encode(uint8_t *p, const struct change *c)
{
	size_t n = 12;

	put_u64(p + 4, (uint64_t)c->t_ns);
	n += text_encode(p + n, c->what, sizeof(c->what));
	n += text_encode(p + n, c->from, sizeof(c->from));
	n += text_encode(p + n, c->to, sizeof(c->to));
	put_u32(p, (uint32_t)n - 4);
	return n;
}

size_t change_decode(const uint8_t *p, size_t left, struct change *c)
{
	const struct {
		char *out;
		size_t size;
	} texts[] = {{c->what, sizeof(c->what)}, {c->from, sizeof(c->from)}, {c->to, sizeof(c->to)}};
	size_t at = 12, end;

	memset(c, 0, sizeof(*c));
	if (left < at || get_u32(p) < at - 4 || get_u32(p) > left - 4)
		return 0;
	end = (size_t)get_u32(p) + 4;
	c->t_ns = (int64_t)get_u64(p + 4);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t n = text_decode(p + at, end - at, texts[i].out, texts[i].size);

		if (n == 0)
			return 0;
		at += n;
	}
	return time_sound(c->t_ns) ? end : 0;
}

#define CHANNEL_FIXED 52 /* numbers before the texts */

size_t channel_encode(uint8_t *p, const struct channel *c, const struct place *place)
{
	size_t n = CHANNEL_FIXED;

	put_u16(p + 4, c->index);
	put_u16(p + 6, c->column);
	put_u16(p + 8, place->field);
	put_u16(p + 10, place->slot);
	put_f64(p + 12, c->lo);
	put_f64(p + 20, c->hi);
	put_u64(p + 28, (uint64_t)c->period_ns);
	put_f64(p + 36, c->warn);
	put_f64(p + 44, c->crit);
	n += text_encode(p + n, c->name, sizeof(c->name));
	n += text_encode(p + n, c->label, sizeof(c->label));
	n += text_encode(p + n, channel_kind_name(c->kind), 64);
	n += text_encode(p + n, tier_name(c->tier), 64);
	n += text_encode(p + n, unit_name(c->unit), 64);
	n += text_encode(p + n, family_name(c->family), 64);
	n += text_encode(p + n, c->source, sizeof(c->source));
	n += text_encode(p + n, c->note, sizeof(c->note));
	n += text_encode(p + n, c->missing, sizeof(c->missing));
	if (c->kernel[0])
		n += text_encode(p + n, c->kernel, sizeof(c->kernel));
	put_u32(p, (uint32_t)n - 4);
	return n;
}

/* The texts of one channel, in order; false when they do not fit. */
static bool channel_texts(const uint8_t *p, size_t left, struct channel *c)
{
	char kind[64], tier[64], unit[64], family[64];
	struct {
		char *out;
		size_t size;
	} texts[] = {
		{c->name, sizeof(c->name)},
		{c->label, sizeof(c->label)},
		{kind, sizeof(kind)},
		{tier, sizeof(tier)},
		{unit, sizeof(unit)},
		{family, sizeof(family)},
		{c->source, sizeof(c->source)},
		{c->note, sizeof(c->note)},
		{c->missing, sizeof(c->missing)},
	};
	int found;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t n = text_decode(p, left, texts[i].out, texts[i].size);

		if (n == 0)
			return false;
		p += n;
		left -= n;
	}
	if (text_decode(p, left, c->kernel, sizeof(c->kernel)) == 0)
		c->kernel[0] = '\0'; /* it came later than the others, and need not be there */
	found = channel_kind_find(kind);
	c->kind = found < 0 ? CHANNEL_OTHER : (enum channel_kind)found;
	/* Version 0.1 of nvmtop took it for throttling. */
	if (c->kind == CHANNEL_THROTTLE && !strcmp(c->name, "throttle.hot-surface-alert"))
		c->kind = CHANNEL_NOTICE;
	found = unit_find(unit);
	c->unit = found < 0 ? UNIT_NONE : (enum unit)found;
	found = family_find(family);
	c->family = found < 0 ? FAMILY_OTHER : (enum family)found;
	found = tier_find(tier);
	c->tier = found < 0 ? TIER_FAST : (enum tier)found;
	return found >= 0;
}

size_t channel_decode(const uint8_t *p, size_t left, struct channel *c, struct place *place)
{
	size_t n;
	unsigned field;

	memset(c, 0, sizeof(*c));
	if (left < CHANNEL_FIXED || get_u32(p) > left - 4)
		return 0;
	n = (size_t)get_u32(p) + 4;
	if (n < CHANNEL_FIXED || !channel_texts(p + CHANNEL_FIXED, n - CHANNEL_FIXED, c))
		return 0;
	c->index = get_u16(p + 4);
	c->column = get_u16(p + 6);
	field = get_u16(p + 8);
	place->slot = get_u16(p + 10);
	c->lo = get_f64(p + 12);
	c->hi = get_f64(p + 20);
	c->period_ns = (int64_t)get_u64(p + 28);
	c->warn = get_f64(p + 36);
	c->crit = get_f64(p + 44);
	place->field = (uint8_t)field;
	if (field == FIELD_EXTRA)
		return n;
	if (field >= FIELDS || place->slot >= field_slots((enum field)field) ||
	    field_tier((enum field)field) != c->tier)
		return 0;
	return n;
}
