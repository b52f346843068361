/* view-power: the rails under their total, how far each is from its limit, and what
 * has been used up since the start and since the last mark, at the moment that is
 * looked at. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <math.h>
#include <string.h>

enum { VOLT, AMPERE, LIMIT, FREE, USED };
static const struct table_column table[] = {
	[VOLT] = {N_("V"), 5, 50},
	[AMPERE] = {N_("A"), 5, 50},
	[LIMIT] = {N_("limit A"), 7, 140},
	[FREE] = {N_("free %"), 6, 140},
	/* TRANSLATORS: joules since the last mark, or since the start without one; 7 columns. */
	[USED] = {N_("J"), 7, 140},
	{NULL, 0, 0},
};

/* From where on energy is counted: the last mark before the playhead, or the start. */
static int64_t since(struct ui *u, const struct ui_scene *s, uint64_t *id)
{
	int64_t t = energy_mark(u, s, id);

	if (t < 0)
		*id = 0;
	return t < 0 ? u->extent.first_ns : t;
}

static void read_rail(struct ui *u, const struct ui_scene *s, struct row *row)
{
	uint64_t id;
	int64_t from = since(u, s, &id);
	double j = energy_joule(u, s, row->channel, from, u->vp.head_ns);
	enum unit unit = fabs(j) >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE;
	const struct channel *current =
		row->with[AMPERE] >= 0 ? &u->about->channels[row->with[AMPERE]] : NULL;
	double limit = current && current->crit > 0   ? current->crit
		       : current && current->warn > 0 ? current->warn
						      : NAN;
	char text[QUANTITY_TEXT];

	rows_cell(u, row, USED, unit, j, STYLE_TEXT);
	if (current && !isnan(limit)) {
		double left = 100 * (1 - rows_value(u, s, (size_t)row->with[AMPERE], 0) / limit);

		rows_cell(u, row, LIMIT, UNIT_MILLIAMPERE, limit, STYLE_DIM);
		quantity_text(text, UNIT_HZ, 1e6 * left, 4); /* whole ones */
		rows_cell_text(row, FREE, (enum style)(row->alarm ? STYLE_WARN : STYLE_TEXT), text);
		snprintf(row->below[1], sizeof(row->below[1]), _("limit %.2f A, %s %% free"), limit / 1000,
			 text);
	}
	/* Where the table has no room for it. */
	quantity_text(text, unit, j, 7);
	if (id)
		snprintf(row->below[0], sizeof(row->below[0]), _("%s %s since mark %llu"), text,
			 quantity_unit(unit), (unsigned long long)id);
	else
		snprintf(row->below[0], sizeof(row->below[0]), _("%s %s since the start"), text,
			 quantity_unit(unit));
	if (u->at.stats.w)
		row->below[0][0] = row->below[1][0] = 0;
	else if (row->below[1][0]) {
		char first[sizeof(row->below[0])];

		/* The limit first: it matters more where there is one line only. */
		memcpy(first, row->below[0], sizeof(first));
		memcpy(row->below[0], row->below[1], sizeof(first));
		memcpy(row->below[1], first, sizeof(first));
	}
}

/* By the recorder's own count where there is one, which began with the sampling. */
static double used_since(struct ui *u, const struct ui_scene *s, int64_t from)
{
	int total = rows_find(u->about, CHANNEL_POWER_TOTAL, -1);

	return total < 0 ? NAN : energy_joule(u, s, (size_t)total, from, u->vp.head_ns);
}

static void tell(struct row *row, double joule, int64_t long_ns, const char *since_text)
{
	char clock[QUANTITY_TEXT];

	row->value = joule;
	row->unit = fabs(joule) >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE;
	quantity_clock(clock, long_ns, NS_PER_S / 10);
	/* TRANSLATORS: "since mark 2, 12.3 s: mean 24.1 W" */
	snprintf(row->text, sizeof(row->text), _("%s, %s s: mean %.1f W"), since_text, clock,
		 long_ns > 0 ? joule / ((double)long_ns / 1e9) : 0.0);
	row->text_style = STYLE_DIM;
	if (isnan(joule))
		snprintf(row->text, sizeof(row->text), "%s", _("no power was measured"));
}

static void read_start(struct ui *u, const struct ui_scene *s, struct row *row)
{
	tell(row, used_since(u, s, u->extent.first_ns), u->vp.head_ns - u->extent.first_ns,
	     _("since the start"));
}

static void read_mark(struct ui *u, const struct ui_scene *s, struct row *row)
{
	uint64_t id;
	int64_t from = since(u, s, &id);
	char text[64];

	if (!id) {
		row->value = NAN;
		row->text_style = STYLE_DIM;
		snprintf(row->text, sizeof(row->text), "%s", _("no mark before this moment; s sets one"));
		return;
	}
	snprintf(text, sizeof(text), _("since mark %llu"), (unsigned long long)id);
	tell(row, used_since(u, s, from), u->vp.head_ns - from, text);
}

static void add_rail(struct row_list *l, size_t i, bool part)
{
	const struct channel *ch = &l->about->channels[i];
	struct row *row = rows_signal(l, i, RANK_PART, part);

	row->with[VOLT] = rows_find(l->about, CHANNEL_RAIL_VOLTAGE, ch->index);
	row->with[AMPERE] = rows_find(l->about, CHANNEL_RAIL_CURRENT, ch->index);
	row->read = read_rail;
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	int total = rows_find(about, CHANNEL_POWER_TOTAL, -1);

	if (total >= 0)
		rows_signal(l, (size_t)total, RANK_MAIN, false)->read = read_rail;
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == CHANNEL_RAIL_POWER)
			add_rail(l, i, total >= 0);
	if (!l->n) {
		snprintf(rows_text(l, _("Power"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("nothing here measures it: no rail of an ina3221 or ina238, no other power "
			   "sensor"));
		return;
	}
	if (total >= 0) {
		rows_heading(l, _("Energy"), STYLE_POWER);
		rows_text(l, _("Since mark"), read_mark)->unit_shown = true;
		rows_text(l, _("Since start"), read_start)->unit_shown = true;
	}
}

const struct view view_power = {
	.name = "power",
	.label = N_("Power"),
	.key = '5',
	.build = build,
	.table = table,
	.draw = charts_draw,
	.act = charts_act,
	.length = charts_length,
};
