/* log-read: an open log, and what reads it. Private to src/trace; callers must have locked the trace. A file calls those
 * only whose functions are declared before its own. */
#ifndef TRACE_LOG_READ_H
#define TRACE_LOG_READ_H

#include <pthread.h>

#include "model/fold.h"
#include "trace/log-cache.h"
#include "trace/log-source.h"
#include "trace/trace.h"

/* How the log ends. */
struct log_tail {
	bool ended; /* false: the recorder wrote no END */
	enum log_reason reason;
	char next[256];		/* the next file of a split recording; may be empty */
	uint64_t torn;		/* bytes after the last chunk */
	uint64_t other;		/* of these, from the first chunk of another recording on */
};

/* The damage found so far. */
enum log_fault {
	LOG_FAULT_NONE,
	LOG_FAULT_BYTES,   /* bytes that belong to no chunk */
	LOG_FAULT_OTHER,   /* another recording at the end */
	LOG_FAULT_SEQ,     /* missing chunks */
	LOG_FAULT_SUM,     /* wrong checksum, or the codec cannot decode it */
	LOG_FAULT_CODEC,   /* unknown codec */
	LOG_FAULT_VERSION, /* DATA of an unknown version */
	LOG_FAULT_COLUMN,  /* columns of an unknown form */
	LOG_FAULT_CONTENT, /* invalid times, counts or lengths */
	LOG_FAULT_ORDER,   /* older than the chunk before it */
	LOG_FAULT_CHANNELS /* no META of its generation */
};
struct log_damage {
	uint64_t chunks; /* missing or damaged */
	uint64_t rows;	 /* in them, as far as known */
	uint64_t bytes;	 /* between chunks */
	uint64_t unknown; /* other chunks of an unknown kind or version; not damage */
	enum log_fault first;
	uint64_t seq;	 /* of the first */
	int64_t t_ns;	 /* its approximate time, CLOCK_MONOTONIC */
};

/* A chunk that is known. Kind 0: it cannot be used, or rows that are in no chunk. */
struct log_item {
	uint64_t at; /* position of its head */
	uint32_t stored;
	uint8_t kind, aux; /* aux: zoom or level, in memory */
	int64_t cell;
	uint32_t rows[TIERS];
	uint64_t before[TIERS]; /* rows before it in its list */
	const uint8_t *bytes;	/* in memory; NULL: in the file */
	uint8_t open;		/* of a view: which of its open rows, from 1; 0: it is a chunk */
};

struct log_items {
	struct log_item *p;
	size_t n;
	bool failed;
};

/* The chunks of a group, by cell and then position, without LOD and STAT. */
struct log_list {
	size_t n, counted;	/* rows and before are known of those that were counted */
	uint64_t rows[TIERS];	/* in these */
	int64_t last_ns[TIERS]; /* of their last rows */
	bool listed;		/* by an INDEX, which has `due` rows: what is missing of them is the last item */
	uint32_t due[TIERS];
	struct log_item items[];
};

/* 64 cells, of which the file or memory has something. Each row is in exactly one group. */
struct log_group {
	int64_t cell;	 /* the first */
	uint64_t at;	 /* position of its first chunk; in memory, its number */
	uint64_t sums;	 /* of its LOD and STAT; 0: there are none */
	uint32_t length; /* from its first chunk to the end of the last one of its list */
	uint8_t flags;	 /* LOG_GROUP_RANGES, LOG_GROUP_META; LOG_GROUP_EVENTS: they are in no INDEX */
	uint32_t rows[TIERS];
	uint64_t before[TIERS]; /* rows in earlier groups */
	struct log_list *list;	/* NULL: it is read when it is asked for */
};

/* LOD and STAT of level 2 or 3. */
struct log_sums {
	uint64_t at, begin; /* begin: of the file that has them */
	int64_t cell;
	int level;
};

/* Maps the columns of a generation to those of the session, or to NO_COLUMN. */
struct log_generation {
	uint32_t number;
	unsigned width[TIERS];
	uint16_t *column[TIERS];
};

/* Rows, by their chunk and tier, the fast ones apart, because a view of a minute has too many of them; lists, by the offset of
 * their INDEX; strips, LOD, STAT and what else log-columns.c keeps of a span; tiles, which a screen draws; DATA as it is unpacked,
 * by its offset, for those who read other tiers of a minute next, or the same one for something else. */
