/* check: a file held against the format. */
#ifndef NVMTOP_TRACE_CHECK_H
#define NVMTOP_TRACE_CHECK_H

#include "util/map.h"
#include "trace/trace.h"
#include "trace/chunk.h"

struct check {
	struct map file;
	const uint8_t *map;
	size_t size;
	size_t at[TIERS], sync_at;    /* where the sections are */
	uint64_t rows[TIERS], n_sync; /* that are whole in the file */
	bool whole;                   /* all sections are as long as the header says */
	int64_t start_ns;             /* of the clocks; -1: not known */
	void (*found)(void *to, const char *text);
	void *to;
	struct trace_checked *out;
};

void check_say(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same thing may be wrong in every row: it is said once, with the place of
 * the first and how many there are. */
struct kind {
	uint64_t n, row;
	size_t at;
	char text[160]; /* of the first */
};
void kind_note(struct kind *k, size_t at, uint64_t row, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void kind_say(struct check *c, const char *section, const struct kind *k);

/* What follows the last sync point, from `at` on. */
void check_extension(struct check *c, size_t at);

#endif
