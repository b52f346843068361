/* trace-file: the files of a trace, private to src/trace. */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include <pthread.h>

#include "trace/log-reader.h"
#include "trace/trace.h"

struct import;

/* How a trace was opened. */
struct trace_opened {
	char **paths; /* of its files, in their order */
	size_t n_paths;
	uint64_t bytes;	       /* of the files */
	struct import *import; /* running, or NULL */
	int version1;	       /* descriptor of the file if it has sections of version 1, or -1 */
	bool lists_gaps;
	struct err damage, told;
	pthread_mutex_t raw_lock;
	uint8_t *raw; /* rows packed as in version 1; NULL: not made yet */
	size_t raw_size;
	uint64_t raw_at[TIERS];
};
void trace_opened_free(struct trace_opened *o); /* NULL is fine */

/* trace.c: returns an unnamed file in the folder for temporary files, or -1 and sets errno. */
int trace_temporary(void);
/* Returns a descriptor, or -1 and sets *e. */
int trace_file_open(const char *path, const char *shown, struct err *e);
/* A file that is a trace, or one of its files. */
struct trace_piece {
	int fd;
	const char *path;
	char shown[512];
	uint64_t bytes;
	bool version1;
	struct log_head first; /* of a log: its first chunk */
};
/* path: "-" for standard input, which is read to its end. Returns -1 and sets *e, which may be NULL. */
int trace_piece_open(struct trace_piece *p, const char *path, struct err *e);

#endif