enum { LOG_FAST_ROWS, LOG_ROWS, LOG_LISTS, LOG_STRIPS, LOG_TILES, LOG_CHUNKS, LOG_CACHES };
struct log_kept { /* its payload follows */
	struct log_head head;
	struct log_data data;
	enum log_fault fault;
};

/* A RANGE chunk and the times of its ranges. */
struct log_range_chunk {
	struct log_item item;
	int64_t from_ns, to_ns;
};

/* Events of one kind, by time. reach: the latest end of 0 .. i, if they have an end. */
struct log_events {
	void *p;
	size_t n, room;
	int64_t *reach;
};

/* Where the log in memory and the one in files differ. */
struct log_place {
	/* Adds the chunks of a group, and its rows that are in no chunk. */
	void (*items)(struct trace *r, const struct log_group *g, struct log_items *items);
	/* Finds the LOD of that zoom, or the STAT, of the span of that level that contains the cell. */
	bool (*sums)(struct trace *r, int level, int64_t cell, enum log_kind kind, int zoom, struct log_item *out);
	/* Only in memory: rows that are in no chunk; the finest zoom that is left at a time of which the rows are gone. */
	struct log_block *(*open_rows)(struct trace *r, const struct log_item *item, enum tier tier);
	int (*finest)(const struct trace *r, enum tier tier, int64_t t_ns);
};
extern const struct log_place log_files_place; /* log-groups.c */

struct import;
struct log_view;

struct trace {
	struct timeline timeline;
	const struct log_place *place;
	struct log_view *view; /* of a log in memory, which has the groups and their lists; NULL: of files */
	pthread_mutex_t lock, energy_lock;
	char *shown; /* the name for messages */
	struct log_piece *files; /* of one recording */
	size_t n_files;
	struct log_file file;
	struct log_source *source; /* of all bytes */
	struct log_unpacker *unpacker;
	struct log_cache *caches; /* LOG_CACHES of them */
	struct row_fold fold;
	struct log_bytes raw; /* of the chunk that was read last, if it is not DATA */
	struct ranges *other_ranges; /* shown in place of those that were recorded, or NULL */

	/* How trace_open() opened it. */
	uint64_t bytes;	       /* of the files */
	struct import *import; /* running, or NULL; its first member is a job */
	int version1;	       /* descriptor of the file if it has sections of version 1, or -1 */
	struct err wrong, told;
	pthread_mutex_t packed_lock;
	struct {
		uint8_t *p; /* rows packed as in version 1; NULL: not made yet */
		size_t size;
		uint64_t at[TIERS];
	} packed;

	uint32_t id; /* its session number */
	struct session session;
	struct channel *channels;
	uint32_t *numbers; /* of the channels */
	struct fact *facts;
	struct log_generation *generations;
	size_t n_generations;
	uint32_t newest; /* generation */

	/* What was found in the chunks so far, events first: log_forget() */
	struct log_events events[EVENTS_KINDS];
	bool events_new, events_failed; /* new: since log_events_settle(); failed: memory was out */
	bool states_open;		/* one of them goes on */
	struct clock_anchor *anchors; /* NULL: not asked for yet */
	size_t n_anchors;
	struct energy_source *sources; /* of each channel, as far as they were asked for */
	struct log_tail tail;
	struct log_damage damage;
	int64_t *holes; /* cells in which files begin, and chunks before them are in no file */
	size_t n_holes;
	uint64_t absent; /* files that are missing in all of them */
	int64_t *faulty; /* sorted offsets of chunks that are counted in damage */
	size_t n_faulty;
	bool newer; /* a critical chunk of an unknown kind or version was found */
	bool mangled; /* a terminal or a text conversion has changed a META */
	uint64_t begin, size; /* of its chunks */
	int64_t first_ns, last_ns; /* of rows */
	int64_t settled;	   /* cell; what is before it stays as it is */
	int64_t rows_from_ns;	   /* those before are not kept any more, but bins of them; INT64_MIN: all are */
	bool any;
	int64_t from_ns, to_ns; /* of everything that has a time; from_ns above to_ns: nothing has */
	uint64_t rows[TIERS];
	struct log_group *groups; /* by cell */
	size_t n_groups;
	struct log_sums *sums; /* by level and cell */
	size_t n_sums;
	struct log_item end; /* END; kind 0: there is none */
	struct ranges *ranges; /* NULL: not read yet, or there are none */
	struct log_range_chunk *range_chunks;
	size_t n_range_chunks;
	bool ranges_read;
	size_t range_group, range_item; /* where reading goes on: the item of the group's list */
	struct log_data data; /* of the DATA that was read last */
};

