/* draw: text and boxes, with the characters of the terminal's charset. */
#ifndef NVMTOP_UI_DRAW_H
#define NVMTOP_UI_DRAW_H

#include "ui/canvas.h"
#include "ui/layout.h"

struct ui;

/* Returns `ascii` if the charset is ASCII, else `fine`. */
wchar_t screen_glyph(const struct ui *u, wchar_t fine, wchar_t ascii);
/* Draws a text if all of it fits. Returns the x of the next text. */
int screen_put(struct canvas *c, int x, int y, int right, enum style style, const char *text);
const char *screen_name(const char *path); /* the file name without folder; NULL: "" */
/* Draws a text, truncated with an ellipsis if necessary. Returns the columns used. */
int screen_cut(const struct ui *u, struct canvas *c, int x, int y, int w, enum style style, const char *text);

/* Draws the reason for a missing value. If it does not fit, the cause is truncated before the remedy. */
int screen_reason(const struct ui *u, struct canvas *c, int x, int y, int w, enum style style, const char *reason);
/* The remedy in a reason, after the first "; "; NULL: none. */
const char *reason_remedy(const char *reason);

/* The number of lines of a text at width w. */
int text_lines(const char *text, int w);
/* Draws at most h lines, the last with an ellipsis if there are more. Returns the number drawn. */
int text_draw(const struct ui *u, struct canvas *c, int x, int y, int w, int h, enum style style, const char *text);

/* Draws an empty box with a border over what is there. */
void box_draw(const struct ui *u, struct canvas *c, const struct rect *r);

#endif
