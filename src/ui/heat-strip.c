/* heat-strip: shows the load of many cores in few lines, where single charts would be unreadable.
 *
 * A core is a band whose brightness is its load. Two cores share a line, as the upper and the lower half
 * of its cells. If there are too few lines, a band shows the busiest of several cores. In ASCII a band is
 * a line, and a heavier character means more load. */
#include "ui/heat-strip.h"

#include "ui/core-groups.h"
#include "ui/meter.h"
#include "ui/screen.h"

#include <math.h>
#include <string.h>

#define IDLE 0.02

struct heat_fit heat_fit(int n, int lines, bool ascii)
{
	int room = ascii ? lines : 2 * lines, per_line = ascii ? 1 : 2;
	struct heat_fit f = {1, 1, n, 0};

	if (n < 1 || lines < 1)
		return (struct heat_fit) {1, 1, 0, 0};
	if (n > room)
		f.per = (n + room - 1) / room;
	else if (room / n > 1)
		f.units = room / n - room / n % per_line;
	f.bands = (n + f.per - 1) / f.per;
	f.lines = (f.bands * f.units + per_line - 1) / per_line;
	return f;
}

/* The highest mean of the band's channels in each cell; NaN: no samples. */
static void read_band(struct ui *u, const struct ui_scene *s, const size_t *channels, int n, double *cells)
{
	int per = spark_per_cell(u->charset);
	struct chart_summary sum;

	for (int x = 0; x < u->at.chart.w; x++)
		cells[x] = NAN;
	for (int i = 0; i < n; i++) {
		const struct spark_column *col = u->frame.columns;

		if (u->about->channels[channels[i]].missing[0])
			continue;
		chart_columns(s->timeline, channels[i], &u->frame.axis, u->frame.bins, u->frame.columns, &sum);
		for (int k = 0; k < u->at.chart.w * per && k < u->frame.axis.n; k++)
			if (col[k].any)
				cells[k / per] = fmax(cells[k / per], col[k].mean);
	}
}

/* No colour if idle, else from dark to the brightest shade of the hue. */
static enum style heat_style(enum hue hue, double part)
{
	int level = spark_level(part, 0, 1, SHADES + 2) - 1;

	if (part < IDLE)
		return STYLE_TRACK;
	return level < 2 ? STYLE_BAND(hue, SHADES / 2 * level) : STYLE_MEAN(hue, level - 2);
}

static void draw_cell(struct ui *u, struct canvas *c, int x, int y, bool lower, enum hue hue, double part)
{
	enum style style = heat_style(hue, part);

	if (isnan(part) || x >= c->w || y >= c->h)
		return;
	if (u->charset == CHARSET_ASCII)
		canvas_put(c, x, y, style, L".:-=+*%#"[spark_level(part, 0, 1, 8) - 1]);
	else if (!lower)
		canvas_put(c, x, y, style, HEAT_HALF);
	else if (canvas_is_blank(c, x, y, 1))
		canvas_put(c, x, y, style, HEAT_HALF + 4);
	else
		canvas_put_on(c, x, y, (enum style)c->cells[y * c->w + x].style, style, HEAT_HALF);
}

/* The label without "cpu"; for several channels from the first to the last: "0-3". */
static void band_label(const struct session *about, const size_t *channels, int n, char out[16])
{
	const char *first = about->channels[channels[0]].label, *last = about->channels[channels[n - 1]].label;
	size_t skip = strncmp(first, "cpu", 3) ? 0 : 3, end = strcspn(first + skip, "-");

	if (n == 1)
		snprintf(out, 16, "%.15s", first + skip);
	else
		snprintf(out, 16, "%.*s-%.7s", (int)(end < 7 ? end : 7), first + skip,
			 strrchr(last, '-') ? strrchr(last, '-') + 1 : last + skip);
}

static double full_of(const struct channel *ch, double highest)
{
	return ch->hi > 0 ? ch->hi : ch->unit == UNIT_PERCENT ? 100 : highest;
}

/* Label, bar and value of one band. */
static void draw_now(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int y, int w, int label_w,
		     const size_t *channels, int n)
{
	const struct channel *ch = &u->about->channels[channels[0]];
	int value_w = ch->unit == UNIT_PERCENT ? 3 : 4, bar = w - label_w - value_w - 2;
	char text[QUANTITY_TEXT], label[16];
	double v = NAN;

	for (int i = 0; i < n; i++)
		v = fmax(v, rows_calm(u, s, channels[i]));
	band_label(u->about, channels, n, label);
	if (bar >= -1)
		canvas_right(c, x, y, label_w, STYLE_DIM, label);
	if (bar > 1)
		meter_draw(c, u->charset, x + label_w + 1, y, bar, v / full_of(ch, NAN), (enum hue)ch->family,
			   ALARM_NONE);
	quantity_text(text, quantity_of(ch, v), v, value_w);
	if (ch->unit == UNIT_PERCENT)
		snprintf(text, sizeof(text), "%.0f", v);
	canvas_right(c, x + w - value_w, y, value_w, isnan(v) ? STYLE_DIM : STYLE_STRONG,
		     isnan(v) ? core_no_load(u, s) : text);
}

void heat_strip_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at,
		     const size_t *channels, int n)
{
	bool ascii = u->charset == CHARSET_ASCII;
	struct heat_fit f = heat_fit(n, at->h, ascii);
	int per_line = ascii ? 1 : 2, side = f.units < per_line ? 2 : 1, label_w = 0, left = u->at.chart.x - 1 - at->x, gap = side > 1 && left >= 20 ? 3 : 1,
	    w = (left - gap * (side - 1)) / side;
	double cells[CELLS_MAX], highest = NAN;
	char label[16];

	/* Without a known maximum, the scale ends at the highest value in view. */
	for (int i = 0; i < n && isnan(full_of(&u->about->channels[channels[i]], NAN)); i++) {
		read_band(u, s, channels + i, 1, cells);
		for (int x = 0; x < u->at.chart.w; x++)
			highest = fmax(highest, cells[x]);
	}
	for (int i = 0; i < n; i += f.per) {
		band_label(u->about, channels + i, n - i < f.per ? n - i : f.per, label);
		label_w = (int)strlen(label) > label_w ? (int)strlen(label) : label_w;
	}
	for (int i = 0; i < f.bands; i++) {
		const size_t *first = channels + i * f.per;
		int count = n - i * f.per < f.per ? n - i * f.per : f.per, unit = i * f.units;

		read_band(u, s, first, count, cells);
		for (int k = unit; k < unit + f.units; k++)
			for (int x = 0; x < u->at.chart.w; x++)
				draw_cell(u, c, u->at.chart.x + x, at->y + k / per_line, k % per_line,
					  (enum hue)u->about->channels[*first].family,
					  cells[x] / full_of(&u->about->channels[*first], highest));
		draw_now(u, s, c, at->x + i % side * (w + gap), at->y + unit / per_line, w, label_w, first, count);
	}
}
