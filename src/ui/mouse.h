/* mouse: what a press, a drag or the wheel means where it is. */
#ifndef NVMTOP_UI_MOUSE_H
#define NVMTOP_UI_MOUSE_H

#include "ui/ui.h"

/* The button was pressed in the charts, where a cell begins and ends. */
struct drag {
	bool on;
	int64_t from_ns, to_ns;
};

void mouse_event(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r);

#endif
