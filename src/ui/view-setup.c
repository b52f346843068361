/* view-setup: the settings of the screen, in a panel next to the view that they change.
 *
 * Each change takes effect at once and is saved. */
#include "ui/draw.h"
#include "ui/meter.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/clock.h"
#include "util/intl.h"
#include "util/text.h"

#include <math.h>
#include <string.h>

#define PANEL_W 50

enum { SET_THEME, SET_GROUND, SET_CHARTS, SET_MOUSE, SET_VIEW, SET_FRAMES, SET_HISTORY, SETS };

static const char *const titles[SETS] = {N_("Colours"),    N_("Background"), N_("Charts"), N_("Mouse"),
					 N_("First view"), N_("Frame rate"), N_("History")};
static const char *const themes[THEMES] = {N_("standard"), N_("high contrast"), N_("colour-blind safe"),
					   N_("the terminal's"), N_("none")};
static const char *const grounds[GROUNDS] = {N_("the terminal's"), N_("dark"), N_("light")};
static const double frames[] = {0, 1, 2, 5, 10, 20, 30};
#define FRAMES ((int)(sizeof(frames) / sizeof(frames[0])))

/* The choices for the history, in increasing order; the settings file can contain other values. */
static const int64_t histories[] = {0, 60 * NS_PER_S, HISTORY_NS, 3600 * NS_PER_S};
#define HISTORIES ((int)(sizeof(histories) / sizeof(histories[0])))

struct setup {
	int at; /* the selected item */
	bool begun;
	int64_t history_ns; /* in effect since the start */
	int64_t rows_ns;    /* as of the scene */
};

static struct setup *state_of(const struct ui *u)
{
	struct setup *p = ui_state(u, &view_settings);

	if (!p->begun) {
		p->begun = true;
		p->history_ns = u->settings.history_ns;
	}
	return p;
}

static int place_at(const struct ui *u, int nth)
{
	for (int i = 0; i < u->n_places; i++)
		if (u->places[i].signal && nth-- == 0)
			return i;
	return -1;
}

static int nth_of(const struct ui *u, int place)
{
	int n = 0;

	for (int i = 0; i < place; i++)
		n += u->places[i].signal;
	return n;
}

/* The number of rows that can be set: those with a signal. */
static int places(const struct ui *u)
{
	return nth_of(u, u->n_places);
}

/* The last item, after the rows, resets them all. */
static int items(const struct ui *u)
{
	return SETS + (places(u) ? places(u) + 1 : 0);
}

static int frames_at(const struct ui *u)
{
	for (int i = 0; i < FRAMES; i++)
		if (u->settings.frames <= frames[i])
			return i;
	return FRAMES - 1;
}

/* The first view: one with a tab. */
static size_t view_at(const struct ui *u)
{
	size_t i = views_named(u->settings.view);

	return i < N_VIEWS && views_at(i)->label ? i : 0;
}

static int history_at(const struct settings *s)
{
	for (int i = 0; i < HISTORIES; i++)
		if (histories[i] >= s->history_ns)
			return i;
	return HISTORIES - 1;
}

static int turn(int at, int by, int n)
{
	return (at + by + n) % n;
}

static void change(struct ui *u, int item, int by, struct request *r)
{
	struct settings *s = &u->settings;
	int at;

	switch (item) {
	case SET_THEME:
		s->theme = (enum theme)turn((int)s->theme, by, THEMES);
		break;
	case SET_GROUND:
		s->ground = (enum ground)turn((int)s->ground, by, GROUNDS);
		break;
	case SET_CHARTS:
		s->braille = !s->braille;
		break;
	case SET_MOUSE:
		s->mouse = !s->mouse;
		break;
	case SET_VIEW:
		at = (int)view_at(u);
		do
			at = turn(at, by, N_VIEWS);
		while (!views_at((size_t)at)->label);
		snprintf(s->view, sizeof(s->view), "%s", at ? views_at((size_t)at)->name : "");
		break;
	case SET_FRAMES:
		s->frames = frames[turn(frames_at(u), by, FRAMES)];
		u->frame_ms = s->frames > 0 ? (int)(1000 / s->frames) : 0;
		break;
	case SET_HISTORY:
		s->history_ns = histories[turn(history_at(s), by, HISTORIES)];
		break;
	default:
		return;
	}
	r->kind = REQUEST_SETTINGS;
}

