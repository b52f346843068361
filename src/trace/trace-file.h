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
/* Reads how a log ends. */
void trace_file_tail(int fd, const char *shown, struct log_tail *out);
/* Copies a session to one with separate arrays, which the caller frees. Returns false if out of memory. */
bool session_copy(struct session *to, const struct session *from, struct channel **channels, struct fact **facts);

#endif
