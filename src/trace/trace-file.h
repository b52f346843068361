/* trace-file: an open trace, private to src/trace. */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include <pthread.h>

#include "trace/log-reader.h"
#include "trace/trace.h"

struct import;

struct trace {
	char *path, *shown;
	uint64_t bytes;		/* of the file */
	struct log_reader *log; /* of the file, or its import */
	struct import *import;	/* running, or NULL */
	bool beside;            /* the file is the log of a .bin that does not exist yet */
	int version1;		/* descriptor of the file if it has sections of version 1, or -1 */
	bool lists_gaps;
	bool imported;	    /* from version 1, with these clocks */
	struct clock_anchor *anchors;
	size_t n_anchors;
	struct err damage, told;
	pthread_mutex_t raw_lock;
	uint8_t *raw; /* rows packed as in version 1; NULL: not made yet */
	size_t raw_size;
	uint64_t raw_at[TIERS];
};

/* trace.c: returns an unnamed file in the folder for temporary files, or -1 and sets errno. */
int trace_temporary(void);
/* Opens the file or, for X.bin of an unfinished recording, X.bin.nvmt, and then sets *beside. Returns -1 and
 * sets errno on error. */
int trace_file_open(const char *path, bool *beside);
/* Writes the message about that; shown: X.bin. */
void trace_beside_text(const char *shown, char *out, size_t size);
/* Reads how the log at that offset ends. */
void trace_file_tail(int fd, uint64_t from, const char *shown, struct log_tail *out);
/* Copies a session to one with separate arrays, which the caller frees. Returns false if out of memory. */
bool session_copy(struct session *to, const struct session *from, struct channel **channels, struct fact **facts);

#endif