/* A change of the history takes effect at the next start. */
static void history_of(const struct ui *u, char *out, size_t size)
{
	int64_t rows_ns = state_of(u)->rows_ns;
	long long seconds = u->settings.history_ns / NS_PER_S;
	bool later = u->settings.history_ns != state_of(u)->history_ns;
	char time[32], less[32];

	if (seconds == 0)
		snprintf(time, sizeof(time), "%s", _("only now"));
	else
		snprintf(time, sizeof(time), seconds % 3600 == 0 ? "%lld h" : seconds % 60 == 0 ? "%lld min" : "%lld s",
			 seconds / (seconds % 3600 == 0 ? 3600 : seconds % 60 == 0 ? 60 : 1));
	text_elapsed(less, sizeof(less), rows_ns);
	if (later)
		/* TRANSLATORS: a time, which takes effect at the next start of nvmtop. */
		snprintf(out, size, _("%s, after a restart"), time);
	else if (rows_ns)
		/* TRANSLATORS: two times; there is memory for the second one. */
		snprintf(out, size, _("%s, of which %s fit"), time, less);
	else
		snprintf(out, size, "%s", time);
}

static void value_of(const struct ui *u, int item, char *out, size_t size)
{
	const struct settings *s = &u->settings;

	switch (item) {
	case SET_THEME:
		snprintf(out, size, "%s", _(themes[s->theme]));
		break;
	case SET_GROUND:
		snprintf(out, size, "%s",
			 s->theme == THEME_MONO ? _("the terminal's") : _(grounds[s->ground]));
		break;
	case SET_CHARTS:
		snprintf(out, size, "%s",
			 u->charset == CHARSET_ASCII ? "ASCII" : s->braille ? _("braille") : _("blocks"));
		break;
	case SET_MOUSE:
		snprintf(out, size, "%s", s->mouse ? _("on") : _("left to the terminal"));
		break;
	case SET_VIEW:
		snprintf(out, size, "%s", _(views_at(view_at(u))->label));
		break;
	case SET_HISTORY:
		history_of(u, out, size);
		break;
	default:
		if (s->frames > 0)
			snprintf(out, size, _("%g / s"), s->frames);
		else
			snprintf(out, size, "%s", _("automatic"));
		break;
	}
}

/* Lines of the panel: settings, a heading, rows, reset. */
static int line_of(int item)
{
	return item < SETS ? item : item + 2;
}

/* The panel, no higher than its contents. */
static struct rect panel(const struct ui *u, int w)
{
	struct rect r = {.y = u->at.body.y, .h = u->at.body.h, .w = w < PANEL_W + 24 ? w : PANEL_W};
	int lines = line_of(items(u) - 1) + 1;

	if (r.h > lines + 2)
		r.h = lines + 2;
	r.x = w - r.w;
	return r;
}

#define PREVIEW_H 6

/* The preview below the panel; height 0: no room. */
static struct rect preview(const struct ui *u, int w)
{
	struct rect p = panel(u, w), r = {p.x, p.y + p.h, p.w, PREVIEW_H};

	if (r.y + r.h > u->at.body.y + u->at.body.h || r.w < 34)
		r.h = 0;
	return r;
}

static void settle(struct ui *u)
{
	struct setup *p = state_of(u);
	int n = items(u), h = panel(u, u->frame.w).h - 2, line;

	if (p->at >= n)
		p->at = n - 1;
	if (p->at < 0)
		p->at = 0;
	line = line_of(p->at);
	if (u->over_scroll > line)
		u->over_scroll = line;
	if (u->over_scroll < line - h + 1)
		u->over_scroll = line - h + 1;
	if (u->over_scroll < 0 || (line < SETS && line < h))
		u->over_scroll = 0;
}

