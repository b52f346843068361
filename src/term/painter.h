/* painter: the bytes that make one canvas of another on the terminal, by ncurses. */
#ifndef NVMTOP_TERM_PAINTER_H
#define NVMTOP_TERM_PAINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/canvas.h"
#include "term/term.h"
#include "term/palette.h"

struct painter;

/* For a terminal of the kind term; there is one at a time.  NULL: errno. */
struct painter *painter_open(const char *term, enum colour_choice choice, bool utf8);
void painter_close(struct painter *p);

/* The size that terminfo says. */
void painter_usual_size(int *w, int *h);
/* Make everything fit; -1: out of memory. */
int painter_resize(struct painter *p, int w, int h);

/* What the styles look like. */
void painter_looks(struct painter *p, enum theme theme, enum ground ground);
bool painter_has_colours(const struct painter *p);

/* Everything is drawn with the next frame. */
void painter_repaint(struct painter *p);
/* Draw what differs from the frame before; false: nothing does. */
bool painter_draw(struct painter *p, const struct canvas *next);
/* Leave the screen; the next frame begins anew. */
void painter_end(struct painter *p);

/* The bytes of all that, since the last time: n of them, to be freed.  NULL: n is 0,
 * or out of memory, where the next frame draws everything. */
char *painter_bytes(struct painter *p, size_t *n);

#endif
