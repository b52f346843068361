/* view-cpu: the whole, what waits, then each group of cores that share a clock with
 * its clock, limits and governor, and below it its cores. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"
#include "util/num.h"

#include <math.h>
#include <string.h>

enum { LOWEST, HIGHEST, GOVERNOR };
static const struct table_column table[] = {
	[LOWEST] = {N_("min"), 4, 60},
	[HIGHEST] = {N_("max"), 4, 60},
	[GOVERNOR] = {N_("governor"), 11, 140},
	{NULL, 0, 0},
};

/* Is core n one of "cpu0,3-5"?  The label of a clock lists its cores. */
static bool lists(const char *label, int64_t n)
{
	const char *p = label + 3, *end = label + strlen(label);
	int64_t from, to;

	if (strncmp(label, "cpu", 3) != 0)
		return false;
	while (p < end && (p = num_i64(p, end, &from)) != NULL) {
		to = from;
		if (p < end && *p == '-' && !(p = num_i64(p + 1, end, &to)))
			return false;
		if (n >= from && n <= to)
			return true;
		if (p >= end || *p++ != ',')
			return false;
	}
	return false;
}

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
	rows_cell_text(row, GOVERNOR, STYLE_DIM, screen_fact(u, key));
	if (*screen_fact(u, key) && !u->at.stats.w)
		snprintf(row->below[0], sizeof(row->below[0]), _("governor %.24s"), screen_fact(u, key));
}

static void add_core(struct row_list *l, size_t i, bool part)
{
	rows_signal(l, i, RANK_REST, part)->read = read_core;
}

static void add_group(struct row_list *l, size_t i, bool *placed)
{
	const struct session *about = l->about;
	const struct channel *ch = &about->channels[i];
	struct row *row = rows_signal(l, i, RANK_PART, false);
	char name[48];

	snprintf(name, sizeof(name), "cpu%u.freq_min", ch->index);
	row->with[LOWEST] = rows_named(about, name);
	snprintf(name, sizeof(name), "cpu%u.freq_max", ch->index);
	row->with[HIGHEST] = rows_named(about, name);
	row->read = read_group;
	for (size_t k = 0; k < about->n_channels; k++) {
		const struct channel *core = &about->channels[k];

		if (core->kind != CHANNEL_CORE_UTIL || !lists(ch->label, core->index) ||
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
		rows_signal(l, (size_t)i, RANK_MAIN, false);
	for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
		if ((i = rows_named(about, others[k])) >= 0)
			rows_signal(l, (size_t)i, RANK_REST, false);
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
			rows_signal(l, (size_t)i, RANK_REST, false);
	if (!l->n)
		snprintf(rows_text(l, _("CPU"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("the trace has no CPU signals"));
}

const struct view view_cpu = {
	.name = "cpu",
	.label = N_("CPU"),
	.key = '3',
	.build = build,
	.table = table,
	.draw = charts_draw,
	.move = charts_move,
};
