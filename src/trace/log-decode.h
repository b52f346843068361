/* log-decode: what DATA, MARK, GAP and STATE chunks hold. */
#ifndef TRACE_LOG_DECODE_H
#define TRACE_LOG_DECODE_H

#include "model/stream.h"
#include "trace/log.h"

#define NO_COLUMN UINT16_MAX

/* The values of a section, NaN where missing. column: which of `width` columns the first n of the
 * section are, NO_COLUMN: none; NULL: they are in order. They are row after row; scratch has room for one
 * column. False: a column is of a form that is not known, and all NaN. */
bool log_section_values(const struct log_section *s, const uint16_t *column, unsigned n, size_t width,
			double *values, double *scratch);

/* The arrays of a section, copied to bytes[s->size], for later: out has one for each of `width` columns.
 * Returns false if one is of an unknown form; its values are all NaN. */
struct log_array {
	const uint8_t *p; /* NULL: none */
	uint8_t kind;
};
bool log_section_arrays(const struct log_section *s, const uint16_t *column, unsigned n, size_t width,
			uint8_t *bytes, struct log_array *out);

struct log_event {
	enum log_kind kind;
	int64_t t_ns; /* when it begins */
	union {
		struct mark mark;
		struct gap gap;
		struct change change;
	} u;
};
/* False: it is of another kind, or damaged. */
bool log_event_get(unsigned kind, struct log_in *record, struct log_event *ev);
void log_event_send(const struct log_event *ev, struct sink *to);

#endif
