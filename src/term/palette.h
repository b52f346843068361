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
	unsigned attributes; /* LOOK_ */
};

/* The colours to draw in. */
struct scheme {
	enum theme theme;
	enum ground ground; /* what they are made for; AUTO: for any */
	bool paint;         /* it brings its own background */
};

/* told: what was asked for, AUTO: to follow the terminal; seen: the terminal's, AUTO: not known. */
struct scheme palette_scheme(enum theme theme, enum ground told, enum ground seen);

/* colours: 0, 8, 16, 256 or PALETTE_RGB. */
struct look palette_look(const struct scheme *s, enum style style, int colours);

/* What stands for the terminal's own colours where there is no terminal, 0xrrggbb. */
int palette_text(const struct scheme *s);
int palette_ground(const struct scheme *s);

/* How many colours to use: what was asked for, what the terminal has (terminfo's
 * number; rgb: it takes any), and NO_COLOR. */
int palette_colours(enum colour_choice choice, int terminal_has, bool rgb);

#endif
