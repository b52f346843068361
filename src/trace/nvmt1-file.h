/* nvmt1-file: an open file of version 1, private to the import and to check. */
#ifndef TRACE_NVMT1_FILE_H
#define TRACE_NVMT1_FILE_H

#include "trace/layout.h"
#include "trace/nvmt1.h"

/* A stretch of rows of a channel that all have one value. */
struct run {
	uint32_t channel;
	uint64_t row, count;
	double value;
};

/* Rows of channels beyond version 1: the payload of a chunk of the extension. */
struct columns {
	uint64_t at; /* of the payload */
	uint32_t columns;
	uint64_t row, rows;
};

struct nvmt1 {
	int fd;
	const char *shown;
	uint64_t size;
	uint8_t header[HEADER_SIZE];
	struct {
		uint64_t at, rows;
	} section[TIERS];
	uint64_t sync_at, n_sync, end; /* end: of the sync points */
	bool extended;                 /* the extension of nvmtop 0.1 describes it */
	struct session session;
	struct channel *channels;
	struct place *places; /* one a channel */
	struct fact *facts;
	struct run *runs; /* by channel, then by row */
	size_t n_runs;
	size_t *first_run; /* n_channels + 1 */
	struct columns *columns[TIERS];
	size_t n_columns[TIERS];
	struct mark *marks;
	struct gap *gaps;
	struct change *changes;
	struct clock_anchor *anchors;
	size_t n_marks, n_gaps, n_changes, n_anchors;
	struct err damage; /* the first */
	void (*found)(void *to, const char *text); /* each; or NULL */
	void *to;
};

/* NULL: not usable at all.  fd stays the caller's. */
struct nvmt1 *nvmt1_open(int fd, const char *shown, void (*found)(void *to, const char *text), void *to,
			 struct err *e);
void nvmt1_close(struct nvmt1 *f);
/* Report damage. */
void nvmt1_damage(struct nvmt1 *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All n bytes; false: too few, or the read failed. */
bool nvmt1_read(const struct nvmt1 *f, void *to, size_t n, uint64_t at);

/* nvmt1-session.c: channels from the header alone.  -1: out of memory. */
int nvmt1_session(struct nvmt1 *f);
/* The closing chunk at the end of a file of nvmtop 0.1: the counts of the header, and its
 * checksum.  False: none. */
bool nvmt1_closing(struct nvmt1 *f, uint64_t counts[4], uint32_t *header_crc);
/* nvmt1-extension.c: what nvmtop 0.1 wrote behind the sync points.  -1: out of memory. */
int nvmt1_extension(struct nvmt1 *f);
bool nvmt1_start(int fd, uint64_t at, struct clock_anchor *out); /* its clocks, quickly */

#endif
