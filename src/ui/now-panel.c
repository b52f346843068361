/* now-panel: the current values behind the five overview charts.
 *
 * Cores that share a clock form one column of bars. With too many cores or too little room, each
 * core is one character whose height is its load. */
#include "ui/now-panel.h"

#include "ui/draw.h"

#include "ui/core-groups.h"
#include "ui/meter.h"
#include "ui/screen.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

#define SLOTS 5 /* lines in the memory and engine boxes */

struct line {
	char name[12], text[16];
	double part; /* NaN: no bar */
	enum hue hue;
	enum alarm alarm;
};

int now_panel_lines(int w, int h)
{
	return w < 76 || h < 20 ? 0 : w < 100 || h < 30 ? 4 : 7;
}

static double share(const struct channel *ch, double v)
{
	return ch->hi > 0 ? v / ch->hi : ch->unit == UNIT_PERCENT ? v / 100 : NAN;
}

static bool add_line(struct ui *u, const struct ui_scene *s, struct line *line, int channel, const char *name,
		     enum hue hue)
{
	const struct channel *ch;
	enum unit unit;
	char text[QUANTITY_TEXT];
	double v;

	if (channel < 0 || u->about->channels[channel].missing[0])
		return false;
	ch = &u->about->channels[channel];
	v = rows_calm(u, s, channel);
	unit = quantity_of(ch, v);
	quantity_text(text, unit, v, 6);
	snprintf(line->name, sizeof(line->name), "%s", name);
	snprintf(line->text, sizeof(line->text), "%.8s %.5s", text, isnan(v) ? "" : rows_unit(u, unit));
	line->part = share(ch, v);
	line->hue = hue;
	line->alarm = rows_alarm(ch, v);
	return true;
}

static int memory_lines(struct ui *u, const struct ui_scene *s, struct line *lines, int most)
{
	const struct {
		int channel;
		const char *name;
		enum hue hue;
	} all[] = {
		{rows_find(u->about, CHANNEL_RAM_USED, -1), _("RAM"), HUE_MEMORY},
		{rows_gpu_memory(u->about), _("GPU mem"), HUE_MEMORY},
		{rows_find(u->about, CHANNEL_EMC_UTIL, -1), _("EMC"), HUE_MEMORY},
		{rows_io(u->about), _("io wait"), HUE_OTHER},
		{rows_named(u->about, "swap.used"), _("swap"), HUE_MEMORY},
	};
	int n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && n < most; i++)
		n += add_line(u, s, &lines[n], all[i].channel, all[i].name, all[i].hue);
	return n;
}

/* List engines by load, or by clock if the load is not known, and then the fan. */
static int engine_lines(struct ui *u, const struct ui_scene *s, struct line *lines, int most)
{
	const struct session *about = u->about;
	static const char *const loads[][2] = {{"load.1", "load 1"}, {"load.5", "load 5"}, {"load.15", "load 15"}};
	int n = 0, none = 0, fan = rows_find(about, CHANNEL_FAN, -1);
	char name[48];

	for (size_t i = 0; i < about->n_channels && n < most - (fan >= 0); i++) {
		const struct channel *ch = &about->channels[i];

		if (ch->kind != CHANNEL_ENGINE_UTIL && ch->kind != CHANNEL_ENGINE_FREQ)
			continue;
		snprintf(name, sizeof(name), "%.*s.util", (int)strcspn(ch->name, "."), ch->name);
		if (ch->kind == CHANNEL_ENGINE_FREQ && rows_named(about, name) >= 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(ch->name, "."), ch->name);
		if (!add_line(u, s, &lines[n], (int)i, name, HUE_OTHER))
			continue;
		if (ch->kind == CHANNEL_ENGINE_FREQ && !(rows_value(u, s, i) > 0))
			snprintf(lines[n].text, sizeof(lines[n].text), "%s", _("off"));
		n++;
	}
	if (n < most)
		n += add_line(u, s, &lines[n], fan, _("fan"), HUE_OTHER);
	/* No engines: show other loads instead. */
	for (size_t i = 0; !n && i < sizeof(loads) / sizeof(loads[0]); i++)
		none += none < most && add_line(u, s, &lines[none], rows_named(about, loads[i][0]), loads[i][1], HUE_OTHER);
	return n + none;
}

