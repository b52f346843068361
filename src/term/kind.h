/* kind: what terminfo knows of the kind of terminal. */
#ifndef NVMTOP_TERM_KIND_H
#define NVMTOP_TERM_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"

/* ERR_USAGE when nothing can be drawn on a terminal of this kind ($TERM; NULL:
 * not set).  fd: the terminal. */
int kind_check(const char *term, int fd, struct err *e);

/* After curses was started: */
/* Does it understand the modes for mouse, focus and paste reports? */
bool kind_reports(const char *term);
/* Append a capability's bytes to a string, without padding; nothing if it has none. */
void kind_append(char *to, size_t size, const char *capability);

/* Can it delete cells in a row, and find back to where it was? */
bool kind_deletes(void);
/* Append what goes to a cell and deletes k from there on; the rest of the row follows. */
void kind_append_delete(char *to, size_t size, int y, int x, int k);
/* Looks are set by sequences of ANSI. */
bool kind_ansi(void);
/* It takes 24 bits of colour: terminfo or the environment says so. */
bool kind_truecolor(const char *term);
/* Colour N of 256 is asked for by 38;5;N. */
bool kind_counts_colours(void);

#endif