/* log-events.c */
/* Adds the events of a chunk of that kind, or of an INDEX. */
void log_events_put(struct trace *r, unsigned kind, struct log_in in);
/* Adds one. At the most, or if memory is out, a log in memory drops the oldest eighth. */
void log_event_add(struct trace *r, enum trace_events of, const void *event);
/* Sorts those of a kind and removes duplicates. */
void log_events_sort(struct trace *r, enum trace_events of);
/* To be called after these, and while one of the states is open. */
void log_events_settle(struct trace *r);
void log_events_free(struct trace *r);
/* The operation of a timeline. */
bool log_event_next(struct timeline *t, int64_t from_ns, int64_t to_ns, bool last, int64_t *out);

/* log-read.c */
/* A trace of nothing, for trace_close(). Returns NULL if out of memory. */
struct trace *trace_new(const struct log_place *place, const struct timeline_ops *ops);
/* Forgets what was found in its chunks. The session, its channels and generations stay. */
void log_forget(struct trace *r);
#define LOG_SEQ_NONE UINT64_MAX
/* Counts a damaged chunk once. Returns false if it was counted before. */
bool log_note(struct trace *r, enum log_fault fault, uint64_t at, uint64_t seq, int64_t cell, uint64_t rows);
/* Same for an unknown kind or version. Rows are missing without DATA, so for DATA it is damage. */
void log_note_newer(struct trace *r, const struct log_head *h, uint64_t at, uint64_t rows);
void trace_damage(struct trace *r, struct log_damage *out);
/* Writes a sentence about the damage. Returns false if there is none. */
bool trace_damage_text(struct trace *r, char *out, size_t size);
/* Reads the head of a chunk of this recording. Returns false if there is none. */
bool log_head_at(struct trace *r, uint64_t at, struct log_head *h);
/* Unpacks the payload of a chunk to r->raw, of DATA to r->data, and checks it. Returns false if it cannot be used, which is
 * noted: this is the one place where damage is found in chunks. */
bool log_read_chunk(struct trace *r, const struct log_item *item, struct log_head *h);

/* log-meta-read.c */
const struct log_generation *log_generation_find(const struct trace *r, uint32_t number);
/* Reads a chunk that is a META if its generation is not known yet, and adds the channels that it describes. */
void log_meta_new(struct trace *r, const struct log_item *item);
/* The number of the file of a split recording whose META is at that position; -1: it does not say. */
int64_t log_part_at(struct trace *r, uint64_t at);
/* Takes the END that was read into r->raw. */
void log_end_take(struct trace *r);

/* log-scan.c */
void log_items_add(struct log_items *items, const struct log_item *item);
/* A cursor over the chunks that a reader can use, in the order of the bytes. What is missing between them is noted. */
struct log_scan {
	struct trace *r;
	struct log_chunks chunks;
	uint64_t file; /* where the file begins that has the chunk */
	uint64_t seq, before; /* of the newest chunk, and of the one before it; LOG_SEQ_NONE: none */
	int64_t cell;
	bool ended; /* the newest is END */
	bool other; /* the next one is of another recording: only where chunks of any are looked for */
};
void log_scan_begin(struct log_scan *s, struct trace *r, uint64_t from, uint64_t to, uint64_t file);
/* Returns false if there is none (yet). */
bool log_scan_next(struct log_scan *s, struct log_item *item, struct log_head *h);
/* Adds the chunks in [from, to) to items. file: where the file begins that has the first. */
void log_scan(struct trace *r, uint64_t from, uint64_t to, uint64_t file, struct log_items *items);

