/* The colours.
 *
 * One hue a family: green GPU, blue CPU, violet memory, olive power, copper
 * heat, grey the rest; the mean is the clearer one of each pair.  Amber belongs
 * to warnings and red to alerts and to the recording dot, nowhere else.
 *
 * What can be read on a dark background cannot be read on a light one, so there
 * are two sets of each, and a third of middle tones for when nobody knows.  Text
 * has a contrast of at least 4.5 to usual backgrounds, charts one of 3, each in
 * true colours and in the fixed part of 256 (tests/unit/test-palette.c); middle
 * tones reach 4 on black and on white, for no tone has 4.6 to both.  The colour-blind safe
 * set is made of the hues of Okabe and Ito.
 *
 * With 16 and 8 colours the terminal says what they look like, and what alarms is
 * underlined or reversed; with 8 the clearer one is bold; without colours weight,
 * underline and reverse say the same. */
#include <stdlib.h>

#include "term/palette.h"

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, BRIGHT };

#define B LOOK_BOLD
#define D LOOK_DIM
#define U LOOK_UNDERLINE
#define R LOOK_REVERSE

struct ink {
	int rgb;
	short of_256;
};

/* The styles that have a colour of their own; the others have that of text. */
enum slot {
	SLOT_TEXT,
	SLOT_DIM,
	SLOT_BAND, /* .. six of them, in the order of the families */
	SLOT_MEAN = SLOT_BAND + 6,
	SLOT_WARN = SLOT_MEAN + 6,
	SLOT_ALERT,
	SLOT_SELECTED,
	SLOT_SELECTED_GROUND,
	SLOT_GROUND, /* with SLOT_TEXT: where it is painted */
	SLOTS
};

/* clang-format off */
static const struct ink any[SLOTS] = {
	{0x767676, 243}, {0x767676, 243},
	{0x5f875f, 65}, {0x5f87af, 67}, {0x875faf, 97}, {0x878700, 100}, {0xaf5f5f, 131}, {0x767676, 243},
	{0x008700, 28}, {0x0087ff, 33}, {0xaf5fff, 135}, {0xaf8700, 136}, {0xd75f5f, 167}, {0x949494, 246},
	{0xaf5f00, 130}, {0xff0000, 196}, {0xffffff, 231}, {0x005f87, 24}, {0x000000, 16},
};

static const struct ink dark[SLOTS] = {
	{0xd8d8d8, 252}, {0x9a9a9a, 247},
	{0x4f9a55, 65}, {0x4a86b8, 67}, {0x8f74bd, 98}, {0x948a38, 100}, {0xb0705a, 131}, {0x858585, 102},
	{0x84d886, 114}, {0x7fbef5, 111}, {0xc3a6f5, 141}, {0xd6ca62, 185}, {0xf0a284, 216}, {0xc4c4c4, 251},
	{0xffb000, 214}, {0xff6060, 203}, {0xffffff, 231}, {0x005f87, 24}, {0x161616, 233},
};

static const struct ink light[SLOTS] = {
	{0x1c1c1c, 234}, {0x686868, 242},
	{0x4b924f, 65}, {0x4787bd, 67}, {0x9474c4, 98}, {0x8f8232, 100}, {0xc87058, 167}, {0x858585, 102},
	{0x17691f, 22}, {0x0b5a96, 24}, {0x6535a8, 55}, {0x665c00, 58}, {0xb84a30, 131}, {0x4c4c4c, 239},
	{0x7a4a00, 94}, {0xc00000, 124}, {0xffffff, 231}, {0x005f87, 24}, {0xffffff, 231},
};

static const struct ink contrast_dark[SLOTS] = {
	{0xffffff, 231}, {0xd0d0d0, 252},
	{0x00b400, 34}, {0x3c96ff, 69}, {0xc06cff, 135}, {0xb4b400, 142}, {0xff6a2a, 202}, {0xa8a8a8, 248},
	{0x50ff50, 83}, {0x9cd4ff, 153}, {0xecc0ff, 219}, {0xffff50, 227}, {0xffc090, 216}, {0xffffff, 231},
	{0xffc800, 220}, {0xff7878, 210}, {0x000000, 16}, {0xffff00, 226}, {0x000000, 16},
};

static const struct ink contrast_light[SLOTS] = {
	{0x000000, 16}, {0x404040, 238},
	{0x008000, 28}, {0x0060d0, 26}, {0x9030d0, 98}, {0x787000, 94}, {0xc04000, 130}, {0x707070, 242},
	{0x003c00, 22}, {0x00245c, 17}, {0x42006e, 53}, {0x3c3600, 58}, {0x7a1030, 52}, {0x000000, 16},
	{0x705000, 94}, {0xa00000, 124}, {0xffffff, 231}, {0x0000b0, 19}, {0xffffff, 231},
};

