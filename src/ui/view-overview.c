/* view-overview: shows at a glance what limits this machine.
 *
 * Five charts on one axis, one for each possible limit, high enough to show shapes; below them
 * the current values of cores, memory, engines and cooling. */
#include "ui/rows.h"
#include "ui/energy.h"
#include "ui/screen.h"

#include "ui/now-panel.h"
#include "ui/processes.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

/* Set the next note, unless the text is empty. */
static void tell(struct row *row, int *n, enum style style, const char *text)
{
	if (*text && *n < NOTES_MAX)
		rows_note(row, (*n)++, style, "%s", text);
}

static void tell_value(struct ui *u, const struct ui_scene *s, struct row *row, int *n, int channel, const char *name)
{
	const struct channel *ch = channel < 0 ? NULL : &u->about->channels[channel];
	double v = ch && !ch->missing[0] ? rows_calm(u, s, channel) : NAN;
	char number[QUANTITY_TEXT], text[64];

	if (isnan(v))
		return;
	quantity_text(number, quantity_of(ch, v), v, 6);
	snprintf(text, sizeof(text), "%.24s %s %s", name ? name : ch->label, number,
		 rows_unit(u, quantity_of(ch, v)));
	tell(row, n, STYLE_DIM, text);
}

/* The first channel of a kind whose label contains "GPU". */
static int of_gpu(const struct session *about, enum channel_kind kind)
{
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == kind && strcasestr(about->channels[i].label, "gpu"))
			return (int)i;
	return -1;
}

/* Note the clock, and whether it is capped below the maximum of the GPU. */
static void read_gpu(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int clock = rows_find(u->about, CHANNEL_GPU_FREQ, -1), cap = rows_named(u->about, "gpu.freq_max"), n = 0;
	double hz = rows_value(u, s, clock);
	double most = clock < 0 ? NAN : u->about->channels[clock].hi;
	double held = rows_value(u, s, cap);
	bool low = most > 0 && held < 0.99 * most;
	char text[64] = "";

	if (!isnan(hz) && most > 0)
		snprintf(text, sizeof(text), _("%.0f of %.0f MHz%s"), hz / 1e6, most / 1e6, low ? _(", held") : "");
	else if (!isnan(hz))
		snprintf(text, sizeof(text), _("%.0f MHz"), hz / 1e6);
	tell(row, &n, low ? STYLE_ALERT : STYLE_DIM, text);
	tell_value(u, s, row, &n, of_gpu(u->about, CHANNEL_RAIL_POWER), NULL);
	tell_value(u, s, row, &n, rows_gpu_memory(u->about), _("memory"));
	tell_value(u, s, row, &n, of_gpu(u->about, CHANNEL_TEMPERATURE), _("temperature"));
}

static void read_cpu(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double most = -1;
	char text[64];
	size_t at = 0;
	int n = 0;

	for (size_t i = 0; i < u->about->n_channels; i++) {
		double v = u->about->channels[i].kind == CHANNEL_CORE_UTIL ? rows_calm(u, s, i) : NAN;

		if (v > most) {
			most = v;
			at = i;
		}
	}
	if (most >= 0) {
		snprintf(text, sizeof(text), _("busiest %s %.0f %%"), u->about->channels[at].label, most);
		tell(row, &n, STYLE_DIM, text);
	}
	tell_value(u, s, row, &n, rows_named(u->about, "load.1"), NULL);
}

static void read_memory(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int ram = rows_find(u->about, CHANNEL_RAM_USED, -1), n = 0;
	double v = rows_calm(u, s, ram);
	double all = ram < 0 ? NAN : u->about->channels[ram].hi;
	char text[64];

	if (!isnan(v)) {
		if (all > 0)
			snprintf(text, sizeof(text), _("RAM %.1f of %.1f GiB"), v / 1048576, all / 1048576);
		else
			snprintf(text, sizeof(text), _("RAM %.1f GiB"), v / 1048576);
		tell(row, &n, STYLE_DIM, text);
	}
	tell_value(u, s, row, &n, rows_find(u->about, CHANNEL_EMC_RATE, -1), _("clock"));
}

/* Put as many rails into each note as fit. */
static void tell_rails(struct ui *u, const struct ui_scene *s, struct row *row, int *n)
{
	int most = u->at.value.x + u->at.value.w - u->at.name.x;
	char text[64] = "", one[48], name[32];
	double watts;

	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];

		if (ch->kind != CHANNEL_RAIL_POWER || ch->missing[0] || i == row->channel)
			continue;
		rail_name(name, sizeof(name), ch->label, 0);
		name[strcspn(name, "_")] = 0;
		watts = rows_calm(u, s, i) / 1e3;
		if (isnan(watts))
			snprintf(one, sizeof(one), "%s --", name);
		else
			snprintf(one, sizeof(one), "%s %.1f", name, watts);
		if (*text && (int)(strlen(text) + 1 + strlen(one)) > most) {
			tell(row, n, STYLE_DIM, text);
			text[0] = 0;
		}
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? " " : "", one);
	}
	tell(row, n, STYLE_DIM, text);
}

