/* Encodes and decodes the records of the log; each table of fields serves both directions. */
#include <stddef.h>
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

void log_late_put(struct log_bytes *b, const struct late_ticks late[LOG_TIERS])
{
	for (int t = 0; t < LOG_TIERS; t++)
		log_put_u32(b, (uint32_t)(late[t].n < UINT32_MAX ? late[t].n : UINT32_MAX));
	for (int t = 0; t < LOG_TIERS; t++)
		log_put_i64(b, late[t].longest_ns);
}

void log_late_get(struct log_in *in, struct late_ticks late[LOG_TIERS])
{
	for (int t = 0; t < LOG_TIERS; t++)
		late[t].n = log_get_u32(in);
	for (int t = 0; t < LOG_TIERS; t++)
		late[t].longest_ns = log_get_i64(in);
}

/* --- fields --- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fields are copied in the order of the machine");

void log_fields_put(struct log_bytes *b, const struct log_field *f, const void *record)
{
	for (const char *p = record; f->memory; f++)
		if (f->file)
			log_bytes_put(b, p + f->at, f->file);
		else
			log_put_str(b, p + f->at);
}

bool log_fields_get(struct log_in *in, const struct log_field *f, void *record)
{
	for (char *p = record; f->memory; f++) {
		const uint8_t *from = f->file ? log_in_take(in, f->file) : NULL;

		if (!f->file)
			log_get_str(in, p + f->at, f->memory);
		else
			memset(p + f->at, 0, f->memory);
		if (from)
			memcpy(p + f->at, from, f->file);
		if (f->is_time && !log_time_good(*(const int64_t *)(const void *)(p + f->at)))
			in->bad = true;
	}
	return !in->bad;
}

#define FIELD_OF(type, member, bytes, time) {offsetof(struct type, member), sizeof(((struct type *)0)->member), bytes, time}
#define FIELD(type, member, bytes) FIELD_OF(type, member, bytes, false)
#define TIME(type, member)	   FIELD_OF(type, member, 8, true)
#define STR			   0
#define LAST			   {0, 0, 0, false}

const struct log_field log_mark_fields[] = {
	FIELD(mark, id, 8), TIME(mark, t_ns), FIELD(mark, label, STR), LAST};
const struct log_field log_gap_fields[] = {
	FIELD(gap, tier, 1), FIELD(gap, cause, 1), TIME(gap, from_ns), TIME(gap, to_ns),
	FIELD(gap, missed, 8), LAST};
const struct log_field log_change_fields[] = {
	TIME(change, t_ns), FIELD(change, what, STR), FIELD(change, from, STR), FIELD(change, to, STR),
	LAST};
const struct log_field log_state_fields[] = {TIME(state_event, from_ns),
					     TIME(state_event, to_ns),
					     FIELD(state_event, channel, 4),
					     FIELD(state_event, kind, 1),
					     FIELD(state_event, flags, 1),
					     FIELD(state_event, count, 8),
					     FIELD(state_event, above_ns, 8),
					     LAST};
const struct log_field log_anchor_fields[] = {
	TIME(clock_anchor, mono_ns), TIME(clock_anchor, real_ns), TIME(clock_anchor, boot_ns),
	LAST};
const struct log_field log_fact_fields[] = {
	FIELD(fact, key, STR), FIELD(fact, value, STR), LAST};
const struct log_field log_channel_fields[] = {
	FIELD(log_channel, number, 4), FIELD(log_channel, c.tier, 1), FIELD(log_channel, c.column, 2),
	FIELD(log_channel, c.index, 2), FIELD(log_channel, c.lo, 8), FIELD(log_channel, c.hi, 8),
	FIELD(log_channel, c.warn, 8), FIELD(log_channel, c.crit, 8), FIELD(log_channel, c.period_ns, 8),
	FIELD(log_channel, c.name, STR), FIELD(log_channel, c.label, STR), FIELD(log_channel, kind, STR),
	FIELD(log_channel, unit, STR), FIELD(log_channel, family, STR), FIELD(log_channel, c.source, STR),
	FIELD(log_channel, c.note, STR), FIELD(log_channel, c.missing, STR), FIELD(log_channel, c.kernel, STR),
	LAST};
const struct log_field log_stat_fields[] = {
	FIELD(span_stats, channel, 4), FIELD(span_stats, n, 8), FIELD(span_stats, min, 8),
	FIELD(span_stats, max, 8), FIELD(span_stats, sum, 8), FIELD(span_stats, squares, 8),
	TIME(span_stats, first_ns), FIELD(span_stats, first, 8), TIME(span_stats, last_ns),
	FIELD(span_stats, last, 8), FIELD(span_stats, integral, 8), FIELD(span_stats, known_ns, 8),
	FIELD(span_stats, above_ns, 8), FIELD(span_stats, rise, 8), LAST};
const struct log_field log_index_head_fields[] = {
	FIELD(log_index_head, flags, 1), FIELD(log_index_head, reserved, 1), FIELD(log_index_head, size, 2),
	FIELD(log_index_head, groups, 4), FIELD(log_index_head, sums, 4), FIELD(log_index_head, events, 4),
	FIELD(log_index_head, begin, 8), FIELD(log_index_head, before, 8), FIELD(log_index_head, rest, 8),
	LAST};
const struct log_field log_group_entry_fields[] = {
	FIELD(log_group_entry, first, 8), FIELD(log_group_entry, sums, 8), FIELD(log_group_entry, cell, 8),
	FIELD(log_group_entry, length, 4), FIELD(log_group_entry, flags, 4),
	FIELD(log_group_entry, rows[0], 4), FIELD(log_group_entry, rows[1], 4),
	FIELD(log_group_entry, rows[2], 4), FIELD(log_group_entry, rows[3], 4), LAST};
const struct log_field log_sums_entry_fields[] = {
	FIELD(log_sums_entry, distance, 8), FIELD(log_sums_entry, cell, 8), FIELD(log_sums_entry, level, 4),
	LAST};
