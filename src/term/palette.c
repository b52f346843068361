/* The colours.  Nobody knows whether the terminal's background is dark or
 * light, so everything is drawn on it as it is, in middle tones that can be
 * read on both, and the text is in the terminal's own colour.
 *
 * One hue a family: green GPU, blue CPU, violet memory, olive power, copper
 * heat, grey the rest; the mean is the clearer one of each pair.  Amber belongs
 * to warnings and pure red to alerts and to the recording dot, nowhere else.
 * With 8 colours the clearer one is bold; without colours weight, underline and
 * reverse say the same. */
#include <stdlib.h>

#include "term/palette.h"

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, BRIGHT };

struct tint {
	short of_256, of_16, of_8;
	unsigned char coloured; /* attributes with 256 and 16 colours */
	unsigned char with_8;
	unsigned char without;
};

#define B LOOK_BOLD
#define D LOOK_DIM
#define U LOOK_UNDERLINE
#define R LOOK_REVERSE

static const struct tint tints[STYLES] = {
	[STYLE_TEXT] = {-1, -1, -1, 0, 0, 0},
	[STYLE_DIM] = {244, BRIGHT + BLACK, -1, 0, D, D},
	[STYLE_STRONG] = {-1, -1, -1, B, B, B},
	[STYLE_TITLE] = {-1, -1, -1, B, B, B},

	[STYLE_GPU] = {65, GREEN, GREEN, 0, 0, 0},
	[STYLE_CPU] = {67, CYAN, CYAN, 0, 0, 0},
	[STYLE_MEMORY] = {97, MAGENTA, MAGENTA, 0, 0, 0},
	[STYLE_POWER] = {100, YELLOW, YELLOW, 0, 0, 0},
	[STYLE_HEAT] = {131, RED, RED, 0, 0, 0},
	[STYLE_OTHER] = {243, BRIGHT + BLACK, WHITE, 0, 0, 0},

	[STYLE_GPU_MEAN] = {71, BRIGHT + GREEN, GREEN, 0, B, B},
	[STYLE_CPU_MEAN] = {74, BRIGHT + CYAN, CYAN, 0, B, B},
	[STYLE_MEMORY_MEAN] = {140, BRIGHT + MAGENTA, MAGENTA, 0, B, B},
	[STYLE_POWER_MEAN] = {142, BRIGHT + YELLOW, YELLOW, 0, B, B},
	[STYLE_HEAT_MEAN] = {173, BRIGHT + RED, RED, 0, B, B},
	[STYLE_OTHER_MEAN] = {248, WHITE, WHITE, 0, B, B},

	[STYLE_MARK] = {-1, -1, -1, B, B, B},
	[STYLE_WARN] = {214, BRIGHT + YELLOW, YELLOW, B, B | U, B | U},
	[STYLE_ALERT] = {196, BRIGHT + RED, RED, B, B | R, B | R},
	[STYLE_RECORD] = {196, BRIGHT + RED, RED, B, B, B | R},
	[STYLE_KEY] = {-1, -1, -1, B, B, B},
	[STYLE_KEY_TEXT] = {244, -1, -1, 0, 0, 0},
	[STYLE_SELECTED] = {255, -1, -1, 0, R, R},
	[STYLE_FRAME] = {-1, -1, -1, B, B, B},
};

struct look palette_look(enum style s, int colours)
{
	struct look look = {-1, -1, 0};

	if ((unsigned)s >= STYLES)
		return look;
	const struct tint *t = &tints[s];
	if (colours >= 256) {
		look = (struct look) {t->of_256, -1, t->coloured};
		if (s == STYLE_SELECTED)
			look.bg = 24;
	} else if (colours >= 16) {
		look = (struct look) {t->of_16, -1, s == STYLE_SELECTED ? LOOK_REVERSE : t->coloured};
	} else if (colours >= 8) {
		look = (struct look) {t->of_8, -1, t->with_8};
	} else {
		look.attributes = t->without;
	}
	return look;
}

int palette_colours(enum colour_choice choice, int has)
{
	const char *no = getenv("NO_COLOR");
	int most = 256;

	switch (choice) {
	case COLOUR_AUTO:
		if (no && *no)
			return 0;
		break;
	case COLOUR_NEVER:
		return 0;
	case COLOUR_8:
		most = 8;
		break;
	case COLOUR_16:
		most = 16;
		break;
	case COLOUR_256:
		break;
	}
	/* more than 256 are direct colours: only the first eight are a palette */
	if (has < 8)
		return 0;
	if (has < 16 || has > 256 || most == 8)
		return 8;
	return has < 256 || most == 16 ? 16 : 256;
}
