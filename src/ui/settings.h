/* settings: what a person has chosen about the screen; kept in nvmtop.conf. */
#ifndef NVMTOP_UI_SETTINGS_H
#define NVMTOP_UI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which colours. */
enum theme {
	THEME_STANDARD,
	THEME_CONTRAST,		/* high contrast: on black or white */
	THEME_SAFE,		/* tells families apart for those who do not see red and green apart */
	THEME_TERMINAL,		/* the terminal's own 16 colours, on its own background */
	THEME_MONO,		/* none: weight, underline and reverse */
	THEMES
};

/* What they are drawn on; all but the last two themes paint it. */
enum ground {
	GROUND_AUTO,		/* as the terminal's is; dark where that is not known */
	GROUND_DARK,
	GROUND_LIGHT,
	GROUNDS
};

#define SETTINGS_NAME	64	/* of a row: a channel's name, or of what stands before one */
#define SETTINGS_VIEW	16
#define SETTINGS_CHARTS	256
#define CHART_LINES_MAX	30

/* What was chosen about one row of one view. */
struct chart_setting {
	char view[SETTINGS_VIEW];
	char name[SETTINGS_NAME];
	bool hidden;
	unsigned char lines;	/* 1 .. CHART_LINES_MAX; 0: as it comes */
	bool moved;		/* it stands directly after `after`; "": it is the first */
	char after[SETTINGS_NAME];
};

struct settings {
	enum theme theme;
	enum ground ground;
	bool mouse;
	bool braille; /* charts of dots instead of blocks, where there are more characters than ASCII */
	char view[SETTINGS_VIEW];	/* which one to begin with; "": the first */
	double frames;			/* a second; 0: as they are needed */
	uint64_t history_bytes;		/* what the live screen remembers, in bytes, */
	int64_t history_ns;		/* or fine for so long; both 0: as it comes */
	size_t n_charts;
	struct chart_setting charts[SETTINGS_CHARTS];	/* in an order in which they can be moved */
};

#define SETTINGS_DEFAULT ((struct settings) {.mouse = true})

#endif
