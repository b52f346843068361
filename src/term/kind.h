/* kind: what terminfo knows of the kind of terminal. */
#ifndef TERM_KIND_H
#define TERM_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "nvmtop/err.h"

/* ERR_USAGE when nothing can be drawn on a terminal of this kind ($TERM; NULL:
 * not set).  fd: the terminal. */
int kind_check(const char *term, int fd, struct err *e);

/* After curses was started: */
/* Does it understand the modes for mouse, focus and paste reports? */
bool kind_reports(const char *term);
/* Append a capability's bytes to a string, without padding; nothing if it has none. */
void kind_append(char *to, size_t size, const char *capability);

#endif
