/* What styles look like: that they can be read, and told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "term/palette.h"
#include "term/truecolor.h"

static double linear(int c)
{
	double v = c / 255.0;

	return v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(int rgb)
{
	return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 255) + 0.0722 * linear(rgb & 255);
}

/* As WCAG 2 has it. */
static double contrast(int a, int b)
{
	double x = luminance(a), y = luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* Of the part of 256 colours that is the same everywhere. */
static int rgb_of_256(int n)
{
	static const int step[] = {0, 95, 135, 175, 215, 255};

	assert_in_range(n, 16, 255);
	if (n >= 232)
		return (8 + 10 * (n - 232)) * 0x010101;
	n -= 16;
	return step[n / 36] << 16 | step[n / 6 % 6] << 8 | step[n % 6];
}

/* Backgrounds that people have. */
static const int dark_grounds[] = {0x000000, 0x1e1e1e, 0x282c34, 0x002b36, 0x300a24};
static const int light_grounds[] = {0xffffff, 0xfdf6e3, 0xeeeeee, 0xfafafa};

static bool is_chart(enum style s)
{
	return s >= STYLE_GPU && s <= STYLE_OTHER_MEAN;
}

static void is_legible(const struct scheme *scheme, int colours, const int *grounds, size_t n, double text)
{
	for (int s = 0; s < STYLES; s++) {
		struct look l = palette_look(scheme, (enum style)s, colours);

		if (l.fg < 0)
			continue; /* the terminal's own text on its own background */
		int fg = colours == 256 ? rgb_of_256(l.fg) : l.fg;
		int bg = l.bg < 0 ? -1 : colours == 256 ? rgb_of_256(l.bg) : l.bg;

		for (size_t i = 0; i < n; i++) {
			double ratio = contrast(fg, bg < 0 ? grounds[i] : bg);

			if (ratio < (is_chart((enum style)s) ? 3 : text))
				fail_msg("theme %d ground %d colours %d style %d: contrast %.2f to %06x",
					 scheme->theme, scheme->ground, colours, s, ratio,
					 bg < 0 ? (unsigned)grounds[i] : (unsigned)bg);
		}
	}
}

static void can_be_read(void **state)
{
	static const int both[] = {0x000000, 0xffffff};

	(void)state;
	for (int colours = 256; colours <= PALETTE_RGB; colours += PALETTE_RGB - 256) {
		for (int theme = 0; theme < THEMES; theme++)
			for (int told = 0; told < GROUNDS; told++) {
				struct scheme d = palette_scheme((enum theme)theme, (enum ground)told, GROUND_DARK);
				struct scheme l = palette_scheme((enum theme)theme, (enum ground)told, GROUND_LIGHT);

				is_legible(&d, colours, dark_grounds, 5, 4.5);
				is_legible(&l, colours, light_grounds, 4, 4.5);
			}
		struct scheme unknown = palette_scheme(THEME_STANDARD, GROUND_AUTO, GROUND_AUTO);

		is_legible(&unknown, colours, both, 2, 3.99);
	}
}

static void high_contrast_is_higher(void **state)
{
	(void)state;
	for (int ground = GROUND_DARK; ground <= GROUND_LIGHT; ground++) {
		struct scheme s = palette_scheme(THEME_CONTRAST, (enum ground)ground, GROUND_AUTO);

		for (int style = 0; style < STYLES; style++) {
			struct look l = palette_look(&s, (enum style)style, PALETTE_RGB);

			assert_true(contrast(l.fg, l.bg) >= (is_chart((enum style)style) ? 4.5 : 7));
		}
	}
}

/* Lab, in which distances are those that one sees. */
static void lab(const double rgb[3], double out[3])
{
	double x = (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505,
	       y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2],
	       z = (0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089;
	double *v[] = {&x, &y, &z};

	for (int i = 0; i < 3; i++) {
		double a = *v[i] < 0 ? 0 : *v[i];

		*v[i] = a > 0.008856 ? cbrt(a) : 7.787 * a + 16 / 116.0;
	}
	out[0] = 116 * y - 16;
	out[1] = 500 * (x - y);
	out[2] = 200 * (y - z);
}

/* Machado, Oliveira and Fernandes: complete protanopia and deuteranopia. */
static const double sight[3][3][3] = {
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
};

static double distance(int a, int b, int eye)
{
	double seen[2][3], d = 0;
	int both[] = {a, b};

	for (int k = 0; k < 2; k++) {
		double in[3] = {linear(both[k] >> 16), linear(both[k] >> 8 & 255), linear(both[k] & 255)}, out[3];

		for (int i = 0; i < 3; i++)
			out[i] = sight[eye][i][0] * in[0] + sight[eye][i][1] * in[1] + sight[eye][i][2] * in[2];
		lab(out, seen[k]);
	}
	for (int i = 0; i < 3; i++)
		d += (seen[0][i] - seen[1][i]) * (seen[0][i] - seen[1][i]);
	return sqrt(d);
}

/* The five families that are often beside each other, and what alarms. */
static void safe_for_the_colour_blind(void **state)
{
	static const enum style told[] = {STYLE_GPU_MEAN, STYLE_CPU_MEAN, STYLE_MEMORY_MEAN, STYLE_POWER_MEAN,
					  STYLE_HEAT_MEAN};

	(void)state;
	for (int ground = GROUND_DARK; ground <= GROUND_LIGHT; ground++) {
		struct scheme s = palette_scheme(THEME_SAFE, (enum ground)ground, (enum ground)ground);

		for (int eye = 0; eye < 3; eye++)
			for (int i = 0; i < 5; i++)
				for (int k = 0; k < i; k++) {
					double d = distance(palette_look(&s, told[i], PALETTE_RGB).fg,
							    palette_look(&s, told[k], PALETTE_RGB).fg, eye);

					if (d < 12)
						fail_msg("ground %d eye %d: %d and %d differ by %.1f", ground, eye,
							 k, i, d);
				}
	}
}

/* What nears a limit is seen in any chart: of each theme, and on each ground. */
static void alarms_are_seen(void **state)
{
	(void)state;
	for (int colours = 256; colours <= PALETTE_RGB; colours += PALETTE_RGB - 256)
		for (int theme = 0; theme < THEMES; theme++)
			for (int ground = 0; ground < GROUNDS; ground++) {
				struct scheme s = palette_scheme((enum theme)theme, GROUND_AUTO, (enum ground)ground);
				int warn = palette_look(&s, STYLE_WARN, colours).fg;

				for (int k = STYLE_GPU_MEAN; theme != THEME_MONO && k <= STYLE_OTHER_MEAN; k++) {
					int mean = palette_look(&s, (enum style)k, colours).fg;
					double d = colours == 256 ? distance(rgb_of_256(warn), rgb_of_256(mean), 0)
								  : distance(warn, mean, 0);

					if (d < 20)
						fail_msg("theme %d ground %d colours %d style %d: %.1f", theme,
							 ground, colours, k, d);
				}
			}
}

/* With so few colours that each is a family's, by something else than colour. */
static void alarms_are_seen_with_few_colours(void **state)
{
	(void)state;
	for (int colours = 8; colours <= 16; colours += 8)
		for (int ground = 0; ground < GROUNDS; ground++) {
			struct scheme s = palette_scheme(THEME_STANDARD, GROUND_AUTO, (enum ground)ground);

			for (int k = STYLE_GPU; k <= STYLE_OTHER_MEAN; k++)
				for (int alarm = STYLE_WARN; alarm <= STYLE_ALERT; alarm++) {
					struct look a = palette_look(&s, (enum style)alarm, colours);
					struct look b = palette_look(&s, (enum style)k, colours);

					assert_true(a.fg != b.fg ||
						    ((a.attributes ^ b.attributes) & (LOOK_UNDERLINE | LOOK_REVERSE)));
				}
		}
}

static void all_of_them(void **state)
{
	static const int colours[] = {0, 8, 16, 256, PALETTE_RGB};

	(void)state;
	for (int theme = 0; theme < THEMES; theme++)
		for (int ground = 0; ground < GROUNDS; ground++)
			for (size_t i = 0; i < 5; i++) {
				struct scheme sc = palette_scheme((enum theme)theme, GROUND_AUTO, (enum ground)ground);
				int most = theme == THEME_MONO ? 0 : colours[i];

				for (int s = 0; s < STYLES; s++) {
					struct look l = palette_look(&sc, (enum style)s, colours[i]);

					assert_true(l.fg >= -1 && l.fg < (most ? most : 1));
					assert_true(l.bg >= -1 && l.bg < (most ? most : 1));
					/* the terminal's own background, unless all of it is painted */
					assert_true((l.bg >= 0) == (sc.paint && most) ||
						    s == STYLE_SELECTED);
					if (!most)
						assert_true(l.fg == -1 && l.bg == -1);
				}
				for (int s = STYLE_GPU; s <= STYLE_OTHER; s++) {
					struct look band = palette_look(&sc, (enum style)s, colours[i]);
					struct look mean = palette_look(&sc, (enum style)(s + 6), colours[i]);

					assert_true(band.fg != mean.fg || band.attributes != mean.attributes);
				}
			}
	/* without colours what alarms still stands out */
	struct scheme mono = palette_scheme(THEME_MONO, GROUND_AUTO, GROUND_DARK);
	unsigned text = palette_look(&mono, STYLE_TEXT, 256).attributes,
		 warn = palette_look(&mono, STYLE_WARN, 256).attributes,
		 alert = palette_look(&mono, STYLE_ALERT, 256).attributes;
	assert_true(alert != text && warn != alert && warn != text);
	assert_int_not_equal(palette_look(&mono, STYLE_SELECTED, 0).attributes, text);
}

static void follows_the_terminal(void **state)
{
	(void)state;
	/* on its own background where that is what is wanted, else on one that is brought along */
	assert_false(palette_scheme(THEME_STANDARD, GROUND_AUTO, GROUND_LIGHT).paint);
	assert_int_equal(palette_scheme(THEME_STANDARD, GROUND_AUTO, GROUND_LIGHT).ground, GROUND_LIGHT);
	assert_int_equal(palette_scheme(THEME_STANDARD, GROUND_AUTO, GROUND_AUTO).ground, GROUND_AUTO);
	assert_false(palette_scheme(THEME_STANDARD, GROUND_DARK, GROUND_DARK).paint);
	assert_true(palette_scheme(THEME_STANDARD, GROUND_DARK, GROUND_LIGHT).paint);
	assert_true(palette_scheme(THEME_STANDARD, GROUND_LIGHT, GROUND_AUTO).paint);
	assert_false(palette_scheme(THEME_SAFE, GROUND_AUTO, GROUND_LIGHT).paint);
	assert_int_equal(palette_scheme(THEME_SAFE, GROUND_AUTO, GROUND_AUTO).ground, GROUND_DARK);
	assert_true(palette_scheme(THEME_SAFE, GROUND_AUTO, GROUND_AUTO).paint);
	assert_true(palette_scheme(THEME_CONTRAST, GROUND_AUTO, GROUND_LIGHT).paint);
	assert_false(palette_scheme(THEME_MONO, GROUND_LIGHT, GROUND_DARK).paint);
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

static void rewritten(const char *in, const char *out)
{
	int rgb[256];
	char got[512];

	memset(rgb, -1, sizeof rgb);
	rgb[16] = 0x0102ff;
	rgb[100] = 0xffffff;
	size_t n = truecolor_bytes(in, strlen(in), rgb, got);
	assert_true(n <= 3 * strlen(in));
	got[n] = 0;
	assert_string_equal(got, out);
}

static void true_colours(void **state)
{
	(void)state;
	rewritten("", "");
	rewritten("a38;5;16m", "a38;5;16m");
	rewritten("\033[38;5;16mx", "\033[38;2;1;2;255mx");
	rewritten("\033[;1;38;5;100;48;5;16mx", "\033[;1;38;2;255;255;255;48;2;1;2;255mx");
	rewritten("\033[38;5;17m", "\033[38;5;17m");
	rewritten("\033[38;5;1600m\033[38;5;160000m", "\033[38;5;1600m\033[38;5;160000m");
	rewritten("\033[138;5;16m", "\033[138;5;16m");
	rewritten("\033[38;5;16", "\033[38;5;16");
	rewritten("\033[38;5;m\033[38;5m\033[", "\033[38;5;m\033[38;5m\033[");
	rewritten("\033[3;4H\033[16;16H", "\033[3;4H\033[16;16H");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(can_be_read),
		cmocka_unit_test(high_contrast_is_higher),
		cmocka_unit_test(safe_for_the_colour_blind),
		cmocka_unit_test(alarms_are_seen),
		cmocka_unit_test(alarms_are_seen_with_few_colours),
		cmocka_unit_test(all_of_them),
		cmocka_unit_test(follows_the_terminal),
		cmocka_unit_test(number_of_colours),
		cmocka_unit_test(true_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