static void draw_lines(struct ui *u, struct canvas *c, const struct rect *at, const struct line *lines, int n,
		       int name_w)
{
	const int text_w = 9, bar = at->w - name_w - text_w - 2;

	for (int i = 0; i < n && i < at->h; i++) {
		canvas_text(c, at->x, at->y + i, name_w, STYLE_DIM, lines[i].name);
		if (bar > 0 && !isnan(lines[i].part))
			meter_draw(c, u->charset, at->x + name_w + 1, at->y + i, bar, lines[i].part, lines[i].hue,
				   lines[i].alarm);
		canvas_right(c, at->x + at->w - text_w, at->y + i, text_w, STYLE_STRONG, lines[i].text);
	}
}

/* Draw the clock and the range of cores: "cpu0-3" as "0-3". */
static void draw_title(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int y, int w,
		       const struct core_group *g)
{
	char text[QUANTITY_TEXT];
	double hz;

	if (g->clock < 0)
		return;
	hz = rows_calm(u, s, g->clock);
	canvas_text(c, x, y, w - 9, STYLE_DIM,
		    u->about->channels[g->clock].label + (strncmp(u->about->channels[g->clock].label, "cpu", 3) ? 0 : 3));
	if (isnan(hz))
		return;
	snprintf(text, sizeof(text), "%.0f MHz", hz / 1e6);
	canvas_right(c, x, y, w, STYLE_TEXT, text);
}

static void draw_percent(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int y, double v)
{
	char text[QUANTITY_TEXT];

	snprintf(text, sizeof(text), "%.0f", v);
	canvas_right(c, x, y, 3, isnan(v) ? STYLE_DIM : STYLE_STRONG, isnan(v) ? core_no_load(u, s) : text);
}

static void draw_core(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int y, int w, size_t core)
{
	double v = rows_calm(u, s, core);
	char text[QUANTITY_TEXT];

	snprintf(text, sizeof(text), "%u", u->about->channels[core].index);
	canvas_right(c, x, y, 2, STYLE_DIM, text);
	meter_draw(c, u->charset, x + 3, y, w - 7, v / 100, HUE_CPU, ALARM_NONE);
	draw_percent(u, s, c, x + w - 3, y, v);
}

/* Draw each core as one character. */
static void draw_dots(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int y, int w,
		      const struct core_group *g)
{
	for (int i = 0; i < g->n && i < w; i++) {
		double v = rows_calm(u, s, g->core[i]);
		struct spark_column col = {v, v, v, 1, !isnan(v), false};
		struct spark_look look = {.charset = u->charset == CHARSET_ASCII ? CHARSET_ASCII : CHARSET_BLOCKS,
					  .hue = HUE_CPU,
					  .lo = 0,
					  .hi = 100,
					  .limit = NAN};

		spark_draw(c, x + i, y, 1, 1, &look, &col);
	}
}

static void draw_cores(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at)
{
	struct core_group groups[CORE_GROUPS_MAX];
	int n = core_groups(u->about, groups), most = 0, w;

	for (int i = 0; i < n; i++)
		most = groups[i].n > most ? groups[i].n : most;
	if (!n)
		return;
	w = at->w / n;
	if (at->h >= 2 && most <= at->h - 1 && w >= 16) {
		for (int i = 0; i < n; i++) {
			int x = at->x + i * w;

			draw_title(u, s, c, x, at->y, w - 2, &groups[i]);
			for (int k = 0; k < groups[i].n; k++)
				draw_core(u, s, c, x, at->y + 1 + k, w - 2, groups[i].core[k]);
		}
		return;
	}
	for (int i = 0, y = at->y; i < n && y < at->y + at->h; i++, y++) {
		const int label = 9, clock = 9;
		int wide = (at->w - label - clock) / 4;

		if (groups[i].clock >= 0) {
			canvas_text(c, at->x, y, label - 1, STYLE_DIM, u->about->channels[groups[i].clock].label);
			draw_title(u, s, c, at->x + at->w - clock, y, clock, &(struct core_group) {.clock = groups[i].clock});
		}
		if (groups[i].n > 4 || wide < 5) {
			draw_dots(u, s, c, at->x + label, y, at->w - label - clock - 1, &groups[i]);
			continue;
		}
		for (int k = 0; k < groups[i].n; k++) {
			struct core_group one = {.core = {groups[i].core[k]}, .n = 1};
			int x = at->x + label + 5 * k;

			draw_dots(u, s, c, x, y, 1, &one);
			draw_percent(u, s, c, x + 1, y, rows_calm(u, s, one.core[0]));
		}
	}
}

