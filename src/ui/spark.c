/* spark: draws a column that holds many samples with a few dots.
 *
 * A column shows minimum, mean and maximum in as little as one cell. Block elements: an area up
 * to the mean, and a dim band of the same hue up to the maximum. If both end in one cell, the
 * band is its background. A short drop below the mean is a notch: a dark eighth at the minimum.
 *
 * Braille: solid up to the minimum, with dots at mean and maximum; with two or more lines,
 * filled up to the mean. ASCII on one line: the character is the level, or for a wide swing ^
 * (peak above a low mean), v (drop below a high mean) or |.
 *
 * A value at the lower end is the lowest dot; missing samples are blank. A column over a limit
 * has the colour of the alarm over its whole height. */
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
	int min, mean, max; /* all 0: no samples */
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

int spark_shade(int k, int n)
{
	return n < 2 ? SHADES - 3 : (2 * k + 1) * SHADES / (2 * n);
}

/* One cell of a chart; its lowest level is base + 1. */
struct place {
	int x, y, base, h, shade;
};

static bool dot_lit(const struct levels *l, int level, int h)
{
	if (level <= l->min || level == l->mean || level == l->max)
		return l->max > 0;
	return h > 1 && level < l->mean;
}

static void braille_cell(struct canvas *c, const struct place *at, enum hue hue, const struct levels pair[2])
{
	unsigned dots = 0;
	bool below_mean = false;

	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < 4; i++)
			if (dot_lit(&pair[side], at->base + i + 1, at->h))
				dots |= braille_dot[side][i];
		below_mean |= pair[side].mean > at->base;
	}
	if (dots)
		canvas_put(c, at->x, at->y,
			   below_mean ? STYLE_MEAN(hue, at->shade) : STYLE_BAND(hue, SHADES - 1),
			   (wchar_t)(BRAILLE + dots));
}

static void block_cell(struct canvas *c, const struct place *at, enum hue hue, const struct levels *l,
		       bool notch)
{
	enum style mean = STYLE_MEAN(hue, at->shade), band = STYLE_BAND(hue, at->shade);
	int to_mean = l->mean - at->base, to_max = l->max - at->base;

	if (notch && l->min > at->base && l->min <= at->base + 8 && to_mean >= 8)
		canvas_put_on(c, at->x, at->y, band, mean, BLOCK + 1);
	else if (to_mean >= 8)
		canvas_put(c, at->x, at->y, mean, BLOCK + 8);
	else if (to_mean > 0)
		canvas_put_on(c, at->x, at->y, mean, l->max > l->mean + 1 ? band : (enum style)0,
			      (wchar_t)(BLOCK + to_mean));
	else if (to_max > 0)
		canvas_put(c, at->x, at->y, band, (wchar_t)(BLOCK + (to_max < 8 ? to_max : 8)));
}

static void ascii_line(struct canvas *c, const struct place *at, enum hue hue, const struct levels *l)
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
	canvas_put(c, at->x, at->y, swings ? STYLE_BAND(hue, SHADES - 1) : STYLE_MEAN(hue, at->shade), (wchar_t)ch);
}

/* Two levels per line; '.' is the lower one. */
static void ascii_cell(struct canvas *c, const struct place *at, enum hue hue, const struct levels *l)
{
	if (l->mean > at->base)
		canvas_put(c, at->x, at->y, STYLE_MEAN(hue, at->shade), l->mean > at->base + 1 ? L'#' : L'=');
	else if (l->max > at->base)
		canvas_put(c, at->x, at->y, STYLE_BAND(hue, at->shade), l->max > at->base + 1 ? L':' : L'.');
}

static enum hue column_hue(const struct spark_look *look, int first, int per)
{
	unsigned char worst = ALARM_NONE;

	for (int k = 0; look->level && k < per; k++)
		if (look->level[first + k] > worst)
			worst = look->level[first + k];
	return worst == ALARM_CRIT ? HUE_ALERT : worst ? HUE_WARN : look->hue;
}

/* Draw a dotted line in the blank cells of the chart. */
static void limit_line(struct canvas *c, int x, int y, int w, int h, const struct spark_look *look, int levels,
		       int per_line)
{
	int line = (spark_level(look->limit, look->lo, look->hi, levels) - 1) / per_line;

	if (isnan(look->limit) || look->limit > look->hi || look->limit < look->lo || h < 2)
		return;
	for (int i = 0; i < w; i++)
		if (canvas_is_blank(c, x + i, y + h - 1 - line, 1))
			canvas_put(c, x + i, y + h - 1 - line, STYLE_LIMIT,
				   look->charset == CHARSET_ASCII ? L'-' : (wchar_t)0x2508);
}

void spark_draw(struct canvas *c, int x, int y, int w, int h, const struct spark_look *look,
		const struct spark_column *cols)
{
	int per = spark_per_cell(look->charset);
	int per_line = look->charset == CHARSET_BRAILLE ? 4 : look->charset == CHARSET_BLOCKS ? 8 : 2;
	int n = look->charset == CHARSET_ASCII && h == 1 ? ASCII_LEVELS : per_line * h;

	/* Leave the top level of a multi-line chart blank, so that charts never touch. */
	if (h > 1 && look->charset != CHARSET_ASCII)
		n--;
	for (int i = 0; i < w; i++) {
		const struct spark_column *col = &cols[i * per];
		struct levels l[2] = {{0, 0, 0}, {0, 0, 0}};
		enum hue hue = column_hue(look, i * per, per);

		if (!col[0].any && !col[per - 1].any)
			continue;
		for (int k = 0; k < per; k++)
			l[k] = column_levels(&col[k], look, n);
		for (int k = 0; k < h; k++) {
			struct place at = {x + i, y + h - 1 - k, k * per_line, h, spark_shade(k, h)};

			if (look->charset == CHARSET_BRAILLE)
				braille_cell(c, &at, hue, l);
			else if (look->charset == CHARSET_BLOCKS)
				block_cell(c, &at, hue, l, col->notch);
			else if (h == 1)
				ascii_line(c, &at, hue, l);
			else
				ascii_cell(c, &at, hue, l);
		}
	}
	limit_line(c, x, y, w, h, look, n, per_line);
}
