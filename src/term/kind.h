/* kind: terminfo queries. */
#ifndef NVMTOP_TERM_KIND_H
#define NVMTOP_TERM_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"

/* The type of terminal to use: term, or one that an unknown one can be taken for. NULL: it cannot draw a screen,
 * ERR_USAGE. term: $TERM, NULL if not set. fd: the terminal. */
const char *kind_find(const char *term, int fd, struct err *e);

/* The rest needs curses to be initialized. */
/* Supports mouse, focus and paste reports. */
bool kind_reports(const char *term);
/* Append the capability's bytes to a string, without padding; nothing if it is missing. */
void kind_append(char *to, size_t size, const char *capability);

/* Can delete cells within a row and save and restore the cursor. */
bool kind_deletes(void);
/* Append the bytes that delete k cells at (y, x); the rest of the row moves left. */
void kind_append_delete(char *to, size_t size, int y, int x, int k);
/* Uses ANSI SGR sequences. */
bool kind_ansi(void);
/* 24-bit colour, according to terminfo or the environment. */
bool kind_truecolor(const char *term);
/* Selects colour N of 256 with 38;5;N. */
bool kind_counts_colours(void);

#endif
