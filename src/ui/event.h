/* event: user input, independent of any terminal library. */
#ifndef NVMTOP_UI_EVENT_H
#define NVMTOP_UI_EVENT_H

#include <stdint.h>

enum {	/* keys that are not characters; a character is its Unicode code point */
	K_NONE = 0,
	K_TAB = 9, K_ENTER = 13, K_ESC = 27, K_BACKSPACE = 127,
	K_UP = 0x110000, K_DOWN, K_LEFT, K_RIGHT, K_HOME, K_END, K_PGUP, K_PGDN, K_INSERT, K_DELETE,
	K_F1, K_F2, K_F3, K_F4, K_F5, K_F6, K_F7, K_F8, K_F9, K_F10, K_F11, K_F12,
	K_BACKTAB
};
enum { MOD_SHIFT = 1, MOD_ALT = 2, MOD_CTRL = 4 };

enum event_kind {
	EVENT_NONE,
	EVENT_KEY,		/* Ctrl-C is key 'c' with MOD_CTRL */
	EVENT_MOUSE,
	EVENT_RESIZE,
	EVENT_FOCUS,		/* press: 1 in, 0 out */
	EVENT_CLOSED,		/* the terminal was closed */
};
enum mouse_action { MOUSE_PRESS, MOUSE_DRAG, MOUSE_RELEASE };

struct event {
	enum event_kind kind;
	int64_t t_ns;		/* CLOCK_MONOTONIC, when read from the terminal */
	uint32_t key;
	unsigned mods;
	int pasted;		/* part of a bracketed paste: text, never a command */
	enum mouse_action action;
	int button;		/* 1..3; 4 and 5: wheel up and down */
	int x, y;		/* 0-based cell */
	int press;
};

#endif
