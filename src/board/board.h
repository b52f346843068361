/* board: a text file that describes which signals a board has and where the kernel exposes them. */
#ifndef NVMTOP_BOARD_BOARD_H
#define NVMTOP_BOARD_BOARD_H

#include "probe/attr.h"
#include "probe/probe.h"

struct board; /* a parsed .board file; see nvmtop-board(5) */

/* Loads a board by name ("agx_orin": searched in $NVMTOP_BOARDS, in $XDG_CONFIG_HOME/nvmtop/boards, in the
 * source tree of a program that is not installed, and in the installed folder, in that order) or by path
 * (anything with a '/' or ending in ".board"). Returns NULL and sets *e, which names file, line and what was
 * expected; its code is ERR_USAGE if no such board exists. */
struct board *board_load(const char *name_or_path, struct err *e);
void board_free(struct board *b); /* one reference; any thread may call it */

const char *board_name(const struct board *b);  /* "agx_orin" */
const char *board_title(const struct board *b); /* "Jetson AGX Orin" */
const char *board_path(const struct board *b);  /* the file it was loaded from */

/* Detects the board of the machine below root: compares the NUL-separated entries of
 * /proc/device-tree/compatible exactly with the `match` lines of all known boards, then tries less certain
 * sources; see detect.c. Returns "generic" if nothing matches, NULL and sets *e on error. `why` gets a
 * sentence for the user. On success e->code is ERR_NONE, or ERR_DAMAGED if a board file could not be read or
 * parsed; e then names it and the reason. */
struct board *board_detect(const struct root *r, char *why, size_t size, struct err *e);

/* Visits every known board in order of name. A file that does not parse is visited with b NULL and its
 * error. */
void board_each(void (*visit)(void *arg, const struct board *b, const struct err *e), void *arg);

/* Visits each kernel file that the board file names once, whether it exists or not; a name may contain `*`
 * for numbers that vary. */
void board_paths(const struct board *b, void (*visit)(void *arg, const char *path), void *arg);

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
const struct control_statement *board_controls(const struct board *b, size_t *n);

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

#endif
