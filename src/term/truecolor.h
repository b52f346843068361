/* truecolor: colours that ncurses does not know of, on terminals that take them. */
#ifndef NVMTOP_TERM_TRUECOLOR_H
#define NVMTOP_TERM_TRUECOLOR_H

#include <stddef.h>

/* Where ESC [ ... m asks for colour N of 256 and rgb[N] is not -1, ask for that
 * colour instead.  out: room for 3 * n bytes; the new length. */
size_t truecolor_bytes(const char *in, size_t n, const int rgb[256], char *out);

#endif
