/* joint: a join at work, as its sources share it: join.c has the order of
 * things and the sections of version 1, survey.c what is there, gather.c the extension. */
#ifndef NVMTOP_TRACE_JOINT_H
#define NVMTOP_TRACE_JOINT_H

#include "trace/join.h"
#include "trace/journal.h"
#include "trace/tower.h"
#include "trace/syncs.h"

#define COLLECT_SIZE 65536
#define LEDGE_SIZE   65536 /* of the finest level of the columns */

/* Payload of one id (and tier) that waits to become one chunk. */
struct collector {
	uint32_t id;
	struct columns_head columns;
	size_t used; /* payload bytes */
	uint8_t bytes[CHUNK_HEAD + COLLECT_SIZE + CHUNK_CRC];
};

enum { COLLECT_COLUMNS, COLLECT_RUNS = TIERS, COLLECT_MARKS, COLLECT_GAPS, COLLECT_ABOUT, COLLECTS };

/* Where a pass over the rows of a tier has come to. */
struct progress {
	uint64_t rows, holes;
	uint64_t broken; /* of the journal, when its latest rows came */
	int64_t last_ns;
};

/* What the journal has of a tier's columns, and what becomes of it. */
struct summit {
	bool broken;              /* they do not follow each other */
	struct pyramid_head head; /* of them all */
	struct tower tower;       /* levels 0: they are of no use */
};

struct join {
	int part;
	const char *shown;
	struct err *err;
	struct journal journal;
	uint64_t fast_rows, rows[TIERS];
	struct syncs syncs;
	struct clock_anchor start;
	struct progress progress[TIERS];
	uint64_t late[TIERS], lost[TIERS];
	bool anchor, described, other; /* what was seen in the journal */
	off_t at[TIERS];               /* where the rows of a tier begin in the part */
	off_t end;                     /* of what was written to the part */
	size_t out_used;
	uint64_t chunks, noted; /* fast rows, as an earlier join has noted them */
	uint8_t header[HEADER_SIZE];
	struct open_run *runs; /* one a channel */
	uint8_t *tiers;        /* the same: enum tier */
	size_t n_runs, extra[TIERS];
	uint8_t *fields, *slots; /* the same: where version 1 has it */
	struct doubts doubts;
	uint64_t *settled; /* one a channel: rows before it are in doubt no more */
	uint64_t doubted;
	size_t n_bad;
	struct summit summit[TIERS];
	uint8_t out[65536];
	struct collector collect[COLLECTS];
};

/* The number of rows in a chunk of rows that can be used, and how many are
 * missing before them. */
uint64_t join_rows_take(struct join *j, enum tier tier, const uint8_t *p, size_t n, uint64_t *hole);

/* These return -1 with the sentence in *j->err. */
/* Append to what is written to the part. */
int join_write(struct join *j, const uint8_t *p, size_t n);
int join_no_memory(const struct join *j); /* -1, with the sentence */
/* Visit each whole chunk of the journal with the join as `to`. */
int join_each(struct join *j, journal_visit *visit);
/* See what is there.  A part without a whole header is no recording. */
int join_survey(struct join *j);
/* Everything of the extension that the journal has. */
int gather(struct join *j);
/* One chunk by itself, now. */
int gather_chunk(struct join *j, uint32_t id, const uint8_t *p, size_t n);

#endif
