/* header: the lines above and below the body. */
#ifndef NVMTOP_UI_HEADER_H
#define NVMTOP_UI_HEADER_H

#include "ui/ui.h"

void header_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
/* limit-line.c: the second line. */
void limit_line_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* The most severe problem; "": none. */
const char *header_alarm(struct ui *u, const struct ui_scene *s, enum style *style);
void bar_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* about.c: details of the selected row. */
bool about_can(const struct ui *u);
void about_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

#endif
