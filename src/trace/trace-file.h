/* trace-file: an open trace, private to trace.c, trace-rows.c, trace-timeline.c and trace-raw.c. */
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
	int version1;		/* a descriptor of the file if it has sections of version 1, or -1 */
	bool lists_gaps;
	struct session session;
	struct channel *channels;
	struct fact *facts;
	struct mark *marks;
	struct gap *gaps;
	int64_t *gap_reach; /* the latest end of gaps 0..i */
	struct change *changes;
	struct clock_anchor *anchors;
	size_t n_marks, n_gaps, n_changes, n_anchors;
	uint64_t rows[TIERS];
	bool known; /* it has at least one row */
	int64_t first_ns, last_ns;
	struct err damage, told;
	pthread_mutex_t raw_lock;
	uint8_t *raw; /* rows as version 1 has them; NULL: not made yet */
	size_t raw_size;
	uint64_t raw_at[TIERS];
};

/* trace.c: a file without a name in the folder for temporary files; -1 with errno. */
int trace_temporary(void);
/* trace-timeline.c */
extern const struct timeline_ops trace_ops;

#endif
