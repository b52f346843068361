/* settings: the user's choices for the screen, stored in nvmtop.conf. */
#ifndef NVMTOP_UI_SETTINGS_H
#define NVMTOP_UI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum theme {
	THEME_STANDARD,
	THEME_CONTRAST,		/* high contrast: on black or white */
	THEME_SAFE,		/* colour-blind safe: does not rely on red and green */
	THEME_TERMINAL,		/* the terminal's 16 colours and background */
	THEME_MONO,		/* no colours: bold, underline and reverse */
	THEMES
};

/* The background; painted by all but the last two themes. */
enum ground {
	GROUND_AUTO,		/* the terminal's; dark if not known */
	GROUND_DARK,
	GROUND_LIGHT,
	GROUNDS
};

#define SETTINGS_NAME	64	/* a channel's name, or that of the next signal */
#define SETTINGS_VIEW	16
#define SETTINGS_CHARTS	256
#define CHART_LINES_MAX	30

/* The settings of one row of one view. */
struct chart_setting {
	char view[SETTINGS_VIEW];
	char name[SETTINGS_NAME];
	bool hidden;
	unsigned char lines;	/* 1 .. CHART_LINES_MAX; 0: automatic */
	bool moved;		/* directly after the row `after`; "": first */
	char after[SETTINGS_NAME];
};

struct settings {
	enum theme theme;
	enum ground ground;
	bool mouse;
	bool braille; /* charts in braille instead of blocks, unless the charset is ASCII */
	char view[SETTINGS_VIEW];	/* the first view shown; "": the default */
	double frames;			/* per second; 0: automatic */
	int64_t history_ns;		/* how long the live screen keeps every sample; 0: only now */
	size_t n_charts;
	struct chart_setting charts[SETTINGS_CHARTS];	/* in the order in which moves are applied */
};

#define HISTORY_NS (600 * INT64_C(1000000000))
#define SETTINGS_DEFAULT ((struct settings) {.mouse = true, .history_ns = HISTORY_NS})

#endif
