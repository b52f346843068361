/* nvtx-file: the file in which the ranges of one program come, as a recorder reads it: its process, its names, its
 * rings. Nothing in it is trusted. nvtx-ring.h has the layout. */
#ifndef NVMTOP_RECORD_NVTX_FILE_H
#define NVMTOP_RECORD_NVTX_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/range.h"
#include "nvtx/nvtx-ring.h"

struct nvtx_file {
	char name[64];
	int fd;
	struct nvtx_process about;
	bool ours; /* its pid is one of our namespace */
	bool gone;
	uint32_t ended; /* enum nvtx_ended */
	struct nvtx_file_ring {
		uint64_t read;
		struct nvtx_record more; /* what is known of the next PUSH or START */
	} * rings;
	uint32_t n_rings, first, ring; /* first: ring that is read first; ring: that is being read */
	uint32_t notes;                /* read so far */
	bool renamed;                  /* a thread has another name since this was cleared */
	struct nvtx_file_name {
		enum nvtx_kind kind; /* DOMAIN, THREAD, CATEGORY */
		uint16_t domain;
		uint32_t number;
		const char *name;
	} * named;
	size_t n_named;
	const char *process;
	struct nvtx_file_string {
		uint32_t at;
		const char *text;
	} * strings;                       /* a cache */
	uint64_t lost[NVTX_LOST_FULL + 1]; /* counts that are not reported are those above these */
};

/* What the files of a recorder share. */
struct nvtx_reader {
	int dir;
	struct ranges *store;  /* of names */
	struct nvtx_head head; /* a copy, of the file that is being read */
	struct nvtx_record *records;
	uint8_t *window; /* a part of the strings */
	const struct nvtx_file *window_of;
	uint32_t window_at;
	size_t window_n;
};

bool nvtx_reader_new(struct nvtx_reader *r);
void nvtx_reader_free(struct nvtx_reader *r);

/* any_user: of others, too. NULL: errno is EMFILE or ENFILE, or it is not a complete file, or out of memory. */
struct nvtx_file *nvtx_file_new(struct nvtx_reader *r, const char *name, bool any_user, uint64_t pid_ns);
void nvtx_file_free(struct nvtx_reader *r, struct nvtx_file *f);
/* Begins at what its program writes from now on or, if it was told of this recorder, at its begin. */
bool nvtx_file_begin(struct nvtx_reader *r, struct nvtx_file *f, uint32_t recorder);
/* Tells the program which recorder reads; 0: none. */
bool nvtx_file_tell(const struct nvtx_file *f, uint32_t recorder);
/* Whether the process still has the file. */
bool nvtx_file_is_alive(const struct nvtx_file *f);
/* Gets the head of the file, with its n_rings. */
bool nvtx_file_head(struct nvtx_reader *r, struct nvtx_file *f);
/* Gets the next at most `most` records of the ring, of those that were there at the time of the head. */
size_t nvtx_file_ring(struct nvtx_reader *r, struct nvtx_file *f, uint32_t ring, size_t most);
/* Adds what n counts have more than before, which becomes now. */
void nvtx_lost_since(uint64_t *lost, uint64_t *before, const uint64_t *now, size_t n);
/* Adds what was lost since the last time, by cause. */
void nvtx_file_lost(struct nvtx_reader *r, struct nvtx_file *f, uint64_t lost[]);

/* Names that came since. */
void nvtx_file_notes(struct nvtx_reader *r, struct nvtx_file *f);
/* NULL: out of memory. */
const char *nvtx_file_string(struct nvtx_reader *r, struct nvtx_file *f, uint32_t at);
/* "": it has none. */
const char *nvtx_file_domain(struct nvtx_reader *r, struct nvtx_file *f, uint32_t domain);
const char *nvtx_file_process(struct nvtx_reader *r, struct nvtx_file *f);
/* The last name of a thread or category; NULL: it has none. */
const char *nvtx_file_name(const struct nvtx_file *f, enum nvtx_kind kind, uint32_t domain, uint32_t number);

#endif
