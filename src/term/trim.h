/* trim: what ncurses says twice or for nothing. */
#ifndef NVMTOP_TERM_TRIM_H
#define NVMTOP_TERM_TRIM_H

#include <stddef.h>

/* Of neighbouring SGR sequences (ESC [ numbers m) one is made, without what a
 * reset in it undoes, and ESC ( B is left out: only for a frame that follows one
 * that had it, on a terminal that knows these.  In place; the new length. */
size_t trim_bytes(char *bytes, size_t n);

#endif
