/* screen: what the files of this folder share about the screen as a whole. */
#ifndef NVMTOP_UI_SCREEN_H
#define NVMTOP_UI_SCREEN_H

#include "ui/chart.h"
#include "ui/goto.h"
#include "ui/layout.h"
#include "ui/limit.h"
#include "ui/modal.h"
#include "ui/ui.h"
#include "model/condition.h"
#include "ui/quantity.h"
#include "ui/compare.h"
#include "ui/range-stats.h"
#include "ui/view.h"
#include "ui/viewport.h"

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
	row_drawer *draw;    /* of a picture */
	struct scale scale;
	double top; /* the scale reaches up to here at least; NaN: to the data */
	double limit; /* in the channel's unit, drawn in the chart; NaN: none */
	int64_t tick; /* when value and summary were taken */
	double value; /* of a text: NaN, or the number before it */
	enum unit unit; /* of a text's number */
	bool unit_shown; /* it has one */
	struct chart_summary summary;
	struct {
		int64_t from_ns, to_ns; /* 0, 0: not taken */
		struct chart_summary summary;
	} chosen; /* of the selection */
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

/* How it was at the playhead. */
#define DEAD_MAX 64
struct present {
	int64_t tick;       /* when this was read */
	const struct session *about;
	struct fact *facts; /* its own, as changed; NULL: not read yet */
	size_t n_facts;
	size_t count;       /* of changes up to the playhead */
	int64_t newest_ns;
	struct dead {
		size_t channel;
		char since[QUANTITY_TEXT]; /* it has not answered */
	} dead[DEAD_MAX];
	size_t n_dead;
};

/* The rows of a view while they are made. */
struct row_list {
	const struct session *about;
	struct ui *ui;
	struct row *rows;
	int n, room;
	bool failed; /* out of memory */
};

/* A stretch of time that somebody has chosen. */
struct selection {
	bool on;
	bool open; /* its second end is where the playhead is */
	int64_t a_ns, b_ns;
};

/* Where a condition begins to hold. */
struct search {
	char text[CONDITION_TEXT]; /* as it was typed; "": none yet */
	struct condition c;
	bool bound; /* to the session that is shown */
	bool going, back, again; /* again: it has gone round the end */
	struct condition_search run;
};

/* Something that a press of the button is for. */
struct hit {
	int x, y, w;
	key_handler *handler;
	int arg;
};
#define HITS_MAX 40

/* What one picture needs, and what the next press of the button is understood by. */
struct frame {
	int w;        /* of the screen */
	int64_t tick; /* changes when values may be read anew */
	int below;    /* rows that do not fit */
	bool more;    /* the view has work for ui_advance() */
	char alarm[192];
	struct hit hits[HITS_MAX];
	int n_hits;
	struct chart_axis axis;
	struct gap gaps[GAPS_MAX];
	struct mark marks[MARKS_MAX];
	size_t n_marks;
	bool mark_lines;                  /* marks are few enough to draw through the charts */
	unsigned char mark_at[CELLS_MAX]; /* 1: a mark's line */
	/* Of the row that was read last: */
	struct bin bins[CHART_BINS(COLUMNS_MAX)];
	struct spark_column columns[COLUMNS_MAX];
	unsigned char level[COLUMNS_MAX]; /* enum alarm, of columns */
};

/* The button was pressed in the charts, where a cell begins and ends. */
struct drag {
	bool on;
	int64_t from_ns, to_ns;
};

/* Of minimap.c: a trace does not change, so this is kept from one picture to the next. */
struct minimap {
	bool kept; /* dots and scale are those of the members that follow */
	int channel, zoom, n;
	int64_t first, last_ns;
	struct scale scale;
	struct spark_column dots[COLUMNS_MAX];
	int64_t throttled_last_ns;
	int throttled_w;
	unsigned char throttled[CELLS_MAX]; /* 1: a cell in which something was throttled */
};

struct ui {
	enum charset charset;
	struct settings settings;
	int frame_ms;            /* 0: by itself */
	const struct view *view; /* the charts that one comes back to */
	const struct view *over; /* NULL, or what covers them */
	void **state;            /* of each view, see ui_state() */
	struct viewport vp;
	struct extent extent;
	struct layout at; /* as last drawn */

	const struct timeline *timeline; /* the rows are of this one */
	const struct session *about;
	const struct view *built; /* and of this view */
	struct row *rows;
	unsigned char *height;
	int n_rows;
	struct spot *places; /* in the order of the screen, with those that are hidden */
	int n_places;
	int scroll, over_scroll;
	int chosen;        /* the row that Up and Down have chosen, or -1 */
	bool bring;        /* scroll until it is to be seen */
	bool solo;         /* it has the whole screen */
	bool about_chosen; /* its details are shown */

	struct modals modals;
	struct prompt_line line;
	char said[320]; /* in answer to the last key; "": nothing */
	enum style said_style;

	struct selection selection;
	struct drag drag;
	struct search search;
	struct second second;
	struct present present;
	bool events; /* the session can have some */
	int64_t limit_tick; /* when the next was found */
	struct limit limit;
	struct minimap minimap;
	struct frame frame;
};

