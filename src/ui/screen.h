/* screen: the state of the screen, which the files of this folder share. */
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
	int frame_ms;            /* 0: by itself */
	const struct view *view; /* the charts that one comes back to */
	const struct view *over; /* NULL, or what covers them */
	void *state[N_VIEWS];    /* of each view, see ui_state() */
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
	struct ranges_lane ranges;
	struct frame frame;
};

/* Answer a key with a sentence, until the next one. */
void screen_say(struct ui *u, enum style style, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* CLOCK_REALTIME of a moment; 0: a trace of another writer does not say it. */
int64_t screen_wall(const struct ui *u, int64_t t_ns);
#define SCREEN_CLOCK 16
void screen_clock(char out[SCREEN_CLOCK], int64_t wall_ns); /* "14:32:05", of 0: "" */
/* A moment for people: since the start of a trace, or the live clock. */
void screen_moment(const struct ui *u, const struct ui_scene *s, int64_t t_ns, char out[QUANTITY_TEXT]);
/* Take note of what the scene holds now; before drawing and before acting. */
void screen_look(struct ui *u, const struct ui_scene *s);
unsigned screen_when(const struct ui *u);
const char *screen_fact(const struct ui *u, const char *key); /* at the playhead; never NULL: "" */

#endif