static const struct ink safe_dark[SLOTS] = {
	{0xd8d8d8, 252}, {0x9a9a9a, 247},
	{0x00896a, 29}, {0x3a86b8, 67}, {0xb06a92, 132}, {0xa59a30, 143}, {0xbe5812, 166}, {0x858585, 102},
	{0x00c896, 43}, {0x7fc8ff, 117}, {0xe88fc4, 176}, {0xf5ea60, 227}, {0xf0661e, 202}, {0xc8c8c8, 251},
	{0xffb000, 214}, {0xff7a5c, 203}, {0xffffff, 231}, {0x005f87, 24}, {0x161616, 233},
};

static const struct ink safe_light[SLOTS] = {
	{0x1c1c1c, 234}, {0x686868, 242},
	{0x009070, 29}, {0x3b88bb, 67}, {0xc0609c, 133}, {0x8f8600, 100}, {0xd96a18, 166}, {0x858585, 102},
	{0x007a5e, 23}, {0x0058a8, 25}, {0xa03080, 126}, {0x3c3800, 236}, {0xc04e10, 130}, {0x4c4c4c, 239},
	{0x6e4600, 58}, {0xb02800, 124}, {0xffffff, 231}, {0x005f87, 24}, {0xffffff, 231},
};

/* What the terminal's first 16 are used for; on a light background its yellow and
 * its bright ones cannot be seen. */
static const short of_16[SLOTS] = {
	WHITE, BRIGHT + BLACK,
	GREEN, CYAN, MAGENTA, YELLOW, RED, BRIGHT + BLACK,
	BRIGHT + GREEN, BRIGHT + CYAN, BRIGHT + MAGENTA, BRIGHT + YELLOW, BRIGHT + RED, WHITE,
	BRIGHT + YELLOW, BRIGHT + RED, -1, -1, BLACK,
};

static const short of_16_light[SLOTS] = {
	BLACK, BRIGHT + BLACK,
	GREEN, BRIGHT + BLUE, BRIGHT + MAGENTA, CYAN, BRIGHT + RED, BRIGHT + BLACK,
	GREEN, BLUE, MAGENTA, CYAN, RED, BLACK,
	MAGENTA, RED, -1, -1, BRIGHT + WHITE,
};

static const short of_8[SLOTS] = {
	WHITE, -1,
	GREEN, CYAN, MAGENTA, YELLOW, RED, WHITE,
	GREEN, CYAN, MAGENTA, YELLOW, RED, WHITE,
	YELLOW, RED, -1, -1, BLACK,
};

static const short of_8_light[SLOTS] = {
	BLACK, -1,
	GREEN, BLUE, MAGENTA, CYAN, RED, -1,
	GREEN, BLUE, MAGENTA, CYAN, RED, -1,
	MAGENTA, RED, -1, -1, WHITE,
};

static const struct {
	unsigned char slot;
	unsigned char coloured; /* attributes with 16 colours and more */
	unsigned char with_8;
	unsigned char without;
} tints[STYLES] = {
	[STYLE_TEXT] = {SLOT_TEXT, 0, 0, 0},
	[STYLE_DIM] = {SLOT_DIM, 0, D, D},
	[STYLE_STRONG] = {SLOT_TEXT, B, B, B},
	[STYLE_TITLE] = {SLOT_TEXT, B, B, B},

	[STYLE_GPU] = {SLOT_MEAN, 0, B, B},
	[STYLE_CPU] = {SLOT_MEAN + 1, 0, B, B},
	[STYLE_MEMORY] = {SLOT_MEAN + 2, 0, B, B},
	[STYLE_POWER] = {SLOT_MEAN + 3, 0, B, B},
	[STYLE_HEAT] = {SLOT_MEAN + 4, 0, B, B},
	[STYLE_OTHER] = {SLOT_MEAN + 5, 0, B, B},

	[STYLE_MARK] = {SLOT_TEXT, B, B, B},
	[STYLE_WARN] = {SLOT_WARN, B, B | U, B | U},
	[STYLE_ALERT] = {SLOT_ALERT, B, B | R, B | R},
	[STYLE_RECORD] = {SLOT_ALERT, B, B, B | R},
	[STYLE_KEY] = {SLOT_TEXT, B, B, B},
	[STYLE_KEY_TEXT] = {SLOT_DIM, 0, 0, 0},
	[STYLE_SELECTED] = {SLOT_SELECTED, 0, R, R},
	[STYLE_FRAME] = {SLOT_TEXT, B, B, B},
	[STYLE_BORDER] = {SLOT_DIM, 0, D, D},
	[STYLE_TRACK] = {SLOT_DIM, 0, D, D},
	[STYLE_LIMIT] = {SLOT_DIM, 0, D, D},
	[STYLE_TAB] = {SLOT_SELECTED, 0, R, R},
	[STYLE_BANNER] = {SLOT_ALERT, 0, R, R},
	[STYLE_BANNER_STRONG] = {SLOT_ALERT, B, B | R, B | R},
};
/* clang-format on */

