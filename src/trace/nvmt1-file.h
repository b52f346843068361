/* nvmt1-file: an open file of version 1, private to its import. */
#ifndef TRACE_NVMT1_FILE_H
#define TRACE_NVMT1_FILE_H

#include "trace/layout.h"
#include "trace/nvmt1.h"

/* Rows of a channel that follow each other and all have one value. */
struct run {
	uint32_t channel;
	uint64_t row, count;
	double value;
};

/* Rows of channels beyond version 1: the payload of a chunk of the extension. */
struct columns {
	uint64_t at; /* of the payload */
	uint32_t tier, columns;
	uint64_t row, rows;
};

struct nvmt1_list {
	void *p;
	size_t n;
};

struct nvmt1 {
	int fd;
	const char *shown;
	uint64_t size;
	uint8_t header[HEADER_SIZE];
	uint64_t at[TIERS + 1], rows[TIERS + 1]; /* of the sections, and of the sync points */
	uint64_t end;				 /* of the sync points */
	bool extended;				 /* the extension of nvmtop 0.1 describes it */
	struct session session;
	struct place places[MAX_CHANNELS + 1]; /* one a channel, and one too many */
	struct nvmt1_list channels, facts, marks, gaps, changes, anchors;
	struct nvmt1_list runs;	   /* by channel, then by row */
	struct nvmt1_list columns; /* of each tier by row */
	struct err damage;	   /* the first */
	struct nvmt1_import *import;
};

/* Zeroed room for one more behind the last, which is not counted yet; NULL. */
void *nvmt1_add(struct nvmt1_list *list, size_t size);
/* NULL: not usable at all.  fd stays the caller's. */
struct nvmt1 *nvmt1_open(int fd, const char *shown, struct nvmt1_import *m, struct err *e);
void nvmt1_close(struct nvmt1 *f);
/* Report damage. */
void nvmt1_damage(struct nvmt1 *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All n bytes; false: too few, or the read failed. */
bool nvmt1_read(const struct nvmt1 *f, void *to, size_t n, uint64_t at);

/* nvmt1-session.c: channels from the header alone.  -1: out of memory. */
int nvmt1_session(struct nvmt1 *f);
/* nvmt1-extension.c: what nvmtop 0.1 wrote behind the sync points.  -1: out of memory. */
int nvmt1_extension(struct nvmt1 *f);
/* The counts of the header as its last chunk has them, if the checksum there is not that of the header. */
bool nvmt1_other_counts(struct nvmt1 *f, uint64_t counts[TIERS + 1]);
bool nvmt1_start(int fd, uint64_t at, struct clock_anchor *out); /* its clocks, quickly */

#endif
