/* term: draws cells on the terminal, reads events from it, and always restores it. */
#ifndef NVMTOP_TERM_TERM_H
#define NVMTOP_TERM_TERM_H

#include "ui/canvas.h"
#include "util/err.h"
#include "ui/event.h"
#include "ui/settings.h"

enum colour_choice { COLOUR_AUTO, COLOUR_NEVER, COLOUR_8, COLOUR_16, COLOUR_256, COLOUR_RGB };

struct term_options {
	enum colour_choice colour;	/* AUTO: from terminfo, COLORTERM and NO_COLOR */
	enum theme theme;
	enum ground ground;		/* AUTO: from the terminal's reply or COLORFGBG */
	bool no_mouse;			/* disable mouse reports */
	int escape_ms;			/* wait after ESC; 0: $ESCDELAY or 50 */
	bool shared;			/* another program of the pipeline (ssh) may read it too */
};

struct term;

/* Take over /dev/tty. ERR_USAGE, with a message naming alternatives, if there is no usable
 * terminal (TERM unset, unknown and unlike an xterm, or dumb). SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM and SIGHUP
 * must be blocked. */
struct term *term_open(const struct term_options *o, struct err *e);
/* Restore the terminal and print the captured stderr. */
void term_close(struct term *t);

const char *term_notice(const struct term *t);	/* for the user: what an unknown TERM is taken for; or "" */
int term_fd(const struct term *t);		/* poll it for input */
int term_timeout_ms(const struct term *t);	/* longest time to poll; -1: no limit */
void term_size(const struct term *t, int *w, int *h);

/* Re-read the size after SIGWINCH; true if it changed. */
bool term_resized(struct term *t);
/* Send the difference from the screen, or everything after term_repaint(). -1: the terminal is
 * gone. */
int term_draw(struct term *t, const struct canvas *c);
void term_repaint(struct term *t);

/* Take effect with the next frame, no_mouse at once. */
void term_theme(struct term *t, enum theme theme, enum ground ground);
void term_mouse(struct term *t, bool no_mouse);

/* Read available bytes (call when poll reports input or after term_timeout_ms()), then fetch
 * events until EVENT_NONE. */
void term_read(struct term *t);
struct event term_event(struct term *t);

/* Return the terminal to the shell and stop this process; take the terminal again on SIGCONT.
 * The next draw repaints. */
void term_suspend(struct term *t);

/* The terminal's background; AUTO: unknown. */
enum ground term_ground(const struct term *t);

/* Write a screen as SVG in the colours of a theme. AUTO is a dark ground. Check out for errors. */
void term_svg(const struct canvas *c, enum theme theme, enum ground ground, FILE *out);

/* From the locale: BLOCKS for UTF-8, ASCII otherwise. */
enum charset term_charset(void);

#endif
