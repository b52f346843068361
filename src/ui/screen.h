/* screen: what the files of this folder share about the screen as a whole. */
#ifndef NVMTOP_UI_SCREEN_H
#define NVMTOP_UI_SCREEN_H

#include "ui/chart.h"
#include "ui/goto.h"
#include "ui/keys.h"
#include "ui/layout.h"
#include "ui/ui.h"
#include "model/condition.h"
#include "ui/quantity.h"
#include "ui/compare.h"
#include "ui/range-stats.h"
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

#define NOTES_MAX 3

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
	row_drawer *draw;    /* of a picture; or of a signal on one line, which is a chart on more */
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
	const struct present *present; /* at the playhead */
	struct row *rows;
	int n, room;
	bool failed; /* out of memory */
};

/* One way to look; each is one file that ends in one of these. */
struct view {
	const char *name;  /* for --view */
	const char *label; /* on its tab, to be translated; NULL: it has none */
	uint32_t key;      /* '1'..'9', of its tab */
	unsigned when;     /* WHEN_... of its keys; 0: as the charts have it */
	unsigned keys;     /* WHEN_... of keys that it has besides those, and before them */
	bool plain;        /* no charts: neither time above it nor events below */
	/* NULL, or makes the rows that charts_draw() and its kin show; anew for each session. */
	void (*build)(struct row_list *l);
	bool compact; /* rows of one line, with their statistics beside them */
	/* NULL, or the lines of the panel below the charts that this view wants on such a screen. */
	int (*panel)(const struct ui *u, int w, int h);
	void (*panel_draw)(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at);
	void (*draw)(struct ui *u, const struct ui_scene *s, struct canvas *c);
	/* True: the action was its own. */
	bool (*act)(struct ui *u, const struct ui_scene *s, enum action a, struct request *r);
	int (*length)(const struct ui *u, const struct ui_scene *s); /* lines, for scrolling */
	/* NULL, or a press of the button in the body; true: it was on something. */
	bool (*click)(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r);
};
/* views.c has the list, in which the order is that of the tabs. */
extern const struct view view_epochs, view_processes;
extern const struct view view_overview, view_signals, view_gpu, view_cpu, view_memory, view_power, view_thermal, view_board;
extern const struct view view_help, view_files, view_setup;
/* A click on the panel of the set-up; false: beside it. */
bool setup_click(struct ui *u, const struct ui_scene *s, const struct event *ev, int screen_w, struct request *r);

enum prompt_kind { PROMPT_NONE, PROMPT_GOTO, PROMPT_SEARCH };

/* A stretch of time that somebody has chosen. */
struct selection {
	bool on;
	bool open; /* its second end is where the playhead is */
	int64_t a_ns, b_ns;
};

/* Where view_power counts energy: in the selection, or since the last mark before the
 * playhead, or since the start. */
struct counted {
	int64_t tick; /* when this was found */
	int64_t from_ns, to_ns;
	bool selected;
	uint64_t mark; /* 0: since none */
	double joule;  /* of all; NaN: not measured */
};

/* Where a condition begins to hold. */
struct search {
	char text[CONDITION_TEXT]; /* as it was typed; "": none yet */
	struct condition c;
	bool bound; /* to the session that is shown */
	bool going, back, again; /* again: it has gone round the end */
	struct condition_search run;
};

/* A line of the list of processes.  A newer list can be there before it is drawn:
 * what a key or a click means is found by the process, not by its place. */
struct proc_line {
	size_t at; /* in the list of procs.serial */
	int pid;
	uint64_t start;
	unsigned char depth;
};
#define PROC_DEPTH_MAX 12
enum proc_sort { PROC_BY_GPU, PROC_BY_CPU, PROC_BY_MEMORY, PROC_BY_PID };

struct hit {
	int x, y, w;
	enum action action;
};

struct ui {
	enum charset charset;
	struct settings settings;
	uint64_t history_bytes; /* what the history was made with */
	int64_t history_ns;
	int frame_ms; /* 0: by itself */
	const struct view *view; /* the charts that one comes back to */
	const struct view *over; /* NULL, or what covers them */
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
	bool solo; /* the chosen row has the whole screen */

	char file_chosen[512]; /* its path; "": nobody has chosen one, it is the first */
	uint64_t files_serial; /* of the list in which it is at file_at */
	int scroll, over_scroll, file_at, setup_at, screen_w;
	int chosen;        /* the row that Up and Down have chosen, or -1 */
	bool bring;        /* scroll until it is to be seen */
	bool about_chosen; /* what there is to know about it is shown */
	int over_lines;    /* of the help page, or the board, as last drawn */

	enum prompt_kind prompting;
	char prompt[CONDITION_TEXT];
	char prompt_wrong[256]; /* why what was typed is of no use; "": nothing is wrong */

	char said[320]; /* in answer to the last key; "": nothing */
	enum style said_style;

	struct selection selection;
	struct counted counted;
	bool dragging; /* the button was pressed in the charts, where a cell begins and ends: */
	int64_t drag_ns, drag_end_ns;
	struct search search;
	struct phases *phases; /* of view_epochs, see phases.h; NULL until it is shown */
	struct second second;
	struct present present;

