/* nvmt1-file: an open file of version 1, private to nvmt1-*.c. */
#ifndef TRACE_NVMT1_FILE_H
#define TRACE_NVMT1_FILE_H

#include "trace/layout.h"
#include "trace/nvmt1.h"

/* fast: 5 and the cores; medium: 3 per rail and the total; slow: the zones and the hottest */
#define NVMT1_CHANNELS (5 + MAX_CORES + 3 * MAX_RAILS + 1 + MAX_ZONES + 1)

/* A channel that is computed from others of the row: the sum of rails, the hottest of zones. */
struct nvmt1_computed {
	uint16_t column, from[MAX_ZONES]; /* columns */
	size_t n;			  /* 0: there is none */
};

struct nvmt1 {
	int fd;
	const char *shown;
	void (*found)(void *of, const char *text); /* receives each damage; or NULL */
	void *of;
	uint64_t size;
	uint8_t header[HEADER_SIZE];
	uint64_t at[TIERS + 1], rows[TIERS + 1]; /* of the sections, and of the sync points */
	struct session session;
	struct channel channels[NVMT1_CHANNELS];
	struct layout layout; /* of the channels that are not computed */
	struct nvmt1_computed computed[TIERS];
	struct fact board;
	struct err damage; /* the first */
};

/* Returns NULL and sets *e if nothing can be read. fd remains the caller's, and the result is to be freed. */
struct nvmt1 *nvmt1_open(int fd, const char *shown, void (*found)(void *of, const char *text), void *of, struct err *e);
/* Reports damage; the first is kept in f->damage. */
void nvmt1_damage(struct nvmt1 *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns false if fewer than n bytes could be read. */
bool nvmt1_read(const struct nvmt1 *f, void *to, size_t n, uint64_t at);

/* nvmt1-session.c: makes the channels of what the header names. */
void nvmt1_session(struct nvmt1 *f);

#endif
