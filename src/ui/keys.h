/* keys: the one table of bindings, help, key bar and manual. */
#ifndef NVMTOP_UI_KEYS_H
#define NVMTOP_UI_KEYS_H

#include "ui/event.h"

#include <stdbool.h>
#include <stddef.h>

enum action {
	ACT_NONE,
	ACT_MARK,
	ACT_LABEL,
	ACT_RECORD,
	ACT_KEEP,
	ACT_SPACE,
	ACT_OPEN,
	ACT_ZOOM_IN,
	ACT_ZOOM_OUT,
	ACT_ALL,
	ACT_BACK,
	ACT_FORWARD,
	ACT_CURSOR_BACK,
	ACT_CURSOR_FORWARD,
	ACT_SCREEN_BACK,
	ACT_SCREEN_FORWARD,
	ACT_START,
	ACT_END,
	ACT_PREV_PART,
	ACT_NEXT_PART,
	ACT_PREV_MARK,
	ACT_NEXT_MARK,
	ACT_STEP_BACK,
	ACT_STEP,
	ACT_SLOWER,
	ACT_FASTER,
	ACT_GOTO,
	ACT_SEARCH,
	ACT_SEARCH_NEXT,
	ACT_SEARCH_PREV,
	ACT_SELECT,
	ACT_SELECT_PHASE,
	ACT_LOOP,
	ACT_NUDGE_BACK, /* the trace of --with */
	ACT_NUDGE,
	ACT_CHOOSE,
	ACT_SOLO,
	ACT_HIDE,
	ACT_MOVE_UP,
	ACT_MOVE_DOWN,
	ACT_HIGHER,
	ACT_LOWER,
	ACT_SETUP,
	ACT_COPY,
	ACT_LESS, /* of what is chosen in a list of settings */
	ACT_MORE,
	ACT_TOGGLE,
	ACT_UP,
	ACT_DOWN,
	ACT_PAGE_UP,
	ACT_PAGE_DOWN,
	ACT_ENTER,
	ACT_ESC,
	ACT_ABOUT,
	ACT_WHY, /* about the chosen row; without one: help */
	ACT_HELP,
	ACT_VIEW_1, /* .. the ninth, in one run */
	ACT_VIEW_9 = ACT_VIEW_1 + 8,
	ACT_VIEW_NEXT,
	ACT_VIEW_PREV,
	ACT_SCROLL_UP, /* the wheel's: no key has them */
	ACT_SCROLL_DOWN,
	ACT_PROC_GPU, /* .. in the order of enum proc_sort */
	ACT_PROC_CPU,
	ACT_PROC_MEMORY,
	ACT_PROC_PID,
	ACT_PROC_TREE,
	ACT_PROC_FILTER,
	ACT_PROC_KILL,
	ACT_REPAINT,
	ACT_SUSPEND,
	ACT_QUIT,
};

/* When a key does something; the key bar shows no other. */
enum {
	WHEN_NOW = 1,  /* live, following */
	WHEN_BACK = 2, /* live, looking back or paused */
	WHEN_REPLAY = 4,
	WHEN_HELP = 8,
	WHEN_FILES = 16,
	WHEN_SETUP = 64,
	WHEN_PROCESSES = 32, /* besides one of the first three */
	WHEN_LIVE = WHEN_NOW | WHEN_BACK,
	WHEN_CHARTS = WHEN_LIVE | WHEN_REPLAY,
	WHEN_ALWAYS = WHEN_CHARTS | WHEN_HELP | WHEN_FILES | WHEN_SETUP
};

/* What keys are about: the headings of the help page, in its order. */
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

struct key_entry {
	enum action action;
	enum key_group group;
	unsigned when;
	struct {
		uint32_t key;
		unsigned mods;
	} keys[4];
	const char *shown;         /* the keys' names; NULL: the entry before tells both */
	const char *what;          /* to be translated; NULL as well */
	const char *bar_key, *bar; /* NULL: not in the key bar; bar is to be translated */
};

/* NULL past the end. */
const struct key_entry *keys_entry(size_t i);
/* Those that the help page tells, group by group; NULL past the end. */
const struct key_entry *keys_help(size_t i);
const char *keys_group(enum key_group group); /* to be translated */
/* What a key means now; ACT_NONE: nothing. */
enum action keys_action(const struct event *ev, unsigned when);

#endif
