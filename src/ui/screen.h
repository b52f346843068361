/* screen: the state of the screen, shared by the files of this folder. */
#ifndef NVMTOP_UI_SCREEN_H
#define NVMTOP_UI_SCREEN_H

#include "ui/compare.h"
#include "ui/events.h"
#include "ui/frame.h"
#include "ui/layout.h"
#include "ui/limit.h"
#include "ui/minimap.h"
#include "ui/modal.h"
#include "ui/present.h"
#include "ui/ranges.h"
#include "ui/search.h"
#include "ui/select.h"
#include "ui/ui.h"
#include "ui/view.h"
#include "ui/viewport.h"

struct row;
struct spot;

struct ui {
	enum charset charset;
	struct settings settings;
	int frame_ms;            /* 0: automatic */
	const struct view *view; /* the main view */
	const struct view *over; /* a view on top of it, or NULL */
	void *state[N_VIEWS];    /* of each view, see ui_state() */
	struct viewport vp;
	struct extent extent;
	struct layout at; /* as last drawn */

	const struct timeline *timeline; /* the timeline of the rows */
	const struct session *about;
	const struct view *built; /* the view of the rows */
	struct row *rows;
	unsigned char *height;
	int n_rows;
	struct spot *places; /* in display order, with the hidden ones */
	int n_places;
	int scroll, over_scroll;
	int chosen;        /* the selected row, or -1 */
	bool bring;        /* scroll to the selected row */
	bool solo;         /* the selected row fills the screen */
	bool about_chosen; /* the details of the selected row are shown */

	struct modals modals;
	struct prompt_line line;
	char said[320]; /* the answer to the last key; "": none */
	enum style said_style;

	struct selection selection;
	struct drag drag;
	struct search search;
	struct second second;
	struct present present;
	bool events; /* the session can have events */
	int64_t limit_tick; /* when `limit` was computed */
	struct limit limit;
	struct minimap minimap;
	struct ranges_lane ranges;
	struct frame frame;
};

/* Show a message in answer to a key, until the next key. */
void screen_say(struct ui *u, enum style style, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The CLOCK_REALTIME of t_ns; 0: not known in this trace. */
int64_t screen_wall(const struct ui *u, int64_t t_ns);
#define SCREEN_CLOCK 16
void screen_clock(char out[SCREEN_CLOCK], int64_t wall_ns); /* "14:32:05"; "" for 0 */
/* A time for display: relative to the start of a trace, or the wall clock if live. */
void screen_moment(const struct ui *u, const struct ui_scene *s, int64_t t_ns, char out[QUANTITY_TEXT]);
/* Update the state from the scene, before drawing and before handling an event. */
void screen_look(struct ui *u, const struct ui_scene *s);
unsigned screen_when(const struct ui *u);
const char *screen_fact(const struct ui *u, const char *key); /* at the playhead; "": not known */

#endif
