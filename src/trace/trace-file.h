/* trace-file: the files of a trace, private to src/trace. */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include "trace/trace.h"

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
