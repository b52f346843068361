/* view-memory: shows what uses the memory, and the memory bandwidth.
 *
 * On a Jetson the GPU has no memory of its own and uses part of RAM. So RAM is one stack, as a
 * bar and as a chart: GPU at the bottom, then programs, then caches that the kernel frees on
 * demand, then free memory. */
#include "ui/rows.h"
#include "ui/draw.h"
#include "ui/energy.h"
#include "ui/range-stats.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

/* Layers from the bottom. */
enum layer { LAYER_GPU, LAYER_PROGRAMS, LAYER_CACHE, LAYER_FREE, LAYERS };

/* The channels of the stack; -1: none. */
struct stack {
	int used, gpu, cache;
	double total; /* kB */
};

/* The memory of a discrete GPU is not part of RAM. */
static struct stack stack_find(const struct session *about)
{
	struct stack k = {.used = rows_find(about, CHANNEL_RAM_USED, -1),
			  .gpu = rows_gpu_memory(about),
			  .cache = rows_named(about, "ram.cached")};

	k.total = k.used < 0 ? NAN : about->channels[k.used].hi;
	if (k.gpu >= 0 && (about->channels[k.gpu].missing[0] ||
			   (about->channels[k.gpu].hi > 0 && about->channels[k.gpu].hi != k.total)))
		k.gpu = -1;
	if (k.cache >= 0 && about->channels[k.cache].missing[0])
		k.cache = -1;
	return k;
}

/* Compute the top of each layer. A missing value makes no layer; without the GPU's, all of
 * "used" is programs. */
static void stack_tops(const struct stack *k, double used, double gpu, double cache, double top[LAYERS])
{
	top[LAYER_GPU] = isnan(gpu) ? 0 : fmin(gpu, used);
	top[LAYER_PROGRAMS] = used;
	top[LAYER_CACHE] = isnan(cache) ? used : fmin(used + cache, k->total);
	top[LAYER_FREE] = k->total;
}

static enum style layer_style(int layer, int shade)
{
	return layer == LAYER_GPU        ? STYLE_MEAN(HUE_GPU, shade)
	       : layer == LAYER_PROGRAMS ? STYLE_MEAN(HUE_MEMORY, shade)
	       : layer == LAYER_CACHE    ? STYLE_BAND(HUE_MEMORY, shade)
					 : STYLE_TRACK;
}

static char layer_ascii(int layer)
{
	return "#=:."[layer];
}

/* Draw a cell in eighths: the lowest layer that ends in it, on the layer above. */
static void put_layers(struct canvas *c, int x, int y, int base, int shade, const int end[LAYERS - 1])
{
	int low = 0, high;

	while (low < LAYERS - 1 && end[low] <= base)
		low++;
	if (low == LAYERS - 1)
		return;
	high = low + 1;
	if (end[low] >= base + 8) {
		canvas_put(c, x, y, layer_style(low, shade), 0x2588);
		return;
	}
	while (high < LAYERS - 1 && end[high] <= end[low])
		high++;
	canvas_put_on(c, x, y, layer_style(low, shade),
		      high < LAYERS - 1 ? layer_style(high, shade) : (enum style)0,
		      (wchar_t)(0x2580 + end[low] - base));
}

static void draw_column(struct ui *u, struct canvas *c, const struct rect *at, int x, const struct stack *k,
			const double top[LAYERS])
{
	int end[LAYERS - 1], per = u->charset == CHARSET_ASCII ? 2 : 8, levels = per * at->h - (at->h > 1);

	for (int i = 0; i < LAYERS - 1; i++)
		end[i] = top[i] > 0 ? spark_level(top[i], 0, k->total, levels) : 0;
	for (int line = 0; line < at->h; line++) {
		int y = at->y + at->h - 1 - line, shade = spark_shade(line, at->h), layer = 0;

		if (u->charset != CHARSET_ASCII) {
			put_layers(c, x, y, line * per, shade, end);
			continue;
		}
		while (layer < LAYERS - 1 && end[layer] <= line * per)
			layer++;
		if (layer < LAYERS - 1)
			canvas_put(c, x, y, layer_style(layer, shade), (wchar_t)layer_ascii(layer));
	}
}

/* Read the means of a channel in view; NaN: missing. */
static void read_means(struct ui *u, const struct ui_scene *s, int channel, float *mean)
{
	struct chart_summary sum;

	for (int i = 0; i < u->frame.axis.n; i++)
		mean[i] = NAN;
	if (channel < 0)
		return;
	chart_columns(s->timeline, (size_t)channel, &u->frame.axis, u->frame.bins, u->frame.columns, &sum);
	for (int i = 0; i < u->frame.axis.n; i++)
		if (u->frame.columns[i].any)
			mean[i] = (float)u->frame.columns[i].mean;
}

static void draw_stack(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		       const struct rect *at)
{
	struct stack k = stack_find(u->about);
	int per = spark_per_cell(u->charset);
	float used[COLUMNS_MAX], gpu[COLUMNS_MAX], cache[COLUMNS_MAX];
	double top[LAYERS];

	read_means(u, s, k.used, used);
	read_means(u, s, k.gpu, gpu);
	read_means(u, s, k.cache, cache);
	for (int i = 0; i < at->w; i++) {
		int n = i * per;

		if (isnan(used[n]))
			continue;
		stack_tops(&k, (double)used[n], (double)gpu[n], (double)cache[n], top);
		draw_column(u, c, at, at->x + i, &k, top);
	}
}

