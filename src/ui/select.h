/* select: a part of time that was selected, and what happened in it. */
#ifndef NVMTOP_UI_SELECT_H
#define NVMTOP_UI_SELECT_H

#include "ui/chart.h"

struct ui;
struct ui_scene;

/* A stretch of time. */
struct selection {
	bool on;
	bool open; /* its second end is where the playhead is */
	int64_t a_ns, b_ns;
};

/* Of a channel in the selection, kept while that does not change. */
struct selected_stats {
	int64_t from_ns, to_ns; /* 0, 0: not read */
	struct chart_summary summary;
};

/* While something is selected *out becomes the statistics of it.  shift_ns: of the timeline's clock;
 * provisional: what is read now may change. */
void select_stats(const struct ui *u, struct timeline *t, size_t channel, int64_t shift_ns, bool provisional,
		  struct selected_stats *kept, struct chart_summary *out);
void select_set(struct ui *u, int64_t a_ns, int64_t b_ns);
/* False: nothing is selected, or no time at all. */
bool select_get(const struct ui *u, int64_t *from_ns, int64_t *to_ns);
void select_shade(const struct ui *u, struct canvas *c, int y, int h);
void select_axis(const struct ui *u, struct canvas *c);
void select_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

#endif
