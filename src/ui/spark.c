/* spark: how a column that holds many samples becomes a few dots.
 *
 * A column must say three things in as little as four dots: how low it went, how
 * high it went, where it was on the whole.  In braille it is solid up to the
 * minimum, and above that a dot at the mean and one at the maximum: a steady
 * signal is an area, one sample that leaps out floats above it, one that drops
 * out is a hole in it.  From two lines on, the band between minimum and maximum
 * is filled up to the mean as well, and what is above the mean has the band's
 * quieter style.
 * Block elements can only be filled from below, so they reach to the maximum,
 * in the quieter style where that is not where the mean is.
 * ASCII on one line shows the level by the weight of the character, and a wide
 * swing by its kind: ^ leaps up from a low mean, v drops from a high one, | is
 * between.  A value at the lower end is the lowest dot; what was not measured
 * is nothing at all.
 * Where a limit was passed, the whole height of the cell says so. */
#include "ui/spark.h"

#include <math.h>

#define BRAILLE 0x2800
#define BLOCK   0x2580

static const unsigned char braille_dot[2][4] = {
	{0x40, 0x04, 0x02, 0x01},
	{0x80, 0x20, 0x10, 0x08},
};

static const char ascii_ramp[] = "_.-=+*%#";
#define ASCII_LEVELS 8

int spark_per_cell(enum charset cs)
{
	return cs == CHARSET_BRAILLE ? 2 : 1;
}

int spark_level(double v, double lo, double hi, int levels)
{
	double part;

	if (isnan(v) || levels < 1)
		return 0;
	part = hi > lo ? (v - lo) / (hi - lo) : 0;
	if (!(part > 0))
		return 1;
	if (part >= 1)
		return levels;
	return 1 + (int)(part * (levels - 1) + 0.5);
}

struct levels {
	int min, mean, max; /* all 0: nothing */
};

static struct levels column_levels(const struct spark_column *col, const struct spark_look *look, int n)
{
	struct levels l = {0, 0, 0};

	if (!col->any || isnan(col->min) || isnan(col->mean) || isnan(col->max))
		return l;
	l.max = spark_level(col->max, look->lo, look->hi, n);
	l.min = spark_level(col->min, look->lo, look->hi, n);
	l.mean = spark_level(col->mean, look->lo, look->hi, n);
	if (l.min > l.max)
		l.min = l.max;
	if (l.mean < l.min)
		l.mean = l.min;
	if (l.mean > l.max)
		l.mean = l.max;
	return l;
}

static bool dot_lit(const struct levels *l, int level, int h)
{
	if (level <= l->min || level == l->mean || level == l->max)
		return l->max > 0;
	return h > 1 && level < l->mean ? true : false;
}

/* The cell whose lowest dot is level base + 1. */
static void braille_cell(struct canvas *c, int x, int y, const struct spark_look *look,
			 const struct levels pair[2], int base, int h)
{
	unsigned dots = 0;
	bool below_mean = false;

	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < 4; i++)
			if (dot_lit(&pair[side], base + i + 1, h))
				dots |= braille_dot[side][i];
		if (pair[side].mean > base)
			below_mean = true;
	}
	if (dots)
		canvas_put(c, x, y, below_mean ? STYLE_MEAN(look->hue, SHADES - 1) : STYLE_BAND(look->hue, SHADES - 1), (wchar_t)(BRAILLE + dots));
}

static void block_cell(struct canvas *c, int x, int y, const struct spark_look *look, const struct levels *l,
		       int base, int h)
{
	int fill = l->max - base;
	bool near = l->mean > base && (h > 1 || l->max - l->mean <= 2);

	if (fill > 8)
		fill = 8;
	if (fill > 0)
		canvas_put(c, x, y, near ? STYLE_MEAN(look->hue, SHADES - 1) : STYLE_BAND(look->hue, SHADES - 1), (wchar_t)(BLOCK + fill));
}

static void ascii_line(struct canvas *c, int x, int y, const struct spark_look *look, const struct levels *l)
{
	bool swings = l->max - l->min >= ASCII_LEVELS / 2;
	char ch;

	if (!l->max)
		return;
	ch = ascii_ramp[l->max - 1];
	if (swings)
		ch = l->mean - l->min < l->max - l->mean - 1   ? '^'
		     : l->mean - l->min > l->max - l->mean + 1 ? 'v'
							       : '|';
	canvas_put(c, x, y, swings ? STYLE_BAND(look->hue, SHADES - 1) : STYLE_MEAN(look->hue, SHADES - 1), (wchar_t)ch);
}

/* Two levels a line: '.' is the lower one. */
static void ascii_cell(struct canvas *c, int x, int y, const struct spark_look *look, const struct levels *l,
		       int base)
{
	if (l->mean > base)
		canvas_put(c, x, y, STYLE_MEAN(look->hue, SHADES - 1), l->mean > base + 1 ? L'#' : L'=');
	if (l->max > base && l->mean <= base)
		canvas_put(c, x, y, STYLE_BAND(look->hue, SHADES - 1), l->max > base + 1 ? L':' : L'.');
}

static struct spark_look cell_look(const struct spark_look *look, int first, int per)
{
	struct spark_look here = *look;
	unsigned char worst = ALARM_NONE;

	for (int k = 0; look->level && k < per; k++)
		if (look->level[first + k] > worst)
			worst = look->level[first + k];
	if (worst)
		here.hue = worst == ALARM_CRIT ? HUE_ALERT : HUE_WARN;
	return here;
}

void spark_draw(struct canvas *c, int x, int y, int w, int h, const struct spark_look *look,
		const struct spark_column *cols)
{
	int per = spark_per_cell(look->charset);
	int per_line = look->charset == CHARSET_BRAILLE ? 4 : look->charset == CHARSET_BLOCKS ? 8 : 2;
	int n = look->charset == CHARSET_ASCII && h == 1 ? ASCII_LEVELS : per_line * h;

	/* The highest dot of several lines stays blank, so that charts never touch. */
	if (h > 1 && look->charset != CHARSET_ASCII)
		n--;
	for (int i = 0; i < w; i++, cols += per) {
		struct levels l[2] = {{0, 0, 0}, {0, 0, 0}};
		struct spark_look here = cell_look(look, i * per, per);

		if (!cols[0].any && !cols[per - 1].any)
			continue;
		for (int k = 0; k < per; k++)
			l[k] = column_levels(&cols[k], look, n);
		for (int line = 0; line < h; line++) {
			int base = (h - 1 - line) * per_line;

			if (look->charset == CHARSET_BRAILLE)
				braille_cell(c, x + i, y + line, &here, l, base, h);
			else if (look->charset == CHARSET_BLOCKS)
				block_cell(c, x + i, y + line, &here, l, base, h);
			else if (h == 1)
				ascii_line(c, x + i, y, &here, l);
			else
				ascii_cell(c, x + i, y + line, &here, l, base);
		}
	}
}
