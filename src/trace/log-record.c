/* The records of the log, field by field: what is put here is got here. */
#include <stdlib.h>

#include "trace/format.h"
#include "trace/log.h"

#define ROOM 4096

uint8_t *log_bytes_add(struct log_bytes *b, size_t n)
{
	size_t room = b->room ? b->room : ROOM;
	uint8_t *p;

	if (b->failed)
		return NULL;
	while (room - b->n < n)
		room *= 2;
	if (room > b->room) {
		p = realloc(b->p, room);
		if (!p) {
			b->failed = true;
			return NULL;
		}
		b->p = p;
		b->room = room;
	}
	p = b->p + b->n;
	b->n += n;
	return p;
}

void log_bytes_free(struct log_bytes *b)
{
	free(b->p);
	*b = (struct log_bytes) {NULL, 0, 0, false};
}

void log_bytes_put(struct log_bytes *b, const void *p, size_t n)
{
	uint8_t *to = log_bytes_add(b, n);

	if (to && n > 0)
		memcpy(to, p, n);
}

void log_put_int(struct log_bytes *b, uint64_t v, size_t size)
{
	uint8_t *p = log_bytes_add(b, size);

	for (size_t i = 0; p && i < size; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

void log_put_f64(struct log_bytes *b, double v)
{
	uint8_t *p = log_bytes_add(b, 8);

	if (p)
		put_f64(p, v);
}

void log_put_str(struct log_bytes *b, const char *text)
{
	size_t n = strlen(text);

	n = n > UINT16_MAX ? UINT16_MAX : n;
	log_put_u16(b, (unsigned)n);
	log_bytes_put(b, text, n);
}

const uint8_t *log_in_take(struct log_in *in, size_t n)
{
	const uint8_t *p = in->p;

	if (in->bad || (size_t)(in->end - p) < n) {
		in->bad = true;
		return NULL;
	}
	in->p += n;
	return p;
}

uint64_t log_get_int(struct log_in *in, size_t size)
{
	const uint8_t *p = log_in_take(in, size);
	uint64_t v = 0;

	for (size_t i = 0; p && i < size; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

double log_get_f64(struct log_in *in)
{
	const uint8_t *p = log_in_take(in, 8);

	return p ? get_f64(p) : 0;
}

void log_get_str(struct log_in *in, char *out, size_t size)
{
	unsigned n = log_get_u16(in);
	const uint8_t *p = log_in_take(in, n);

	text_printable(out, size, p ? (const char *)p : "", p ? n : 0);
}

static bool get_part(struct log_in *in, size_t n, struct log_in *record)
{
	const uint8_t *p = log_in_take(in, n);

	if (!p)
		return false;
	*record = (struct log_in) {p, p + n, false};
	return true;
}

bool log_get_record(struct log_in *in, struct log_in *record)
{
	return in->p < in->end && get_part(in, log_get_u16(in), record);
}

bool log_get_tagged(struct log_in *in, unsigned *tag, struct log_in *record)
{
	if (in->p >= in->end)
		return false;
	*tag = log_get_u16(in);
	return get_part(in, log_get_u32(in), record);
}

void log_record_end(struct log_bytes *b, size_t start)
{
	if (!b->failed)
		put_u16(b->p + start - 2, (uint16_t)(b->n - start));
}

void log_mark_put(struct log_bytes *b, const struct mark *m)
{
	log_put_u64(b, m->id);
	log_put_i64(b, m->t_ns);
	log_put_str(b, m->label);
}

bool log_mark_get(struct log_in *in, struct mark *m)
{
	m->id = log_get_u64(in);
	m->t_ns = log_get_i64(in);
	log_get_str(in, m->label, sizeof(m->label));
	return !in->bad;
}

void log_gap_put(struct log_bytes *b, const struct gap *g)
{
	log_put_u8(b, g->tier);
	log_put_u8(b, g->cause);
	log_put_i64(b, g->from_ns);
	log_put_i64(b, g->to_ns);
	log_put_u64(b, g->missed);
}

bool log_gap_get(struct log_in *in, struct gap *g)
{
	unsigned tier = log_get_u8(in);

	g->tier = (enum tier)tier;
	g->cause = (enum gap_cause)log_get_u8(in);
	g->from_ns = log_get_i64(in);
	g->to_ns = log_get_i64(in);
	g->missed = log_get_u64(in);
	return !in->bad && tier < TIERS && g->from_ns <= g->to_ns;
}

void log_change_put(struct log_bytes *b, const struct change *c)
{
	log_put_i64(b, c->t_ns);
	log_put_str(b, c->what);
	log_put_str(b, c->from);
	log_put_str(b, c->to);
}

bool log_change_get(struct log_in *in, struct change *c)
{
	c->t_ns = log_get_i64(in);
	log_get_str(in, c->what, sizeof(c->what));
	log_get_str(in, c->from, sizeof(c->from));
	log_get_str(in, c->to, sizeof(c->to));
	return !in->bad;
}

void log_stat_put(uint8_t p[LOG_STAT_SIZE], const struct span_stats *s)
{
	put_u32(p, s->channel);
	put_u64(p + 4, s->n);
	put_f64(p + 12, s->min);
	put_f64(p + 20, s->max);
	put_f64(p + 28, s->sum);
	put_f64(p + 36, s->squares);
	put_u64(p + 44, (uint64_t)s->first_ns);
	put_f64(p + 52, s->first);
	put_u64(p + 60, (uint64_t)s->last_ns);
	put_f64(p + 68, s->last);
	put_f64(p + 76, s->integral);
	put_u64(p + 84, s->known_ns);
	put_u64(p + 92, s->above_ns);
	put_f64(p + 100, s->rise);
}

void log_stat_get(const uint8_t p[LOG_STAT_SIZE], struct span_stats *s)
{
	s->channel = get_u32(p);
	s->n = get_u64(p + 4);
	s->min = get_f64(p + 12);
	s->max = get_f64(p + 20);
	s->sum = get_f64(p + 28);
	s->squares = get_f64(p + 36);
	s->first_ns = (int64_t)get_u64(p + 44);
	s->first = get_f64(p + 52);
	s->last_ns = (int64_t)get_u64(p + 60);
	s->last = get_f64(p + 68);
	s->integral = get_f64(p + 76);
	s->known_ns = get_u64(p + 84);
	s->above_ns = get_u64(p + 92);
	s->rise = get_f64(p + 100);
}

void log_entry_put(uint8_t p[LOG_ENTRY_SIZE], const struct log_entry *e)
{
	put_u64(p, e->distance);
	put_u32(p + 8, e->stored);
	p[12] = e->kind;
	p[13] = e->aux;
	put_u16(p + 14, 0);
	put_u64(p + 16, (uint64_t)e->cell);
	for (int t = 0; t < LOG_TIERS; t++)
		put_u32(p + 24 + 4 * t, e->rows[t]);
}

void log_entry_get(const uint8_t p[LOG_ENTRY_SIZE], struct log_entry *e)
{
	e->distance = get_u64(p);
	e->stored = get_u32(p + 8);
	e->kind = p[12];
	e->aux = p[13];
	e->cell = (int64_t)get_u64(p + 16);
	for (int t = 0; t < LOG_TIERS; t++)
		e->rows[t] = get_u32(p + 24 + 4 * t);
}

void log_tally_put(struct log_bytes *b, const struct log_tally *t)
{
	for (int i = 0; i < LOG_TIERS; i++) {
		log_put_u64(b, t->rows[i]);
		log_put_u64(b, t->late[i]);
		log_put_u64(b, t->lost[i]);
	}
	log_put_u64(b, t->marks);
}

void log_tally_get(struct log_in *in, struct log_tally *t)
{
	for (int i = 0; i < LOG_TIERS; i++) {
		t->rows[i] = log_get_u64(in);
		t->late[i] = log_get_u64(in);
		t->lost[i] = log_get_u64(in);
	}
	t->marks = log_get_u64(in);
}
