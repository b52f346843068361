/* ui-bench: a screen on a fake board, driven and read like by a user. Include after cmocka's headers. */
#ifndef TESTS_UI_BENCH_H
#define TESTS_UI_BENCH_H

#include <stdlib.h>
#include <string.h>

#include "canvas-text.h"
#include "ui/ui.h"
#include "ui-fake.h"

#ifndef BENCH_VIEW
#define BENCH_VIEW NULL /* the first */
#endif

struct bench {
	struct fake fake;
	struct ui_scene scene;
	struct ui *ui;
	struct canvas canvas;
	char *text; /* the canvas as last drawn */
};

static inline void draw(struct bench *b)
{
	free(b->text);
	ui_draw(b->ui, &b->scene, &b->canvas);
	b->text = canvas_to_text(&b->canvas);
}

static inline void start(struct bench *b, int w, int h, bool live, enum charset cs)
{
	static const struct settings dots = {.mouse = true, .braille = true};
	struct ui_options o = {
		.charset = cs, .settings = cs == CHARSET_BRAILLE ? &dots : NULL, .view = BENCH_VIEW};

	memset(b, 0, sizeof(*b));
	fake_init(&b->fake, 100 * NS_PER_S);
	fake_mark(&b->fake, FAKE_START + 40 * NS_PER_S);
	fake_mark(&b->fake, FAKE_START + 85 * NS_PER_S);
	b->scene = (struct ui_scene) {.timeline = &b->fake.timeline,
				      .live = live,
				      .own_cpu = NAN,
				      .now_ns = b->fake.last_ns,
				      .trace_name = "x.nvmt",
				      .wall_ns = b->fake.about.start.real_ns + 100 * NS_PER_S};
	b->ui = ui_new(&o, NULL);
	assert_non_null(b->ui);
	canvas_resize(&b->canvas, w, h);
	ui_reset(b->ui, &b->scene);
	draw(b);
}

static inline void stop(struct bench *b)
{
	ui_free(b->ui);
	canvas_free(&b->canvas);
	free(b->text);
}

static inline struct request press(struct bench *b, uint32_t key, unsigned mods)
{
	struct event ev = {.kind = EVENT_KEY, .key = key, .mods = mods, .t_ns = 4711};
	struct request r = ui_event(b->ui, &b->scene, &ev);

	draw(b);
	return r;
}

static inline void type(struct bench *b, const char *text)
{
	while (*text)
		press(b, (unsigned char)*text++, 0);
}

static inline struct request mouse(struct bench *b, enum mouse_action action, int button, int x, int y)
{
	struct event ev = {.kind = EVENT_MOUSE, .action = action, .button = button, .x = x, .y = y};
	struct request r = ui_event(b->ui, &b->scene, &ev);

	draw(b);
	return r;
}

/* Copy line n of the frame (0-based, negative from the end). */
static inline const char *line(const struct bench *b, int n)
{
	static char copy[1024];
	const char *p = b->text;

	if (n < 0)
		n += b->canvas.h;
	while (n-- > 0)
		p = strchr(p, '\n') + 1;
	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(p, "\n"), p);
	return copy;
}

static inline void assert_shows(const struct bench *b, const char *text)
{
	if (!strstr(b->text, text))
		fail_msg("\"%s\" is not in\n%s", text, b->text);
}

static inline void assert_hides(const struct bench *b, const char *text)
{
	if (strstr(b->text, text))
		fail_msg("\"%s\" is in\n%s", text, b->text);
}

#endif
