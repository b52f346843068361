/* palette: what a style looks like with the colours there are. */
#ifndef TERM_PALETTE_H
#define TERM_PALETTE_H

#include "nvmtop/canvas.h"
#include "nvmtop/term.h"

enum { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8 };

struct look {
	short fg, bg;        /* -1: the terminal's own */
	unsigned attributes; /* LOOK_ */
};

/* colours: 0, 8, 16 or 256. */
struct look palette_look(enum style s, int colours);

/* How many of them to use: what was asked for, what the terminal has
 * (terminfo's number), and NO_COLOR. */
int palette_colours(enum colour_choice choice, int terminal_has);

#endif
