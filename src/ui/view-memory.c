/* view-memory: who has how much of it, and how busy the way to it is. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>

/* How much of all there is. */
static void read_share(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	char text[QUANTITY_TEXT];

	if (!(ch->hi > 0))
		return;
	if (isnan(row->value))
		return;
	quantity_text(text, quantity_of(ch, row->value), ch->hi, 6);
	rows_note(row, 0, STYLE_DIM, _("%.0f %% of %s"), 100 * row->value / ch->hi, text);
}

static void add(struct row_list *l, int channel, int weight)
{
	struct row *row;

	if (channel < 0)
		return;
	row = rows_signal(l, (size_t)channel, weight, false);
	if (l->about->channels[channel].unit == UNIT_KB)
		row->read = read_share;
}

static bool is_known(const struct row_list *l, size_t channel)
{
	for (int i = 0; i < l->n; i++)
		if (l->rows[i].kind == ROW_SIGNAL && l->rows[i].channel == channel)
			return true;
	return false;
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;

	add(l, rows_find(about, CHANNEL_RAM_USED, -1), WEIGHT_MAIN);
	add(l, rows_find(about, CHANNEL_EMC_UTIL, -1), WEIGHT_MAIN);
	add(l, rows_find(about, CHANNEL_EMC_RATE, -1), WEIGHT_PART);
	add(l, rows_named(about, "emc.cap"), WEIGHT_REST);
	add(l, rows_find(about, CHANNEL_RAM_AVAILABLE, -1), WEIGHT_PART);
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].family == FAMILY_MEMORY && !is_known(l, i))
			add(l, (int)i, WEIGHT_PART);
	if (rows_find(about, CHANNEL_EMC_UTIL, -1) < 0)
		snprintf(rows_text(l, _("EMC"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("not measured: only Jetsons report the load of the memory controller"));
}

const struct view view_memory = {
	.name = "memory",
	.label = N_("Memory"),
	.key = '4',
	.build = build,
	.draw = charts_draw,
	.move = charts_move,
};
