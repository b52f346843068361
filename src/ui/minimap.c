/* minimap: the whole recording in two lines below the charts, in the same columns. The first line is a
 * chart of one signal; the second has the viewport, the playhead, marks, gaps and throttling. */
#include "ui/draw.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

/* The first signal of the view that is not missing, or else of the session; -1: none. */
static int strip_channel(const struct ui *u)
{
	for (int i = 0; i < u->n_rows; i++)
		if (u->rows[i].kind == ROW_SIGNAL && !u->about->channels[u->rows[i].channel].missing[0])
			return (int)u->rows[i].channel;
	for (size_t i = 0; i < u->about->n_channels; i++)
		if (!u->about->channels[i].missing[0])
			return (int)i;
	return -1;
}

static void draw_text(const struct ui *u, struct canvas *c, int y, int right)
{
	char at[QUANTITY_TEXT], all[QUANTITY_TEXT], speed[SPEED_TEXT];
	int64_t step = 2 * viewport_column_ns(&u->vp);
	int x = u->at.name.x, w;

	viewport_speed_text(speed, u->vp.speed);
	if (u->vp.playing)
		canvas_put(c, x, y, STYLE_STRONG, screen_glyph(u, 0x25B6, '>'));
	else
		canvas_put(c, x, y, STYLE_DIM, screen_glyph(u, 0x25A0, '='));
	x += 2;
	x += canvas_text(c, x, y, right - x, u->vp.playing ? STYLE_STRONG : STYLE_DIM,
			 u->vp.playing ? _("playing") : _("paused"));
	if (u->vp.speed && x + 1 + (int)strlen(speed) <= right)
		canvas_text(c, x + 1, y, right - x - 1, STYLE_TEXT, speed);

	if (step > NS_PER_S / 10)
		step = NS_PER_S / 10;
	quantity_clock(at, u->vp.head_ns - u->extent.first_ns, step);
	quantity_time(all, u->extent.last_ns - u->extent.first_ns, step);
	x = u->at.name.x;
	w = canvas_text(c, x, y + 1, right - x, STYLE_STRONG, at);
	if (x + w + 3 + (int)strlen(all) <= right)
		canvas_textf(c, x + w, y + 1, right - x - w, STYLE_DIM, " / %s", all);
}

/* The whole recording over the whole width, in n columns of one zoom. */
struct overall {
	int zoom, cells, dots;
	int64_t first, n;
};

static struct overall measure(const struct ui *u)
{
	struct overall o = {.zoom = ZOOM_MIN, .cells = u->at.chart.w};

	o.dots = o.cells * spark_per_cell(u->charset);
	while (o.zoom < ZOOM_MAX &&
	       (u->extent.last_ns >> o.zoom) - (u->extent.first_ns >> o.zoom) >= COLUMNS_MAX)
		o.zoom++;
	o.first = u->extent.first_ns >> o.zoom;
	o.n = (u->extent.last_ns >> o.zoom) - o.first + 1;
	if (o.n > COLUMNS_MAX)
		o.n = COLUMNS_MAX;
	return o;
}

static int cell_of(const struct overall *o, int64_t t_ns)
{
	int64_t at = (t_ns >> o->zoom) - o->first;

	at = at < 0 ? 0 : at >= o->n ? o->n - 1 : at;
	return (int)(at * o->cells / o->n);
}

static void share_out(struct spark_column *cols, const struct overall *o, struct spark_column *dots)
{
	for (int d = 0; d < o->dots; d++) {
		int64_t from = d * o->n / o->dots, to = (d + 1) * o->n / o->dots;
		struct spark_column all = {.any = false};
		int n = 0;

		for (int64_t i = from; i < (to > from ? to : from + 1); i++) {
			if (!cols[i].any)
				continue;
			all.min = n && all.min < cols[i].min ? all.min : cols[i].min;
			all.max = n && all.max > cols[i].max ? all.max : cols[i].max;
			all.mean += cols[i].mean;
			n++;
		}
		all.any = n > 0;
		all.mean /= n ? n : 1;
		dots[d] = all;
	}
}

