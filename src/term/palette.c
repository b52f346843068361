/* The colours.
 *
 * One hue per group: green GPU, blue CPU, violet memory, teal power, rose heat, grey everything else.
 * Amber is only for values near a limit, red for exceeded limits and the recording dot.
 *
 * A palette is one table from which everything is computed: the shades of a hue lie between its low and
 * high end, a band is a shade blended with the ground, and 256-colour mode uses the nearest fixed
 * colours. tests/unit/test-palette.c checks contrast and the distances seen by colour-blind eyes.
 *
 * With 16 and 8 colours the terminal defines them: bright is the mean, normal the band; with 8, bright
 * is bold and grey is dim. Without colours, bold, dim, underline and reverse are used. */
#include <limits.h>
#include <stdlib.h>

#include "term/palette.h"

#define B LOOK_BOLD
#define D LOOK_DIM
#define U LOOK_UNDERLINE
#define R LOOK_REVERSE

/* clang-format off */
enum ink {
	GROUND, TEXT, STRONG, DIM, BORDER, TRACK, LIMIT,
	TAB, BANNER, BANNER_TEXT, BANNER_STRONG, SELECTED, SELECTED_TEXT,
	LOW, /* first of one per hue; with 16 colours the band */
	HIGH = LOW + HUES,
	INKS = HIGH + HUES
};
#define HUE(name) (HIGH + (int)HUE_##name)

/* 0xrrggbb, for a dark and a light ground. */
#define ON_DARK \
	0x101115, 0xced0d4, 0xf5f6f8, 0x7c8088, 0x3a3c42, 0x2c2e34, 0x967840, \
	0x0a0c0a, 0x5c1214, 0xffc4be, 0xf5f6f8, 0x005f87, 0xffffff
#define ON_LIGHT \
	0xffffff, 0x1c1c20, 0x000000, 0x63666c, 0xc8cad0, 0xdcdee2, 0xa07820, \
	0xffffff, 0xb01014, 0xffe4e0, 0xffffff, 0x005f87, 0xffffff
static const int inks[][2][INKS] = {
	[THEME_STANDARD] = {
		{ON_DARK,
		 0x228b4c, 0x2860ae, 0x764ec0, 0x126e76, 0xa24267, 0x606163, 0x8a5a00, 0xbe2826,
		 0x74e27e, 0x6ab5ff, 0xa070f0, 0x2ad0d9, 0xf48caa, 0xc4c6cc, 0xffb020, 0xff5c54},
		{ON_LIGHT,
		 0x579e65, 0x7792b1, 0xa47be5, 0x359c9e, 0xcb7495, 0x8e9094, 0xad8b4c, 0xde6f6f,
		 0x17792a, 0x2e5887, 0x783bd9, 0x008285, 0xb02a5c, 0x55585e, 0x8a5a00, 0xc80f10},
	},
	[THEME_CONTRAST] = {
		{0x000000, 0xffffff, 0xffffff, 0xd0d0d0, 0x909090, 0x505050, 0xc8a000,
		 0x000000, 0x8c0000, 0xffffff, 0xffffff, 0xffff00, 0x000000,
		 0x298429, 0x4e7aa5, 0xa0629c, 0x2a7f87, 0xa85f7e, 0x747474, 0x8e7000, 0xbc5858,
		 0x50ff50, 0x79bcff, 0xc97bc3, 0x50f0ff, 0xff90c0, 0xe0e0e0, 0xffc800, 0xff7878},
		{0xffffff, 0x000000, 0x000000, 0x404040, 0x707070, 0xb0b0b0, 0x806000,
		 0xffffff, 0x8c0000, 0xffffff, 0xffffff, 0x0000b0, 0xffffff,
		 0x497f55, 0x5d70b0, 0x8963b8, 0x427d83, 0xad5989, 0x767676, 0x887044, 0xbb5454,
		 0x004c10, 0x324b9c, 0x3e008b, 0x005058, 0x81004a, 0x303030, 0x5c3c00, 0x9a0000},
	},
	[THEME_SAFE] = {
		{ON_DARK,
		 0x15700c, 0x4c6581, 0x714ecc, 0x43675e, 0xa44957, 0x606163, 0x845b10, 0xaf3f39,
		 0x2be51a, 0x90bff4, 0x8a60f9, 0x9df1dc, 0xc85a6b, 0xc4c6cc, 0xffb020, 0xff5c54},
		{ON_LIGHT,
		 0x549d79, 0x5888ff, 0x9f84d7, 0x7c999a, 0xb67d98, 0x8e9094, 0xad8b4c, 0xde6f6f,
		 0x006e37, 0x2c69ff, 0x3900ac, 0x003739, 0xa55f80, 0x55585e, 0x8a5a00, 0xc80f10},
	},
};

