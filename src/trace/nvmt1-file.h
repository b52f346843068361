/* nvmt1-file: an open file of version 1, private to nvmt1-*.c. */
#ifndef TRACE_NVMT1_FILE_H
#define TRACE_NVMT1_FILE_H

#include "trace/layout.h"
#include "trace/nvmt1.h"

/* Consecutive rows of a channel with the same value. */
struct run {
	uint32_t channel;
	uint64_t row, count;
	double value;
};

/* Rows of channels that version 1 has no field for: the payload of a chunk of the extension. */
struct columns {
	uint64_t at; /* offset of the payload */
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
	bool extended;				 /* described by the extension of nvmtop 0.1 */
	struct session session;
	struct place places[MAX_CHANNELS + 1]; /* one per channel, and a spare one */
	struct nvmt1_list channels, facts, marks, gaps, changes, anchors;
	struct nvmt1_list runs;	   /* by channel, then by row */
	struct nvmt1_list columns; /* of each tier by row */
	struct err damage;	   /* the first */
	struct nvmt1_import *import;
};

/* Returns zeroed room for one more item at the end, which is not counted yet; NULL if out of memory. */
void *nvmt1_add(struct nvmt1_list *list, size_t size);
/* Returns NULL and sets *e if nothing can be read. fd remains the caller's. */
struct nvmt1 *nvmt1_open(int fd, const char *shown, struct nvmt1_import *m, struct err *e);
void nvmt1_close(struct nvmt1 *f);
/* Reports damage; the first is kept in f->damage. */
void nvmt1_damage(struct nvmt1 *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns false if fewer than n bytes could be read. */
bool nvmt1_read(const struct nvmt1 *f, void *to, size_t n, uint64_t at);

/* nvmt1-session.c: makes channels from the header alone. Returns -1 if out of memory. */
int nvmt1_session(struct nvmt1 *f);
/* nvmt1-extension.c: reads what nvmtop 0.1 wrote after the sync points. Returns -1 if out of memory. */
int nvmt1_extension(struct nvmt1 *f);
/* Reads the header's counts from the copy in the last chunk. Returns false if that is damaged, or has the
 * same checksum of the header as the header. */
bool nvmt1_other_counts(struct nvmt1 *f, uint64_t counts[TIERS + 1]);
bool nvmt1_start(int fd, uint64_t at, struct clock_anchor *out); /* only its clocks */

#endif
