/* palette: what a style looks like with the colours there are. */
#ifndef NVMTOP_TERM_PALETTE_H
#define NVMTOP_TERM_PALETTE_H

#include "ui/canvas.h"
#include "ui/settings.h"
#include "term/term.h"

enum { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8 };

#define PALETTE_RGB (1 << 24) /* as a number of colours: each one is 0xrrggbb */

struct look {
	int fg, bg;          /* -1: the terminal's own */
	int back;            /* what it paints behind the character of another style; -1: nothing */
	unsigned attributes; /* LOOK_ */
};

/* ground: AUTO is dark; colours: 0, 8, 16, 256 or PALETTE_RGB. */
struct look palette_look(enum theme theme, enum ground ground, enum style style, int colours);

/* How many colours to use: what was asked for, what the terminal has (terminfo's
 * number; rgb: it takes any), and NO_COLOR. */
int palette_colours(enum colour_choice choice, int terminal_has, bool rgb);

#endif
