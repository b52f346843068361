/* log-source: where the bytes of a log are, and its chunks in the order of the bytes. */
#ifndef TRACE_LOG_SOURCE_H
#define TRACE_LOG_SOURCE_H

#include "trace/log.h"

/* get() returns n bytes at that position, valid until the next call; NULL: they are not there (yet). size may grow. */
struct log_source {
	const uint8_t *(*get)(struct log_source *s, uint64_t at, size_t n);
	uint64_t size;
};

/* Returns the position of the first valid head of a session (0: any) in [at, to); if there is none, from where to look
 * for one once there are more bytes. */
uint64_t log_source_find(struct log_source *s, uint32_t session, uint64_t at, uint64_t to);

#define LOG_FRONT 65536 /* so many other bytes may precede the first chunk */

/* Finds the first chunk of any session in the file. Returns false if there is none. */
bool log_first(int fd, struct log_head *out);

/* One of several files, and where its bytes are. path: for who opened it; may be NULL. */
struct log_piece {
	int fd;
	char *path;
	uint64_t at, size;
};

/* The bytes of a file, or of several, one behind the other; the descriptors remain the caller's. */
struct log_file {
	struct log_source source;
	const struct log_piece *pieces;
	size_t n_pieces;
	struct log_window {
		uint64_t at;
		struct log_bytes bytes;
	} windows[2]; /* what was read last, at two places: one leads to the other and back */
	unsigned last; /* the window that was used last */
	uint64_t next; /* the end of what was used of it */
	size_t ahead;  /* how much was last read from a place on */
};
void log_file_begin(struct log_file *f, const struct log_piece *pieces, size_t n);
void log_file_end(struct log_file *f);

/* A cursor over the chunks in [at, to). */
struct log_chunks {
	struct log_source *source;
	uint32_t session; /* 0: any */
	uint64_t at, to;
	uint64_t end;	  /* of the last chunk */
	uint64_t within;  /* the next one does not begin before this */
	uint64_t skipped; /* bytes before the chunk that belong to none */
	bool whole;	  /* nothing follows `to` later: a chunk that goes beyond it is none */
	bool lost;	  /* no chunk begins where the last one ends */
	bool cut;	  /* this one begins within the last one, which was cut short */
};
void log_chunks_begin(struct log_chunks *c, struct log_source *s, uint32_t session, uint64_t from, uint64_t to);
/* Finds the next valid head with its payload, which is not checked. Returns false if there is none (yet). */
bool log_chunks_next(struct log_chunks *c, struct log_head *h, uint64_t *at);

#endif
