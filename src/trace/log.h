/* log: the chunks of a recording, shared by its writer and its readers;
 * docs/format-nvmt.md describes the bytes. */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "model/stats.h"
#include "model/timeline.h"

#define LOG_VERSION    3
#define LOG_HEAD       48 /* bytes */
#define LOG_STORED_MAX (UINT32_C(1) << 20)
#define LOG_RAW_MAX    (UINT32_C(16) << 20)
#define LOG_ROWS_MAX   65536
#define LOG_CHANNELS   4096
#define LOG_BINS_MAX   256
#define LOG_EVENTS_MAX (UINT32_C(1) << 19) /* bytes in an INDEX */
#define LOG_TIERS      4     /* maximum of the format */
#define LOG_CELL_LIMIT (INT64_C(1) << 35)

#define LOG_CELL_ZOOM 27
#define LOG_SPAN_BITS 6 /* a span consists of 64 spans of the level below */
#define LOG_LEVELS    3

/* Times are less than 2^62 away from 0, like those of cells, so that the difference of two does not overflow. */
static inline bool log_time_good(int64_t t_ns)
{
	return t_ns < LOG_CELL_LIMIT << LOG_CELL_ZOOM && t_ns > -(LOG_CELL_LIMIT << LOG_CELL_ZOOM);
}

static inline int64_t log_cell(int64_t t_ns)
{
	return t_ns >> LOG_CELL_ZOOM;
}

static inline int64_t log_cell_ns(int64_t cell)
{
	return cell * (INT64_C(1) << LOG_CELL_ZOOM);
}

/* The number of the span that contains the cell, and the first cell of a span. */
static inline int64_t log_span(int64_t cell, int level)
{
	return cell >> (LOG_SPAN_BITS * level);
}

static inline int64_t log_span_cell(int64_t span, int level)
{
	return (int64_t)((uint64_t)span << (LOG_SPAN_BITS * level));
}

extern const uint8_t log_signature[8];

enum log_kind {
	LOG_META = 1,
	LOG_DATA,
	LOG_MARK,
	LOG_GAP,
	LOG_STATE,
	LOG_RANGE,
	LOG_LOD,
	LOG_STAT,
	LOG_INDEX,
	LOG_END,
	LOG_EVENT,
	LOG_KINDS
};

static inline bool log_has_events(unsigned kind)
{
	return kind == LOG_MARK || kind == LOG_GAP || kind == LOG_STATE || kind == LOG_EVENT;
}

/* Whether the list of a group has chunks of that kind. */
static inline bool log_of_group(unsigned kind)
{
	return kind == LOG_META || kind == LOG_DATA || kind == LOG_RANGE || log_has_events(kind);
}


enum log_codec { LOG_PLAIN, LOG_ZSTD };

#define LOG_CRITICAL 1 /* flag of a head: a reader that does not know the kind must give up */

struct log_head {
	uint8_t kind, version, codec, flags;
	uint32_t session, generation;
	uint64_t seq;
	uint32_t stored, raw;
	int64_t cell;
	uint32_t crc; /* of the payload */
};

enum log_tag {
	LOG_TAG_WRITER = 1,
	LOG_TAG_ID,
	LOG_TAG_START,
	LOG_TAG_ANCHOR,
	LOG_TAG_TIER,
	LOG_TAG_FACT,
	LOG_TAG_CHANNEL,
	LOG_TAG_PART = 10,
	LOG_TAG_RANGES
};

enum log_reason { LOG_STOPPED, LOG_SPLIT, LOG_LIMIT, LOG_COMMAND_ENDED = 4 };

/* A buffer for encoding. Once memory runs out, further data is dropped and failed stays true. */
struct log_bytes {
	uint8_t *p;
	size_t n, room;
	bool failed;
};
static inline void log_bytes_reset(struct log_bytes *b)
{
	b->n = 0;
	b->failed = false;
}

uint8_t *log_bytes_add(struct log_bytes *b, size_t n); /* n more bytes at the end; NULL if out of memory */
void log_bytes_put(struct log_bytes *b, const void *p, size_t n);
void log_put_int(struct log_bytes *b, uint64_t v, size_t size);

static inline void log_put_u8(struct log_bytes *b, unsigned v)
{
	log_put_int(b, v, 1);
}

static inline void log_put_u16(struct log_bytes *b, unsigned v)
{
	log_put_int(b, v, 2);
}

static inline void log_put_u32(struct log_bytes *b, uint32_t v)
{
	log_put_int(b, v, 4);
}

static inline void log_put_u64(struct log_bytes *b, uint64_t v)
{
	log_put_int(b, v, 8);
}

static inline void log_put_i64(struct log_bytes *b, int64_t v)
{
	log_put_int(b, (uint64_t)v, 8);
}

void log_put_f64(struct log_bytes *b, double v);
void log_put_str(struct log_bytes *b, const char *text);
void log_bytes_free(struct log_bytes *b);