/* Indices of the terminal's first 16 colours, for a dark and a light ground. */
static const int first_16[2][INKS] = {
	{0, 7, 15, 8, 8, 8, 3,  0, 1, 15, 15, 4, 15,  2, 4, 5, 6, 8, 8, 3, 1,  10, 12, 13, 14, 15, 7, 11, 9},
	{15, 0, 0, 8, 8, 8, 3,  15, 1, 15, 15, 4, 15,  10, 12, 13, 14, 8, 7, 11, 9,  2, 4, 5, 6, 0, 8, 3, 1},
};
#define GREY 8 /* bright black; 8-colour mode has none */

static const struct {
	unsigned char fg, bg; /* enum ink */
	unsigned char coloured, without; /* attributes with and without colours */
} tints[STYLE_SHADES] = {
	[STYLE_TEXT] = {TEXT, GROUND, 0, 0},
	[STYLE_DIM] = {DIM, GROUND, 0, D},
	[STYLE_STRONG] = {STRONG, GROUND, B, B},
	[STYLE_TITLE] = {STRONG, GROUND, B, B},

	[STYLE_GPU] = {HUE(GPU), GROUND, 0, B},
	[STYLE_CPU] = {HUE(CPU), GROUND, 0, B},
	[STYLE_MEMORY] = {HUE(MEMORY), GROUND, 0, B},
	[STYLE_POWER] = {HUE(POWER), GROUND, 0, B},
	[STYLE_HEAT] = {HUE(HEAT), GROUND, 0, B},
	[STYLE_OTHER] = {HUE(OTHER), GROUND, 0, B},

	[STYLE_MARK] = {STRONG, GROUND, B, B},
	[STYLE_WARN] = {HUE(WARN), GROUND, B, B | U},
	[STYLE_ALERT] = {HUE(ALERT), GROUND, B, B | R},
	[STYLE_RECORD] = {HUE(ALERT), GROUND, B, B | R},
	[STYLE_KEY] = {STRONG, GROUND, B, B},
	[STYLE_KEY_TEXT] = {DIM, GROUND, 0, 0},
	[STYLE_SELECTED] = {SELECTED_TEXT, SELECTED, 0, R},
	[STYLE_FRAME] = {STRONG, GROUND, B, B},
	[STYLE_BORDER] = {BORDER, GROUND, 0, D},
	[STYLE_TRACK] = {TRACK, GROUND, 0, D},
	[STYLE_LIMIT] = {LIMIT, GROUND, 0, D},
	[STYLE_TAB] = {TAB, HUE(GPU), B, R},
	[STYLE_BANNER] = {BANNER_TEXT, BANNER, 0, R},
	[STYLE_BANNER_STRONG] = {BANNER_STRONG, BANNER, B, B | R},
};
/* clang-format on */

static int mix(int a, int b, int n, int of)
{
	int mixed = 0;

	for (int at = 0; at < 24; at += 8)
		mixed |= ((a >> at & 255) * (of - n) + (b >> at & 255) * n) / of << at;
	return mixed;
}

/* Colours 16 to 255 are the same on all terminals: a cube and a grey ramp. */
static int rgb_of(int n)
{
	static const unsigned char step[] = {0, 95, 135, 175, 215, 255};

	if (n >= 232)
		return (8 + 10 * (n - 232)) * 0x010101;
	n -= 16;
	return step[n / 36] << 16 | step[n / 6 % 6] << 8 | step[n % 6];
}

/* The shift of the channel that exceeds the two others by more than `by`; -1: there is none. */
static int strongest(int rgb, int by)
{
	for (int at = 0; at < 24; at += 8) {
		int v = rgb >> at & 255, next = rgb >> (at + 8) % 24 & 255, last = rgb >> (at + 16) % 24 & 255;

		if (v > next + by && v > last + by)
			return at;
	}
	return -1;
}

