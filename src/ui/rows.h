/* rows: the lines of a view, their numbers, and their order as set by the user. */
#ifndef NVMTOP_UI_ROWS_H
#define NVMTOP_UI_ROWS_H

#include "ui/chart.h"
#include "ui/compare.h"
#include "ui/layout.h"
#include "ui/quantity.h"
#include "ui/view.h"

enum row_kind {
	ROW_SIGNAL,  /* a channel: value, statistics, chart */
	ROW_TEXT,    /* a name, an optional number and a text, on as many lines as needed */
	ROW_HEADING, /* the name of the following rows */
	ROW_PICTURE, /* draws itself over the full width */
};

struct row;
typedef void row_reader(struct ui *u, const struct ui_scene *s, struct row *row);
typedef void row_drawer(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
			const struct rect *at);

#define NOTES_MAX 6

/* A row of a view, with the state kept between frames. */
struct row {
	enum row_kind kind;
	char name[48];       /* of a heading or text; of a signal: "" is the channel's label */
	enum style hue;      /* of the heading */
	size_t channel;      /* of a signal */
	int beside;          /* the channel that qualifies this one, or -1 */
	unsigned char weight; /* share of the lines: WEIGHT_ */
	unsigned char least; /* minimum lines of a picture */
	unsigned char lines; /* set by the user; 0: by weight */
	int place;           /* index into ui.places */
	bool part;           /* part of the row above: indented */
	unsigned char alarm; /* enum alarm, of value */
	row_reader *read;    /* NULL, or updates value, text and notes, a few times a second */
	bool later;          /* takes no lines from other rows; reached by scrolling */
	row_drawer *draw;    /* of a picture; of a signal: its chart, or NULL */
	row_drawer *line;    /* of a signal: draws the row if it has one line, or NULL */
	struct scale scale;
	double top; /* minimum upper end of the scale; NaN: none */
	double limit; /* in the channel's unit, drawn in the chart; NaN: none */
	int64_t tick; /* when value and summary were read */
	double value; /* of a text: its number, or NaN */
	enum unit unit; /* of the number of a text */
	bool unit_shown; /* a text has a number */
	struct chart_summary summary;
	struct selected_stats chosen;
	char tag[32]; /* dim, after the name: the hottest zone, or "off" */
	struct {
		char text[64]; /* "": none */
		unsigned char style;
	} notes[NOTES_MAX]; /* below the name, most important first, if there is room */
	unsigned char text_style;
	char text[256];   /* of a text */
	struct second_row second; /* of a signal */
};

/* A row with the user's settings, hidden or not. */
struct spot {
	char id[SETTINGS_NAME];
	char name[48];
	const char *unit; /* distinguishes signals with the same name */
	bool signal, head, part; /* part: of the row above, moves with it */
	bool hidden;
	bool moved;          /* not in the view's order */
	unsigned char lines; /* 0: automatic */
	int natural;         /* index in the view's order */
};

/* The rows of a view during construction. */
struct row_list {
	const struct session *about;
	struct ui *ui;
	struct row *rows;
	int n, room;
	bool failed; /* out of memory */
};

int rows_build(struct ui *u, const struct session *about);
/* Add a row; the caller sets the other members. Never NULL: failed is set if out of memory. */
struct row *rows_signal(struct row_list *l, size_t channel, int weight, bool part);
/* Add a picture of `least` lines, or more by weight. */
struct row *rows_picture(struct row_list *l, row_drawer *draw, int least, int weight);
struct row *rows_text(struct row_list *l, const char *name, const char *text);
struct row *rows_heading(struct row_list *l, const char *name, enum style hue);
/* The first channel of a kind with this index (-1: any), or with this name; -1: none. */
int rows_find(const struct session *about, enum channel_kind kind, int index);
int rows_named(const struct session *about, const char *name);
/* Read a row if it is due; its columns are in u->frame.columns and u->frame.level. */
void rows_read(struct ui *u, const struct ui_scene *s, struct row *row);
/* The value of a channel at the playhead; NaN: none, or too old. channel -1: there is none. */
double rows_value(struct ui *u, const struct ui_scene *s, int64_t channel);
double rows_value_of(struct timeline *t, size_t channel, int64_t t_ns); /* at any time */
/* For clocks, loads and readings: the mean of the last 250 ms while the screen follows, else the
 * value at the playhead. */
double rows_calm(struct ui *u, const struct ui_scene *s, int64_t channel);
const char *rows_unit(const struct ui *u, enum unit unit); /* like quantity_unit(), with a degree sign */
int rows_gpu_memory(const struct session *about); /* memory used by the GPU; -1: not known */
int rows_io(const struct session *about);         /* the time that cores wait for I/O; -1: not known */
/* True if a value read at *tick may be updated. */
bool rows_due(const struct ui *u, int64_t *tick);
enum alarm rows_alarm(const struct channel *ch, double v);
enum style alarm_style(enum alarm alarm, enum style calm);
/* Set a note below the name; there are none before a row is read. */
void rows_note(struct row *row, int i, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The throttle limit of a zone, or another limit of a channel; NaN: none. */
double rows_limit(const struct channel *ch);

/* row-order.c: hidden, moved and resized rows. Reorder the rows and remove the hidden ones; -1:
 * out of memory. */
int arrange(struct ui *u, struct row_list *l);
/* place: a signal in ui.places; -1: do nothing. Each of these changes the settings and requests
 * saving them. */
void arrange_hide(struct ui *u, int place, bool hidden, struct request *r);
void arrange_move(struct ui *u, int place, int by, struct request *r);
void arrange_lines(struct ui *u, int place, int lines, struct request *r);
void arrange_forget(struct ui *u, struct request *r); /* all settings of this view */
/* Whether one row fills the whole screen. */
bool arrange_solo(const struct ui *u);

#endif
