/* shelf: the stored columns of one tier, level by level, wherever their bytes
 * are: in the trace, in a file of the cache, in memory. */
#ifndef NVMTOP_TRACE_SHELF_H
#define NVMTOP_TRACE_SHELF_H

#include "trace/pyramid.h"

/* One chunk. */
struct piece {
	struct pyramid_head head;
	const uint8_t *payload; /* head and records */
	uint64_t at;            /* its chunk's offset in the file, for messages */
	bool checked;           /* its sum is right */
};

struct level {
	int zoom;
	struct piece *piece; /* by column */
	size_t n, room;
	size_t last; /* found before */
};

/* Finest first. */
struct shelf {
	struct level level[PYRAMID_LEVELS];
	int levels;
	const struct piece *bad; /* of which the sum is wrong, when there was one */
	size_t touched;          /* bytes that were looked at; for whoever counts them */
};

int shelf_put(struct shelf *s, const struct piece *p); /* -1: out of memory; wrong ones are left out */
void shelf_clear(struct shelf *s);

/* The piece that has the column, or NULL. */
struct piece *level_piece(const struct level *l, int64_t column);

/* Leave only levels of `width` channels that hold all rows, from `base` up. */
void shelf_settle(struct shelf *s, size_t width, int base, uint64_t rows);

/* The column of a zoom not finer than that of the first level: the merge of all
 * that there is of it.  Only columns between the two times are looked for. */
struct bin shelf_bin(struct shelf *s, size_t channel, int zoom, int64_t column, int64_t first_ns,
		     int64_t last_ns);

#endif