/* A cursor for decoding. Past the end all values are 0 or "", and bad stays true. */
struct log_in {
	const uint8_t *p, *end;
	bool bad;
};
const uint8_t *log_in_take(struct log_in *in, size_t n); /* the next n bytes, NULL if there are fewer */
uint64_t log_get_int(struct log_in *in, size_t size);

static inline unsigned log_get_u8(struct log_in *in)
{
	return (unsigned)log_get_int(in, 1);
}

static inline unsigned log_get_u16(struct log_in *in)
{
	return (unsigned)log_get_int(in, 2);
}

static inline uint32_t log_get_u32(struct log_in *in)
{
	return (uint32_t)log_get_int(in, 4);
}

static inline uint64_t log_get_u64(struct log_in *in)
{
	return log_get_int(in, 8);
}

static inline int64_t log_get_i64(struct log_in *in)
{
	return (int64_t)log_get_int(in, 8);
}

double log_get_f64(struct log_in *in);
void log_get_str(struct log_in *in, char *out, size_t size); /* made printable; truncated to size */
/* The next record of a MARK, GAP or STATE chunk. Returns false at the end or, with in->bad set, on damage. */
bool log_get_record(struct log_in *in, struct log_in *record);
/* Same for META, whose records have a tag. */
bool log_get_tagged(struct log_in *in, unsigned *tag, struct log_in *record);

/* log-chunk.c */
uint32_t log_crc(const uint8_t *p, size_t n);
/* Splits n items of `size` bytes into byte planes, and back. out and in must not overlap. */
void log_shuffle(uint8_t *out, const uint8_t *in, size_t n, size_t size);
void log_unshuffle(uint8_t *out, const uint8_t *in, size_t n, size_t size);

/* Returns false if there is no head, or if its lengths exceed the limits. Accepts
 * any kind, version and codec. */
bool log_head_get(const uint8_t p[LOG_HEAD], struct log_head *out);
void log_head_put(uint8_t p[LOG_HEAD], const struct log_head *h);
/* Returns the offset of the first valid head of that session (0: any). If there is none, returns n - 47, or 0
 * if n is smaller: no head begins before that. */
size_t log_find(const uint8_t *p, size_t n, uint32_t session);

struct log_packer; /* a ZSTD_CCtx */
struct log_packer *log_packer_new(void);
void log_packer_free(struct log_packer *k);
/* Appends a whole chunk and sets h->stored, raw, codec and crc. Returns -1 if out of memory or too long. */
int log_pack(struct log_packer *k, struct log_head *h, const uint8_t *raw, size_t n, struct log_bytes *out);

enum log_unpacked {
	LOG_OK,
	LOG_BAD_SUM,   /* checksum mismatch */
	LOG_BAD_FRAME, /* decompression failed */
	LOG_BAD_CODEC, /* unknown codec */
	LOG_NO_MEMORY
};
struct log_unpacker; /* a ZSTD_DCtx */
struct log_unpacker *log_unpacker_new(void);
void log_unpacker_free(struct log_unpacker *u);
/* Unpacks h->stored bytes at `stored` into the h->raw bytes of out, replacing its contents. */
enum log_unpacked log_unpack(struct log_unpacker *u, const struct log_head *h, const uint8_t *stored,
			     struct log_bytes *out);

/* log-codec.c: arrays of doubles, NaN for missing values. Each value that is stored is a number; the first is
 * apart, the others are differences of so many bytes. */
enum log_width { LOG_NONE, LOG_CONSTANT, LOG_I8, LOG_I16, LOG_I32, LOG_I64 };
enum log_number { LOG_WHOLE, LOG_TENTHS, LOG_THOUSANDTHS, LOG_THOUSANDTHS_F32, LOG_F32, LOG_F64 };
/* Which rows have a stored value; the others of LOG_CHANGED have that of the row before. LOG_OTHER: the array
 * is of a newer version. */
enum log_which { LOG_ALL, LOG_PRESENT, LOG_CHANGED, LOG_OTHER };
#define LOG_KIND(width, number, which) ((uint8_t)((width) | (number) << 3 | (which) << 6))
#define LOG_COLUMN		       9 /* bytes before the arrays: kind and first number */

struct log_array {
	const uint8_t *p; /* NULL: it was decoded */
	uint64_t first;
	uint8_t kind;
};
/* Appends n values in the smallest lossless form, those of column c; kinds: where LOG_COLUMN bytes of each of
 * the columns are. Overwrites v, and k, which has room for n. */
void log_array_put(struct log_bytes *b, size_t kinds, size_t columns, size_t c, double *v, uint64_t *k,
		   size_t n);
/* Returns how many of the `left` bytes at p the array occupies, or -1 if it is invalid. n must not be 0. */
ssize_t log_array_size(const uint8_t *p, size_t left, uint8_t kind, size_t n);
/* Decodes an array that log_array_size() has accepted. */
void log_array_get(const struct log_array *a, size_t n, double *out);

