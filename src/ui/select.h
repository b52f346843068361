/* select: the selected time interval and its statistics. */
#ifndef NVMTOP_UI_SELECT_H
#define NVMTOP_UI_SELECT_H

#include "ui/chart.h"

struct ui;
struct ui_scene;

/* The two ends can be in any order. */
struct selection {
	bool on;
	bool open; /* the second end follows the playhead */
	int64_t a_ns, b_ns;
};

/* The statistics of a channel, cached until the selection changes. */
struct selected_stats {
	int64_t from_ns, to_ns; /* 0, 0: not read */
	struct chart_summary summary;
};

/* Replace *out by the statistics of the selection, if any. shift_ns: offset of the timeline's
 * clock; provisional: the data may still change, so do not cache. */
void select_stats(const struct ui *u, struct timeline *t, size_t channel, int64_t shift_ns, bool provisional,
		  struct selected_stats *kept, struct chart_summary *out);
void select_set(struct ui *u, int64_t a_ns, int64_t b_ns);
/* False: no selection, or no samples. */
bool select_get(const struct ui *u, int64_t *from_ns, int64_t *to_ns);
void select_shade(const struct ui *u, struct canvas *c, int y, int h);
void select_axis(const struct ui *u, struct canvas *c);
void select_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

#endif
