/* nvtx-file: the file in which the ranges of one program come, and what becomes of them. Nothing in it is trusted.
 * nvtx-ring.h has the layout. */
#ifndef NVMTOP_RECORD_NVTX_FILE_H
#define NVMTOP_RECORD_NVTX_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/range.h"
#include "nvtx/nvtx-ring.h"
#include "record/nvtx.h"

#define NVTX_FILE_LANES 4096 /* of a file */
#define NVTX_FILE_MARKS 1000 /* in a second, of all files */

/* Ranges that are open: those of a lane, which nest, or those by start and end, in no order. */
struct nvtx_stack {
	struct nvtx_open {
		struct range range; /* end_ns: when it was last passed on */
		uint64_t id;
	} * open;
	size_t n, room;
	size_t depth; /* more than n if ranges are lost: what is deeper is not there, either */
};

struct nvtx_file {
	char name[64];
	int fd;
	uint32_t serial; /* no other file of the reader has it */
	struct nvtx_process process;
	bool ours;           /* its pid is one of our namespace */
	bool left_out, gone; /* gone: its process has ended, or has another file */
	int64_t last_ns, opened_ns,
		looked_ns; /* its process still ran; open ranges were passed on; it was looked for */
	uint64_t read[NVTX_RINGS],
		lost[NVTX_CAUSES];        /* lost: counts that are not reported are those above these */
	uint32_t n_rings, first, n_notes; /* first: ring that is read first; n_notes: read so far */
	struct nvtx_named *named;         /* domains, threads and categories */
	size_t n_named;
	const char *program;
	struct nvtx_lane *slots[256];
	size_t n_lanes, n_open; /* n_open: open ranges, in all */
	struct nvtx_stack starts;
	struct nvtx_end *ends; /* that came before their start, which is in another ring */
	size_t n_ends;
};

/* What the files of a recorder share: where ranges go, what was lost, and what they are read with. */
struct nvtx_reader {
	const struct nvtx_ops *ops;
	struct engine *to;
	int dir, asked;          /* the folder; asked: files may be of other users */
	uint64_t pid_ns;         /* our own */
	uint64_t since;          /* programs that started before are left out */
	uint32_t number;         /* of this recorder */
	struct ranges *store;    /* of names and lanes */
	const char *phases_from; /* a domain whose outermost ranges begin phases; or NULL */
	bool any, came, phases;  /* ranges; anything; such ranges */
	int64_t now_ns, before_ns,
		marks_ns; /* before_ns: of the last call that left nothing; marks are counted since */
	unsigned marks;
	uint64_t lost[NVTX_ALL_CAUSES];
	size_t n_batch;
	struct range batch[512];
	uint32_t serial, window_of, window_at; /* window_of: a file, of whose strings it is a part */
	size_t window_n;
	struct nvtx_known {
		uint32_t file, at;
		const char *text;
	} strings[1024]; /* that were read last; a power of two */
	struct nvtx_head head;
	struct nvtx_record records[1024];
	uint8_t window[65536];
};

/* Passes on what waits. */
void nvtx_reader_flush(struct nvtx_reader *r);
/* Adds what the counts have more than before, which becomes now. */
void nvtx_lost_since(uint64_t *lost, uint64_t before[NVTX_CAUSES], const _Atomic uint64_t now[NVTX_CAUSES]);

/* Begins at what its program writes from now on or, if it was told of this recorder, at its begin. NULL: errno is EMFILE or
 * ENFILE, or it is not a complete file, or out of memory. */
struct nvtx_file *nvtx_file_open(struct nvtx_reader *r, const char *name);
/* Lets it go; that of a process that is gone is removed. */
void nvtx_file_close(struct nvtx_reader *r, struct nvtx_file *f);
/* Finds out whether its process is gone. */
void nvtx_file_look(struct nvtx_reader *r, struct nvtx_file *f);
/* Passes on what was written until now. Returns the number of records that were read, at most `most`. */
size_t nvtx_file_read(struct nvtx_reader *r, struct nvtx_file *f, size_t most);
/* Passes on the ranges that are open, all or those that are open for long. */
void nvtx_file_open_ranges(struct nvtx_reader *r, struct nvtx_file *f, bool all);

#endif
