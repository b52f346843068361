/* select: a part of time that was selected, and what happened in it. */
#ifndef NVMTOP_UI_SELECT_H
#define NVMTOP_UI_SELECT_H

#include "ui/canvas.h"

struct ui;
struct ui_scene;

/* A stretch of time. */
struct selection {
	bool on;
	bool open; /* its second end is where the playhead is */
	int64_t a_ns, b_ns;
};

void select_set(struct ui *u, int64_t a_ns, int64_t b_ns);
/* False: nothing is selected, or no time at all. */
bool select_get(const struct ui *u, int64_t *from_ns, int64_t *to_ns);
void select_shade(const struct ui *u, struct canvas *c, int y, int h);
void select_axis(const struct ui *u, struct canvas *c);
void select_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

#endif