static void read_power(struct ui *u, const struct ui_scene *s, struct row *row)
{
	uint64_t mark;
	int64_t from = energy_since(u, s, &mark);
	double joule = energy_joule(s, row->channel, from, u->vp.head_ns);
	char text[64] = "";
	int n = 0;

	if (!isnan(joule) && mark)
		snprintf(text, sizeof(text), _("%.0f J since mark %llu"), joule, (unsigned long long)mark);
	else if (!isnan(joule))
		snprintf(text, sizeof(text), _("%.0f J since start"), joule);
	tell(row, &n, STYLE_DIM, text);
	tell_rails(u, s, row, &n);
}

static void read_heat(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double left = row->limit - row->value;
	char text[64];
	int n = 0;

	if (!isnan(left)) {
		snprintf(text, sizeof(text), left >= 0 ? _("%.1f to throttle") : _("%.1f over its limit"), fabs(left));
		tell(row, &n, alarm_style(row->alarm, STYLE_DIM), text);
	}
	tell_value(u, s, row, &n, rows_find(u->about, CHANNEL_FAN, -1), NULL);
}

static struct row *add(struct row_list *l, int channel, const char *name, int weight, row_reader *read)
{
	struct row *row;

	if (channel < 0)
		return NULL;
	row = rows_signal(l, (size_t)channel, weight, false);
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->read = read;
	return row;
}

static int first_of(const struct session *about, const enum channel_kind *kinds, int n)
{
	int at = -1;

	for (int i = 0; i < n && at < 0; i++)
		at = rows_find(about, kinds[i], -1);
	return at;
}

static void build(struct row_list *l)
{
	static const enum channel_kind power[] = {CHANNEL_POWER_TOTAL, CHANNEL_RAIL_POWER};
	static const enum channel_kind heat[] = {CHANNEL_HOTTEST, CHANNEL_TEMPERATURE};
	const struct session *about = l->about;
	struct power_parts parts;
	char name[48], label[32] = ""; /* as that of a row */
	int emc = rows_find(about, CHANNEL_EMC_UTIL, -1);

	add(l, rows_find(about, CHANNEL_GPU_UTIL, -1), _("GPU"), 7, read_gpu);
	add(l, rows_find(about, CHANNEL_CPU_UTIL, -1), _("CPU"), 4, read_cpu);
	if (emc >= 0)
		add(l, emc, _("EMC"), 4, read_memory);
	else
		add(l, rows_find(about, CHANNEL_RAM_USED, -1), _("RAM"), 4, NULL);
	if (l->n < 3)
		add(l, rows_io(about), _("I/O wait"), 4, NULL);
	power_parts_find(&parts, about);
	if (parts.n > 1) /* the first of them */
		rail_name(label, sizeof(label), about->channels[parts.channel[0]].label, 9);
	snprintf(name, sizeof(name), "%s%s%s", _("Power"), *label ? " " : "", label);
	add(l, parts.n > 1 ? (int)parts.channel[0] : first_of(about, power, 2), name, 6, read_power);
	add(l, first_of(about, heat, 2), _("Heat"), 5, read_heat);
}

static bool has_processes(const struct ui *u, int h)
{
	return h >= PROCESSES_PANEL_SCREEN && u->vp.live;
}

static int foot(const struct ui *u, int w, int h)
{
	return now_panel_lines(w, h) + (has_processes(u, h) ? PROCESSES_PANEL_LINES : 0);
}

static void foot_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at)
{
	struct rect r = *at;

	if (has_processes(u, c->h)) {
		r = (struct rect) {at->x, at->y + at->h - PROCESSES_PANEL_LINES, at->w, PROCESSES_PANEL_LINES};
		processes_panel_draw(u, s, c, &r);
		r = (struct rect) {at->x, at->y, at->w, at->h - PROCESSES_PANEL_LINES};
	}
	now_panel_draw(u, s, c, &r);
}

const struct view view_overview = {
	.name = "overview",
	.label = N_("Overview"),
	.key = '1',
	.build = build,
	.foot = foot,
	.foot_draw = foot_draw,
	.procs = PROCESSES_PANEL_SCREEN,
};
