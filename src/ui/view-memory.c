/* view-memory: who has how much of it, and how busy the way to it is. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>

enum { WHOLE, SHARE };
static const struct table_column table[] = {
	[WHOLE] = {N_("of"), 6, 50},
	[SHARE] = {N_("%"), 4, 50},
	{NULL, 0, 0},
};

/* How much of all there is. */
static void read_share(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	char text[QUANTITY_TEXT];

	if (!(ch->hi > 0))
		return;
	rows_cell(u, row, WHOLE, quantity_of(ch, row->value), ch->hi, STYLE_DIM);
	if (isnan(row->value))
		return;
	quantity_text(text, UNIT_HZ, 1e6 * 100 * row->value / ch->hi, 3); /* whole ones */
	rows_cell_text(row, SHARE, STYLE_TEXT, text);
}

static void add(struct row_list *l, int channel, enum row_rank rank)
{
	struct row *row;

	if (channel < 0)
		return;
	row = rows_signal(l, (size_t)channel, rank, false);
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

	add(l, rows_find(about, CHANNEL_RAM_USED, -1), RANK_MAIN);
	add(l, rows_find(about, CHANNEL_EMC_UTIL, -1), RANK_MAIN);
	add(l, rows_find(about, CHANNEL_EMC_RATE, -1), RANK_PART);
	add(l, rows_named(about, "emc.cap"), RANK_REST);
	add(l, rows_find(about, CHANNEL_RAM_AVAILABLE, -1), RANK_PART);
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].family == FAMILY_MEMORY && !is_known(l, i))
			add(l, (int)i, RANK_PART);
	if (rows_find(about, CHANNEL_EMC_UTIL, -1) < 0)
		snprintf(rows_text(l, _("EMC"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("not measured: only Jetsons report the load of the memory controller"));
}

const struct view view_memory = {
	.name = "memory",
	.label = N_("Memory"),
	.key = '4',
	.build = build,
	.table = table,
	.draw = charts_draw,
	.move = charts_move,
};
