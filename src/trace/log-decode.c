#include "trace/log-decode.h"

#include <math.h>
#include <string.h>

bool log_section_values(const struct log_section *s, const uint16_t *column, unsigned n, size_t width,
			double *values, double *scratch)
{
	struct log_walk walk;
	bool known = true;

	for (size_t i = 0; i < (size_t)s->n * width; i++)
		values[i] = (double)NAN;
	log_walk_begin(&walk, s);
	for (uint32_t c = 0; c < s->columns; c++) {
		uint32_t to = !column ? c : c < n ? column[c] : NO_COLUMN;

		if (to >= width) {
			log_walk_skip(&walk, 1);
			continue;
		}
		known &= log_walk_get(&walk, scratch);
		for (size_t i = 0; i < s->n; i++)
			values[i * width + to] = scratch[i];
	}
	return known;
}

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
	else
		log_change_put(raw, &ev->u.change);
	log_record_end(raw, start);
}

void log_event_send(const struct log_event *ev, struct sink *to)
{
	const struct sink_ops *ops = to->ops;

	if (ev->kind == LOG_MARK && ops->mark)
		ops->mark(to, &ev->u.mark);
	if (ev->kind == LOG_GAP && ops->gap)
		ops->gap(to, &ev->u.gap);
	if (ev->kind == LOG_STATE && ops->change)
		ops->change(to, &ev->u.change);
}
