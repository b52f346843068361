/* board: a text file that describes which signals a board has and where the kernel exposes them. */
#ifndef NVMTOP_BOARD_BOARD_H
#define NVMTOP_BOARD_BOARD_H

#include <stdatomic.h>

#include "probe/attr.h"
#include "probe/probe.h"

/* What can be set: "control KIND [NAME] PLACE..."; see control/control.h. */
enum control_kind {
	CONTROL_FAN,	  /* "fan": a profile, a percentage, or auto */
	CONTROL_MODE,	  /* "mode": a power mode, by name or number */
	CONTROL_PINNED,	  /* "clocks": max, restore (by jetson_clocks, or the highest clock of each that has limits) */
	CONTROL_CLOCK,	  /* "clocks.gpu", "clocks.cpu", "clocks.emc": MIN..MAX in Hz */
	CONTROL_GOVERNOR, /* "governor.gpu", "governor.cpu" */
	CONTROL_3D,	  /* "3d-scaling": on, off */
	CONTROL_SWAP,	  /* "swap": bytes, off */
	CONTROL_CACHES,	  /* "drop-caches": has no value */
	CONTROL_KINDS
};
extern const char *const control_words[CONTROL_KINDS]; /* "fan", ...; "clocks" is two kinds */
struct control_statement {
	enum control_kind kind;
	const char *name; /* "gpu"; "" */
	struct place *places;
	size_t n_places; /* the first that exists is meant */
};

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

/* A parsed board file; see nvmtop-board(5). */
#define BOARD_PATH 512
struct board {
	atomic_int holders;
	int rank;	       /* of the folder that it was found in; the first is 0 */
	char path[BOARD_PATH]; /* the file that it was loaded from */
	char name[32];	       /* "agx_orin" */
	char title[96];	       /* "Jetson AGX Orin" */
	bool demo;
	int64_t past_ns;       /* that the screen of a demo begins with */
	unsigned n_files;      /* read so far */
	struct memory *memory; /* the words of all of the following are in it */
	struct clue *clues;
	size_t n_clues;
	struct fact *facts; /* stated by the file */
	size_t n_facts;
	struct statement *statements;
	size_t n_statements;
	struct control_statement *controls;
	size_t n_controls;
};

/* Loads a board by name ("agx_orin": searched in $NVMTOP_BOARDS, in $XDG_CONFIG_HOME/nvmtop/boards, in the
 * source tree of a program that is not installed, and in the installed folder, in that order) or by path
 * (anything with a '/' or ending in ".board"). Returns NULL and sets *e, which names file, line and what was
 * expected; its code is ERR_USAGE if no such board exists. */
struct board *board_load(const char *name_or_path, struct err *e);
struct board *board_hold(struct board *b); /* another reference */
void board_free(struct board *b);	   /* one reference; any thread may call it */

/* Detects the board of the machine below root: compares the NUL-separated entries of
 * /proc/device-tree/compatible exactly with the `match` lines of all known boards, then tries less certain
 * sources; see detect.c. Returns "generic" if nothing matches, NULL and sets *e on error. `why` gets a
 * sentence for the user. On success e->code is ERR_NONE, or ERR_DAMAGED if a board file could not be read or
 * parsed; e then names it and the reason. */
struct board *board_detect(const struct root *r, char *why, size_t size, struct err *e);

/* Visits every known board in order of name. A file that does not parse is visited with b NULL and its
 * error. */
void board_each(void (*visit)(void *arg, struct board *b, const struct err *e), void *arg);

/* Visits each kernel file that the board file names once, whether it exists or not; a name may contain `*`
 * for numbers that vary. */
void board_paths(const struct board *b, void (*visit)(void *arg, const char *path), void *arg);

/* The rails of that board whose sum is its power, a bit each, of those n that there are; 0: not known. *note is valid
 * as long as b. */
uint32_t board_total(const struct board *b, const char *const *rails, size_t n, const char **note);
/* Whether the temperature of the kernel's zone counts for the hottest one. */
bool board_zone_counts(const struct board *b, const char *zone);

/* From now on only the installed board files are known, whatever the environment says. */
void board_installed_only(void);

/* Finds the files that the board file names below root and opens them. A missing signal becomes a channel
 * with its reason in `missing`, and is looked for later: the probe set keeps a reference to b. hz are the rates
 * of the tiers. Returns NULL and sets *e if no signal at all can be read, or if the limit of open files is too low. */
struct probe_set *board_resolve(struct board *b, const struct root *r, const double hz[TIERS],
				const char *why, struct err *e);

/* --- for the files of this folder --- */

/* Parses text in memory; path is its name in errors and the base for include lines. Text NULL: the file of that path is read.
 * Returns NULL and sets *e on error; e->num is 0, or the errno if the file cannot be read. */
struct board *board_parse_text(const char *path, const char *text, size_t len, struct err *e);
#define board_parse(path, e) board_parse_text(path, NULL, 0, e)

/* Lists the board files of all folders, sorted by name; of two with the same name that of the first folder, whose rank is 0.
 * *e has why a folder cannot be read (ERR_DAMAGED), or that they are not all (ERR_FAILED), else ERR_NONE. */
struct board_file {
	char name[64]; /* without ".board" */
	char path[BOARD_PATH];
	int rank;
};
struct board_file *board_files(size_t *n, struct err *e); /* to be freed */

/* Gets the path of the first file of that name in the folders. Returns false if there is none. */
bool board_find_file(const char *name, char *path, size_t size);
/* Finds a board as board_load() does. Returns its path, NULL with *e if there is none. */
const char *board_find(const char *name, char *path, size_t size, struct err *e);

/* Lists, in one line, the power monitors that no channel of the probe set reads. Returns false if there are
 * none. */
bool board_unlisted(const struct probe_set *probes, const struct root *r, char *out, size_t size);

/* Adds the facts that are known about the machine below r, and has the probe set watch those that are settings; why comes from
 * board_detect(). Returns -1 and sets *e if out of memory. */
int board_facts(const struct board *b, const struct root *r, const char *why, struct probe_set *probes,
		struct err *e);

/* Returns the index of the board that has the first known entry of compatible (len bytes, entries end in NUL)
 * as a match, and sets *entry; -1 if none of the n boards has any. */
int board_match(const char *compatible, size_t len, struct board *const *boards, size_t n,
		const char **entry);

#endif
