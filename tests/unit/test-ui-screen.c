/* Rules for every frame, in all views and windows: texts do not overlap, numbers are complete, and the
 * screen is full.
 *
 * The linker redirects drawing calls to this file (--wrap), so overlaps are detected although the later
 * text wins. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "ui-bench.h"
#include "ui/layout.h"
#include "ui/screen.h"
#include "ui/view.h"

int __real_canvas_text(struct canvas *c, int x, int y, int w, enum style s, const char *text);
void __real_canvas_put(struct canvas *c, int x, int y, enum style s, wchar_t ch);
int __wrap_canvas_text(struct canvas *c, int x, int y, int w, enum style s, const char *text);
__attribute__((format(printf, 6, 7))) int __wrap_canvas_textf(struct canvas *c, int x, int y, int w, enum style s, const char *fmt, ...);
int __wrap_canvas_right(struct canvas *c, int x, int y, int w, enum style s, const char *text);
void __wrap_canvas_put(struct canvas *c, int x, int y, enum style s, wchar_t ch);

static bool by_text[1000][1000]; /* cells with a character of a text */
static bool wrong;               /* only the first error is kept */
static char complaint[400];

static void note_wrong(const char *what, const char *text, int x, int y)
{
	if (wrong)
		return;
	wrong = true;
	snprintf(complaint, sizeof(complaint), "%s: \"%.200s\" at %d,%d", what, text, x, y);
}

static bool is_number(char ch)
{
	return ch >= '0' && ch <= '9';
}

/* The text is truncated within a number. */
static bool cuts_number(const char *text, int used)
{
	mbstate_t state = {0};
	const char *at = text;
	wchar_t ch;
	int w;

	while (used > 0 && text_next(&at, &state, &ch, &w))
		used -= w;
	return at > text && is_number(at[-1]) && (is_number(*at) || (*at == '.' && is_number(at[1])));
}

int __wrap_canvas_text(struct canvas *c, int x, int y, int w, enum style s, const char *text)
{
	int used;

	for (int i = 0; i < w && i < text_width(text) && x + i < c->w; i++)
		if (y >= 0 && y < c->h && x + i >= 0 && by_text[y][x + i])
			note_wrong("over a text", text, x + i, y);
	used = __real_canvas_text(c, x, y, w, s, text);
	for (int i = x < 0 ? 0 : x; i < x + used; i++)
		by_text[y][i] = !canvas_is_blank(c, i, y, 1);
	if (used < text_width(text) && cuts_number(text, used))
		note_wrong("a number is cut", text, x + used, y);
	return used;
}

__attribute__((format(printf, 6, 7))) int __wrap_canvas_textf(struct canvas *c, int x, int y, int w, enum style s, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return __wrap_canvas_text(c, x, y, w, s, text);
}

int __wrap_canvas_right(struct canvas *c, int x, int y, int w, enum style s, const char *text)
{
	int width = text_width(text);

	return __wrap_canvas_text(c, width < w ? x + w - width : x, y, width < w ? width : w, s, text);
}

/* A blank frees its cell. */
void __wrap_canvas_put(struct canvas *c, int x, int y, enum style s, wchar_t ch)
{
	if (x >= 0 && y >= 0 && x < c->w && y < c->h) {
		char text[2] = {(char)(ch < 0x80 ? ch : '?'), 0};

		if (by_text[y][x] && ch != L' ')
			note_wrong("over a text", text, x, y);
		by_text[y][x] = false;
	}
	__real_canvas_put(c, x, y, s, ch);
}

static void draw_well(struct bench *b, const char *what)
{
	wrong = false;
	memset(by_text, 0, sizeof(by_text));
	draw(b);
	if (wrong && getenv("ALL"))
		printf("%s, %dx%d, %s: %s\n", what, b->canvas.w, b->canvas.h,
		       b->scene.live ? "live" : "replay", complaint);
	else if (wrong)
		fail_msg("%s, %dx%d, %s: %s\n%s", what, b->canvas.w, b->canvas.h,
			 b->scene.live ? "live" : "replay", complaint, b->text);
}

static const struct {
	int w, h;
} sizes[] = {{20, 5}, {60, 16}, {80, 24}, {120, 40}, {200, 60}, {300, 100}};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct fake other;
static struct ui_align where;

