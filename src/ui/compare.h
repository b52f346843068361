/* second: another trace under the one that is shown, row by row. */
#ifndef NVMTOP_UI_COMPARE_H
#define NVMTOP_UI_COMPARE_H

#include "ui/chart.h"
#include "ui/select.h"
#include "ui/ui.h"
#include "ui/viewport.h"

/* Of a row: the same signal in the second trace. */
struct second_row {
	bool any;
	size_t channel; /* of the second trace */
	double value;   /* at the playhead */
	unsigned char alarm;
	struct chart_summary summary;
	struct selected_stats chosen;
};

struct second {
	struct timeline *timeline;   /* NULL: there is none */
	const struct session *about; /* NULL: it has no sample */
	struct extent extent;        /* on the clock of the first */
	int64_t shift_ns;            /* to be added to its times */
	int64_t nudge_ns;            /* of it by hand */
	bool provisional;            /* its columns are estimates until it has been read */
	size_t here, there;          /* signals that only this one, only the other has */
	const void *rows;            /* these are matched */
	/* Of the frame: */
	struct gap gaps[GAPS_MAX]; /* on its own clock */
	size_t n_gaps;
	struct mark marks[MARKS_MAX];
	size_t n_marks;
	unsigned char mark_at[CELLS_MAX]; /* 1: a mark's line */
	struct spark_column columns[COLUMNS_MAX]; /* of the row that was read last */
	unsigned char level[COLUMNS_MAX];         /* enum alarm, of columns */
};

struct row;
struct row_list;

bool second_look(struct ui *u, const struct ui_scene *s); /* which one it is; true: another */
void second_extend(struct ui *u, const struct ui_scene *s); /* u->extent as far as it reaches */
void second_match(struct ui *u); /* its signals to the rows, when either is new */
void second_reset(struct ui *u, const struct ui_scene *s); /* another one is shown */
void second_prepare(struct ui *u); /* its marks and gaps in view */
/* Its columns, values and statistics; min..max grows by what it has in view. */
void second_read(struct ui *u, struct row *row, double *min, double *max);
double second_value(const struct ui *u, size_t channel); /* of its own channels, at the playhead */
int second_channel(const struct ui *u, size_t channel); /* the same signal as this of the first; -1: none */
void second_draw(struct ui *u, const struct ui_scene *s, struct canvas *c); /* what stands below the axis */
/* The names of the signals that only the one trace has, as far as they fit; returns how many. */
size_t second_only(const struct ui *u, bool in_b, char *out, size_t size);

#endif
