/* sgr: shortens SGR sequences (ESC [ numbers m). */
#ifndef NVMTOP_TERM_SGR_H
#define NVMTOP_TERM_SGR_H

#include <stdbool.h>
#include <stddef.h>

#define SGR_GROWS 24

/* Properties of the terminal and of the bytes. */
struct sgr {
	const int *rgb; /* 0xrrggbb to use instead of each of 256 colours, -1: keep it; NULL: keep all */
	bool follows;   /* a previous frame reset the look and set the character set */
	bool ends;      /* the terminal can turn off single attributes */
};

/* Rewrite n bytes of ncurses output. out: SGR_GROWS * n bytes. Returns the new length. */
size_t sgr_bytes(const struct sgr *s, const char *in, size_t n, char *out);

#endif
