/* events: what happened, in a line below the charts. */
#ifndef NVMTOP_UI_EVENTS_H
#define NVMTOP_UI_EVENTS_H

#include "ui/chart.h"

struct ui;
struct ui_scene;
struct canvas;

bool events_wanted(const struct ui *u, const struct ui_scene *s);
void events_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
/* out[0..axis->n): 1 where something was throttled.  Takes u->frame.columns. */
void events_throttled(struct ui *u, const struct ui_scene *s, const struct chart_axis *axis,
		      unsigned char *out);
/* The label; of a throttle channel what it slows down: "cpu" of "cpu-throttle-alert". */
void events_name(char out[32], const struct channel *ch);
/* A hole that one would look for where a cell is that long. */
bool events_gap(const struct gap *g, int64_t cell_ns);

#endif