static void long_names(struct fake *f)
{
	for (size_t i = 0; i < f->about.n_channels; i++)
		if (i % 3 == 0)
			snprintf(f->channels[i].label, sizeof(f->channels[i].label),
				 "a_name_without_room_in_a_row");
		else if (i % 7 == 1)
			snprintf(f->channels[i].missing, sizeof(f->channels[i].missing),
				 "only root may read it: sudo nvmtop-setup");
	for (size_t i = 0; i < f->n_marks; i++)
		snprintf(f->marks[i].label, sizeof(f->marks[i].label), "a long label of mark %zu of 2", i);
}

/* What the demo has in addition. */
static void whole_board(struct fake *f)
{
	static const char *const clusters[] = {"cpu0-3", "cpu4-7", "cpu8-11"};
	static const char *const engines[] = {"nvdec", "nvenc", "vic"};
	struct channel *ch;

	for (unsigned i = 0; i < 3; i++) {
		fake_add(f, clusters[i], CHANNEL_CPU_FREQ, i + 1, TIER_MEDIUM, UNIT_HZ, FAMILY_CPU);
		ch = fake_add(f, engines[i], CHANNEL_ENGINE_UTIL, i, TIER_SLOW, UNIT_PERCENT, FAMILY_OTHER);
		snprintf(ch->name, sizeof(ch->name), "%s.util", engines[i]);
	}
	ch = fake_add(f, "io", CHANNEL_OTHER, 0, TIER_SLOW, UNIT_PERCENT, FAMILY_OTHER);
	snprintf(ch->name, sizeof(ch->name), "cpu.iowait");
	ch = fake_add(f, "GPU memory", CHANNEL_OTHER, 0, TIER_SLOW, UNIT_KB, FAMILY_MEMORY);
	snprintf(ch->name, sizeof(ch->name), "gpu.memory");
	ch = fake_add(f, "swap", CHANNEL_OTHER, 0, TIER_SLOW, UNIT_KB, FAMILY_MEMORY);
	snprintf(ch->name, sizeof(ch->name), "swap.used");
	for (size_t i = 0; i < f->about.n_channels; i++)
		if (f->channels[i].kind == CHANNEL_GPU_FREQ)
			f->channels[i].hi = 1.3005e9;
		else if (f->channels[i].family == FAMILY_HEAT)
			f->channels[i].warn = 95, f->channels[i].crit = 99;
	fake_change(f, FAKE_START + 60 * NS_PER_S, "mode", "MODE_30W", "MAXN");
	snprintf(f->marks[0].label, sizeof(f->marks[0].label), "load");
	snprintf(f->marks[1].label, sizeof(f->marks[1].label), "idle");
	fake_fact(f, "gpu.governor", "nvhost_podgov");
	fake_fact(f, "fan.profile", "quiet");
}

enum scene { SCENE_PLAIN, SCENE_SELECTED, SCENE_SECOND, SCENE_ODD, SCENE_RANGES, SCENES };

static void set_scene(struct bench *b, enum scene scene)
{
	if (scene == SCENE_ODD)
		long_names(&b->fake);
	if (scene == SCENE_SECOND) {
		fake_init(&other, 60 * NS_PER_S);
		where = (struct ui_align) {.shift_ns = 0, .text = "aligned at the start"};
		b->scene.with = &other.timeline;
		b->scene.with_name = "/traces/y.nvmt";
		b->scene.align = &where;
	}
	if (scene == SCENE_RANGES)
		fake_ranges(&b->fake);
	if (scene == SCENE_SECOND || scene == SCENE_ODD)
		ui_reset(b->ui, &b->scene);
	if (scene == SCENE_SELECTED) {
		ui_seek(b->ui, &b->scene, 60 * NS_PER_S);
		press(b, 'v', 0);
		ui_seek(b->ui, &b->scene, 80 * NS_PER_S);
		press(b, 'v', 0);
	}
}

