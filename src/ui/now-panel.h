/* now-panel: the values at the playhead of all cores, memory, engines and cooling. */
#ifndef NVMTOP_UI_NOW_PANEL_H
#define NVMTOP_UI_NOW_PANEL_H

#include "ui/rows.h"

/* The number of lines for a screen of w x h; 0: no room. */
int now_panel_lines(int w, int h);
void now_panel_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at);

#endif
