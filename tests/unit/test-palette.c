/* The styles are readable, and distinguishable by every eye. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "term/palette.h"

static double linear(int c)
{
	double v = c / 255.0;

	return v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(int rgb)
{
	return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 255) + 0.0722 * linear(rgb & 255);
}

/* According to WCAG 2. */
static double contrast(int a, int b)
{
	double x = luminance(a), y = luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* For the part of the 256 colours that is the same everywhere. */
static int rgb_of_256(int n)
{
	static const int step[] = {0, 95, 135, 175, 215, 255};

	assert_in_range(n, 16, 255);
	if (n >= 232)
		return (8 + 10 * (n - 232)) * 0x010101;
	n -= 16;
	return step[n / 36] << 16 | step[n / 6 % 6] << 8 | step[n % 6];
}

#define EACH_PAINTED(theme, ground, colours)                                                                 \
	for (int theme = 0; theme < THEME_TERMINAL; theme++)                                                 \
		for (int ground = GROUND_DARK; ground <= GROUND_LIGHT; ground++)                             \
			for (int colours = 256; colours <= PALETTE_RGB; colours += PALETTE_RGB - 256)

static struct look look(int theme, int ground, int style, int colours)
{
	struct look l = palette_look((enum theme)theme, (enum ground)ground, (enum style)style, colours);

	if (colours == 256) {
		l.fg = rgb_of_256(l.fg);
		l.bg = rgb_of_256(l.bg);
		l.back = rgb_of_256(l.back);
	}
	return l;
}

/* Lines may be faint; a band is recognized by its neighbours. */
static bool is_faint(int s)
{
	return s == STYLE_BORDER || s == STYLE_TRACK || s == STYLE_LIMIT ||
	       (s >= STYLE_SHADES && (s - STYLE_SHADES) / SHADES % 2);
}

static void can_be_read(void **state)
{
	(void)state;
	EACH_PAINTED(theme, ground, colours)
	{
		bool high = theme == THEME_CONTRAST;

		for (int s = 0; s < STYLES; s++) {
			struct look l = look(theme, ground, s, colours);
			double ratio = contrast(l.fg, l.bg), least = s >= STYLE_SHADES ? high ? 4.5 : 3
								     : high            ? 7
										       : 4.5;

			if (ratio < (is_faint(s) ? 1.15 : colours == 256 ? least * 0.79 : least))
				fail_msg("theme %d ground %d colours %d style %d: contrast %.2f", theme,
					 ground, colours, s, ratio);
		}
	}
}

/* The top of the mean and the band share a cell; the mean must also be visible on the band. */
static void the_mean_is_seen_on_the_band(void **state)
{
	(void)state;
	EACH_PAINTED(theme, ground, colours)
	for (int hue = 0; hue < HUES; hue++)
		for (int i = 0; i < SHADES; i++) {
			double ratio = contrast(look(theme, ground, STYLE_MEAN(hue, i), colours).fg,
						look(theme, ground, STYLE_BAND(hue, i), colours).back);

			if (ratio < (colours == 256 ? 1.2 : 1.5))
				fail_msg("theme %d ground %d colours %d hue %d shade %d: %.2f", theme, ground,
					 colours, hue, i, ratio);
		}
}

/* Machado, Oliveira and Fernandes: complete protanopia and deuteranopia. */
static const double sight[3][3][3] = {
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
};

/* The colour seen by an eye, in CIE Lab. */
static void lab(int rgb, int eye, double out[3])
{
	static const double to_xyz[3][3] = {
		{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}};
	static const double white[3] = {0.9505, 1, 1.089};
	double in[3] = {linear(rgb >> 16), linear(rgb >> 8 & 255), linear(rgb & 255)}, f[3];

	for (int i = 0; i < 3; i++) {
		double v = 0;

		for (int k = 0; k < 3; k++) {
			const double *m = sight[eye][k];
			double seen = m[0] * in[0] + m[1] * in[1] + m[2] * in[2];

			v += to_xyz[i][k] / white[i] * fmin(fmax(seen, 0), 1);
		}
		f[i] = v > 0.008856 ? cbrt(v) : 7.787 * v + 16 / 116.0;
	}
	out[0] = 116 * f[1] - 16;
	out[1] = 500 * (f[0] - f[1]);
	out[2] = 200 * (f[1] - f[2]);
}

#define RAD (3.14159265358979 / 180)

static double degrees(double b, double a)
{
	double h = atan2(b, a) / RAD;

	return h < 0 ? h + 360 : h;
}

/* Perceived distance of x and y, in Lab: CIEDE2000. */
static double ciede2000(const double x[3], const double y[3])
{
	double mean = (hypot(x[1], x[2]) + hypot(y[1], y[2])) / 2, m7 = pow(mean, 7), big = pow(25, 7),
	       g = 1.5 - 0.5 * sqrt(m7 / (m7 + big)), c1 = hypot(g * x[1], x[2]), c2 = hypot(g * y[1], y[2]),
	       h1 = degrees(x[2], g * x[1]), h2 = degrees(y[2], g * y[1]), dh = h2 - h1, h = (h1 + h2) / 2,
	       l = (x[0] + y[0]) / 2, c = (c1 + c2) / 2, c7 = pow(c, 7);

	if (fabs(dh) > 180) {
		dh += dh > 0 ? -360 : 360;
		h += h < 180 ? 180 : -180;
	}
	double t = 1 - 0.17 * cos((h - 30) * RAD) + 0.24 * cos(2 * h * RAD) + 0.32 * cos((3 * h + 6) * RAD) -
		   0.2 * cos((4 * h - 63) * RAD),
	       dl = (y[0] - x[0]) / (1 + 0.015 * pow(l - 50, 2) / sqrt(20 + pow(l - 50, 2))),
	       dc = (c2 - c1) / (1 + 0.045 * c),
	       dhue = 2 * sqrt(c1 * c2) * sin(dh / 2 * RAD) / (1 + 0.015 * c * t),
	       turn = -2 * sqrt(c7 / (c7 + big)) * sin(60 * exp(-pow((h - 275) / 25, 2)) * RAD);

	return sqrt(dl * dl + dc * dc + dhue * dhue + turn * dc * dhue);
}

static double distance(int a, int b, int eye)
{
	double x[3], y[3];

	lab(a, eye, x);
	lab(b, eye, y);
	return ciede2000(x, y);
}

/* Reference pairs of Sharma, Wu and Dalal for common errors in the formula. */
static void the_distance_is_right(void **state)
{
	static const struct {
		double x[3], y[3], d;
	} known[] = {
		{{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
		{{50, -1, 2}, {50, 0, 0}, 2.3669},
		{{50, 2.5, 0}, {73, 25, -18}, 27.1492},
		{{50, 2.5, 0}, {50, 0, -2.5}, 4.3065},
		{{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
		{{63.0109, -31.0961, -5.8663}, {62.8187, -29.7946, -4.0864}, 1.2630},
		{{22.7233, 20.0904, -46.6940}, {23.0331, 14.9730, -42.5619}, 2.0373},
		{{90.8027, -2.0831, 1.4410}, {91.1528, -1.6435, 0.0447}, 1.4441},
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		assert_true(fabs(ciede2000(known[i].x, known[i].y) - known[i].d) < 0.0001);
}

/* The five families are often adjacent; the fixed 256 colours are coarser. */
static void families_are_told_apart(void **state)
{
	(void)state;
	EACH_PAINTED(theme, ground, colours)
	{
		double least = theme == THEME_CONTRAST ? 1.5
			       : colours == 256        ? 6
			       : theme == THEME_SAFE   ? 20
						       : 10;

		for (int eye = 0; eye < 3; eye++)
			for (int i = STYLE_GPU; i <= STYLE_HEAT; i++)
				for (int k = STYLE_GPU; k < i; k++) {
					double d = distance(look(theme, ground, i, colours).fg,
							    look(theme, ground, k, colours).fg, eye);

					if (d < least)
						fail_msg("theme %d ground %d colours %d eye %d: %d and %d "
							 "differ by %.1f",
							 theme, ground, colours, eye, k, i, d);
				}
	}
}

/* Amber and red are visible in every chart. */
static void alarms_are_seen(void **state)
{
	(void)state;
	EACH_PAINTED(theme, ground, colours)
	for (int alarm = STYLE_WARN; alarm <= STYLE_ALERT; alarm++)
		for (int k = STYLE_GPU; k <= STYLE_OTHER; k++) {
			double d = distance(look(theme, ground, alarm, colours).fg,
					    look(theme, ground, k, colours).fg, 0);

			if (d < (colours == 256 ? 7 : 12))
				fail_msg("theme %d ground %d colours %d alarm %d style %d: %.1f", theme,
					 ground, colours, alarm, k, d);
		}
	for (int colours = 8; colours <= 16; colours += 8)
		for (int ground = 0; ground < GROUNDS; ground++)
			for (int alarm = STYLE_WARN; alarm <= STYLE_ALERT; alarm++)
				for (int k = STYLE_GPU; k <= STYLE_OTHER; k++) {
					struct look a = palette_look(THEME_TERMINAL, (enum ground)ground,
								     (enum style)alarm, colours),
						    b = palette_look(THEME_TERMINAL, (enum ground)ground,
								     (enum style)k, colours);

					assert_true(a.fg != b.fg || a.bg != b.bg);
				}
}

/* With 256 colours. Two tones would have one edge, which reads as a threshold. */
static void tones_are_four_even_steps(void **state)
{
	(void)state;
	for (int theme = 0; theme < THEME_TERMINAL; theme++)
		for (int ground = GROUND_DARK; ground <= GROUND_LIGHT; ground++)
			for (int i = 1; i < HUES * SHADES; i++) {
				int hue = i / SHADES, n = i % SHADES;
				int below = look(theme, ground, STYLE_MEAN(hue, n - 1), 256).fg, fg = look(theme, ground, STYLE_MEAN(hue, n), 256).fg;
				double d = distance(below, fg, 0);

				if (!n)
					continue;
				if (n % 2 ? fg != below : d < 3 || d > 19 || (luminance(fg) < luminance(below)) != (ground == GROUND_LIGHT))
					fail_msg("theme %d ground %d hue %d shade %d: %06x, %06x, distance %.1f", theme, ground, hue, n, below, fg, d);
			}
}

/* A column in amber or red has neighbours of its family. */
static void alarms_are_seen_in_charts(void **state)
{
	(void)state;
	EACH_PAINTED(theme, ground, colours)
	for (int i = 0; i < 2 * HUE_WARN * SHADES; i++) {
		int hue = i / 2 / SHADES, n = i / 2 % SHADES, alarm = HUE_WARN + i % 2;
		double d = distance(look(theme, ground, STYLE_MEAN(hue, n), colours).fg, look(theme, ground, STYLE_MEAN(alarm, n), colours).fg, 0);

		if (d < 9)
			fail_msg("theme %d ground %d colours %d hue %d shade %d alarm %d: %.1f", theme, ground, colours, hue, n, alarm, d);
	}
}

/* A painter can number 240 colours. */
static void colours_can_be_counted(void **state)
{
	(void)state;
	EACH_PAINTED(theme, ground, colours)
	{
		int seen[3 * STYLES], n = 0;

		for (int s = 0; s < 3 * STYLES; s++) {
			struct look l = look(theme, ground, s / 3, colours);
			int c = s % 3 == 0 ? l.fg : s % 3 == 1 ? l.bg : l.back, k = 0;

			while (k < n && seen[k] != c)
				k++;
			seen[k] = c;
			n += k == n;
		}
		assert_in_range(n, 10, 240);
	}
}

static void all_of_them(void **state)
{
	static const int colours[] = {0, 8, 16, 256, PALETTE_RGB};

	(void)state;
	for (int theme = 0; theme < THEMES; theme++)
		for (int ground = 0; ground < GROUNDS; ground++)
			for (size_t i = 0; i < 5; i++) {
				int most = theme == THEME_MONO                ? 0
					   : theme == THEME_TERMINAL && i > 2 ? 16
									      : colours[i];
				struct look l, text = palette_look((enum theme)theme, (enum ground)ground,
								   STYLE_TEXT, colours[i]);

				for (int s = 0; s < STYLES; s++) {
					l = palette_look((enum theme)theme, (enum ground)ground,
							 (enum style)s, colours[i]);
					assert_in_range(l.fg + 1, 0, most);
					assert_in_range(l.bg + 1, 0, most);
					assert_in_range(l.back + 1, 0, most);
					if (theme < THEME_TERMINAL && most)
						assert_true(l.fg >= 0 && l.bg >= 0);
				}
				if (theme >= THEME_TERMINAL)
					assert_true(text.fg == -1 && text.bg == -1);
				for (int hue = 0; hue < HUES; hue++) {
					struct look mean =
						palette_look((enum theme)theme, (enum ground)ground,
							     STYLE_MEAN(hue, 4), colours[i]);

					l = palette_look((enum theme)theme, (enum ground)ground,
							 STYLE_BAND(hue, 4), colours[i]);
					assert_true(l.fg != mean.fg || l.attributes != mean.attributes);
				}
			}
	/* without colours alarms still stand out */
	unsigned text = palette_look(THEME_MONO, 0, STYLE_TEXT, 256).attributes,
		 warn = palette_look(THEME_MONO, 0, STYLE_WARN, 256).attributes,
		 alert = palette_look(THEME_MONO, 0, STYLE_ALERT, 256).attributes;
	assert_true(alert != text && warn != alert && warn != text);
	assert_int_not_equal(palette_look(THEME_MONO, 0, STYLE_SELECTED, 0).attributes, text);
	assert_int_not_equal(palette_look(THEME_MONO, 0, STYLE_TAB, 0).attributes, text);
}

static void number_of_colours(void **state)
{
	(void)state;
	unsetenv("NO_COLOR");
	assert_int_equal(palette_colours(COLOUR_AUTO, -1, false), 0);
	assert_int_equal(palette_colours(COLOUR_AUTO, 0, true), 0);
	assert_int_equal(palette_colours(COLOUR_AUTO, 8, false), 8);
	assert_int_equal(palette_colours(COLOUR_AUTO, 8, true), 8);
	assert_int_equal(palette_colours(COLOUR_AUTO, 16, false), 16);
	assert_int_equal(palette_colours(COLOUR_AUTO, 88, false), 16);
	assert_int_equal(palette_colours(COLOUR_AUTO, 256, false), 256);
	assert_int_equal(palette_colours(COLOUR_AUTO, 256, true), PALETTE_RGB);
	assert_int_equal(palette_colours(COLOUR_AUTO, 1 << 24, true), PALETTE_RGB);
	assert_int_equal(palette_colours(COLOUR_AUTO, 1 << 24, false), 8);
	assert_int_equal(palette_colours(COLOUR_8, 256, true), 8);
	assert_int_equal(palette_colours(COLOUR_16, 256, true), 16);
	assert_int_equal(palette_colours(COLOUR_256, 256, true), 256);
	assert_int_equal(palette_colours(COLOUR_RGB, 256, false), PALETTE_RGB);
	assert_int_equal(palette_colours(COLOUR_256, 8, false), 8);
	assert_int_equal(palette_colours(COLOUR_NEVER, 256, true), 0);
	setenv("NO_COLOR", "1", 1);
	assert_int_equal(palette_colours(COLOUR_AUTO, 256, true), 0);
	assert_int_equal(palette_colours(COLOUR_256, 256, true), 256);
	setenv("NO_COLOR", "", 1);
	assert_int_equal(palette_colours(COLOUR_AUTO, 256, false), 256);
	unsetenv("NO_COLOR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(can_be_read),           cmocka_unit_test(the_mean_is_seen_on_the_band),
		cmocka_unit_test(the_distance_is_right), cmocka_unit_test(families_are_told_apart),
		cmocka_unit_test(alarms_are_seen),       cmocka_unit_test(tones_are_four_even_steps),
		cmocka_unit_test(alarms_are_seen_in_charts), cmocka_unit_test(colours_can_be_counted),
		cmocka_unit_test(all_of_them),           cmocka_unit_test(number_of_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
