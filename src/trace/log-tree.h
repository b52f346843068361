/* log-tree: the chunks of a log, by group. Private to log-reader.c, log-tree.c, log-columns.c and the code
 * that recovers, checks and follows logs; callers must have locked the reader. */
#ifndef TRACE_LOG_TREE_H
#define TRACE_LOG_TREE_H

#include <pthread.h>

#include "trace/log-cache.h"
#include "trace/log-reader.h"

/* A known chunk. Kind 0: a group without an INDEX, or rows that are in no chunk. */
struct log_item {
	uint64_t at; /* offset of its head */
	uint32_t stored;
	uint8_t kind, aux; /* aux: zoom or level, as in an INDEX */
	int64_t cell;
	uint32_t rows[TIERS];
	uint64_t before[TIERS]; /* rows before it in its list */
	const uint8_t *bytes;	/* in memory; NULL: in the file */
	uint8_t open;		/* of a view: which of its open rows, from 1; 0: it is a chunk */
};

struct log_items {
	struct log_item *p;
	size_t n, room;
	bool failed;
};

/* The contents of an INDEX: the chunks of its span, by cell, and the INDEX chunks of its level and above that
 * no other INDEX lists. */
struct log_listing {
	unsigned level;
	struct log_items own, open;
	uint64_t first; /* lowest offset in own */
	uint32_t rows[TIERS];
	struct log_in events; /* valid until the next INDEX is read */
	bool incomplete;
};

/* Maps the columns of a generation to those of the session, or to NO_COLUMN. */
struct log_generation {
	uint32_t number;
	unsigned width[TIERS];
	uint16_t *column[TIERS];
};

/* Rows, by their chunk and tier, the fast ones apart, because a view of a minute has too many of them; lists, by the offset of
 * their INDEX; strips, LOD, STAT and what else log-columns.c keeps of a span. */
enum { LOG_FAST_ROWS, LOG_ROWS, LOG_LISTS, LOG_STRIPS, LOG_CACHES };

/* A RANGE chunk and the times of its ranges. */
struct log_range_chunk {
	struct log_item item;
	int64_t from_ns, to_ns;
};

/* A file of the recording. Positions of a reader run over all of its files, one behind the other. */
struct log_file {
	int fd;
	uint64_t at, size;
};

struct energy_part;
struct energy_source;
struct log_view;

struct log_reader {
	struct timeline timeline;
	pthread_mutex_t lock, energy_lock;
	struct log_view *view; /* of a log in memory, which has the lists; NULL: of a file */
	struct log_file *files;
	size_t n_files;
	char *shown;
	uint64_t begin, size; /* of its chunks */
	uint32_t id;	      /* its session number */
	struct session session;
	struct channel *channels;
	uint32_t *numbers; /* of the channels */
	struct fact *facts;
	struct log_generation *generations;
	size_t n_generations;
	uint32_t newest; /* generation */
	struct mark *marks;
	struct gap *gaps;
	struct change *changes; /* then the reasons of missing values */
	int64_t *gap_reach;	/* latest end of gaps 0..i */
	struct clock_anchor *anchors;
	struct energy_source *sources; /* of each channel, as far as they were asked for */
	size_t n_marks, n_gaps, n_changes, n_reasons, n_anchors;
	struct log_tail tail;
	struct log_head last; /* last chunk that was scanned */
	struct log_damage damage;
	int64_t *holes; /* cells in which files begin, and chunks before them are in no file */
	size_t n_holes;
	uint64_t absent; /* files that are missing in all of them */
	uint64_t *faulty; /* sorted offsets of chunks that are counted in damage */
	size_t n_faulty;
	bool quiet; /* another scan will report the damage */
	bool newer; /* a critical chunk of an unknown kind or version was found */
	int64_t first_ns, last_ns; /* of rows */
	bool any;
	int64_t from_ns, to_ns; /* of everything that has a time; from_ns above to_ns: nothing has */
	uint64_t rows[TIERS];
	/* INDEX chunks of each level, by cell. Level 1 are the groups: each row is in exactly one of them. */
	struct log_items levels[LOG_LEVELS + 1];
	struct log_items roots; /* INDEX chunks that no other one lists; kind 0: another one does */
	struct log_items loose; /* other chunks that no INDEX lists, by cell */
	struct log_items marked; /* MARK, GAP and STATE chunks whose records are in no INDEX */
	struct log_bytes events; /* kind, length and record, as in INDEX */
	bool had_ranges;       /* before the newest META */
	uint64_t ranges_from;  /* offset: no RANGE chunk is before it */
	struct ranges *ranges; /* NULL: not read yet, or there are none */
	struct ranges *other_ranges; /* shown in their place, or NULL */
	struct log_range_chunk *range_chunks;
	size_t n_range_chunks;
	bool ranges_read;
	size_t range_group, range_item; /* where reading goes on: the item of the group's list */
	struct log_cache *caches; /* LOG_CACHES of them */
	struct {
		uint64_t key;
		unsigned column;
		double values[4][LOG_BINS_MAX]; /* minima, maxima, sums, counts */
	} lod; /* the bins of a channel that were decoded last */
	struct log_unpacker *unpacker;
	struct bin_order order;
	struct log_bytes stored, raw, raw_index;
	uint64_t stored_at, stored_next; /* offset of stored, and of the end of what was last used of it */
	struct log_head raw_of; /* the chunk in raw; stored 0: none */
	uint64_t raw_at;
	struct log_section sections[TIERS]; /* of the chunk at sections_at, while it is in raw; n 0: none */
	uint64_t sections_at;
	uint8_t *window;
	uint64_t window_at;
	size_t window_n;
};

