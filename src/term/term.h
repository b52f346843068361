/* term: cells to the terminal, bytes from it; puts it back whatever happens. */
#ifndef NVMTOP_TERM_TERM_H
#define NVMTOP_TERM_TERM_H

#include "ui/canvas.h"
#include "util/err.h"
#include "ui/event.h"
#include "ui/settings.h"

enum colour_choice { COLOUR_AUTO, COLOUR_NEVER, COLOUR_8, COLOUR_16, COLOUR_256, COLOUR_RGB };

struct term_options {
	enum colour_choice colour;	/* AUTO follows terminfo, COLORTERM and NO_COLOR */
	enum theme theme;
	enum ground ground;		/* AUTO: what the terminal answers, or COLORFGBG says */
	bool no_mouse;			/* leave the mouse to the terminal */
	int escape_ms;			/* how long an ESC waits for the rest; 0: $ESCDELAY or 50 */
	bool shared;			/* another program of the pipeline (ssh) may read this terminal, too */
};

struct term;

/* Takes over /dev/tty.  ERR_USAGE with a sentence that says what to use
 * instead when there is no terminal or it cannot do it (TERM unset, unknown,
 * dumb).  Signals WINCH TSTP CONT INT TERM HUP must be blocked already. */
struct term *term_open(const struct term_options *o, struct err *e);
/* Puts the terminal back and prints what was written to stderr meanwhile. */
void term_close(struct term *t);

int term_fd(const struct term *t);		/* poll it for input */
int term_timeout_ms(const struct term *t);	/* how long poll may wait at most; -1: for ever */
void term_size(const struct term *t, int *w, int *h);

/* Re-read the size (on SIGWINCH); true when it changed. */
bool term_resized(struct term *t);
/* Send what differs from what the terminal shows.  Everything after
 * term_repaint().  Returns -1 when the terminal has gone. */
int term_draw(struct term *t, const struct canvas *c);
void term_repaint(struct term *t);

/* Change these from the next frame on; no_mouse at once. */
void term_theme(struct term *t, enum theme theme, enum ground ground);
void term_mouse(struct term *t, bool no_mouse);

/* Take over the bytes that are there (call when poll says so, and when
 * term_timeout_ms() ran out), then fetch events until EVENT_NONE. */
void term_read(struct term *t);
struct event term_event(struct term *t);

/* Give the terminal to the shell, stop this process, and take it again when it
 * is continued.  Repaints at the next draw. */
void term_suspend(struct term *t);

/* What the terminal's background is; AUTO: not known. */
enum ground term_ground(const struct term *t);

/* A screen as an SVG picture, in the colours of a theme; where they follow the background,
 * on that ground (AUTO: dark).  Whether that worked is in the stream. */
void term_svg(const struct canvas *c, enum theme theme, enum ground ground, FILE *out);

/* What the locale and $TERM can show: BRAILLE in UTF-8 (BLOCKS on TERM=linux, whose fonts
 * have no braille), ASCII otherwise. */
enum charset term_charset(void);

#endif