/* log-groups.c */
/* Finds all groups. Returns -1 if out of memory. */
int log_groups_read(struct trace *r);
/* Visits the chunks of those with that flag; visit() must not ask for lists. */
void log_groups_visit(struct trace *r, unsigned flag, void (*visit)(struct trace *r, const struct log_item *item));
/* Returns the chunks of a group, valid until the next call; NULL if out of memory. */
struct log_list *log_list_of(struct trace *r, const struct log_group *g);
/* Returns the number of rows in all cells before that one. */
uint64_t log_rows_before(struct trace *r, enum tier tier, int64_t cell);
/* Returns the chunk of a row, and the number of its first row; valid until the next call. NULL: there is none. */
const struct log_item *log_item_of_row(struct trace *r, enum tier tier, uint64_t row, uint64_t *first);
/* Returns its cell; LOG_CELL_LIMIT: there is none. */
int64_t log_cell_of_row(struct trace *r, enum tier tier, uint64_t row);
/* Returns the first cell of its group, without reading the group. */
int64_t log_group_of_row(const struct trace *r, enum tier tier, uint64_t row);
/* Counts the rows of a DATA chunk that follows those of the list. Returns false if it cannot be used, which is noted. */
bool log_rows_count(struct trace *r, const struct log_list *l, struct log_item *item);

/* log-blocks.c */
/* Reads the rows of a chunk, as counted. Returns NULL if out of memory. */
struct log_block *log_block_read(struct trace *r, const struct log_item *item, enum tier tier);
/* Returns the rows of the chunk that contains that row, and the number of its first row; valid until the next
 * call. Returns NULL if out of memory. */
struct log_block *log_block_of(struct trace *r, enum tier tier, uint64_t row, uint64_t *first);
/* Returns a column of the block's rows, which is decoded on first use, and how far its values are apart. */
const double *log_block_values(struct log_block *b, unsigned column, size_t *apart);

/* log-columns.c */
/* Operations of a timeline. */
int log_finest(struct timeline *t, size_t channel, int64_t t_ns);
void log_columns(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out);
/* Rows were added to a cell: what was computed of all of them is not valid any more. */
void log_cell_forget(struct trace *r, enum tier tier, int64_t cell);

/* log-ranges-read.c */
/* The latest end of a range; INT64_MIN: there is none near the end of the recording. */
int64_t log_ranges_end(struct trace *r);

/* log-timeline.c */
extern const struct timeline_ops log_timeline_ops;

/* log-events-read.c: reads the events of files. Returns false if out of memory. */
bool log_events_read(struct trace *r);

/* log-open.c */
/* Opens n files of one recording, which are read as if they were one, in this order. Takes over the descriptors, also on
 * error. shown: the name for messages. Returns NULL and sets *e if nothing can be read. Damage is not an error. */
struct trace *trace_open_logs(const int *fds, size_t n, const char *shown, struct err *e);
/* The same in steps: n descriptors are to be added to r->files, then; the last step may be repeated when they have grown.
 * What was found is forgotten, then, but the session stays. No other thread may use the trace meanwhile. */
struct trace *log_files_new(size_t n, const char *shown, struct err *e);
int log_files_read(struct trace *r, struct err *e);
/* Finds the first chunk of any recording in the bytes that are there, and takes its session number. Returns 0 if there is
 * none (yet), or -1 and sets *e if it is of another version of the format. */
int log_begins_at(struct trace *r, struct err *e);
/* Says why the log cannot be read: it is of a newer version, or has no META that can be read. Returns -1. */
int log_undescribed(const struct trace *r, struct err *e);

/* What is read or computed of a span is kept in LOG_STRIPS by its number: LOD of a zoom and tier, STAT of a level and, of a
 * cell, strips of a zoom and tier. */
enum { SPAN_STAT = TIERS };	     /* in place of a tier; its level is in place of a zoom */
enum { SPAN_PARTS = 62, SPAN_CELL }; /* in place of a zoom: parts of joules of a group, statistics of a cell */
static inline uint64_t log_span_key(int64_t span, int zoom, unsigned tier)
{
	return (uint64_t)span << 8 | (uint64_t)zoom << 2 | tier;
}

static inline int64_t log_span_end(int64_t cell, unsigned level) /* the first cell after the span */
{
	return log_span_cell(log_span(cell, (int)level) + 1, (int)level);
}

#endif
