/* now-panel: how the machine stands at the playhead: every core, memory, engines, cooling. */
#ifndef NVMTOP_UI_NOW_PANEL_H
#define NVMTOP_UI_NOW_PANEL_H

#include "ui/rows.h"

/* Lines that it wants on such a screen; 0: there is no room for it. */
int now_panel_lines(const struct ui *u, int w, int h);
void now_panel_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at);

#endif
