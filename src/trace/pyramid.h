/* pyramid: columns of all channels of a tier, the way they are stored; see PYRM
 * in nvmtop-trace(5).
 *
 * A chunk has columns of one zoom that follow each other.  A column is a record:
 * the number of the first row at or after its beginning, then minimum, maximum,
 * sum and count of each channel, in the order of the sampler's row. */
#ifndef NVMTOP_TRACE_PYRAMID_H
#define NVMTOP_TRACE_PYRAMID_H

#include "model/timeline.h"
#include "trace/chunk.h"

#define PYRAMID_HEAD   48
#define PYRAMID_BIN    28  /* f64 minimum, maximum, sum; u32 count */
#define PYRAMID_WIDEST 512 /* channels; a tier with more has no pyramid */
#define PYRAMID_STEP   3   /* zooms from one stored level to the next */
#define PYRAMID_FEW    64  /* a level of so few columns is the last */
#define PYRAMID_LEVELS ((ZOOM_MAX - ZOOM_MIN) / PYRAMID_STEP + 1)

struct pyramid_head {
	enum tier tier;
	int zoom;
	uint32_t width;   /* channels */
	uint32_t columns; /* records */
	int64_t first;    /* column */
	uint64_t row;     /* the first row of the first column */
	uint64_t rows;    /* in these columns */
};

size_t pyramid_head_encode(uint8_t *p, const struct pyramid_head *h);
/* Checks that the records fill the payload of `length` bytes exactly. */
bool pyramid_head_decode(const uint8_t *p, uint64_t length, struct pyramid_head *h);

static inline size_t pyramid_record(size_t width)
{
	return 8 + width * PYRAMID_BIN;
}

/* One bin of a record; its sum is undefined where its count is 0. */
static inline struct bin lod_bin(const uint8_t *record, size_t column)
{
	const uint8_t *p = record + 8 + column * PYRAMID_BIN;

	return (struct bin) {get_f64(p), get_f64(p + 8), get_f64(p + 16), get_u32(p + 24)};
}

/* The finest zoom that is stored of a tier: some hundred rows a column. */
int pyramid_zoom(double hz);

/* How many levels are of use for columns between two times. */
int pyramid_levels(int zoom, int64_t first_ns, int64_t last_ns);

#endif