/* Error of an approximation: lightness and hue; grey instead of a hue, or another hue, costs most. Exact only below
 * most, as lightness alone excludes nearly all colours. */
static int loss(int a, int b, int most)
{
	int r = a >> 16, g = a >> 8 & 255, bl = a & 255, dr = r - (b >> 16), dg = g - (b >> 8 & 255),
	    db = bl - (b & 255), light = (2 * dr + 5 * dg + db) / 8, hue;
	bool faded;

	if (light * light >= most)
		return most;
	hue = strongest(a, 16);
	faded = b % 0x010101 == 0 && abs(r - g) + abs(bl - g) > 24;
	return light * light + ((dr - dg) * (dr - dg) + (db - dg) * (db - dg)) / 6 +
	       750 * (faded + (hue >= 0 && hue != strongest(b, 0)));
}

static int nearest(int rgb)
{
	int best = 16, least = INT_MAX;

	for (int i = 16; i < 256; i++) {
		int lost = loss(rgb, rgb_of(i), least);

		if (lost < least) {
			least = lost;
			best = i;
		}
	}
	return best;
}

static int ink(const int *p, enum style style, int colours)
{
	int n = (int)style - STYLE_SHADES, hue = n / (2 * SHADES), part = 2 * (n % SHADES) + 1, shade;
	bool band = n / SHADES % 2;

	if (style < STYLE_SHADES)
		return p[tints[style].fg];
	if (colours <= 16)
		return p[(band ? LOW : HIGH) + hue];
	if (colours == 256) /* too few for all shades: two for the mean, one for the band */
		part = band ? 2 * SHADES - 3 : part < SHADES ? SHADES / 2 : 3 * SHADES / 2;
	shade = mix(p[LOW + hue], p[HIGH + hue], part, 2 * SHADES);
	return band ? mix(p[GROUND], shade, 42, 100) : shade;
}

static int number(int ink, int colours)
{
	return colours == 256 ? nearest(ink) : colours == 8 ? ink & 7 : ink;
}

static struct look without(enum style style)
{
	static const unsigned shades[] = {B, D}; /* mean, band */

	return (struct look) {-1, -1, -1,
			      style < STYLE_SHADES ? tints[style].without
						   : shades[((int)style - STYLE_SHADES) / SHADES % 2]};
}

struct look palette_look(enum theme theme, enum ground ground, enum style style, int colours)
{
	bool light = ground == GROUND_LIGHT;
	struct look l;
	const int *p;
	int fg, bg, shade;

	if (theme == THEME_MONO || colours < 8 || style >= STYLES)
		return without(style < STYLES ? style : STYLE_TEXT);
	if (theme == THEME_TERMINAL && colours > 16)
		colours = 16;
	l.attributes = style < STYLE_SHADES ? tints[style].coloured : 0;
	p = colours <= 16 ? first_16[light] : inks[theme][light];
	fg = shade = ink(p, style, colours);
	bg = style < STYLE_SHADES ? p[tints[style].bg] : p[GROUND];
	if (style == STYLE_WARN && light && colours <= 16) { /* yellow is unreadable on white */
		bg = fg;
		fg = p[TEXT];
	}
	if (colours <= 16 && fg < GREY) /* bold means bright on many terminals */
		l.attributes &= ~(unsigned)B;
	if (colours == 8 && fg >= GREY)
		l.attributes |= fg == GREY ? D : B;
	if (colours == 8 && fg == GREY) {
		fg = p[TEXT];
		shade = p[GROUND];
	}
	l.fg = number(fg, colours);
	l.bg = number(bg, colours);
	l.back = number(shade, colours);
	if (theme == THEME_TERMINAL) {
		l.back = shade == p[GROUND] ? -1 : l.back;
		l.fg = fg == p[TEXT] ? -1 : l.fg;
		l.bg = bg == p[GROUND] ? -1 : l.bg;
	}
	return l;
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
	/* more than 256: direct colours, only the first eight are a palette */
	if (has < 8)
		return 0;
	if ((rgb || choice == COLOUR_RGB) && most == PALETTE_RGB && has >= 256)
		return PALETTE_RGB;
	if (has < 16 || has > 256 || most == 8)
		return 8;
	return has < 256 || most == 16 ? 16 : 256;
}