static void every_picture_is_sound(void **state)
{
	static const char *const names[] = {"plain", "with a selection", "with a second trace",
					    "with long names", "with ranges"};
	char what[64];

	(void)state;
	for (int scene = 0; scene < SCENES; scene++)
		for (int live = 0; live < 2; live++)
			for (int ascii = 0; ascii < 2; ascii++)
				for (size_t i = 0; ui_view_name(i); i++) {
					struct ui_options o = {.charset =
								       ascii ? CHARSET_ASCII : CHARSET_BLOCKS,
							       .view = ui_view_name(i)};
					struct bench b;

					if (views_at(i)->panel)
						continue; /* it covers another view */
					start(&b, 20, 5, live, o.charset);
					ui_free(b.ui);
					b.ui = ui_new(&o, NULL);
					ui_reset(b.ui, &b.scene);
					set_scene(&b, (enum scene)scene);
					for (size_t k = 0; k < SIZES; k++) {
						canvas_resize(&b.canvas, sizes[k].w, sizes[k].h);
						snprintf(what, sizeof(what), "%s %s", o.view, names[scene]);
						draw_well(&b, what);
					}
					stop(&b);
				}
}

/* Both ends of a scale are beside the first and last line of its chart. */
static void scales_have_two_ends(void **state)
{
	(void)state;
	for (size_t k = 0; k < SIZES; k++) {
		const struct rect *scale;
		struct bench b;

		start(&b, sizes[k].w, sizes[k].h, true, CHARSET_BLOCKS);
		scale = &b.ui->at.scale;
		assert_int_equal(b.ui->scroll, 0);
		for (int i = 0, y = b.ui->at.body.y; i < b.ui->n_rows && scale->w; y += b.ui->height[i++]) {
			assert_true(b.ui->height[i] >= 2 &&
				    y + b.ui->height[i] <= b.ui->at.body.y + b.ui->at.body.h);
			assert_false(canvas_is_blank(&b.canvas, scale->x, y, scale->w));
			assert_false(canvas_is_blank(&b.canvas, scale->x, y + b.ui->height[i] - 1, scale->w));
		}
		stop(&b);
	}
}

/* Wherever it has a line, and in the same words in all views. */
static void the_second_line_says_what_limits(void **state)
{
	(void)state;
	for (size_t k = 0; k < SIZES; k++)
		for (size_t i = 0; ui_view_name(i); i++) {
			struct ui_options o = {.charset = CHARSET_BLOCKS, .view = ui_view_name(i)};
			struct bench b;

			if (views_at(i)->covers)
				continue;
			start(&b, sizes[k].w, sizes[k].h, false, o.charset);
			ui_free(b.ui);
			b.ui = ui_new(&o, NULL);
			ui_reset(b.ui, &b.scene);
			draw(&b);
			if (sizes[k].h >= 8 && strncmp(line(&b, 1) + 1, "limit: ", 7) != 0)
				fail_msg("%s: %s", o.view, b.text);
			stop(&b);
		}
}

/* Fraction of empty cells. Charts and events do not count, because there empty means no data, nor does
 * the space between two words. */
static double blank_percent(const struct bench *b)
{
	const struct canvas *c = &b->canvas;
	const struct layout *at = &b->ui->at;
	int blank = 0, end = at->chart.y + at->chart.h + at->events.h;

	for (int y = 0; y < c->h; y++)
		for (int x = 0; x < c->w; x++)
			if (canvas_is_blank(c, x, y, 1) &&
			    (canvas_is_blank(c, x - 1, y, 1) || canvas_is_blank(c, x + 1, y, 1)) &&
			    (y < at->chart.y || y >= end || x < at->chart.x ||
			     x >= at->chart.x + at->chart.w))
				blank++;
	return 100.0 * blank / (c->w * c->h);
}

static void the_overview_is_full(void **state)
{
	static const struct {
		int w, h, most;
	} full[] = {{120, 40, 20}, {200, 60, 25}};

	(void)state;
	for (int live = 0; live < 2; live++)
		for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
			struct bench b;
			double blank;

			start(&b, full[i].w, full[i].h, live, CHARSET_BLOCKS);
			whole_board(&b.fake);
			ui_reset(b.ui, &b.scene);
			draw(&b);
			blank = blank_percent(&b);
			print_message("%dx%d, %s: %.1f %% blank beside the charts\n", full[i].w, full[i].h,
				      live ? "live" : "replay", blank);
			/* The strip of a replay is a chart too, but not one of these. */
			if (live && blank > full[i].most)
				fail_msg("more than %d %%\n%s", full[i].most, b.text);
			stop(&b);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_picture_is_sound),
		cmocka_unit_test(scales_have_two_ends),
		cmocka_unit_test(the_second_line_says_what_limits),
		cmocka_unit_test(the_overview_is_full),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