	bool copying; /* asks as what */
	bool labelling; /* a mark at label_ns waits for its label */
	int64_t label_ns;
	char label[64];

	struct {
		enum proc_sort sort;
		bool tree, filtering;
		bool asking; /* whether the chosen one is to end */
		bool asked;  /* and that is in the last picture */
		bool again; /* the order is to be made anew */
		char filter[32];
		int pid; /* the chosen one, or 0 */
		uint64_t start;
		struct proc_line *line;
		int n, first_y;
		uint64_t serial; /* of the reading that the lines are of */
	} procs;

	struct hit hits[40];
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
	char noticed[96];       /* the same of notices */
	struct {
		bool kept; /* dots are those of the strip */
		int channel, zoom, n;
		int64_t first, last_ns;
		struct scale scale;
	} strip;
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

/* act.c: by how many lines an action moves through a list of which `page` are to be seen;
 * 0: it is none that does. */
int act_lines(enum action a, int page);

/* views.c: which views there are. */
const struct view *views_at(size_t i); /* NULL past the end */
/* The view that an action of keys or tabs leads to; NULL: there is none. */
const struct view *views_turn(const struct ui *u, enum action a);
void views_show(struct ui *u, const struct view *v);
void tabs_draw(struct ui *u, struct canvas *c);

/* rows.c: the rows of the view that is shown, and their numbers. */
int rows_build(struct ui *u, const struct session *about);
/* Add one; its further members are the caller's to fill.  Never NULL: out of memory
 * is noted in the list. */
struct row *rows_signal(struct row_list *l, size_t channel, int weight, bool part);
/* Lines that draw() fills, `least` of them or more by the weight; weight 0: never more. */
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
bool arrange_act(struct ui *u, enum action a, struct request *r);
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
int charts_length(const struct ui *u, const struct ui_scene *s);
/* Up, Down and pages among the rows. */
bool charts_act(struct ui *u, const struct ui_scene *s, enum action a, struct request *r);
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
const char *header_alarm(struct ui *u, const struct ui_scene *s, enum style *style);
void bar_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* prompt.c: the line in which a place or a condition is typed. */
void prompt_open(struct ui *u, enum prompt_kind kind);
bool prompt_key(struct ui *u, const struct ui_scene *s, const struct event *ev); /* false: not for it */
void prompt_draw(struct ui *u, struct canvas *c);
void prompt_edit(char *text, size_t size, uint32_t key); /* one key of a line that is typed, in UTF-8 */

/* search.c: from one moment to the next at which a condition begins to hold. */
bool search_begin(struct ui *u, const struct ui_scene *s, const char *text, struct err *e);
void search_next(struct ui *u, const struct ui_scene *s, bool back);
void search_go(struct ui *u, const struct ui_scene *s); /* a step of it */
void search_forget(struct ui *u); /* another session is shown: the condition is bound anew */
void search_draw(const struct ui *u, struct canvas *c);

/* select.c: a stretch of time, and what happened in it. */
bool select_act(struct ui *u, const struct ui_scene *s, enum action a); /* false: not its own */
void select_set(struct ui *u, int64_t a_ns, int64_t b_ns);
/* False: nothing is selected, or no time at all. */
bool select_get(const struct ui *u, int64_t *from_ns, int64_t *to_ns);
void select_shade(const struct ui *u, struct canvas *c, int y, int h);
void select_axis(const struct ui *u, struct canvas *c);
void select_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* phases.c: a step of their statistics; true: there is more to do. */
bool phases_advance(struct ui *u, const struct ui_scene *s);
bool phases_busy(const struct ui *u);
void phases_free(struct ui *u);

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
bool second_act(struct ui *u, enum action a); /* false: not its own */
void second_draw(struct ui *u, const struct ui_scene *s, struct canvas *c); /* what stands above the axis */
/* The names of the signals that only the one trace has, as far as they fit; returns how many. */
size_t second_only(const struct ui *u, bool in_b, char *out, size_t size);

/* label.c: the label of a mark. */
void label_open(struct ui *u, int64_t t_ns, struct request *r);
bool label_key(struct ui *u, const struct event *ev, struct request *r); /* false: not for the label */
void label_draw(const struct ui *u, struct canvas *c);

/* processes-order.c: the lines of the list, where a new reading or another order asks for them. */
void processes_order(struct ui *u, const struct ui_scene *s);

/* view-processes.c: its prompts and its list; false: not for it. */
bool processes_key(struct ui *u, const struct event *ev, struct request *r);
void processes_answer(const struct ui *u, const struct event *ev, struct request *r);
bool processes_bar(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* axis.c: time above the charts, marks through them, the strip below. */
void axis_prepare(struct ui *u, const struct ui_scene *s);
void axis_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
void axis_lines(struct ui *u, struct canvas *c, int y, int h);
void axis_second_lines(struct ui *u, struct canvas *c, int y, int h); /* with its marks instead */
void strip_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

/* act.c: an action that a key or a click stands for; t_ns: when that came. */
void act_on(struct ui *u, const struct ui_scene *s, enum action a, int64_t t_ns, struct request *r);

/* mouse.c: what a press, a drag or the wheel means where it is. */
void mouse_event(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r);

/* ui.c */
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
