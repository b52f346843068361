/* sgr: looks (ESC [ numbers m) in as few bytes as they need. */
#ifndef NVMTOP_TERM_SGR_H
#define NVMTOP_TERM_SGR_H

#include <stdbool.h>
#include <stddef.h>

#define SGR_GROWS 24

/* What is known of the terminal and of the bytes. */
struct sgr {
	const int *rgb; /* of 256 colours: what to ask for instead, 0xrrggbb, or -1; NULL: nothing */
	bool follows;   /* a frame before this one left no look, and set the character set */
	bool ends;      /* the terminal can end one attribute and leave the others */
};

/* The n bytes that ncurses wrote, with the same picture. out: room for SGR_GROWS * n; the new length. */
size_t sgr_bytes(const struct sgr *s, const char *in, size_t n, char *out);

#endif
