/* trace-file: an open trace, private to trace*.c. */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include <pthread.h>

#include "trace/log-reader.h"
#include "trace/trace.h"

struct import;

struct trace {
	struct timeline timeline;
	char *path, *shown;
	uint64_t bytes;		/* of the file */
	struct log_reader *log; /* of the file, or of what it is imported to */
	struct import *import;	/* running, or NULL */
	bool beside;            /* the file is the log of one that does not exist */
	int version1;		/* a descriptor of the file if it has sections of version 1, or -1 */
	bool lists_gaps;
	struct session session;
	struct channel *channels;
	struct fact *facts;
	int64_t *gap_reach; /* the latest end of gaps 0..i */
	bool imported;	    /* from version 1, with these clocks */
	struct clock_anchor *anchors;
	size_t n_anchors;
	struct err damage, told;
	pthread_mutex_t raw_lock;
	uint8_t *raw; /* rows as version 1 has them; NULL: not made yet */
	size_t raw_size;
	uint64_t raw_at[TIERS];
};

/* trace.c: a file without a name in the folder for temporary files; -1 with errno. */
int trace_temporary(void);
/* The file, or for the name X.bin of a recording that did not end X.bin.nvmt, which is *beside.  -1 with errno. */
int trace_file_open(const char *path, bool *beside);
/* The sentence about that; shown: X.bin. */
void trace_beside_text(const char *shown, char *out, size_t size);
/* How the log at that offset ends. */
void trace_file_tail(int fd, uint64_t from, const char *shown, struct log_tail *out);
/* A session with arrays of its own.  False: out of memory. */
bool session_copy(struct session *to, const struct session *from, struct channel **channels, struct fact **facts);
/* trace-rows.c */
extern const struct timeline_ops trace_ops;

#endif
