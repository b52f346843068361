/* layout: which field of version 1 holds which channel, and the rest. */
#ifndef NVMTOP_TRACE_LAYOUT_H
#define NVMTOP_TRACE_LAYOUT_H

#include "model/stream.h"
#include "trace/format.h"

/* Part of the extension's channel table: the numbers never change. */
enum field {
	FIELD_EXTRA = 0, /* no field of version 1: a column of the extension */
	FIELD_GPU = 1,
	FIELD_CORE = 2,
	FIELD_CPU = 3,
	FIELD_RAM_USED = 4,
	FIELD_RAM_AVAILABLE = 5,
	FIELD_EMC = 6,
	FIELD_VOLTAGE = 7,
	FIELD_CURRENT = 8,
	FIELD_POWER = 9,
	FIELD_TEMPERATURE = 10,
	FIELDS
};

#define MAX_CHANNELS 4096

struct place {
	uint8_t field;
	uint16_t slot; /* core, rail or zone; the column when field is FIELD_EXTRA */
};

/* A field of a row, and the channel whose values it holds. */
struct cell {
	size_t channel;
	enum field field;
	unsigned slot; /* core, rail or zone */
};

#define MAX_CELLS (MAX_CORES + 3 * MAX_RAILS + MAX_ZONES)

struct layout {
	struct cell cells[TIERS][MAX_CELLS];
	size_t n[TIERS];
	unsigned used[FIELDS]; /* slots; of FIELD_POWER: rails */
	unsigned powerless;    /* rails, as bits, whose power is no channel */
	bool emc;
};

void layout_make(struct layout *l, const struct session *about);

/* How many slots a field has, and the tier that version 1 has it in. */
unsigned field_slots(enum field f);
enum tier field_tier(enum field f);
const char *field_name(enum field f); /* as in nvmtop-trace(5): "fast.gpu_load" */

/* HEADER_SIZE bytes, all four counts 0. */
void header_encode(uint8_t *h, const struct session *about, const struct layout *l);

extern const size_t row_size[TIERS + 1]; /* and of a sync point */

/* What a row holds before any channel is put in: slots that the layout counts
 * are missing, the others 0. */
void row_blank(uint8_t *row, const struct layout *l, enum tier tier);

/* Put a value into a field, as far as it fits; a missing GPU load leaves the field unchanged. */
void cell_encode(uint8_t *row, enum field f, unsigned slot, double v);

/* The value of a field of a row; NaN if it is marked as missing. */
double cell_decode(const uint8_t *row, enum field f, unsigned slot);
/* Is the value possible there, or missing? */
bool cell_holds(enum field f, double v);

#define MAX_TIME_S 31622400.0 /* 366 days */
/* The time of a row in ns since the start of the recording; false when the row
 * cannot be right: not finite, negative, or more than a year. */
static inline bool row_time(const uint8_t *row, int64_t *out)
{
	double s = get_f64(row);
	int64_t whole;

	if (!(s >= 0 && s <= MAX_TIME_S)) /* NaN too */
		return false;
	s *= 1e9;
	whole = (int64_t)s;
	*out = whole + (s - (double)whole >= 0.5); /* llround(), without the call */
	return true;
}

static inline void row_time_put(uint8_t *row, int64_t ns)
{
	put_f64(row, (double)ns / 1e9);
}

#endif