static void draw_item(struct ui *u, struct canvas *c, int item, int x, int y, int w)
{
	bool chosen = item == state_of(u)->at;
	enum style style = chosen ? STYLE_SELECTED : STYLE_TEXT;
	int name_w = w > 40 ? 22 : w / 2, at, right;
	char text[96];

	for (int k = 0; chosen && k < w; k++)
		canvas_put(c, x + k, y, style, L' ');
	canvas_put(c, x, y, style, chosen ? L'>' : L' ');
	x += 2;
	if (item < SETS) {
		screen_cut(u, c, x, y, name_w - 1, style, _(titles[item]));
		value_of(u, item, text, sizeof(text));
		screen_cut(u, c, x + name_w, y, w - 3 - name_w, style, text);
	} else if (item == items(u) - 1) {
		canvas_text(c, x, y, w - 2, style, _("Reset all rows"));
	} else {
		const struct spot *p = &u->places[place_at(u, item - SETS)];

		canvas_text(c, x, y, 4, style, p->hidden ? "[ ]" : "[x]");
		if (p->hidden)
			snprintf(text, sizeof(text), "%s", _("hidden"));
		else if (p->lines)
			snprintf(text, sizeof(text), P_("%d line", "%d lines", p->lines), p->lines);
		else
			text[0] = 0;
		at = x + 4 + (p->part ? 2 : 0);
		right = w - 3 - (*p->unit ? 4 : 0);
		screen_cut(u, c, at, y, x - at + (text[0] ? name_w - 1 : right), style, p->name);
		if (!text[0] || w > 30)
			canvas_right(c, x + w - 7, y, 4, chosen ? style : STYLE_DIM, p->unit);
		canvas_text(c, x + name_w, y, w - 2 - name_w, style, text);
	}
}

/* Draw a wave of mean and maximum; the last columns exceed their limit. */
static void draw_wave(const struct ui *u, struct canvas *c, int x, int y, int w, int h)
{
	struct spark_look look = {.charset = u->charset, .hue = HUE_POWER, .lo = 0, .hi = 100, .limit = 90};
	struct spark_column columns[2 * PANEL_W];
	unsigned char level[2 * PANEL_W];
	int n = w * spark_per_cell(u->charset);

	for (int i = 0; i < n; i++) {
		double mean = 52 - 40 * cos(2 * M_PI * 1.5 * i / n);

		columns[i] = (struct spark_column) {.any = true, .min = mean, .mean = mean, .max = fmin(mean + 8 + i % 3 * 8, 100)};
		level[i] = i > n / 2 && columns[i].max >= 95 ? ALARM_CRIT : ALARM_NONE;
	}
	look.level = level;
	spark_draw(c, x, y, w, h, &look, columns);
}

/* Draw all hues with the current settings. */
static void draw_preview(struct ui *u, struct canvas *c)
{
	static const struct {
		const char *name;
		enum hue hue;
		enum alarm alarm;
	} bars[] = {{N_("GPU"), HUE_GPU, ALARM_NONE},     {N_("CPU"), HUE_CPU, ALARM_NONE},
		    {N_("memory"), HUE_MEMORY, ALARM_NONE}, {N_("power"), HUE_POWER, ALARM_NONE},
		    {N_("heat"), HUE_HEAT, ALARM_NONE},   {N_("near"), HUE_OTHER, ALARM_WARN},
		    {N_("over"), HUE_OTHER, ALARM_CRIT},  {N_("other"), HUE_OTHER, ALARM_NONE}};
	struct rect r = preview(u, c->w);
	int left = r.x + 2, bar_w = (r.w - 4 - 15 - 2 * 8 - 1) / 2;

	if (!r.h)
		return;
	box_draw(u, c, &r);
	canvas_textf(c, r.x + 2, r.y, r.w - 4, STYLE_DIM, " %s ", _("Preview"));
	draw_wave(u, c, left, r.y + 1, 13, r.h - 2);
	for (int i = 0; i < (int)(sizeof(bars) / sizeof(bars[0])); i++) {
		int x = left + 15 + i / 4 * (bar_w + 9), y = r.y + 1 + i % 4;

		canvas_text(c, x, y, 7, bars[i].alarm == ALARM_CRIT ? STYLE_ALERT : bars[i].alarm ? STYLE_WARN
			    : (enum style)(STYLE_GPU + (int)bars[i].hue), _(bars[i].name));
		meter_draw(c, u->charset, x + 8, y, bar_w, 0.4 + 0.15 * (i % 4), bars[i].hue, bars[i].alarm);
	}
}

static void setup_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct rect r = panel(u, c->w);
	int n = items(u), h = r.h - 2;
	char text[96];

	settle(u);
	state_of(u)->rows_ns = s->rows_ns;
	if (r.h < 4 || r.w < 20)
		return;
	draw_preview(u, c);
	box_draw(u, c, &r);
	canvas_textf(c, r.x + 2, r.y, r.w - 4, STYLE_STRONG, " %s ", _("Settings"));
	for (int item = 0; item < n; item++) {
		int y = r.y + 1 + line_of(item) - u->over_scroll;

		if (y > r.y && y <= r.y + h)
			draw_item(u, c, item, r.x + 1, y, r.w - 2);
	}
	if (n > SETS && SETS + 1 >= u->over_scroll && SETS + 1 - u->over_scroll < h) {
		snprintf(text, sizeof(text), _("Rows of %s"), _(u->view->label));
		canvas_text(c, r.x + 3, r.y + 2 + SETS - u->over_scroll, r.w - 5, STYLE_DIM, text);
	}
	u->frame.below = line_of(n - 1) + 1 - u->over_scroll - h;
}

