/* layout: where version 1 has what, and how values are encoded there. */
#ifndef NVMTOP_TRACE_LAYOUT_H
#define NVMTOP_TRACE_LAYOUT_H

#include "model/stream.h"
#include "trace/format.h"

/* In the order of the channels that are made of a file. */
enum field {
	FIELD_NONE, /* no field of version 1 */
	FIELD_GPU,
	FIELD_CPU,
	FIELD_CORE,
	FIELD_RAM_USED,
	FIELD_RAM_AVAILABLE,
	FIELD_EMC,
	FIELD_VOLTAGE,
	FIELD_CURRENT,
	FIELD_POWER,
	FIELD_TEMPERATURE,
	FIELDS
};

/* Where a field is in version 1, and the channel that is made of it. */
struct field_about {
	const char *source; /* as in nvmtop-trace(5): "fast.gpu_load" */
	enum tier tier;
	unsigned slots, at; /* of 4 bytes each if there are several; at: offset in the row */
	unsigned count;	    /* offset of their number in the header; 0: there is one */
	enum field_type { TENTHS, U32, U64, F32 } type;
	enum channel_kind kind;
	enum unit unit;
	enum family family;
	const char *before, *after, *label; /* the name of a slot is between the first two, and after the label */
};
extern const struct field_about field_about[FIELDS];

/* A field of a row, and the channel stored in it. */
struct cell {
	size_t channel;
	enum field field;
	unsigned slot; /* core, rail or zone */
};

#define MAX_CELLS (MAX_CORES + 3 * MAX_RAILS + MAX_ZONES)

struct layout {
	struct cell cells[TIERS][MAX_CELLS];
	size_t n[TIERS];
	unsigned used[FIELDS]; /* number of slots; for FIELD_POWER: of rails */
	bool emc;
};

void layout_make(struct layout *l, const struct session *about);

/* Writes HEADER_SIZE bytes, with all four counts 0. */
void header_encode(uint8_t *h, const struct session *about, const struct layout *l);

extern const size_t row_size[TIERS + 1]; /* the last one is a sync point */

/* Writes a row without any channel: slots that the layout uses are missing, all others 0. */
void row_blank(uint8_t *row, const struct layout *l, enum tier tier);

/* Stores a value in a field, limited to its range; a missing GPU load leaves the field unchanged. */
void cell_encode(uint8_t *row, enum field f, unsigned slot, double v);

/* The value of a field of a row; NaN if it is marked as missing. */
double cell_decode(const uint8_t *row, enum field f, unsigned slot);

#define MAX_TIME_S 31622400.0 /* 366 days */
/* The time of a row in ns since the start of the recording. Returns false if it is invalid: not finite,
 * negative, or more than a year. */
static inline bool row_time(const uint8_t *row, int64_t *out)
{
	double s = get_f64(row);
	int64_t whole;

	if (!(s >= 0 && s <= MAX_TIME_S)) /* rejects NaN, too */
		return false;
	s *= 1e9;
	whole = (int64_t)s;
	*out = whole + (s - (double)whole >= 0.5); /* llround() without the call */
	return true;
}

static inline void row_time_put(uint8_t *row, int64_t ns)
{
	put_f64(row, (double)ns / 1e9);
}

#endif