static void draw_bar(struct ui *u, struct canvas *c, const struct rect *at, const struct stack *k,
		     const double top[LAYERS])
{
	int layer = 0;

	for (int i = 0; i < at->w; i++) {
		while (layer < LAYER_FREE && !(top[layer] / k->total * at->w >= i + 0.5))
			layer++;
		canvas_put(c, at->x + i, at->y, layer_style(layer, SHADES - 2),
			   u->charset == CHARSET_ASCII ? (wchar_t)layer_ascii(layer) : 0x25A0);
	}
}

/* "■ GPU  20.3 GiB  33 %", shortened to fit. */
static void draw_legend(struct ui *u, struct canvas *c, int x, int y, int w, int layer, const char *name,
			double kb, double total)
{
	static const enum style styles[LAYERS] = {STYLE_GPU, STYLE_MEMORY, STYLE_DIM, STYLE_DIM};
	char number[QUANTITY_TEXT];
	int end = x + w;

	if (w >= 16) {
		canvas_put(c, x, y, layer_style(layer, SHADES - 2),
			   u->charset == CHARSET_ASCII ? (wchar_t)layer_ascii(layer) : 0x25A0);
		x += 2;
	}
	x += canvas_text(c, x, y, end - x, styles[layer], name) + 1;
	quantity_text(number, UNIT_KB, kb, 5);
	canvas_right(c, x, y, 4, isnan(kb) ? STYLE_DIM : STYLE_STRONG, number);
	if (end - x >= 9)
		canvas_text(c, x + 5, y, 3, STYLE_DIM, quantity_unit(UNIT_KB));
	if (end - x < 16 || isnan(kb))
		return;
	snprintf(number, sizeof(number), "%.0f %%", 100 * kb / total);
	canvas_right(c, x + 9, y, 5, STYLE_DIM, number);
}

static void draw_now(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		     const struct rect *at)
{
	struct stack k = stack_find(u->about);
	double used = rows_calm(u, s, k.used), top[LAYERS], from = 0;
	double gpu = rows_calm(u, s, k.gpu);
	double cache = rows_calm(u, s, k.cache);
	const char *names[LAYERS] = {_("GPU"), k.gpu < 0 ? _("used") : _("programs"), _("cache"),
				     k.cache < 0 ? _("available") : _("free")};
	int n = LAYERS - (k.gpu < 0) - (k.cache < 0), w = at->w / n, x = at->x;

	stack_tops(&k, used, gpu, cache, top);
	draw_bar(u, c, at, &k, top);
	for (int i = 0; i < LAYERS && at->h > 1; i++) {
		if ((i == LAYER_GPU && k.gpu < 0) || (i == LAYER_CACHE && k.cache < 0))
			continue;
		draw_legend(u, c, x, at->y + 1, w - 1, i, names[i], top[i] - from, k.total);
		from = top[i];
		x += w;
	}
}

/* Note the share of the total. */
static void read_share(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	enum unit unit = quantity_of(ch, row->value);
	char text[QUANTITY_TEXT];

	quantity_text(text, unit, ch->hi, 6);
	if (!isnan(row->value) && ch->hi > 0)
		rows_note(row, 0, STYLE_DIM, _("%.0f %% of %s %s"), 100 * row->value / ch->hi, text,
			  quantity_unit(unit));
}

static void read_emc(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double clock = rows_calm(u, s, rows_find(u->about, CHANNEL_EMC_RATE, -1)) / 1e6;
	double cap = rows_calm(u, s, rows_named(u->about, "emc.cap")) / 1e6;

	if (!isnan(clock))
		rows_note(row, 0, STYLE_DIM, _("clock %.0f MHz"), clock);
	if (!isnan(cap))
		rows_note(row, isnan(clock) ? 0 : 1, STYLE_DIM, _("cap %.0f MHz"), cap);
}

/* Whether the stack or the notes already show channel i, or what it is a part of; the signals view lists all. */
static bool is_told(const struct session *about, size_t i)
{
	static const char *const parts[] = {"ram.cached", "ram.free", "ram.buffers", "ram.largest_blocks",
					    "swap.total", "swap.cached"};
	const struct channel *ch = &about->channels[i];

	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
		if (!strcmp(ch->name, parts[k]))
			return true;
	return ch->kind == CHANNEL_RAM_USED || ch->kind == CHANNEL_RAM_AVAILABLE ||
	       ch->kind == CHANNEL_EMC_UTIL ||
	       (rows_find(about, CHANNEL_EMC_UTIL, -1) >= 0 &&
		(ch->kind == CHANNEL_EMC_RATE || !strcmp(ch->name, "emc.cap")));
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	struct stack k = stack_find(about);
	int emc = rows_find(about, CHANNEL_EMC_UTIL, -1);
	struct row *row;

	if (k.used >= 0) {
		if (k.total > 0)
			rows_picture(l, draw_now, 2, WEIGHT_REST);
		row = rows_signal(l, (size_t)k.used, 8, false);
		row->read = read_share;
		row->draw = k.total > 0 ? draw_stack : NULL;
	}
	if (emc >= 0)
		rows_signal(l, (size_t)emc, 6, false)->read = read_emc;
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].family == FAMILY_MEMORY && !is_told(about, i)) {
			row = rows_signal(l, i, WEIGHT_PART - 1, false);
			if (about->channels[i].unit == UNIT_KB)
				row->read = read_share;
		}
	if (emc < 0)
		rows_text(l, _("EMC"),
			  _("not measured: only Jetsons report the load of the memory controller"));
}

const struct view view_memory = {
	.name = "memory",
	.label = N_("Memory"),
	.key = '4',
	.build = build,
};