/* The place of the selected row; -1: no row is selected. */
static int place_of(const struct ui *u)
{
	int at = state_of(u)->at;

	return at < SETS ? -1 : place_at(u, at - SETS);
}

static void setup_hide(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int place = place_of(u);

	arrange_hide(u, place, place >= 0 && !u->places[place].hidden, r);
}

static void setup_height(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int place = place_of(u);

	arrange_lines(u, place, place < 0 ? 0 : u->places[place].lines + arg, r);
}

static void setup_shift(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int place = place_of(u);
	char id[SETTINGS_NAME];

	if (place < 0)
		return;
	memcpy(id, u->places[place].id, sizeof(id));
	arrange_move(u, place, arg, r);
	for (int i = 0; i < u->n_places; i++)
		if (!strcmp(u->places[i].id, id))
			state_of(u)->at = SETS + nth_of(u, i);
}

/* arg: -1, 1: the previous or next value; 0: the next value, or hide or show a row. */
static void setup_change(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int at = state_of(u)->at;

	if (at < SETS)
		change(u, at, arg < 0 ? -1 : 1, r);
	else if (at == items(u) - 1)
		arrange_forget(u, r);
	else if (arg)
		setup_height(u, s, r, arg);
	else
		setup_hide(u, s, r, arg);
	settle(u);
}

static void setup_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	state_of(u)->at += view_lines(how, by, u->at.body.h > 3 ? u->at.body.h - 3 : 1);
	settle(u);
}

static bool setup_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	struct rect p = panel(u, u->frame.w);
	int line = y - p.y - 1 + u->over_scroll;
	struct setup *state = state_of(u);

	if (x <= p.x || x >= p.x + p.w - 1 || y <= p.y || y >= p.y + p.h - 1)
		return false;
	for (int item = 0; item < items(u); item++) {
		if (line_of(item) != line)
			continue;
		if (item == state->at || item >= SETS) {
			state->at = item;
			setup_change(u, s, r, 0);
		}
		state->at = item;
	}
	return true;
}

static const char *bar_shift(const struct ui *u, const struct ui_scene *s)
{
	return places(u) ? _("move") : NULL;
}

static const char *bar_height(const struct ui *u, const struct ui_scene *s)
{
	return places(u) ? _("height") : NULL;
}

/* clang-format off */
static const struct key_entry keys[] = {
	{ KEYS_SCREEN, WHEN_COVERED, { { K_LEFT, 0, -1 }, { K_RIGHT, 0, 1 } },
	  setup_change, "Left Right", N_("settings: previous, next value; fewer, more lines"), NULL, NULL, NULL, 0 },
	{ KEYS_SCREEN, WHEN_COVERED, { { K_ENTER, 0, 0 }, { ' ', 0, 0 } },
	  setup_change, "Enter Space", N_("settings: next value; show or hide the row"), "Space", N_("change"), NULL, 0 },
	{ KEYS_ROWS, WHEN_COVERED, { { 'H', 0, 0 } }, setup_hide, NULL, NULL, NULL, NULL, NULL, 0 },
	{ KEYS_ROWS, WHEN_COVERED, { { 'K', 0, -1 }, { K_UP, MOD_SHIFT, -1 }, { 'J', 0, 1 }, { K_DOWN, MOD_SHIFT, 1 } },
	  setup_shift, NULL, NULL, "K J", NULL, bar_shift, 0 },
	{ KEYS_ROWS, WHEN_COVERED, { { ')', 0, 1 }, { '(', 0, -1 } },
	  setup_height, NULL, NULL, ") (", NULL, bar_height, 0 },
	{ KEYS_SCREEN, WHEN_COVERED, { { K_F2, 0, VIEW_settings }, { 'O', 0, VIEW_settings } }, act_cover, NULL, NULL, NULL, NULL, NULL, 0 },
	{ .handler = NULL }
};
/* clang-format on */

const struct view view_settings = {
	.name = "settings",
	.keys = keys,
	.covers = true,
	.panel = true,
	.state = sizeof(struct setup),
	.draw = setup_draw,
	.move = setup_move,
	.click = setup_click,
};
