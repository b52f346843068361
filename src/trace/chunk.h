/* chunk: the frame that the extension and the journal beside a running
 * recording share; see nvmtop-trace(5).
 *
 *   id[4] version(u32) length(u64) crc(u32 of these 16 bytes) payload crc(u32 of the payload)
 *
 * The head has a sum of its own so that one bad payload does not hide what
 * follows it, and so that a walk need not touch the payloads. */
#ifndef NVMTOP_TRACE_CHUNK_H
#define NVMTOP_TRACE_CHUNK_H

#include <stddef.h>

#include "model/stream.h"
#include "trace/layout.h"

#define CHUNK_HEAD    20
#define CHUNK_CRC     4
#define CHUNK_VERSION 1

#define CHUNK_ID(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
enum chunk_id {
	CHUNK_OPEN = CHUNK_ID('N', 'V', 'M', 'X'),   /* the first: who wrote it */
	CHUNK_ANCHOR = CHUNK_ID('A', 'N', 'C', 'H'), /* clocks */
	CHUNK_RATES = CHUNK_ID('R', 'A', 'T', 'E'),  /* exact rates of the tiers */
	CHUNK_FACTS = CHUNK_ID('F', 'A', 'C', 'T'),
	CHUNK_CHANNELS = CHUNK_ID('C', 'H', 'A', 'N'),
	CHUNK_MARKS = CHUNK_ID('M', 'A', 'R', 'K'),
	CHUNK_GAPS = CHUNK_ID('G', 'A', 'P', 'S'),
	CHUNK_CHANGES = CHUNK_ID('S', 'T', 'A', 'T'), /* how the machine was set from then on */
	CHUNK_RUNS = CHUNK_ID('R', 'U', 'N', 'S'),    /* cells that version 1 could not hold */
	CHUNK_COLUMNS = CHUNK_ID('C', 'O', 'L', 'S'), /* channels beyond version 1 */
	CHUNK_PYRAMID = CHUNK_ID('P', 'Y', 'R', 'M'), /* columns of rows */
	CHUNK_INDEX = CHUNK_ID('I', 'N', 'D', 'X'),   /* where the chunks are */
	CHUNK_TALLY = CHUNK_ID('T', 'A', 'L', 'Y'),   /* rows, late and lost ticks */
	CHUNK_CLOSE = CHUNK_ID('E', 'N', 'D', 'X'),   /* the last: where the first is */
	/* only in the journal and in a stream */
	CHUNK_MEDIUM = CHUNK_ID('M', 'R', 'O', 'W'),
	CHUNK_SLOW = CHUNK_ID('S', 'R', 'O', 'W'),
	CHUNK_JOIN = CHUNK_ID('J', 'O', 'I', 'N'),
	CHUNK_COVER = CHUNK_ID('C', 'O', 'V', 'R'), /* rows whose runs have all been written */
	/* only in a stream */
	CHUNK_STREAM = CHUNK_ID('N', 'V', 'M', 'S'), /* the first: who writes it */
	CHUNK_FAST = CHUNK_ID('F', 'R', 'O', 'W'),
	CHUNK_AGAIN = CHUNK_ID('A', 'G', 'I', 'N'), /* a part of the description once more */
	CHUNK_END = CHUNK_ID('E', 'N', 'D', 'S') /* the last: rows, late and lost ticks */
};

#define ANCHOR_SIZE  24
#define RATES_SIZE   24
#define GAP_SIZE     28
#define RUN_SIZE     28
#define COLUMNS_HEAD 24
#define TALLY_SIZE   72
#define CLOSE_SIZE   52
#define JOIN_SIZE    8
#define COVER_SIZE   32
#define MARK_SIZE    26 /* and the label */

struct chunk {
	uint32_t id, version;
	uint64_t length;
};

bool chunk_head_decode(const uint8_t *p, struct chunk *out); /* false: its sum is wrong */
uint32_t chunk_crc(const uint8_t *p, size_t n);
uint32_t chunk_crc_more(uint32_t crc, const uint8_t *p, size_t n); /* of what is behind that */
/* Fill in head and payload sum of a chunk whose payload is already behind the
 * head at p.  Returns the size of the whole. */
size_t chunk_seal(uint8_t *p, uint32_t id, size_t length);
void chunk_name(uint32_t id, char out[5]); /* printable */

struct run {
	uint32_t channel;
	uint64_t row, count;
	double value;
};

struct columns_head {
	enum tier tier;
	uint32_t columns;
	uint64_t row, rows;
};

/* Payload records.  The encoders return the bytes used.  The decoders of
 * records of variable size return them too, or 0 when what is there is no such
 * record; the others read a fixed size that the caller has checked. */
#define WRITER_MAX 64
size_t writer_encode(uint8_t *p); /* this program's name and version */
size_t anchor_encode(uint8_t *p, const struct clock_anchor *a);
void anchor_decode(const uint8_t *p, struct clock_anchor *a);
size_t mark_encode(uint8_t *p, const struct mark *m, uint64_t fast_row);
size_t mark_decode(const uint8_t *p, size_t left, struct mark *m, uint64_t *fast_row);
size_t gap_encode(uint8_t *p, const struct gap *g);
bool gap_decode(const uint8_t *p, struct gap *g);
size_t run_encode(uint8_t *p, const struct run *r);
void run_decode(const uint8_t *p, struct run *r);
size_t columns_encode(uint8_t *p, const struct columns_head *h);
/* Checks that the rows fill the payload of `length` bytes exactly. */
bool columns_decode(const uint8_t *p, uint64_t length, struct columns_head *h);

#define CHANGE_MAX (12 + 6 + sizeof(struct change))
size_t change_encode(uint8_t *p, const struct change *c);
size_t change_decode(const uint8_t *p, size_t left, struct change *c);

#define FACT_MAX    (4 + sizeof(struct fact))
#define CHANNEL_MAX 1024
size_t fact_encode(uint8_t *p, const struct fact *f);
size_t fact_decode(const uint8_t *p, size_t left, struct fact *f);
size_t channel_encode(uint8_t *p, const struct channel *c, const struct place *place);
size_t channel_decode(const uint8_t *p, size_t left, struct channel *c, struct place *place);

#endif
