/* view: the interface of a view. Each view is one file that defines one of these tables. */
#ifndef NVMTOP_UI_VIEW_H
#define NVMTOP_UI_VIEW_H

#include "ui/canvas.h"
#include "ui/keys.h"

struct row;
struct row_list;

struct rect;

/* Arrow keys, page keys, the wheel. */
enum move { MOVE_LINE = 1, MOVE_PAGE, MOVE_WHEEL };

struct view {
	const char *name;    /* for --view; NULL: not available there */
	const char *label;   /* on its tab, to be translated; NULL: no tab */
	uint32_t key;        /* of its tab: any character */
	bool (*wanted)(const struct ui *u); /* false: it has no tab now; or NULL */
	const struct key_entry *keys; /* its own keys, up to a handler NULL; or NULL */

	bool plain;     /* no charts, time axis or events */
	bool covers;    /* shown on top of another view; Esc closes it */
	bool panel;     /* covers only a part: the view below is drawn too */
	bool transient; /* closes when another timeline is shown */
	bool host;      /* live: shows disks, addresses and libraries */
	int procs;      /* live: shows processes if the screen has at least so many lines; 0: never */
	int every_ms;   /* live: minimum frame rate, also if not following; 0: default */

	size_t state; /* size of its own state, see ui_state() */
	void (*reset)(void *state); /* another session is shown; or NULL */
	void (*free)(void *state);  /* free the contents of the state; or NULL */

	/* Make the rows, for each session; charts_draw() and charts_move() show them. Or NULL. */
	void (*build)(struct row_list *l);
	bool compact; /* one-line rows, with statistics beside them */
	/* The height of a panel below the charts on a screen of w x h; or NULL. */
	int (*foot)(const struct ui *u, int w, int h);
	void (*foot_draw)(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at);

	/* A millisecond or two of work before a frame; true: there is more. Or NULL. */
	bool (*tick)(struct ui *u, const struct ui_scene *s);
	/* Not of a view with rows: */
	void (*draw)(struct ui *u, const struct ui_scene *s, struct canvas *c);
	void (*move)(struct ui *u, const struct ui_scene *s, enum move how, int by); /* by: -1 or 1 */
	/* A press in the body (of a panel: anywhere); true: handled. Or NULL. */
	bool (*click)(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r);
	/* Esc; true: it has cleared something in the view. Or NULL. */
	bool (*escape)(struct ui *u);
};

/* The views in tab order; the first is the default. */
#define VIEWS_NAMED(X) /* for --view */                                                                         \
	X(overview) X(gpu) X(cpu) X(memory) X(power) X(thermal) X(phases) X(processes) X(board) X(signals)                         \
	X(ranges) X(help) X(settings)
#define VIEWS(X) VIEWS_NAMED(X) X(files)
#define VIEW_DECLARE(name) extern const struct view view_##name;
VIEWS(VIEW_DECLARE)
#define VIEW_NUMBER(name) VIEW_##name,
enum { VIEWS(VIEW_NUMBER) N_VIEWS };

/* NULL past the end. */
const struct view *views_at(size_t i);
size_t views_named(const char *name); /* N_VIEWS: none */
/* Allocate and free the states of all views; -1: out of memory. */
int views_begin(struct ui *u);
void views_end(struct ui *u);
void views_reset(struct ui *u); /* another session is shown */
/* The state of a view: v->state bytes, zeroed by ui_new(). */
void *ui_state(const struct ui *u, const struct view *v);
/* The view on top, which gets the keys. */
const struct view *views_top(const struct ui *u);
void views_show(struct ui *u, const struct view *v);
/* Show a view on top of the current one, or close it if it is shown. */
void views_cover(struct ui *u, const struct view *v);
void tabs_draw(struct ui *u, struct canvas *c);

/* Scroll *at by lines within `length`. */
void view_scroll(int *at, int by, int length);
/* The lines of a move; page: lines per page. */
int view_lines(enum move how, int by, int page);

#endif
