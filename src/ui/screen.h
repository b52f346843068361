/* screen: what the files of this folder share about the screen as a whole. */
#ifndef NVMTOP_UI_SCREEN_H
#define NVMTOP_UI_SCREEN_H

#include "chart.h"
#include "goto.h"
#include "keys.h"
#include "layout.h"
#include "nvmtop/ui.h"
#include "quantity.h"
#include "viewport.h"

#define CELLS_MAX   1000
#define COLUMNS_MAX (2 * CELLS_MAX)
#define MARKS_MAX   512
#define GAPS_MAX    256

/* A signal's line on the screen, and what must outlive a frame. */
struct row {
	const char *heading; /* not NULL: no signal but the name of those that follow */
	enum style hue;      /* of the heading */
	size_t channel;
	int beside;          /* the channel that says how this one stands, or -1 */
	unsigned char rank;  /* enum row_rank */
	bool part;           /* of what stands above it: indented */
	unsigned char alarm; /* enum alarm, of value */
	struct scale scale;
	int64_t tick; /* when value and summary were taken */
	double value;
	struct chart_summary summary;
	char tag[32]; /* dim, behind the name: the hottest zone, or "off" */
};

/* One way to look at the rows; each is one file that ends in one of these. */
struct view {
	const char *name; /* for --view */
	unsigned when;    /* WHEN_... of its keys; 0: as the charts have it */
	void (*draw)(struct ui *u, const struct ui_scene *s, struct canvas *c);
	/* True: the action was its own. */
	bool (*act)(struct ui *u, const struct ui_scene *s, enum action a, struct request *r);
	int (*length)(const struct ui *u, const struct ui_scene *s); /* lines, for scrolling */
};
extern const struct view view_overview, view_help, view_files;

struct hit {
	int x, w;
	enum action action;
};

struct ui {
	enum charset charset;
	const struct view *view; /* the charts that one comes back to */
	const struct view *over; /* NULL, or what covers them */
	struct viewport vp;
	struct extent extent;
	struct layout at; /* as last drawn */

	const struct timeline *timeline; /* the rows are of this one */
	const struct session *about;
	struct row *rows;
	unsigned char *height;
	int n_rows;

	int scroll, over_scroll, file_at;
	bool wide_over;

	bool prompting, prompt_wrong;
	char prompt[32];

	struct hit hits[24];
	int n_hits;

	/* Of the frame. */
	int64_t tick; /* changes when values may be read anew */
	int below;    /* rows that do not fit */
	struct chart_axis axis;
	struct gap gaps[GAPS_MAX];
	struct mark marks[MARKS_MAX];
	size_t n_marks;
	char alarm[192];
	bool events;            /* there may be something to tell below the charts */
	int64_t throttled_tick; /* when the next was read */
	char throttled[160];    /* what is throttled at the playhead; "": nothing */
	struct {
		int64_t last_ns;
		int w;
		unsigned char at[CELLS_MAX];
	} overall;                        /* 1: a cell of the strip in which something was throttled */
	bool lines;                       /* marks are few enough to draw through the charts */
	unsigned char mark_at[CELLS_MAX]; /* 1: a mark's line */
	struct bin bins[COLUMNS_MAX + 16];
	struct spark_column columns[COLUMNS_MAX], dots[COLUMNS_MAX];
	unsigned char level[COLUMNS_MAX]; /* enum alarm, of columns */
};

/* rows.c */
int rows_build(struct ui *u, const struct session *about);
/* Read row i anew where it is time, and leave its columns in u->columns and u->level. */
void rows_read(struct ui *u, const struct ui_scene *s, struct row *row);
/* The value of a channel at the playhead, or that long before; NaN: there is none, or it is too old. */
double rows_value(struct ui *u, const struct ui_scene *s, size_t channel, int64_t before_ns);
/* True when what was taken at *tick may be seen anew. */
bool rows_due(const struct ui *u, int64_t *tick);

/* events.c: what happened, below the charts. */
bool events_wanted(const struct ui *u, const struct ui_scene *s);
void events_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
/* out[0..axis->n): 1 where something was throttled.  Takes u->columns. */
void events_throttled(struct ui *u, const struct ui_scene *s, const struct chart_axis *axis,
		      unsigned char *out);
/* The label; of a throttle channel what it slows down: "cpu" of "cpu-throttle-alert". */
void events_name(char out[32], const struct channel *ch);
/* A hole that one would look for where a cell is that long. */
bool events_gap(const struct gap *g, int64_t cell_ns);

/* header.c: the lines above and below the body. */
void header_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
const char *header_alarm(struct ui *u, const struct ui_scene *s, enum style *style);
void bar_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* axis.c: time above the charts, marks through them, the strip below. */
void axis_prepare(struct ui *u, const struct ui_scene *s);
void axis_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
void axis_lines(struct ui *u, struct canvas *c, int y, int h);
void strip_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* ui.c */
/* Take note of what the scene holds now; before drawing and before acting. */
void screen_look(struct ui *u, const struct ui_scene *s);
unsigned screen_when(const struct ui *u);
const char *screen_fact(const struct ui *u, const char *key); /* never NULL: "" */
/* A character that only some charsets have. */
wchar_t screen_glyph(const struct ui *u, wchar_t fine, wchar_t ascii);

#endif
