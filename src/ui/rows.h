/* rows: the lines of a view, their numbers, and how a person has arranged them. */
#ifndef NVMTOP_UI_ROWS_H
#define NVMTOP_UI_ROWS_H

#include "ui/chart.h"
#include "ui/compare.h"
#include "ui/layout.h"
#include "ui/quantity.h"
#include "ui/view.h"

enum row_kind {
	ROW_SIGNAL,  /* a channel: value, table, statistics, chart */
	ROW_TEXT,    /* a name and a text, perhaps with a number before it; as many lines as it takes */
	ROW_HEADING, /* the name of those that follow */
};

struct row;
typedef void row_reader(struct ui *u, const struct ui_scene *s, struct row *row);

/* A line of a view, and what must outlive a frame. */
struct row {
	enum row_kind kind;
	char name[48];       /* of a heading or a text; of a signal: "" is the channel's label */
	enum style hue;      /* of the heading */
	size_t channel;      /* of a signal */
	int beside;          /* the channel that says how this one stands, or -1 */
	int with[TABLE_MAX]; /* channels whose values stand in the table's columns, or -1 */
	unsigned char rank;  /* enum row_rank */
	unsigned char lines; /* as a person wants it; 0: as it comes */
	int place;           /* in ui.places */
	bool part;           /* of what stands above it: indented */
	unsigned char alarm; /* enum alarm, of value */
	row_reader *read;    /* NULL, or fills value, text and cells in anew, a few times a second */
	struct scale scale;
	double top; /* the scale reaches up to here at least; NaN: to the data */
	int64_t tick; /* when value and summary were taken */
	double value; /* of a text: NaN, or the number before it */
	enum unit unit; /* of a text's number */
	bool unit_shown; /* it has one */
	struct chart_summary summary;
	struct selected_stats chosen;
	char tag[32]; /* dim, behind the name: the hottest zone, or "off" */
	struct {
		char text[12];
		unsigned char style;
	} cells[TABLE_MAX]; /* what the table says of it */
	unsigned char text_style;
	char text[256];   /* of a text */
	struct second_row second; /* of a signal */
	char below[2][40]; /* of a signal: under its name where there are more lines; "": the note, nothing */
};

/* A row as a person has arranged it, hidden or not. */
struct spot {
	char id[SETTINGS_NAME];
	char name[48];
	const char *unit; /* tells signals of one name apart */
	bool signal, head, part; /* part: of the row above, and moves with it */
	bool hidden;
	bool moved;          /* out of the view's own order */
	unsigned char lines; /* 0: as it comes */
	int natural;         /* where the view has it */
};

/* The rows of a view while they are made. */
struct row_list {
	const struct session *about;
	struct ui *ui;
	struct row *rows;
	int n, room;
	bool failed; /* out of memory */
};

int rows_build(struct ui *u, const struct session *about);
/* Add one; its further members are the caller's to fill.  Never NULL: out of memory
 * is noted in the list. */
struct row *rows_signal(struct row_list *l, size_t channel, enum row_rank rank, bool part);
struct row *rows_text(struct row_list *l, const char *name, row_reader *read);
/* A text with the value of a fact, where there is one. */
void rows_fact(struct row_list *l, const char *name, const struct fact *facts, size_t n, const char *key);
struct row *rows_heading(struct row_list *l, const char *name, enum style hue);
/* The first channel of a kind with that index (-1: any), or by name; -1: there is none. */
int rows_find(const struct session *about, enum channel_kind kind, int index);
int rows_named(const struct session *about, const char *name);
/* Read a row anew where it is time, and leave its columns in u->columns and u->level. */
void rows_read(struct ui *u, const struct ui_scene *s, struct row *row);
/* The value of a channel at the playhead, or that long before; NaN: there is none, or it is too old. */
double rows_value(struct ui *u, const struct ui_scene *s, size_t channel, int64_t before_ns);
/* True when what was taken at *tick may be seen anew. */
bool rows_due(const struct ui *u, int64_t *tick);
enum alarm rows_alarm(const struct channel *ch, double v);
/* A cell of the table: a number in a channel's unit, "--" for NaN; or a text. */
void rows_cell(struct ui *u, struct row *row, int column, enum unit unit, double v, enum style style);
void rows_cell_text(struct row *row, int column, enum style style, const char *text);

/* row-order.c: rows hidden, moved and made higher.  Reorders the rows, and leaves out those
 * that are hidden; -1: out of memory. */
int arrange(struct ui *u, struct row_list *l);
/* place: of ui.places, a signal; -1: nothing is done.  Each notes it in the settings and asks for them to be kept. */
void arrange_hide(struct ui *u, int place, bool hidden, struct request *r);
void arrange_move(struct ui *u, int place, int by, struct request *r);
void arrange_lines(struct ui *u, int place, int lines, struct request *r);
void arrange_forget(struct ui *u, struct request *r); /* of this view, all of it */
/* Whether one row has the whole screen. */
bool arrange_solo(const struct ui *u);

#endif