/* A section of DATA or LOD in an unpacked payload. A LOD has arrays of all minima, then maxima, sums and counts. */
enum log_part { LOG_MINIMUM, LOG_MAXIMUM, LOG_SUM, LOG_COUNT, LOG_PARTS };
struct log_section {
	uint8_t tier;
	uint32_t n, columns; /* columns: of arrays, LOG_PARTS for each channel in LOD */
	int64_t first;       /* time of the first row, or the first bin */
	int64_t unit_ns, step; /* of the times; step in units */
	const uint8_t *times, *kinds, *firsts, *arrays;
	size_t size; /* of the arrays */
};
/* The next section, of DATA or of LOD. Returns 1 if its arrays are complete, 0 at the end, -1 on damage. */
int log_section_next(struct log_in *in, struct log_section *s, bool data);
#define LOG_LATE (UINT32_C(1) << 31) /* flag of a residual: one tick before the row was skipped */
/* Decodes the times, whether one tick before a row was skipped, and the last time, each unless it is NULL. Returns false if
 * they do not strictly increase or one is outside the cell. */
bool log_section_times(const struct log_section *s, int64_t cell, int64_t *t_ns, uint8_t *late, int64_t *last_ns);

/* Appends a section. late: as of log_section_times(). */
void log_data_put(struct log_bytes *b, const struct rows *r, const uint8_t *late, int64_t period_ns);

/* STAT: one channel over one span. */
#define LOG_STAT_HEAD 56 /* in front of the records */
#define LOG_STAT_SIZE 108
void log_late_put(struct log_bytes *b, const struct late_ticks late[LOG_TIERS]);
void log_late_get(struct log_in *in, struct late_ticks late[LOG_TIERS]);

/* INDEX. Distances go back from its first byte. */
enum { LOG_GROUP_RANGES = 1, LOG_GROUP_EVENTS = 2, LOG_GROUP_META = 4 }; /* has RANGE; events; a META of a new generation */
#define LOG_INDEX_HEAD 40
#define LOG_GROUP_SIZE 48
#define LOG_SUMS_SIZE  20
#define LOG_INCOMPLETE 1 /* flag: without the events */
struct log_index_head {
	uint8_t flags, reserved;
	uint16_t size; /* of an entry of a group */
	uint32_t groups, sums, events; /* entries, entries, bytes */
	uint64_t begin;  /* distance to the first byte of this output */
	uint64_t before; /* to the INDEX before; 0: there is none */
	uint64_t rest;   /* to the first chunk of a group that no INDEX lists yet; 0: there is none */
};
struct log_group_entry {
	uint64_t first; /* distance to its first chunk */
	uint64_t sums;  /* to its LOD and STAT; 0: there are none */
	int64_t cell;
	uint32_t length; /* from its first chunk to the end of its last one before LOD and STAT */
	uint32_t flags, rows[LOG_TIERS];
};
struct log_sums_entry { /* LOD and STAT of level 2 or 3 */
	uint64_t distance;
	int64_t cell;
	uint32_t level;
};

/* A chunk of an output. */
struct log_entry {
	uint64_t distance;
	uint32_t stored;
	uint8_t kind, aux; /* aux: zoom or level */
	uint16_t events;   /* records of a MARK, GAP, STATE, EVENT or RANGE chunk */
	int64_t cell;
	uint32_t rows[LOG_TIERS];
	uint16_t late[LOG_TIERS]; /* single late ticks before these rows */
};

/* The level of the span of a LOD or STAT; log_zooms has the zooms of each. */
static inline int log_entry_level(const struct log_entry *e)
{
	return e->kind == LOG_STAT ? e->aux : e->aux < 32 ? 1 : e->aux < 38 ? 2 : 3;
}

/* The fields of a record without its length, in file order; memory 0 ends the list. file: size of an integer
 * or double in bytes; 0: a str. is_time: log_time_good() holds. */
struct log_field {
	uint16_t at, memory;
	uint8_t file;
	bool is_time;
};
extern const struct log_field log_mark_fields[], log_gap_fields[], log_change_fields[], log_state_fields[],
	log_anchor_fields[], log_fact_fields[], log_channel_fields[], log_stat_fields[],
	log_index_head_fields[], log_group_entry_fields[], log_sums_entry_fields[];
void log_fields_put(struct log_bytes *b, const struct log_field *fields, const void *record);
bool log_fields_get(struct log_in *in, const struct log_field *fields, void *record); /* false if it cannot be */

struct log_channel {
	uint32_t number;
	struct channel c;
	char kind[64], unit[64], family[64]; /* their names */
};

#define LOG_RECORD(name, type)                                                        \
	static inline void log_##name##_put(struct log_bytes *b, const struct type *from) \
	{                                                                             \
		log_fields_put(b, log_##name##_fields, from);                         \
	}                                                                             \
	static inline bool log_##name##_get(struct log_in *in, struct type *to)       \
	{                                                                             \
		return log_fields_get(in, log_##name##_fields, to);                   \
	}
LOG_RECORD(anchor, clock_anchor)
LOG_RECORD(fact, fact)
LOG_RECORD(channel, log_channel)
LOG_RECORD(stat, span_stats)
LOG_RECORD(index_head, log_index_head)
LOG_RECORD(group_entry, log_group_entry)
LOG_RECORD(sums_entry, log_sums_entry)

#endif
