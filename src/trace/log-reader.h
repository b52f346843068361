/* log-reader: a log, read without what trace_open() does for a file of any version. Private to src/trace. */
#ifndef TRACE_LOG_READER_H
#define TRACE_LOG_READER_H

#include "trace/log.h"
#include "trace/trace.h"

/* Finds the first chunk of any session in the first 64 KiB of the file. Returns false if there is none. */
bool log_first(int fd, struct log_head *out);
bool log_begins(int fd);

/* Says that a log is of that version of the format, which cannot be read. Returns false. */
bool log_other_version(unsigned version, const char *shown, struct err *e);

/* Opens n files of one recording, which are read as if they were one, in this order. Takes over the descriptors, also on
 * error. shown: the name for messages. Returns NULL and sets *e if nothing can be read. Damage is not an error. */
struct trace *trace_open_logs(const int *fds, size_t n, const char *shown, struct err *e);

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
void trace_damage(struct trace *r, struct log_damage *out);
/* Writes a sentence about the damage. Returns false if there is none. */
bool trace_damage_text(struct trace *r, char *out, size_t size);

#endif
