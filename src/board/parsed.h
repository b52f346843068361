/* parsed: a board file after parsing, for the files of this folder. */
#ifndef NVMTOP_BOARD_PARSED_H
#define NVMTOP_BOARD_PARSED_H

#include <stdatomic.h>

#include "board/board.h"
#include "probe/attr.h"

/* How a board is recognised. */
enum clue_kind {
	CLUE_MATCH, /* an entry of compatible is it */
	CLUE_MODEL, /* the model's text begins with it */
	CLUE_ALIAS, /* the name in other programs, as in JETSON_MODEL_NAME */
	CLUE_SENSE, /* these kernel files exist */
};
struct clue {
	enum clue_kind kind;
	const char *text; /* as in the file */
	struct place *places;
	size_t n_places;
};

#define CLUES_MAX      1024
#define FACTS_MAX      64
#define STATEMENTS_MAX 2048
#define CONTROLS_MAX   32

struct board {
	atomic_int holders;
	char path[512];
	char name[32];
	char title[96];
	bool demo;
	int64_t past_ns;            /* that the screen of a demo begins with */
	unsigned n_files;           /* read so far */
	struct memory *memory;      /* all of the following points into it */
	struct clue clues[CLUES_MAX];
	size_t n_clues;
	struct fact facts[FACTS_MAX]; /* stated by the file */
	size_t n_facts;
	struct statement statements[STATEMENTS_MAX];
	size_t n_statements;
	struct control_statement controls[CONTROLS_MAX];
	size_t n_controls;
};

/* Parses text in memory; path is its name in errors and the base for include lines. Text NULL: the file of that path is read.
 * Returns NULL and sets *e on error; e->num is 0, or the errno if the file cannot be read. */
struct board *board_parse_text(const char *path, const char *text, size_t len, struct err *e);
#define board_parse(path, e) board_parse_text(path, NULL, 0, e)

struct board *board_hold(struct board *b); /* another reference */

/* Lists the board files of all folders, sorted by rank and name; of two with the same name only the first.
 * Returns 0 with e->code ERR_NONE, or ERR_DAMAGED if a folder exists but cannot be read; -1 if out of memory.
 * The rank of the first folder is 0. */
struct board_file {
	char name[64]; /* without ".board" */
	char path[512];
	int rank;
};
int board_files(struct board_file **files, size_t *n, struct err *e); /* to be freed: *files */

/* Gets the path of the first file of that name in the folders. Returns false if there is none. */
bool board_find_file(const char *name, char *path, size_t size);

/* Lists, in one line, the power monitors that no channel of the probe set reads. Returns false if there are
 * none. */
bool board_unlisted(const struct probe_set *probes, const struct root *r, char *out, size_t size);

/* Adds the facts that are known about the machine below r; why comes from board_detect(). Returns -1 and sets
 * *e if out of memory. */
int board_facts(const struct board *b, const struct root *r, const char *why, struct probe_set *probes,
		struct err *e);

/* Adds the settings of the machine as facts, and has the probe set watch them. Returns -1 if out of
 * memory. */
int board_settings(const struct board *b, struct probe_set *probes);

/* Returns the index of the board that has the first known entry of compatible (len bytes, entries end in NUL)
 * as a match, and sets *entry; -1 if none of the n boards has any. */
int board_match(const char *compatible, size_t len, struct board *const *boards, size_t n,
		const char **entry);

/* Get the product name of a module, from the entries of compatible (len bytes, followed by a NUL), and the
 * JetPack version of a release such as "36.4.3". Return false if it is unknown. */
bool table_module(const char *compatible, size_t len, char *out, size_t size);
bool table_jetpack(const char *release, char *out, size_t size);

#endif
