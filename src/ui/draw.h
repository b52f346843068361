/* draw: texts and boxes, drawn in the characters that the terminal has. */
#ifndef NVMTOP_UI_DRAW_H
#define NVMTOP_UI_DRAW_H

#include "ui/canvas.h"
#include "ui/layout.h"

struct ui;

/* A character that only some charsets have. */
wchar_t screen_glyph(const struct ui *u, wchar_t fine, wchar_t ascii);
/* A text as a whole or not at all; returns where the next one begins. */
int screen_put(struct canvas *c, int x, int y, int right, enum style style, const char *text);
const char *screen_name(const char *path); /* a file's name without the folder; of NULL: "" */
/* A text that ends in an ellipsis where it has no room; returns the columns it took. */
int screen_cut(const struct ui *u, struct canvas *c, int x, int y, int w, enum style style, const char *text);

/* Why a value is missing: where there is no room, what was tried is cut, and what helps stays. */
int screen_reason(const struct ui *u, struct canvas *c, int x, int y, int w, enum style style, const char *reason);
/* What helps, behind the first "; "; NULL: nothing is known to. */
const char *reason_remedy(const char *reason);

/* The lines that a text takes. */
int text_lines(const char *text, int w);
/* At most h of them, the last with an ellipsis where there are more; returns how many
 * there were. */
int text_draw(const struct ui *u, struct canvas *c, int x, int y, int w, int h, enum style style, const char *text);

/* An empty box with a line round it, over what is there. */
void box_draw(const struct ui *u, struct canvas *c, const struct rect *r);

#endif
