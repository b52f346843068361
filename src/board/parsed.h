/* parsed: a board file after it was read, as the files of this room see it. */
#ifndef NVMTOP_BOARD_PARSED_H
#define NVMTOP_BOARD_PARSED_H

#include "board/board.h"
#include "probe/attr.h"

/* How a board is recognised without a device tree. */
enum clue_kind {
	CLUE_MODEL, /* the model's text begins so */
	CLUE_ALIAS, /* what other programs call it, as in JETSON_MODEL_NAME */
	CLUE_SENSE, /* these kernel files exist */
};
#define CLUE_PLACES 6
struct clue {
	enum clue_kind kind;
	char text[96]; /* for CLUE_SENSE: as it stands in the file */
	struct place places[CLUE_PLACES];
	size_t n_places;
};

#define MATCHES_MAX    1024
#define CLUES_MAX      64
#define FACTS_MAX      64
#define STATEMENTS_MAX 2048

struct board {
	char path[512];
	char name[32];
	char title[96];
	bool demo;
	unsigned n_files;           /* read so far */
	struct memory *memory;      /* what all of the following point into */
	char *matches[MATCHES_MAX]; /* entries of compatible */
	size_t n_matches;
	struct clue clues[CLUES_MAX];
	size_t n_clues;
	struct fact facts[FACTS_MAX]; /* what the file itself states */
	size_t n_facts;
	struct statement statements[STATEMENTS_MAX];
	size_t n_statements;
};

/* Read and parse one file. On an error e->num is 0, or why the file cannot be read. */
struct board *board_parse(const char *path, struct err *e);
/* The same from text in memory; path is its name in errors and the place that
 * include starts from. */
struct board *board_parse_text(const char *path, const char *text, size_t len, struct err *e);

/* The board files of all folders; of two with the same name the first. On 0, e->code is ERR_NONE, or
 * ERR_DAMAGED for a folder that exists and cannot be read. rank: 0 for the first folder. Sorted by rank
 * and name. */
struct board_file {
	char name[64]; /* without ".board" */
	char path[512];
	int rank;
};
int board_files(struct board_file **files, size_t *n, struct err *e); /* free(*files) */

/* The first of the folders' files of that name. */
bool board_find_file(const char *name, char *path, size_t size);

/* The power monitors that no channel of the probe set reads, in a line; false: none. */
bool board_unlisted(const struct probe_set *probes, const struct root *r, char *out, size_t size);

/* Add what is known about the machine below r; why: from board_detect(). */
int board_facts(const struct board *b, const struct root *r, const char *why, struct probe_set *probes,
		struct err *e);

/* Add how it is set, as facts, and have the probe set watch that.  -1: out of memory. */
int board_settings(struct probe_set *probes);

/* The board of the first entry of compatible (len bytes, entries end in NUL)
 * that any of the n boards has as a match, and which entry that is; -1: none. */
int board_match(const char *compatible, size_t len, struct board *const *boards, size_t n,
		const char **entry);

/* The product that a module's number stands for, from the entries of compatible
 * (len bytes, a NUL behind them); the JetPack that a release such as "36.4.3"
 * belongs to.  False: unknown. */
bool table_module(const char *compatible, size_t len, char *out, size_t size);
bool table_jetpack(const char *release, char *out, size_t size);

#endif
