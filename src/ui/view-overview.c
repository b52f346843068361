/* view-overview: what limits this machine, at a glance.
 *
 * Five charts on one axis, one for each thing that can be the limit, tall enough to
 * see shapes in; below them what is now: every core, memory, engines, cooling. */
#include "ui/screen.h"

#include "ui/now-panel.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

/* The clock, and whether it is held below what the GPU could do. */
static void read_gpu(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int clock = rows_find(u->about, CHANNEL_GPU_FREQ, -1), cap = rows_named(u->about, "gpu.freq_max");
	double hz = clock < 0 ? NAN : rows_value(u, s, (size_t)clock, 0);
	double most = clock < 0 ? NAN : u->about->channels[clock].hi;
	double held = cap < 0 ? NAN : rows_value(u, s, (size_t)cap, 0);
	bool low = most > 0 && held < 0.99 * most;

	if (isnan(hz))
		rows_note(row, 0, STYLE_DIM, "%s", "");
	else if (most > 0)
		rows_note(row, 0, low ? STYLE_ALERT : STYLE_DIM, _("%.0f of %.0f MHz%s"), hz / 1e6, most / 1e6,
			  low ? _(", held") : "");
	else
		rows_note(row, 0, STYLE_DIM, _("%.0f MHz"), hz / 1e6);
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];

		if (ch->kind != CHANNEL_RAIL_POWER || !strstr(ch->label, "GPU"))
			continue;
		rows_note(row, 1, STYLE_DIM, _("%s %.1f W"), ch->label, rows_value(u, s, i, 0) / 1e3);
		return;
	}
}

static void read_cpu(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double most = -1;
	size_t at = 0;

	for (size_t i = 0; i < u->about->n_channels; i++) {
		double v = u->about->channels[i].kind == CHANNEL_CORE_UTIL ? rows_value(u, s, i, 0) : NAN;

		if (v > most) {
			most = v;
			at = i;
		}
	}
	if (most >= 0)
		rows_note(row, 0, STYLE_DIM, _("busiest %s %.0f %%"), u->about->channels[at].label, most);
}

static void read_memory(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int ram = rows_find(u->about, CHANNEL_RAM_USED, -1);
	double v = ram < 0 ? NAN : rows_value(u, s, (size_t)ram, 0);

	if (!isnan(v))
		rows_note(row, 0, STYLE_DIM, _("RAM %.1f of %.1f GiB"), v / 1048576,
			  u->about->channels[ram].hi / 1048576);
}

static void read_power(struct ui *u, const struct ui_scene *s, struct row *row)
{
	char text[sizeof(row->notes[0].text)] = "", name[32], joule[QUANTITY_TEXT];
	uint64_t mark = 0;
	int64_t from = energy_mark(u, s, &mark);
	double j = energy_joule(u, s, row->channel, mark ? from : u->extent.first_ns, u->vp.head_ns);

	energy_text(joule, j);
	if (isnan(j))
		rows_note(row, 0, STYLE_DIM, "%s", "");
	else if (mark)
		rows_note(row, 0, STYLE_DIM, _("%s since mark %llu"), joule, (unsigned long long)mark);
	else
		rows_note(row, 0, STYLE_DIM, _("%s since the start"), joule);
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];
		size_t used = strlen(text);

		if (ch->kind != CHANNEL_RAIL_POWER || ch->missing[0] || i == row->channel)
			continue;
		rail_name(name, sizeof(name), ch->label, 0);
		name[strcspn(name, "_")] = 0;
		if (used + strlen(name) + 8 < sizeof(text))
			snprintf(text + used, sizeof(text) - used, "%s%s %.1f", used ? " " : "", name,
				 rows_value(u, s, i, 0) / 1e3);
	}
	rows_note(row, 1, STYLE_DIM, "%s", text);
}

static void read_heat(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double left = row->limit - row->value;

	(void)u;
	(void)s;
	if (isnan(left))
		return;
	rows_note(row, 0,
		  row->alarm == ALARM_CRIT   ? STYLE_ALERT
		  : row->alarm == ALARM_WARN ? STYLE_WARN
					     : STYLE_DIM,
		  left >= 0 ? _("%s %.1f to throttle") : _("%s %.1f over its limit"), row->tag, fabs(left));
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
	int emc = rows_find(about, CHANNEL_EMC_UTIL, -1);

	add(l, rows_find(about, CHANNEL_GPU_UTIL, -1), _("GPU"), 7, read_gpu);
	add(l, rows_find(about, CHANNEL_CPU_UTIL, -1), _("CPU"), 4, read_cpu);
	if (emc >= 0)
		add(l, emc, _("EMC"), 4, read_memory);
	else
		add(l, rows_find(about, CHANNEL_RAM_USED, -1), _("RAM"), 4, NULL);
	add(l, first_of(about, power, 2), _("Power"), 6, read_power);
	add(l, first_of(about, heat, 2), _("Heat"), 5, read_heat);
}

const struct view view_overview = {
	.name = "overview",
	.label = N_("Overview"),
	.key = '1',
	.build = build,
	.panel = now_panel_lines,
	.panel_draw = now_panel_draw,
	.draw = charts_draw,
	.act = charts_act,
	.length = charts_length,
};