/* rows.c: the rows of the view that is shown, and their numbers. */
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
int rows_gpu_memory(const struct session *about); /* what the GPU holds; -1: not known */
int rows_io(const struct session *about);         /* the time that cores wait for disks; -1: not known */
/* Is core n one of "cpu0,3-5", the label of a clock? */
bool cores_list_has(const char *label, int64_t n);
/* True when what was taken at *tick may be seen anew. */
bool rows_due(const struct ui *u, int64_t *tick);
enum alarm rows_alarm(const struct channel *ch, double v);
/* Set a note below the name; an empty text removes it. */
void rows_note(struct row *row, int i, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The throttle limit of a zone, or another limit of a channel; NaN: none. */
double rows_limit(const struct channel *ch);

/* arrange.c: rows hidden, moved and made higher.  Reorders the rows, and leaves out those
 * that are hidden; -1: out of memory. */
int arrange(struct ui *u, struct row_list *l);
/* place: of ui.places.  Each notes it in the settings and asks for them to be kept. */
void arrange_hide(struct ui *u, int place, bool hidden, struct request *r);
void arrange_move(struct ui *u, int place, int by, struct request *r);
void arrange_lines(struct ui *u, int place, int lines, struct request *r);
void arrange_forget(struct ui *u, struct request *r); /* of this view, all of it */
/* Whether one row has the whole screen. */
bool arrange_solo(const struct ui *u);

/* text.c: words over several lines. */
int text_lines(const char *text, int w);
/* At most h of them, the last with an ellipsis where there are more; returns how many
 * there were. */
int text_draw(const struct ui *u, struct canvas *c, int x, int y, int w, int h, enum style style, const char *text);

/* frame.c: an empty box with a line round it, over what is there. */
void frame_draw(const struct ui *u, struct canvas *c, const struct rect *r);

/* row-draw.c: one row. */
void row_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row, int y, int h,
	      bool chosen);
/* The same over the whole body. */
void row_draw_solo(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row);
int row_text_lines(const struct ui *u, const struct row *row, int screen_w);

/* charts.c: rows on the screen. */
void charts_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
void charts_move(struct ui *u, const struct ui_scene *s, enum move how, int by);
/* The row at line y of the screen, or -1. */
int charts_row_at(const struct ui *u, int y);

/* energy.c: joules of a power channel between two moments; NaN: nothing was measured. */
double energy_joule(struct ui *u, const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns);
/* The time and number of the last mark at or before the playhead; -1: there is none. */
int64_t energy_mark(struct ui *u, const struct ui_scene *s, uint64_t *id);

/* about.c: what there is to know about the chosen row. */
bool about_can(const struct ui *u);
void about_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

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

/* present.c: how the machine was set at the playhead. */
bool present_read(struct ui *u, const struct ui_scene *s); /* true: otherwise than before */
void present_forget(struct ui *u); /* another session is shown */
/* The session's facts as they were then. */
const struct fact *present_facts(const struct present *p, const struct session *about);

/* header.c: the lines above and below the body. */
void header_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
/* limit-line.c: the second line. */
void limit_line_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* What must not be overlooked; "": nothing. */
const char *header_alarm(struct ui *u, const struct ui_scene *s, enum style *style);
void bar_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* search.c: from one moment to the next at which a condition begins to hold. */
void search_go(struct ui *u, const struct ui_scene *s); /* a step of it */
void search_forget(struct ui *u); /* another session is shown: the condition is bound anew */
void search_draw(const struct ui *u, struct canvas *c);

/* select.c: a stretch of time, and what happened in it. */
void select_set(struct ui *u, int64_t a_ns, int64_t b_ns);
/* False: nothing is selected, or no time at all. */
bool select_get(const struct ui *u, int64_t *from_ns, int64_t *to_ns);
void select_shade(const struct ui *u, struct canvas *c, int y, int h);
void select_axis(const struct ui *u, struct canvas *c);
void select_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* second.c: another trace under the one that is shown. */
bool second_look(struct ui *u, const struct ui_scene *s); /* which one it is; true: another */
void second_extend(struct ui *u, const struct ui_scene *s); /* u->extent as far as it reaches */
void second_match(struct ui *u); /* its signals to the rows, when either is new */
void second_reset(struct ui *u, const struct ui_scene *s); /* another one is shown */
void second_prepare(struct ui *u); /* its marks and gaps in view */
/* Its columns, values and statistics; min..max grows by what it has in view. */
void second_read(struct ui *u, struct row *row, double *min, double *max);
double second_value(const struct ui *u, size_t channel); /* of its own channels, at the playhead */
int second_channel(const struct ui *u, size_t channel); /* the same signal as this of the first; -1: none */
void second_draw(struct ui *u, const struct ui_scene *s, struct canvas *c); /* what stands above the axis */
void second_add(struct row_list *l); /* what there is to say about it */

/* axis.c: time above the charts, marks through them, the strip below. */
void axis_prepare(struct ui *u, const struct ui_scene *s);
void axis_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
void axis_lines(struct ui *u, struct canvas *c, int y, int h);
void axis_second_lines(struct ui *u, struct canvas *c, int y, int h); /* with its marks instead */
void strip_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* mouse.c: what a press, a drag or the wheel means where it is. */
void mouse_event(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r);

/* ui.c */
void hit_add(struct ui *u, int x, int y, int w, key_handler *handler, int arg);
/* Answer a key with a sentence, until the next one. */
void screen_say(struct ui *u, enum style style, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A moment for people: since the start of a trace, or the live clock. */
void screen_moment(const struct ui *u, const struct ui_scene *s, int64_t t_ns, char out[QUANTITY_TEXT]);
/* Take note of what the scene holds now; before drawing and before acting. */
void screen_look(struct ui *u, const struct ui_scene *s);
unsigned screen_when(const struct ui *u);
const char *screen_fact(const struct ui *u, const char *key); /* at the playhead; never NULL: "" */
/* A character that only some charsets have. */
wchar_t screen_glyph(const struct ui *u, wchar_t fine, wchar_t ascii);
/* A text that ends in an ellipsis where it has no room; returns the columns it took. */
int screen_cut(const struct ui *u, struct canvas *c, int x, int y, int w, enum style style, const char *text);

#endif
