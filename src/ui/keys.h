/* keys: what a key means.  Each meaning is one row of a table: the key, the handler, the text of the
 * help page and of the key bar.  The common table is in keys.c; a view has one of its own, whose keys
 * go before the common ones. */
#ifndef NVMTOP_UI_KEYS_H
#define NVMTOP_UI_KEYS_H

#include "ui/event.h"

#include <stdbool.h>
#include <stddef.h>

struct ui;
struct ui_scene;
struct request;
struct view;

/* arg: of the key that was pressed, -1 or 1 for most.  r->t_ns is the time of the key, r->redraw is set. */
typedef void key_handler(struct ui *u, const struct ui_scene *s, struct request *r, int arg);

/* When a key does something; the key bar shows no other. */
enum {
	WHEN_NOW = 1,  /* live, following */
	WHEN_BACK = 2, /* live, looking back or paused */
	WHEN_REPLAY = 4,
	WHEN_COVERED = 8, /* by a view such as the help page */
	WHEN_LIVE = WHEN_NOW | WHEN_BACK,
	WHEN_CHARTS = WHEN_LIVE | WHEN_REPLAY,
	WHEN_ALWAYS = WHEN_CHARTS | WHEN_COVERED
};

/* The headings of the help page, in its order. */
enum key_group {
	KEYS_VIEWS,
	KEYS_MARKS,
	KEYS_TIME,
	KEYS_STRETCH,
	KEYS_ROWS,
	KEYS_PROCESSES,
	KEYS_SCREEN,
	KEYS_GROUPS
};

#define KEYS_MAX 6

struct key_entry {
	enum key_group group;
	unsigned when;
	struct {
		uint32_t key;
		unsigned mods;
		int arg;
	} keys[KEYS_MAX]; /* ends with a key 0; a click in the key bar is the first */
	key_handler *handler;
	const char *shown, *what;  /* names of the keys, help text (to be translated); NULL: not on the help page */
	const char *bar_key, *bar; /* the same for the key bar; NULL: not in it */
	/* NULL, or the translated text of the key bar in place of bar; NULL from it: not shown now. */
	const char *(*bar_now)(const struct ui *u, const struct ui_scene *s);
	unsigned keep; /* WHEN_... in which the key bar has room for it before all others */
};

/* The i-th key in the order of the key bar: the common ones, and of a view (NULL: none) its own among
 * them.  NULL past the end. */
const struct key_entry *keys_entry(const struct view *v, size_t i);
/* The i-th of the help page, of all views; NULL past the end. */
const struct key_entry *keys_help(size_t i);
const char *keys_group(enum key_group group); /* to be translated */
/* The meaning of a key in view v, and its argument; NULL: it has none. */
const struct key_entry *keys_find(const struct view *v, unsigned when, uint32_t key, unsigned mods, int *arg);
/* actions.c, and the file that each belongs to */
key_handler act_space, act_zoom, act_pan, act_all, act_cursor, act_step, act_ends, act_go_mark, act_extreme, act_speed;
key_handler act_request, act_live, act_label, act_part, act_copy, act_open, act_setup, act_help, act_why;
key_handler act_about, act_escape, act_line, act_page, act_wheel, act_phases_hint;
key_handler act_view, act_turn;                                     /* views.c; the argument of the first: of views_at() */
key_handler act_goto, act_search;                                   /* prompt.c */
key_handler act_search_next;                                        /* search.c */
key_handler act_select, act_select_phase, act_loop;                 /* select.c */
key_handler act_nudge;                                              /* compare.c */
key_handler act_solo, act_hide, act_shift, act_height;              /* row-order.c */

#endif
