/* view: one way to look.  Each is one file that ends in one of these tables. */
#ifndef NVMTOP_UI_VIEW_H
#define NVMTOP_UI_VIEW_H

#include "ui/canvas.h"
#include "ui/keys.h"

struct row;
struct row_list;

struct rect;

/* Up and Down, PgUp and PgDn, the wheel. */
enum move { MOVE_LINE = 1, MOVE_PAGE, MOVE_WHEEL };

struct view {
	const char *name;    /* for --view; NULL: not for it */
	const char *renamed; /* NULL, or its name in version 0.1 */
	const char *label;   /* on its tab, to be translated; NULL: it has none */
	uint32_t key;        /* of its tab: any character */
	const struct view *turned; /* NULL, or what its key shows when it is pressed again */
	const struct key_entry *keys; /* NULL, or its own; ends with a handler NULL */

	bool plain;     /* no charts: neither time above it nor events below */
	bool covers;    /* stands over another view, to which Esc leads back */
	bool panel;     /* covers a part only: the view below is drawn, too */
	bool transient; /* it closes when another timeline is shown */
	bool host;      /* live: it shows disks, addresses and libraries */
	int procs;      /* live: it shows the processes on screens of so many lines or more; 0: never */
	int every_ms;   /* live: a picture at least so often, also while looking back; 0: as the others */

	size_t state; /* bytes of its own state, see ui_state() */
	void (*reset)(void *state); /* NULL, or: another session is shown */
	void (*free)(void *state);  /* NULL, or: release what the state holds */

	/* NULL, or make the rows that charts_draw() shows; anew for each session. */
	void (*build)(struct row_list *l);
	bool compact; /* rows of one line, with their statistics beside them */
	/* NULL, or the lines of the panel below the charts that this view wants on such a screen. */
	int (*foot)(const struct ui *u, int w, int h);
	void (*foot_draw)(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at);

	/* NULL, or a millisecond or two of work before a picture; true: there is more. */
	bool (*tick)(struct ui *u, const struct ui_scene *s);
	void (*draw)(struct ui *u, const struct ui_scene *s, struct canvas *c);
	void (*move)(struct ui *u, const struct ui_scene *s, enum move how, int by); /* by: -1 or 1 */
	/* NULL, or a press of the button in the body (of a panel: anywhere); true: it was on something. */
	bool (*click)(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r);
	/* NULL, or Esc; true: it has cleared something of the view. */
	bool (*escape)(struct ui *u);
};

/* The views, in the order of the tabs; the first is where nvmtop begins. */
#define VIEWS(X)                                                                                              \
	X(overview) X(gpu) X(cpu) X(memory) X(power) X(thermal) X(phases) X(ranges) X(processes) X(board) X(signals)               \
	X(help) X(setup) X(files)
#define VIEW_DECLARE(name) extern const struct view view_##name;
VIEWS(VIEW_DECLARE)
#define VIEW_NUMBER(name) VIEW_##name,
enum { VIEWS(VIEW_NUMBER) N_VIEWS };

/* NULL past the end. */
const struct view *views_at(size_t i);
/* Make and release the states of all; -1: out of memory. */
int views_begin(struct ui *u);
void views_end(struct ui *u);
void views_reset(struct ui *u); /* another session is shown */
/* The state of a view: zeroed memory of v->state bytes, made by ui_new(). */
void *ui_state(const struct ui *u, const struct view *v);
/* The view that keys are for: the one on top. */
const struct view *views_top(const struct ui *u);
void views_show(struct ui *u, const struct view *v);
/* Put a view over the others, or take it away when it is there. */
void views_cover(struct ui *u, const struct view *v);
void tabs_draw(struct ui *u, struct canvas *c);

/* Scroll *at by a line or page of a list. */
void view_scroll(int *at, int by, int length);
/* by lines for a move, of which a page has `page`. */
int view_lines(enum move how, int by, int page);

#endif
