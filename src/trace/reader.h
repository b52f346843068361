/* reader: an open trace, as the files of this room share it. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "nvmtop/trace.h"
#include "trace/chunk.h"

/* Rows of version 1 of one tier, as far as they can be used. */
struct section {
	size_t at; /* offset in the file */
	uint64_t rows;
};

/* Rows of channels beyond version 1: the payload of one chunk. */
struct columns {
	struct columns_head head;
	size_t at; /* of the first value */
	size_t chunk;
	bool checked, good;
};

/* Where the values of a channel come from. */
struct source {
	struct place place;
	size_t run, n_runs; /* its part of trace.runs, by row */
};

/* One tier's columns: zooms from `zoom` up, for every channel. */
struct pyramid {
	int zoom;                /* the finest that is stored; finer ones are folded from the rows */
	size_t at[ZOOM_MAX + 1]; /* where a zoom begins in a channel's bins */
	size_t bins;             /* of one channel */
};

/* Times of the rows that were asked for last: all channels of a tier are asked
 * for the same stretch, one after the other. */
#define TIMES_CACHED 65536
struct times {
	uint64_t first;
	size_t n;
	int64_t *t_ns;
};

struct trace {
	struct timeline timeline;
	char *path, *shown;
	const uint8_t *map;
	size_t size;
	struct section section[TIERS];
	uint64_t n_sync;
	size_t sync_at;
	bool extended; /* channels and clocks come from the extension */
	struct session session;
	struct channel *channels;
	struct fact *facts;
	struct source *sources;
	struct run *runs;
	size_t n_runs;
	struct columns *columns[TIERS];
	size_t n_columns[TIERS];
	struct mark *marks;
	size_t n_marks;
	struct gap *gaps;
	int64_t *gap_reach; /* the latest end of gaps 0..i */
	size_t n_gaps;
	bool known; /* there is at least one row */
	int64_t first_ns, last_ns;
	struct pyramid pyramid[TIERS];
	struct bin **bins; /* one array a channel */
	struct times times[TIERS];
	struct err damage;
};

/* Note the first damage; the sentence begins with the file's name. */
void trace_damage(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Walk the chunks from offset `at`.  When channels and clocks can be had from
 * there, t->extended; whatever is wrong is noted as damage. -1: out of memory. */
int extension_read(struct trace *t, size_t at);
/* The start of the clocks, if a chunk says it.  For trace_peek(). */
bool extension_peek(int fd, uint64_t at, struct clock_anchor *out);
/* The counts that a sound closing chunk at the end of the file states. */
bool close_chunk(const uint8_t *map, size_t size, const uint8_t **payload);
/* Channels and facts out of the header alone. */
int header_session(struct trace *t);
/* Marks out of the sync points. */
int sync_marks(struct trace *t);

/* cells: rows to values */
const uint8_t *row_at(const struct trace *t, enum tier tier, uint64_t row);
int64_t row_ns(const struct trace *t, enum tier tier, uint64_t row);
/* The first row at or after t_ns; the number of rows when there is none. */
uint64_t row_find(const struct trace *t, enum tier tier, int64_t t_ns);
/* Values of rows first .. first+n-1. */
void cells_read(struct trace *t, size_t channel, uint64_t first, size_t n, double *out);
double cell_read(struct trace *t, size_t channel, uint64_t row);
/* Check one chunk of columns, once. */
bool columns_check(struct trace *t, struct columns *c);

/* columns: rows to bins */
/* Cut each section where its times stop being finite or go backwards. */
void sections_check(struct trace *t);
int pyramid_build(struct trace *t);
void trace_columns(struct trace *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out);

#endif
