/* rows: the lines of a view, their numbers, and how a person has arranged them. */
#ifndef NVMTOP_UI_ROWS_H
#define NVMTOP_UI_ROWS_H

#include "ui/chart.h"
#include "ui/compare.h"
#include "ui/layout.h"
#include "ui/quantity.h"
#include "ui/view.h"

enum row_kind {
	ROW_SIGNAL,  /* a channel: value, statistics, chart */
	ROW_TEXT,    /* a name and a text, perhaps with a number before it; as many lines as it takes */
	ROW_HEADING, /* the name of those that follow */
	ROW_PICTURE, /* draws itself, across the screen */
};

struct row;
typedef void row_reader(struct ui *u, const struct ui_scene *s, struct row *row);
typedef void row_drawer(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
			const struct rect *at);

#define NOTES_MAX 6

/* A line of a view, and what must outlive a frame. */
struct row {
	enum row_kind kind;
	char name[48];       /* of a heading or a text; of a signal: "" is the channel's label */
	enum style hue;      /* of the heading */
	size_t channel;      /* of a signal */
	int beside;          /* the channel that says how this one stands, or -1 */
	unsigned char weight; /* its share of the lines: WEIGHT_ */
	unsigned char least; /* lines that a picture needs */
	unsigned char lines; /* as the user wants it; 0: by its weight */
	int place;           /* in ui.places */
	bool part;           /* of what stands above it: indented */
	unsigned char alarm; /* enum alarm, of value */
	row_reader *read;    /* NULL, or fills value, text and notes in anew, a few times a second */
	bool later;          /* takes no line from the others: reached by scrolling */
	row_drawer *draw;    /* of a picture; of a signal: NULL, or its chart */
	row_drawer *line;    /* of a signal: NULL, or all of it where it has one line */
	struct scale scale;
	double top; /* the scale reaches up to here at least; NaN: to the data */
	double limit; /* in the channel's unit, drawn in the chart; NaN: none */
	int64_t tick; /* when value and summary were taken */
	double value; /* of a text: NaN, or the number before it */
	enum unit unit; /* of a text's number */
	bool unit_shown; /* it has one */
	struct chart_summary summary;
	struct selected_stats chosen;
	char tag[32]; /* dim, behind the name: the hottest zone, or "off" */
	struct {
		char text[64]; /* "": none */
		unsigned char style;
	} notes[NOTES_MAX]; /* below the name, the most important first, as far as there are lines */
	unsigned char text_style;
	char text[256];   /* of a text */
	struct second_row second; /* of a signal */
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
struct row *rows_signal(struct row_list *l, size_t channel, int weight, bool part);
/* Lines that draw() fills, `least` of them or more by the weight. */
struct row *rows_picture(struct row_list *l, row_drawer *draw, int least, int weight);
struct row *rows_text(struct row_list *l, const char *name, row_reader *read);
struct row *rows_heading(struct row_list *l, const char *name, enum style hue);
/* The first channel of a kind with that index (-1: any), or by name; -1: there is none. */
int rows_find(const struct session *about, enum channel_kind kind, int index);
int rows_named(const struct session *about, const char *name);
/* Read a row anew where it is time, and leave its columns in u->columns and u->level. */
void rows_read(struct ui *u, const struct ui_scene *s, struct row *row);
/* The value of a channel at the playhead, or that long before; NaN: there is none, or it is too old. */
double rows_value(struct ui *u, const struct ui_scene *s, size_t channel, int64_t before_ns);
/* The mean of the last quarter of a second while the screen follows, else the value at the
 * playhead; of clocks, loads and readings. */
double rows_calm(struct ui *u, const struct ui_scene *s, size_t channel);
const char *rows_unit(const struct ui *u, enum unit unit); /* as quantity_unit(), with a degree sign */
int rows_gpu_memory(const struct session *about); /* what the GPU holds; -1: not known */
int rows_io(const struct session *about);         /* the time that cores wait for disks; -1: not known */
/* True when what was taken at *tick may be seen anew. */
bool rows_due(const struct ui *u, int64_t *tick);
enum alarm rows_alarm(const struct channel *ch, double v);
/* Set a note below the name; an empty text removes it. */
void rows_note(struct row *row, int i, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The throttle limit of a zone, or another limit of a channel; NaN: none. */
double rows_limit(const struct channel *ch);

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
