/* log-decode: decodes DATA, MARK, GAP and STATE chunks. */
#ifndef TRACE_LOG_DECODE_H
#define TRACE_LOG_DECODE_H

#include "model/stream.h"
#include "trace/log.h"

#define NO_COLUMN UINT16_MAX

/* Finds the arrays of a section, whose bytes are those of s->arrays or a copy. out gets those of `width` columns for each part;
 * column[i] is the index among these of the section's column i, for the first n of them; NO_COLUMN skips it. column may be NULL: i
 * itself. Returns false if one has an unknown form; its values are NaN. */
bool log_section_arrays(const struct log_section *s, const uint16_t *column, unsigned n, size_t width, const uint8_t *bytes,
			struct log_array *out);

struct log_event {
	enum log_kind kind;
	int64_t t_ns; /* when it begins */
	union {
		struct mark mark;
		struct gap gap;
		struct change change;
		struct state_event state;
	} u;
};
/* Returns false if the record is damaged or of another kind. */
bool log_event_get(unsigned kind, struct log_in *record, struct log_event *ev);
void log_event_put(struct log_bytes *raw, const struct log_event *ev);

/* The sections of a DATA chunk, n 0: none, and the times of their last rows. */
struct log_data {
	struct log_section sections[TIERS];
	int64_t end_ns[TIERS];
};
/* Checks an unpacked payload of a known kind: lengths, counts, times and their order. RANGE and INDEX are checked where
 * they are read. data is set for DATA. */
bool log_payload_good(const struct log_head *h, const uint8_t *p, size_t n, struct log_data *data);

#endif
