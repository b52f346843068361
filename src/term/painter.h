/* painter: the bytes that update the terminal from one canvas to the next, by ncurses. */
#ifndef NVMTOP_TERM_PAINTER_H
#define NVMTOP_TERM_PAINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/canvas.h"
#include "term/term.h"
#include "term/palette.h"

struct painter;

/* For a terminal of type term; only one painter at a time. NULL: see errno. */
struct painter *painter_open(const char *term, enum colour_choice choice, bool utf8);
void painter_close(struct painter *p);

/* The size in terminfo. */
void painter_usual_size(int *w, int *h);
/* Resize all buffers; -1: out of memory. */
int painter_resize(struct painter *p, int w, int h);

/* Set the look of all styles. */
void painter_looks(struct painter *p, enum theme theme, enum ground ground);
bool painter_has_colours(const struct painter *p);

/* Draw everything in the next frame. */
void painter_repaint(struct painter *p);
/* Draw the difference from the previous frame; false if there is none. */
bool painter_draw(struct painter *p, const struct canvas *next);
/* Leave the screen; the next frame starts from an empty one. */
void painter_end(struct painter *p);

/* The n bytes output since the last call; the caller frees them. NULL: n is 0 or out of memory;
 * in the latter case the next frame draws everything. */
char *painter_bytes(struct painter *p, size_t *n);

#endif
