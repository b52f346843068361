/* apart: a stream, chunk by chunk, to what a recorder would have left. */
#ifndef NVMTOP_TRACE_APART_H
#define NVMTOP_TRACE_APART_H

#include "trace/framer.h"
#include "trace/resettle.h"

struct apart {
	int part, side;
	off_t part_end, side_end;
	uint64_t rows;                   /* fast rows so far */
	uint64_t foreign;                /* bytes before the stream */
	uint64_t broken;                 /* of the stream, when its latest fast rows came */
	uint64_t told;                   /* of it, in the side file */
	uint64_t end[TIERS], runs;       /* rows and runs in the side file's words */
	bool has[TIERS], doubted[TIERS]; /* channels in that tier; a run of its next rows may be lost */
	size_t torn;                     /* bytes at its end */
	bool opened, closed;
	bool headed;         /* the first chunk is that of a stream */
	bool begun;          /* there was more than the description */
	bool settled;        /* and that stands at the beginning of the side file */
	bool counted[TIERS]; /* the number of the first row is known */
	struct front front;
	struct again_in about, again; /* the description, and its copies */
	bool known;                   /* the copies are whole */
	bool likely;                  /* all of `about` that rows need is there, though something is not */
	uint64_t channels_at;         /* broken bytes before the first channels */
	bool another;                 /* stream began behind it */
	struct framer framer;
	uint8_t piece[BLOCK_BYTES];
	uint8_t chunk[BLOCK_BYTES];
};

/* Both files are empty but for the room of a header.  The framer is the caller's to feed. */
void apart_init(struct apart *u, int part, int side);
int apart_visit(void *apart, uint32_t id, uint8_t *p, size_t n);
/* Nothing more comes. -1: errno, as of a visit. */
int apart_end(struct apart *u);
/* Rows before the first ones that are there, of all tiers. */
uint64_t apart_lost(const struct apart *u);
void apart_free(struct apart *u);

#endif
