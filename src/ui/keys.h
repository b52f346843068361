/* keys: tables of keys. An entry has the keys, the handler, and the texts of the help page and of the key
 * bar. The common table is in keys.c; each view has its own, which takes precedence. */
#ifndef NVMTOP_UI_KEYS_H
#define NVMTOP_UI_KEYS_H

#include "ui/event.h"

#include <stdbool.h>
#include <stddef.h>

struct ui;
struct ui_scene;
struct request;
struct view;

/* arg: from the table, -1 or 1 for most keys. r->t_ns is the time of the key; r->redraw is set. */
typedef void key_handler(struct ui *u, const struct ui_scene *s, struct request *r, int arg);

/* When a key is active; the key bar shows only active keys. */
enum {
	WHEN_NOW = 1,  /* live, following */
	WHEN_BACK = 2, /* live, looking back or paused */
	WHEN_REPLAY = 4,
	WHEN_COVERED = 8, /* by a view such as the help page */
	WHEN_LIVE = WHEN_NOW | WHEN_BACK,
	WHEN_CHARTS = WHEN_LIVE | WHEN_REPLAY,
	WHEN_ALWAYS = WHEN_CHARTS | WHEN_COVERED
};

/* The headings of the help page, in order. */
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
	} keys[KEYS_MAX]; /* ends with key 0; a click in the key bar acts as the first */
	key_handler *handler;
	const char *shown, *what;  /* names of the keys, help text (to be translated); NULL: not on the help page */
	const char *bar_key, *bar; /* the same for the key bar; NULL: not in it */
	/* NULL, or returns the translated text for the key bar instead of bar; NULL: not shown now. */
	const char *(*bar_now)(const struct ui *u, const struct ui_scene *s);
	unsigned keep; /* WHEN_... in which the key bar reserves room for it */
};

/* keys.c: ends with group KEYS_GROUPS; the entry without a handler stands for the keys of the view. */
extern const struct key_entry keys_common[];
extern const struct key_entry keys_views; /* of the tabs; their keys are members of the views */

/* The i-th key in the order of the key bar, with the keys of v (NULL: none) among the common ones. NULL
 * past the end. */
const struct key_entry *keys_entry(const struct view *v, size_t i);
/* The i-th key of the help page, which has the keys of all views; NULL past the end. */
const struct key_entry *keys_help(size_t i);
const char *keys_group(enum key_group group); /* to be translated */
/* The entry of a key in view v, and its argument; NULL: none. */
const struct key_entry *keys_find(const struct view *v, unsigned when, uint32_t key, unsigned mods, int *arg);
/* Handlers that are called or defined outside keys.c. */
key_handler act_request, act_live, act_pan, act_zoom, act_move, act_cover, act_about;
key_handler act_view, act_turn;                        /* views.c; act_view: arg is VIEW_... */
key_handler act_go_mark, act_goto, act_extreme;        /* go.c */
key_handler act_search, act_search_next;               /* search.c */
key_handler act_copy;                                  /* save.c */
key_handler act_select, act_select_phase, act_loop;    /* select.c */
key_handler act_nudge;                                 /* compare.c */
key_handler act_solo, act_hide, act_shift, act_height; /* row-order.c */

#endif