/* log-reader.c */
/* A reader without a file, for log_reader_close(). Returns NULL if out of memory. */
struct log_reader *log_reader_new(void);
ssize_t log_read_at(struct log_reader *r, void *to, size_t n, uint64_t at);
#define LOG_SEQ_NONE UINT64_MAX
/* Counts a damaged chunk once. Returns false if it was counted before or the reader is quiet. */
bool log_note(struct log_reader *r, enum log_fault fault, uint64_t at, uint64_t seq, int64_t cell, uint64_t rows);
/* Same for an unknown kind or version. Rows are missing without DATA, so for DATA it is damage. */
void log_note_newer(struct log_reader *r, const struct log_head *h, uint64_t at, uint64_t rows);
/* Unpacks the payload of a chunk to `to`. Returns false if it is damaged, which is noted. */
bool log_read_chunk(struct log_reader *r, const struct log_item *item, struct log_head *h, struct log_bytes *to);
const struct log_generation *log_generation_find(const struct log_reader *r, uint32_t number);

/* Adds the channels that a META describes. Returns -1 if out of memory. */
int log_meta_take(struct log_reader *r, const struct log_head *h, const uint8_t *p, size_t n);
/* Whether the clocks of a META can be. */
bool log_meta_good(const uint8_t *p, size_t n);
/* Reads a META if its generation is not known yet. */
void log_meta_new(struct log_reader *r, const struct log_item *item);
void log_generation_drop(struct log_reader *r, size_t i);
/* A reader without a file, which only takes META. Returns NULL if out of memory. */
struct log_reader *log_about_new(void);
void log_about_free(struct log_reader *r);

static inline bool log_has_events(unsigned kind)
{
	return kind == LOG_MARK || kind == LOG_GAP || kind == LOG_STATE;
}

/* Keeps the good ones among the events of a chunk or INDEX. */
void log_events_put(struct log_reader *r, const struct log_item *item, struct log_in in, uint64_t seq);

/* log-tree.c */
/* Adds the chunks in [from, to) to items, in the order of the file. */
void log_scan(struct log_reader *r, uint64_t from, uint64_t to, struct log_items *items);
/* Finds all chunks: through the newest INDEX, or by a scan. Returns -1 if out of memory. */
int log_tree_read(struct log_reader *r);
void log_tree_free(struct log_reader *r);
/* Whether the head of that chunk is at the offset in the INDEX. */
bool log_item_there(struct log_reader *r, const struct log_item *item);
/* Returns false if the INDEX is damaged. The caller frees l in both cases. */
bool log_listing_read(struct log_reader *r, const struct log_item *index, struct log_listing *l);
void log_listing_free(struct log_listing *l);
/* Returns the chunks of a group, or those that an INDEX of a higher level lists, by cell; valid until the
 * next call. */
const struct log_item *log_list_of(struct log_reader *r, const struct log_item *index, size_t *n);
/* Returns the INDEX, or the group, of that level that contains the cell; NULL if there is none. */
const struct log_item *log_index_of(const struct log_reader *r, int level, int64_t cell);
/* Returns the number of rows in all cells before that one. */
uint64_t log_rows_before(struct log_reader *r, enum tier tier, int64_t cell);
/* Returns the cell of that row; if only its group is known, the first cell of that. */
int64_t log_cell_of_row(struct log_reader *r, enum tier tier, uint64_t row);
/* Returns the rows of the chunk that contains that row, and the number of its first row; valid until the next
 * call. Returns NULL if out of memory. */
struct log_block *log_block_of(struct log_reader *r, enum tier tier, uint64_t row, uint64_t *first);
/* Returns a column of the block's rows, which is decoded on first use. */
const double *log_block_values(struct log_block *b, unsigned column);

/* log-columns.c: the rows of a cell have changed, what was computed of them is not valid any more. */
void log_strips_drop(struct log_reader *r, enum tier tier, int64_t cell);
/* Sets *span to the next group, itself included, in which the tier has rows. Returns false if there is none. */
bool log_reader_span_from(struct log_reader *r, enum tier tier, int64_t *span);
/* What the rows of a group add to the joules of a source, as it was kept. Return false if it was not. */
bool log_reader_part(struct log_reader *r, int64_t span, const struct energy_source *s, struct energy_part *out);
bool log_reader_parts_keep(struct log_reader *r, int64_t span, enum tier tier, const struct energy_part *parts, size_t n);
/* log-timeline.c */
extern const struct timeline_ops log_timeline_ops;

/* log-ranges-read.c: the latest end of a range; INT64_MIN: there is none near the end of the recording. */
int64_t log_ranges_end(struct log_reader *r);

/* log-view.c: the chunks and open rows of a group. */
const struct log_item *log_view_list(struct log_view *v, const struct log_item *group, size_t *n);
struct log_block *log_view_block(struct log_view *v, const struct log_item *item, enum tier tier);
/* Whether the rows of a cell are not kept any more. */
bool log_view_gone(const struct log_view *v, int64_t cell);
/* The finest zoom of the bins that are left at that time. */
int log_view_finest(const struct log_view *v, enum tier tier, int64_t t_ns);

static inline int64_t log_span_end(int64_t cell, unsigned level) /* the first cell after the span */
{
	return log_span_cell(log_span(cell, (int)level) + 1, (int)level);
}

#endif
