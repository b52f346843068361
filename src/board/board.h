/* board: a text file that describes which signals a board has and where the kernel exposes them. */
#ifndef NVMTOP_BOARD_BOARD_H
#define NVMTOP_BOARD_BOARD_H

#include "probe/probe.h"

struct board; /* a parsed .board file; see nvmtop-board(5) */

/* Load by name ("agx_orin": searched in $NVMTOP_BOARDS, in $XDG_CONFIG_HOME/nvmtop/boards, in the source
 * tree of a program that is not installed, and in the installed folder, in that order) or by path
 * (anything with a '/' or ending in ".board"). Errors name file, line and what was expected. ERR_USAGE
 * when there is no such board. */
struct board *board_load(const char *name_or_path, struct err *e);
void board_free(struct board *b);

const char *board_name(const struct board *b);  /* "agx_orin" */
const char *board_title(const struct board *b); /* "Jetson AGX Orin" */
const char *board_path(const struct board *b);  /* the file it came from */

/* Which board is the machine below root? Compares the NUL-separated entries of
 * /proc/device-tree/compatible exactly with the `match` lines of all known boards; "generic" when none
 * matches. `why` gets a sentence for the user. On success e->code is ERR_NONE; or ERR_DAMAGED when a
 * board file could not be read or, if none matches, not be parsed: e names it and the reason. */
struct board *board_detect(const struct root *r, char *why, size_t size, struct err *e);

/* Every known board, for listings.  visit() is called in order of name; a file
 * that does not parse is visited with b NULL and its error. */
void board_each(void (*visit)(void *arg, const struct board *b, const struct err *e), void *arg);

/* The kernel files that the board file names, whether they exist or not, each once; a name may contain a
 *
 * for numbers that vary. */
void board_paths(const struct board *b, void (*visit)(void *arg, const char *path), void *arg);

/* Find what the board file names below root and open it. A signal that is missing becomes a channel with
 * its reason in `missing`; only a board file without any channel is an error. hz are the rates of the
 * tiers. On success e->code is ERR_NONE, or ERR_DAMAGED with the number of signals that are missing
 * because of the limit of open files. */
struct probe_set *board_resolve(const struct board *b, const struct root *r, const double hz[TIERS],
				const char *why, struct err *e);

#endif
