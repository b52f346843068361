/* reader: an open trace, as the files of this room share it. */
#ifndef NVMTOP_TRACE_READER_H
#define NVMTOP_TRACE_READER_H

#include <stdatomic.h>
#include <sys/types.h>

#include "util/map.h"
#include "trace/trace.h"
#include "trace/nonsense.h"
#include "trace/shelf.h"

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
	atomic_uchar sum; /* COLUMNS_NEW, _GOOD, _BAD; read by several threads */
};
enum { COLUMNS_NEW, COLUMNS_GOOD, COLUMNS_BAD };

/* Where the values of a channel come from. */
struct source {
	struct place place;
	size_t run, n_runs; /* its part of trace.runs, by row */
};

/* Times of the rows that were asked for last: all channels of a tier are asked
 * for the same stretch, one after the other. */
#define TIMES_CACHED 65536
struct times {
	uint64_t first;
	size_t n;
	int64_t *t_ns;
};

/* A row that comes long after the one before it. */
struct leap {
	enum tier tier;
	uint64_t row;
};
#define LEAPS 256

/* How the columns of a trace that has none stored are made. */
struct trace_tuning {
	uint64_t at_once; /* bytes of rows of which they are made while somebody waits */
	int workers;      /* threads that make them later; 0: by the number of cores */
	bool keep;        /* use the cache */
	bool sure;        /* look at every time before anything is asked */
};

/* Rows at which columns of one zoom begin, found before. */
#define EDGES 1024
struct edges {
	int zoom;
	int64_t column[EDGES]; /* -1: none */
	uint64_t row[EDGES];
};

struct trace {
	struct timeline timeline;
	char *path, *shown;
	struct log_reader *log; /* where the rows are; NULL: in the map */
	struct map file;
	const uint8_t *map; /* of the file; size: what of it may be used */
	size_t size;
	atomic_size_t touched; /* bytes of it that were read since its pages were given back; by any thread */
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
	struct clock_anchor *anchors;
	size_t n_anchors;
	int64_t *gap_reach; /* the latest end of gaps 0..i */
	size_t n_gaps;
	struct change *changes;
	size_t n_changes;
	bool known; /* there is at least one row */
	int64_t first_ns, last_ns;
	struct shelf shelf[TIERS];
	struct store *store; /* of the shelves that are not the file's; or NULL */
	struct build *build; /* still at it, or NULL */
	bool bare;           /* columns are missing, and nobody has asked for one yet */
	int coarser;         /* than usual, that what is built fits */
	struct trace_tuning tuning;
	int64_t asked_ns; /* when its extent was asked for last, as each frame does first */
	bool estimated; /* since it was last asked: some columns were not read whole */
	struct leap leap[LEAPS]; /* the first of those that were seen */
	size_t n_leaps;
	struct audit *audit; /* still at it, or NULL */
	unsigned unsure;     /* tiers, as bits, whose stored columns nobody has held against their rows */
	struct times times[TIERS];
	struct edges *edges; /* one a tier */
	struct nonsense *nonsense;   /* values that cannot be */
	bool nonsense_is_damage;     /* the damage is of those */
	struct err damage;
	struct err told; /* as it was when it was last asked for */
};

/* Note the first damage; the sentence begins with the file's name. */
void trace_damage(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* header: what a file begins with */
/* Open what may be a trace; a FIFO does not hang.  -1: errno. */
int header_file(const char *path);
/* Read its header and size.  Returns fd; -1 when it is none, and closes fd; or it was -1,
 * with errno. */
int header_read(int fd, const char *shown, uint8_t header[HEADER_SIZE], off_t *size, struct err *e);
/* Its rates and counts; what cannot be is noted as damage. */
void header_check(struct trace *t, uint64_t counts[4]);
/* A recording that was not ended has no counts; the fast rows are there. */
bool header_interrupted(const struct trace *t, const uint64_t counts[4]);
/* Lay the sections out, each as far as the file goes.  Returns where they end. */
size_t header_sections(struct trace *t, const uint64_t counts[4]);

/* timeline: what is asked of an open trace */
extern const struct timeline_ops trace_ops;
/* Oldest first, and found by bisection.  -1: out of memory. */
int events_sort(struct trace *t);

bool extension_begins(const struct trace *t, size_t at);
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
/* The first of the channel's runs that ends behind the row. */
size_t run_find(const struct trace *t, const struct source *s, uint64_t row);
/* Check one chunk of columns, once. */
bool columns_check(struct trace *t, struct columns *c);

/* Values of all channels of a tier in the order of the sampler's row: row first + i
 * begins at out[i * stride]. */
void rows_decode(struct trace *t, enum tier tier, uint64_t first, size_t n, double *out, size_t stride);
#define AROUND 65536 /* bytes that the kernel maps around a page that is asked for */
/* So many bytes were read: from time to time their pages are given back. */
/* The trace for another thread, which reads the file through a map of its own, to be closed
 * by it.  -1: there is none. */
int trace_view(const struct trace *t, struct map *own, struct trace *view);
void trace_touch(struct trace *t, size_t bytes);

/* sections: whether times can be right */
/* Cut each section where its times stop being finite or go backwards: after a
 * look at all of them, at some of them all over the section, or at the last ones. */
void sections_check(struct trace *t);
void sections_probe(struct trace *t, unsigned tiers); /* bits */
void sections_ends(struct trace *t);

void section_end(struct trace *t, enum tier tier, uint64_t row); /* before this row, which is wrong */
void extent_find(struct trace *t);
/* Whether a leap of that length is one to be noted. */
bool leap_long(const struct trace *t, enum tier tier, int64_t apart_ns);
/* Whether it is more than a pause: no gap says that there are no rows, or where the trace
 * lists none, it is longer than an hour. */
bool leap_odd(const struct trace *t, const struct leap *l);
void leaps_tell(struct trace *t);

/* shelves: where the columns of a trace come from */
extern const struct trace_tuning trace_tuned;
struct trace *trace_open_tuned(const char *path, const struct trace_tuning *tuning, struct err *e);
void shelves_open(struct trace *t, const struct trace_tuning *tuning);
unsigned shelves_empty(const struct trace *t); /* tiers (bits) with rows and without stored columns */
/* Begin with what is missing, once the first column is asked for. */
void shelves_fill(struct trace *t);
/* Look at what has changed: the file, and what is being built. */
void shelves_look(struct trace *t);
void shelves_close(struct trace *t);

/* columns: rows to bins */
void trace_columns(struct trace *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out);

#endif