/* Draw the settings: "GPU on, podgov, fan auto". */
static void draw_state(struct ui *u, struct canvas *c, const struct rect *at)
{
	const char *governor = screen_fact(u, "gpu.governor"), *fan = screen_fact(u, "fan.profile");
	char text[160];

	snprintf(text, sizeof(text), "%s%s%s%s%s", *governor ? _("GPU ") : "", governor,
		 *governor && *fan ? ", " : "", *fan ? _("fan ") : "", fan);
	canvas_text(c, at->x, at->y, at->w, STYLE_DIM, text);
}

/* Draw a border around n adjacent boxes with titles; x: their left edges. */
static void draw_border(struct ui *u, struct canvas *c, const struct rect *at, const int *x,
			const char *const *title, int n)
{
	int bottom = at->y + at->h - 1;

	box_draw(u, c, at);
	for (int i = 0; i < n; i++) {
		for (int y = at->y; i && y <= bottom; y++)
			canvas_put(c, x[i], y, STYLE_BORDER,
				   y == at->y  ? screen_glyph(u, 0x252C, '+')
				   : y == bottom ? screen_glyph(u, 0x2534, '+')
						 : screen_glyph(u, 0x2502, '|'));
		canvas_textf(c, x[i] + 2, at->y, at->w, STYLE_DIM, " %s ", title[i]);
	}
}

void now_panel_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at)
{
	static const char *const titles[] = {N_("CPU cores"), N_("memory, io"), N_("engines, cooling")};
	const char *title[] = {_(titles[0]), _(titles[1]), _(titles[2])};
	bool boxes = at->h >= 7;
	int y = at->y + 1, h = at->h - (boxes ? 2 : 1), n;
	int x[] = {at->x, at->x + (boxes ? at->w * 49 / 100 : 41), at->x + (boxes ? at->w * 73 / 100 : at->w - 15)};
	struct line lines[SLOTS] = {0};
	struct rect box;

	if (boxes)
		draw_border(u, c, at, x, title, 3);
	else
		for (int i = 0; i < c->w; i++)
			canvas_put(c, i, at->y, STYLE_BORDER, screen_glyph(u, 0x2500, '-'));
	if (!boxes)
		canvas_textf(c, at->x + 1, at->y, 8, STYLE_DIM, " %s ", _("now"));
	box = (struct rect) {x[0] + (boxes ? 2 : 0), y, x[1] - x[0] - (boxes ? 3 : 2), h};
	draw_cores(u, s, c, &box);
	box = (struct rect) {x[1] + (boxes ? 2 : 0), y, x[2] - x[1] - (boxes ? 3 : 1), h};
	n = memory_lines(u, s, lines, h < SLOTS ? h : SLOTS);
	draw_lines(u, c, &box, lines, n, 7);
	box = (struct rect) {x[2] + (boxes ? 2 : 0), y, at->x + at->w - x[2] - (boxes ? 4 : 0), h};
	n = engine_lines(u, s, lines, boxes ? h - 1 : h);
	draw_lines(u, c, &box, lines, n, boxes ? 7 : 5);
	if (boxes) {
		box.y += h - 1;
		draw_state(u, c, &box);
	}
}
