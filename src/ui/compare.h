/* compare: a second trace below the first, row by row. */
#ifndef NVMTOP_UI_COMPARE_H
#define NVMTOP_UI_COMPARE_H

#include "ui/chart.h"
#include "ui/select.h"
#include "ui/ui.h"
#include "ui/viewport.h"

/* The signal of a row in the second trace. */
struct second_row {
	bool any;
	size_t channel; /* of the second trace */
	double value;   /* at the playhead */
	unsigned char alarm;
	struct chart_summary summary;
	struct selected_stats chosen;
};

struct second {
	struct timeline *timeline;   /* NULL: none */
	const struct session *about; /* NULL: no samples */
	struct extent extent;        /* on the clock of the first trace */
	int64_t shift_ns;            /* added to its times */
	int64_t nudge_ns;            /* the part of shift_ns that was set by hand */
	bool provisional;            /* its columns are estimates until the file has been read */
	size_t here, there;          /* signals only in the first, only in the second trace */
	const void *rows;            /* the rows that were matched */
	/* Of the current frame: */
	struct gap gaps[GAPS_MAX]; /* on its own clock */
	size_t n_gaps;
	struct mark marks[MARKS_MAX];
	size_t n_marks;
	unsigned char mark_at[CELLS_MAX]; /* 1: a mark's line */
	struct spark_column columns[COLUMNS_MAX]; /* of the last row read */
	unsigned char level[COLUMNS_MAX];         /* enum alarm, of columns */
};

struct row;
struct row_list;

bool second_look(struct ui *u, const struct ui_scene *s); /* takes it from s; true: it changed */
void second_extend(struct ui *u, const struct ui_scene *s); /* extends u->extent to its end */
void second_match(struct ui *u); /* matches its signals to the rows if either changed */
void second_reset(struct ui *u, const struct ui_scene *s); /* moves to where both have samples */
void second_prepare(struct ui *u); /* reads its marks and gaps in view */
/* Reads the columns, value and statistics of its signal, and extends min..max by them. */
void second_read(struct ui *u, struct row *row, double *min, double *max);
int second_channel(const struct ui *u, size_t channel); /* that matches one of the first; -1: none */
void second_draw(struct ui *u, const struct ui_scene *s, struct canvas *c); /* its line below the axis */
/* Lists the signals with values in one trace only, as many names as fit. Returns the number of signals. */
size_t second_only(const struct ui *u, bool in_b, char *out, size_t size);

#endif