static const struct ink *inks(const struct scheme *s)
{
	bool on_light = s->ground == GROUND_LIGHT;

	if (s->theme == THEME_CONTRAST)
		return on_light ? contrast_light : contrast_dark;
	if (s->theme == THEME_SAFE)
		return on_light ? safe_light : safe_dark;
	return on_light ? light : s->ground == GROUND_DARK ? dark : any;
}

struct scheme palette_scheme(enum theme theme, enum ground told, enum ground seen)
{
	struct scheme s = {theme, told != GROUND_AUTO ? told : seen, told != GROUND_AUTO && told != seen};

	if (theme == THEME_MONO)
		return (struct scheme) {theme, GROUND_AUTO, false};
	/* These have no middle tones. */
	if (s.ground == GROUND_AUTO && theme != THEME_STANDARD)
		s = (struct scheme) {theme, GROUND_DARK, true};
	s.paint |= theme == THEME_CONTRAST;
	return s;
}

static int value(const struct scheme *s, enum slot slot, int colours)
{
	const struct ink *ink = &inks(s)[slot];
	bool on_light = s->ground == GROUND_LIGHT;

	if (colours > 256)
		return ink->rgb;
	if (colours == 256)
		return ink->of_256;
	if (colours >= 16)
		return (on_light ? of_16_light : of_16)[slot];
	return (on_light ? of_8_light : of_8)[slot];
}

/* Of 16 colours each is a family's already. */
static bool alarms(enum style style)
{
	return style == STYLE_WARN || style == STYLE_ALERT;
}

struct look palette_look(const struct scheme *s, enum style style, int colours)
{
	struct look look = {-1, -1, 0};

	if ((unsigned)style >= STYLES)
		return look;
	if (s->theme == THEME_MONO)
		colours = 0;
	if (colours < 8) {
		look.attributes = tints[style].without;
		return look;
	}
	if (style >= STYLE_SHADES) {
		int hue = (style - STYLE_SHADES) / (2 * SHADES), mean = (style - STYLE_SHADES) % (2 * SHADES) < SHADES;

		if (hue >= HUE_WARN)
			return palette_look(s, hue == HUE_WARN ? STYLE_WARN : STYLE_ALERT, colours);
		if (mean)
			return palette_look(s, (enum style)(STYLE_GPU + hue), colours);
		look.fg = value(s, (enum slot)(SLOT_BAND + hue), colours);
		return look;
	}
	look.attributes = colours > 16 || (colours == 16 && !alarms(style)) ? tints[style].coloured
									    : tints[style].with_8;
	if (tints[style].slot != SLOT_TEXT)
		look.fg = value(s, tints[style].slot, colours);
	if (s->paint) {
		look.bg = value(s, SLOT_GROUND, colours);
		if (look.fg < 0)
			look.fg = value(s, SLOT_TEXT, colours);
	}
	if (style == STYLE_SELECTED && colours >= 256)
		look.bg = value(s, SLOT_SELECTED_GROUND, colours);
	else if (style == STYLE_SELECTED)
		look.attributes = R;
	/* Bright on bright would be the same twice. */
	if (s->ground == GROUND_LIGHT && colours == 16 && style >= STYLE_GPU && style <= STYLE_OTHER)
		look.attributes |= B;
	return look;
}

int palette_text(const struct scheme *s)
{
	return s->ground == GROUND_LIGHT ? inks(s)[SLOT_TEXT].rgb
					 : (s->theme == THEME_CONTRAST ? contrast_dark : dark)[SLOT_TEXT].rgb;
}

int palette_ground(const struct scheme *s)
{
	return s->ground == GROUND_LIGHT
		       ? inks(s)[SLOT_GROUND].rgb
		       : (s->theme == THEME_CONTRAST ? contrast_dark : dark)[SLOT_GROUND].rgb;
}

int palette_colours(enum colour_choice choice, int has, bool rgb)
{
	const char *no = getenv("NO_COLOR");
	int most = PALETTE_RGB;

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
		most = 256;
		break;
	case COLOUR_RGB:
		break;
	}
	/* beyond 256 they are direct colours: only the first eight are a palette */
	if (has < 8)
		return 0;
	if ((rgb || choice == COLOUR_RGB) && most == PALETTE_RGB && has >= 256)
		return PALETTE_RGB;
	if (has < 16 || has > 256 || most == 8)
		return 8;
	return has < 256 || most == 16 ? 16 : 256;
}
