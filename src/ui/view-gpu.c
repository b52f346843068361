/* view-gpu: shows how busy the GPU is and what limits it.
 *
 * Load, clock, memory, power and temperature share one time axis, with the current values of the
 * engines below. Charts of the engines and throttling follow further down. */
#include "ui/rows.h"
#include "ui/clock-row.h"
#include "ui/draw.h"
#include "ui/meter.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define ENGINES_MAX  32
#define CHART_WEIGHT 4

/* Whether two channels are of one unit: "gpu" of "gpu.util", "NVDEC" of "NVDEC.freq". */
static bool same_unit(const struct channel *a, const struct channel *b)
{
	size_t n = strcspn(a->name, ".");

	return n == strcspn(b->name, ".") && !strncmp(a->name, b->name, n);
}

static int of_unit(const struct session *about, const struct channel *unit, enum channel_kind kind)
{
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == kind && same_unit(unit, &about->channels[i]) &&
		    !about->channels[i].missing[0])
			return (int)i;
	return -1;
}

/* Whether a channel is the throttling of the whole GPU. */
static bool is_of_all(const struct channel *ch)
{
	char name[32];

	events_name(name, ch);
	return !strcasecmp(name, "gpu");
}

/* Whether a channel is of the GPU by its name: rail, sensor, throttling. */
static bool names_gpu(const struct channel *ch)
{
	return strcasestr(ch->name, "gpu");
}

static const char *power_state(struct ui *u, const struct ui_scene *s)
{
	double down = rows_value(u, s, rows_named(u->about, "gpu.gated"));

	return isnan(down) ? "" : down > 0 ? _("powered down (gated)") : _("powered up");
}

static void read_load(struct ui *u, const struct ui_scene *s, struct row *row)
{
	rows_note(row, 0, STYLE_DIM, "%s", power_state(u, s));
	rows_note(row, 1, STYLE_DIM, "%s",
		  rows_value(u, s, rows_named(u->about, "clocks.pinned")) > 0 ? _("clocks pinned") : "");
}

/* For a GPU without load, which has no chart. */
static void read_state(struct ui *u, const struct ui_scene *s, struct row *row)
{
	snprintf(row->text, sizeof(row->text), "%s", power_state(u, s));
}

static void read_memory(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];

	if (ch->hi > 0 && !isnan(row->value))
		rows_note(row, 0, STYLE_DIM, _("%.0f %% of %.1f GiB"), 100 * row->value / ch->hi, ch->hi / 1048576);
}

static void read_heat(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	double left = rows_limit(ch) - row->value;

	if (isnan(left))
		return;
	rows_note(row, 0, alarm_style(row->alarm, STYLE_DIM),
		  left < 0     ? _("%.1f over its limit")
		  : ch->warn > 0 ? _("%.1f to throttle")
				 : _("%.1f to shutdown"),
		  fabs(left));
}

/* The limit of a rail is a current. */
static void read_rail(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *amps = row->beside < 0 ? NULL : &u->about->channels[row->beside];
	double limit = amps ? rows_limit(amps) : NAN, v = rows_calm(u, s, row->beside);

	if (limit > 0 && !isnan(v))
		rows_note(row, 0, alarm_style(row->alarm, STYLE_DIM),
			  _("%.1f of %.1f A"), v / 1e3, limit / 1e3);
	if (row->name[0])
		rows_note(row, 1, STYLE_DIM, "%s", u->about->channels[row->channel].label);
}

/* List engines by load, or by clock if the load is not known. */
static int engines(const struct session *about, size_t channels[ENGINES_MAX])
{
	int n = 0;

	for (size_t i = 0; i < about->n_channels && n < ENGINES_MAX; i++) {
		const struct channel *ch = &about->channels[i];

		if (!ch->missing[0] &&
		    (ch->kind == CHANNEL_ENGINE_UTIL ||
		     (ch->kind == CHANNEL_ENGINE_FREQ && of_unit(about, ch, CHANNEL_ENGINE_UTIL) < 0)))
			channels[n++] = i;
	}
	return n;
}

/* "43 %  678 MHz", "off". */
static void engine_text(struct ui *u, const struct ui_scene *s, const struct channel *ch, double load, bool clocks,
			char out[32])
{
	double hz = rows_calm(u, s, of_unit(u->about, ch, CHANNEL_ENGINE_FREQ));
	char percent[16] = "", clock[16] = "";

	if (!isnan(load))
		snprintf(percent, sizeof(percent), "%.0f %%", load);
	if (hz > 0)
		snprintf(clock, sizeof(clock), "%4.0f MHz", hz / 1e6);
	if (hz <= 0)
		snprintf(out, 32, "%s", _("off"));
	else if (clocks || isnan(load))
		snprintf(out, 32, "%s%s%s", percent, *percent && *clock ? " " : "", clock);
	else
		snprintf(out, 32, "%s", percent);
	if (!out[0])
		snprintf(out, 32, "--");
}

static void draw_engine(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int y, int w, size_t channel)
{
	const struct channel *ch = &u->about->channels[channel];
	double v = rows_calm(u, s, channel), load = ch->kind == CHANNEL_ENGINE_UTIL ? v : NAN;
	int name_w = 7, text_w = w >= 34 ? 14 : 8, bar = w - name_w - text_w - 1;
	char text[32], name[48];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(ch->name, "."), ch->name);
	screen_cut(u, c, x, y, name_w - 1, STYLE_DIM, name);
	if (bar > 1 && !isnan(load))
		meter_draw(c, u->charset, x + name_w, y, bar, load / 100, HUE_OTHER, ALARM_NONE);
	engine_text(u, s, ch, load, text_w > 8, text);
	canvas_right(c, x + w - text_w, y, text_w, isnan(v) ? STYLE_DIM : STYLE_STRONG, text);
}

