/* The colours.
 *
 * One hue per group: green GPU, blue CPU, violet memory, teal power, rose heat, grey everything else.
 * Amber is only for values near a limit, red for exceeded limits and the recording dot.
 *
 * With 24 bits the shades of a hue lie between its low and high end, and a band is a shade blended with the
 * ground. With 256 colours a hue has four tones, picked by hand. tests/unit/test-palette.c checks contrast and
 * the distances seen by colour-blind eyes.
 *
 * With 16 and 8 colours the terminal defines them: bright is the mean, normal the band; with 8, bright
 * is bold and grey is dim. Without colours, bold, dim, underline and reverse are used. */
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
	INKS = HIGH + HUES,
	TONES = 4, /* of a mean, with 256 colours */
	INKS_256 = INKS + (TONES - 1) * HUES
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

/* The same of the 256 colours that all terminals have, as the nearest ones would not be steps of one hue: a band
 * and the highest tone of each hue, then the three tones below it, the lowest first. */
#define ON_DARK_256  233, 252, 255, 244, 237, 236, 137,  232, 52, 224, 255, 24, 231
#define ON_LIGHT_256 231, 234, 16, 241, 251, 253, 136,  231, 124, 224, 231, 24, 231
static const int inks_256[][2][INKS_256] = {
	[THEME_STANDARD] = {
		{ON_DARK_256,
		 22, 24, 54, 23, 89, 239, 94, 52,  114, 75, 135, 80, 211, 249, 214, 203,
		 28, 26, 97, 30, 132, 243, 136, 124,  34, 68, 98, 37, 168, 245, 172, 160,  77, 69, 99, 44, 204, 247, 208, 196},
		{ON_LIGHT_256,
		 151, 153, 183, 152, 218, 250, 180, 217,  22, 24, 98, 23, 125, 240, 94, 124,
		 71, 68, 141, 73, 175, 245, 172, 203,  34, 67, 135, 37, 168, 243, 166, 196,  28, 25, 99, 30, 132, 242, 130, 160},
	},
	[THEME_CONTRAST] = {
		{16, 231, 231, 252, 246, 239, 178,  16, 88, 231, 231, 226, 16,
		 22, 24, 53, 23, 89, 238, 58, 52,  83, 75, 176, 87, 211, 252, 220, 210,
		 28, 67, 133, 30, 132, 246, 136, 160,  34, 68, 134, 37, 168, 248, 178, 196,  40, 69, 170, 44, 204, 250, 214, 203},
		{231, 16, 16, 238, 242, 145, 94,  231, 88, 231, 231, 19, 231,
		 151, 153, 183, 152, 218, 249, 180, 217,  22, 25, 54, 23, 89, 237, 58, 88,
		 65, 63, 92, 66, 132, 243, 166, 196,  29, 27, 91, 31, 126, 241, 130, 160,  28, 26, 55, 30, 125, 239, 94, 124},
	},
	[THEME_SAFE] = {
		{ON_DARK_256,
		 22, 60, 54, 23, 89, 239, 94, 52,  76, 111, 99, 159, 204, 249, 214, 203,
		 28, 67, 61, 66, 96, 243, 136, 124,  34, 68, 62, 73, 132, 245, 172, 160,  40, 110, 98, 116, 168, 247, 208, 196},
		{ON_LIGHT_256,
		 151, 153, 183, 152, 218, 250, 180, 217,  22, 26, 55, 23, 96, 240, 94, 124,
		 72, 69, 135, 109, 175, 245, 172, 203,  35, 33, 98, 66, 168, 243, 166, 196,  29, 27, 92, 30, 132, 242, 130, 160},
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

static int ink(const int *p, enum style style, int colours)
{
	int n = (int)style - STYLE_SHADES, hue = n / (2 * SHADES), tone = n % SHADES * TONES / SHADES, shade;
	bool band = n / SHADES % 2;

	if (style < STYLE_SHADES)
		return p[tints[style].fg];
	if (colours == 256 && !band && tone < TONES - 1)
		return p[INKS + tone * HUES + hue];
	if (colours <= 256)
		return p[(band ? LOW : HIGH) + hue];
	shade = mix(p[LOW + hue], p[HIGH + hue], 2 * (n % SHADES) + 1, 2 * SHADES);
	return band ? mix(p[GROUND], shade, 42, 100) : shade;
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
	p = colours <= 16 ? first_16[light] : colours == 256 ? inks_256[theme][light] : inks[theme][light];
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
	l.fg = colours == 8 ? fg & 7 : fg;
	l.bg = colours == 8 ? bg & 7 : bg;
	l.back = colours == 8 ? shade & 7 : shade;
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
