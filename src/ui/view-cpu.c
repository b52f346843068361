/* view-cpu: the whole, what waits, then each group of cores that share a clock with
 * its clock, limits and governor, and below it its cores. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

/* A core that has no number while others have is one that is switched off. */
static void read_core(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int all = rows_find(u->about, CHANNEL_CPU_UTIL, -1);
	bool off = isnan(row->value) && all >= 0 && !isnan(rows_value(u, s, (size_t)all, 0));

	snprintf(row->tag, sizeof(row->tag), "%s", off ? _("offline") : "");
}

static void read_group(struct ui *u, const struct ui_scene *s, struct row *row)
{
	char key[40];

	snprintf(key, sizeof(key), "cpu%u.governor", u->about->channels[row->channel].index);
	rows_note(row, 0, STYLE_DIM, *screen_fact(u, key) ? _("governor %.24s") : "%s", screen_fact(u, key));
}

static void add_core(struct row_list *l, size_t i, bool part)
{
	rows_signal(l, i, WEIGHT_REST, part)->read = read_core;
}

static void add_group(struct row_list *l, size_t i, bool *placed)
{
	const struct session *about = l->about;
	const struct channel *ch = &about->channels[i];
	struct row *row = rows_signal(l, i, WEIGHT_PART, false);
	row->read = read_group;
	for (size_t k = 0; k < about->n_channels; k++) {
		const struct channel *core = &about->channels[k];

		if (core->kind != CHANNEL_CORE_UTIL || !cores_list_has(ch->label, core->index) ||
		    placed[core->index & 1023])
			continue;
		placed[core->index & 1023] = true;
		add_core(l, k, true);
	}
}

static void build(struct row_list *l)
{
	static const char *const others[] = {"cpu.iowait", "load.1"}, *const last[] = {"load.5", "load.15"};
	const struct session *about = l->about;
	bool placed[1024] = {false}, headed = false;
	int i;

	if ((i = rows_find(about, CHANNEL_CPU_UTIL, -1)) >= 0)
		rows_signal(l, (size_t)i, WEIGHT_MAIN, false);
	for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
		if ((i = rows_named(about, others[k])) >= 0)
			rows_signal(l, (size_t)i, WEIGHT_REST, false);
	for (size_t k = 0; k < about->n_channels; k++)
		if (about->channels[k].kind == CHANNEL_CPU_FREQ)
			add_group(l, k, placed);
	for (size_t k = 0; k < about->n_channels; k++) {
		const struct channel *ch = &about->channels[k];

		if (ch->kind != CHANNEL_CORE_UTIL || placed[ch->index & 1023])
			continue;
		if (!headed)
			rows_heading(l, _("CPU cores"), STYLE_CPU);
		headed = true;
		add_core(l, k, true);
	}
	for (size_t k = 0; k < sizeof(last) / sizeof(last[0]); k++)
		if ((i = rows_named(about, last[k])) >= 0)
			rows_signal(l, (size_t)i, WEIGHT_REST, false);
	if (!l->n)
		snprintf(rows_text(l, _("CPU"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("the trace has no CPU signals"));
}

const struct view view_cpu = {
	.name = "cpu",
	.label = N_("CPU"),
	.key = '3',
	.build = build,
	.draw = charts_draw,
	.move = charts_move,
};