/* The number of columns for n engines. */
static int across(int w, int n)
{
	int most = w >= 160 ? 4 : w >= 76 ? 3 : w >= 50 ? 2 : 1;

	return n < most ? n : most;
}

static void read_engines(struct ui *u, const struct ui_scene *s, struct row *row)
{
	size_t channels[ENGINES_MAX];
	int n = engines(u->about, channels), columns = across(u->at.body.w, n);

	row->least = (unsigned char)((n + columns - 1) / columns + 1);
}

/* Draw a title and the engines in columns. */
static void draw_engines(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
			 const struct rect *at)
{
	size_t channels[ENGINES_MAX];
	int n = engines(u->about, channels), columns = across(c->w, n), w = (at->w - 3 * (columns - 1)) / columns, x;

	x = at->x + canvas_text(c, at->x, at->y, at->w, STYLE_TITLE, _("Engines")) + 1;
	for (; x < at->x + at->w; x++)
		canvas_put(c, x, at->y, STYLE_BORDER, screen_glyph(u, 0x2500, '-'));
	for (int i = 0; i < n && i / columns + 1 < at->h; i++)
		draw_engine(u, s, c, at->x + i % columns * (w + 3), at->y + 1 + i / columns, w, channels[i]);
}

static void add_engines(struct row_list *l)
{
	size_t channels[ENGINES_MAX];
	int n = engines(l->about, channels);

	if (n)
		rows_picture(l, draw_engines, 2, WEIGHT_REST)->read = read_engines;
}

/* Add the GPU's channels of a kind. A single one is named after the kind; several keep their labels. */
static void add_kind(struct row_list *l, enum channel_kind kind, const char *name, row_reader *read)
{
	struct row *row = NULL;
	int n = 0;

	for (size_t i = 0; i < l->about->n_channels; i++) {
		if (l->about->channels[i].kind != kind || !names_gpu(&l->about->channels[i]))
			continue;
		row = rows_signal(l, i, CHART_WEIGHT, false);
		row->read = read;
		n++;
	}
	if (n == 1)
		snprintf(row->name, sizeof(row->name), "%s", name);
}

/* Add the channels of further GPUs, which have no kind of their own: "gpu1.util". */
static void add_further(struct row_list *l)
{
	unsigned gpu;
	int end;

	for (size_t i = 0; i < l->about->n_channels; i++) {
		const struct channel *ch = &l->about->channels[i];

		end = 0;
		if (ch->kind == CHANNEL_OTHER && sscanf(ch->name, "gpu%u.%n", &gpu, &end) == 1 && end && gpu > 0)
			rows_signal(l, i, CHART_WEIGHT, false)->read =
				ch->family == FAMILY_MEMORY ? read_memory : NULL;
	}
}

static void add_details(struct row_list *l)
{
	size_t channels[ENGINES_MAX];
	int n = engines(l->about, channels);

	if (n)
		rows_heading(l, _("Engines"), STYLE_OTHER)->later = true;
	for (int i = 0; i < n; i++)
		rows_signal(l, channels[i], WEIGHT_REST, true)->later = true;
	for (size_t i = 0; i < l->about->n_channels; i++) {
		const struct channel *ch = &l->about->channels[i];
		struct row *row;

		if (ch->kind != CHANNEL_THROTTLE || !names_gpu(ch))
			continue;
		row = rows_signal(l, i, WEIGHT_REST, false);
		row->later = true;
		/* Throttling of a part keeps its label. */
		if (is_of_all(ch))
			snprintf(row->name, sizeof(row->name), "%s", _("throttled"));
		else
			snprintf(row->tag, sizeof(row->tag), "%s", _("throttled"));
	}
}

static void add_one(struct row_list *l, int channel, int weight, const char *name, row_reader *read)
{
	struct row *row;

	if (channel < 0)
		return;
	row = rows_signal(l, (size_t)channel, weight, false);
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->read = read;
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	int load = rows_find(about, CHANNEL_GPU_UTIL, -1), clock = rows_find(about, CHANNEL_GPU_FREQ, -1);

	add_one(l, load, WEIGHT_MAIN + 1, _("GPU"), read_load);
	if (load < 0 && clock < 0)
		rows_text(l, _("GPU"),
			  _("none that nvmtop can read: it knows the GPUs of Jetsons (nvgpu), and others with "
			    "NVIDIA's driver (libnvidia-ml.so.1)"));
	if ((load < 0 || about->channels[load].missing[0]) && rows_named(about, "gpu.gated") >= 0)
		rows_text(l, _("State"), "")->read = read_state;
	if (clock >= 0)
		snprintf(clock_row(l, (size_t)clock, WEIGHT_MAIN - 1)->name, sizeof(l->rows->name), "%s", _("Clock"));
	add_one(l, rows_gpu_memory(about), CHART_WEIGHT, _("Memory"), read_memory);
	add_kind(l, CHANNEL_RAIL_POWER, _("Power"), read_rail);
	add_kind(l, CHANNEL_TEMPERATURE, _("Heat"), read_heat);
	add_further(l);
	add_engines(l);
	add_details(l);
}

const struct view view_gpu = {
	.name = "gpu",
	.label = N_("GPU"),
	.key = '2',
	.build = build,
};