/* The dots of a trace are computed once, unless the session is live or the file is still being read. */
static void make_dots(struct ui *u, const struct ui_scene *s, const struct overall *o, int channel)
{
	struct chart_axis axis = {.zoom = o->zoom, .merge = 1, .first = o->first, .n = (int)o->n};
	struct chart_summary sum;

	if (u->minimap.kept && u->minimap.channel == channel && u->minimap.zoom == o->zoom &&
	    u->minimap.n == o->dots && u->minimap.first == o->first && u->minimap.last_ns == u->extent.last_ns)
		return;
	chart_columns(s->timeline, (size_t)channel, &axis, u->frame.bins, u->frame.columns, &sum);
	share_out(u->frame.columns, o, u->minimap.dots);
	u->minimap.scale = (struct scale) {0, 0, false};
	scale_fit(&u->minimap.scale, &u->about->channels[channel], sum.min, sum.max);
	u->minimap.channel = channel;
	u->minimap.zoom = o->zoom;
	u->minimap.n = o->dots;
	u->minimap.first = o->first;
	u->minimap.last_ns = u->extent.last_ns;
	u->minimap.kept = !s->live && !s->notice;
}

static void draw_chart(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct overall *o,
		       int y)
{
	int channel = strip_channel(u);
	struct spark_look look = {.charset = u->charset};

	if (channel < 0)
		return;
	make_dots(u, s, o, channel);
	look.lo = u->minimap.scale.lo;
	look.hi = u->minimap.scale.hi;
	look.hue = (enum hue)u->about->channels[channel].family;
	spark_draw(c, u->at.chart.x, y, u->at.chart.w, 1, &look, u->minimap.dots);
}

/* Throttling is searched again only if the width or the end changes. */
static void draw_throttled(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct overall *o,
			   int y)
{
	struct chart_axis axis = {.zoom = o->zoom, .merge = 1, .first = o->first, .n = (int)o->n};

	if (u->minimap.throttled_w != o->cells || u->minimap.throttled_last_ns != u->extent.last_ns) {
		u->minimap.throttled_w = o->cells;
		u->minimap.throttled_last_ns = u->extent.last_ns;
		memset(u->minimap.throttled, 0, sizeof(u->minimap.throttled));
		events_columns(s->timeline, SIZE_MAX, &axis, 0, u->frame.level);
		for (int i = 0; i < axis.n; i++)
			if (u->frame.level[i])
				u->minimap.throttled[i * o->cells / o->n] = 1;
	}
	for (int i = 0; i < o->cells; i++)
		if (u->minimap.throttled[i])
			canvas_put(c, u->at.chart.x + i, y, STYLE_WARN, L'T');
}

static void draw_events(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct overall *o,
			int y)
{
	int64_t from = u->extent.first_ns, to = u->extent.last_ns + 1;
	size_t n = s->timeline->ops->gaps(s->timeline, from, to, u->frame.gaps, GAPS_MAX);

	for (size_t i = 0; i < n; i++)
		if (events_gap(&u->frame.gaps[i], INT64_MAX))
			canvas_put(c, u->at.chart.x + cell_of(o, u->frame.gaps[i].from_ns), y, STYLE_WARN, L'!');
	n = s->timeline->ops->marks(s->timeline, from, to, u->frame.marks, MARKS_MAX);
	for (size_t i = 0; i < n; i++)
		canvas_put(c, u->at.chart.x + cell_of(o, u->frame.marks[i].t_ns), y, STYLE_MARK,
			   screen_glyph(u, 0x2502, '|'));
}

/* Draws the viewport as a frame. */
static void draw_frame(struct ui *u, struct canvas *c, const struct overall *o, int y)
{
	int left = cell_of(o, viewport_first(&u->vp) * viewport_column_ns(&u->vp));
	int right = cell_of(o, u->vp.right_ns);

	for (int i = left; i <= right; i++)
		canvas_put(c, u->at.chart.x + i, y, STYLE_FRAME, screen_glyph(u, 0x2500, '='));
	if (left < right) {
		canvas_put(c, u->at.chart.x + left, y, STYLE_FRAME, screen_glyph(u, 0x2570, '['));
		canvas_put(c, u->at.chart.x + right, y, STYLE_FRAME, screen_glyph(u, 0x256F, ']'));
	}
}

void minimap_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct overall o;
	int y = u->at.strip.y;

	if (!u->at.strip.h || !u->extent.any)
		return;
	o = measure(u);
	draw_text(u, c, y,
		  u->at.solo      ? u->at.chart.x - 1
		  : u->at.stats.w ? u->at.stats.x + u->at.stats.w
				  : u->at.value.x + u->at.value.w);
	draw_chart(u, s, c, &o, y);
	draw_frame(u, c, &o, y + 1);
	draw_throttled(u, s, c, &o, y + 1);
	draw_events(u, s, c, &o, y + 1);
	canvas_put(c, u->at.chart.x + cell_of(&o, u->vp.head_ns), y + 1, STYLE_STRONG,
		   screen_glyph(u, 0x25B2, 'A'));
}
