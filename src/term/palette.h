/* palette: the look of each style, for the available number of colours. */
#ifndef NVMTOP_TERM_PALETTE_H
#define NVMTOP_TERM_PALETTE_H

#include "ui/canvas.h"
#include "ui/settings.h"
#include "term/term.h"

enum { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8 };

#define PALETTE_RGB (1 << 24) /* as a number of colours: colours are 0xrrggbb */

struct look {
	int fg, bg;          /* -1: terminal default */
	int back;            /* background behind a character of another style; -1: none */
	unsigned attributes; /* LOOK_ bits */
};

/* ground: AUTO is dark; colours: 0, 8, 16, 256 or PALETTE_RGB. */
struct look palette_look(enum theme theme, enum ground ground, enum style style, int colours);

/* The number of colours to use, from the user's choice, the terminal's number (terminfo), 24-bit
 * support (rgb) and NO_COLOR. */
int palette_colours(enum colour_choice choice, int terminal_has, bool rgb);

#endif
