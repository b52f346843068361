/* view-power: the rails under their total, how far each is from its limit, and what
 * has been used up: in the selection, or since the last mark, or since the start, up
 * to the moment that is looked at. */
#include "ui/charts.h"
#include "ui/energy.h"
#include "ui/range-stats.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>

/* Where energy is counted: in the selection, or since the last mark before the playhead,
 * or since the start. */
struct counted {
	int64_t tick; /* when this was found */
	int64_t from_ns, to_ns;
	bool selected;
	uint64_t mark; /* 0: since none */
	double joule;  /* of all; NaN: not measured */
};

static enum unit joule_unit(double j)
{
	return fabs(j) >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE;
}

/* Where energy is counted now; and one unit for the whole column, that of the total,
 * which no rail is above. */
static const struct counted *counted(struct ui *u, const struct ui_scene *s)
{
	struct counted *k = ui_state(u, &view_power);
	int total = rows_find(u->about, CHANNEL_POWER_TOTAL, -1);

	if (!rows_due(u, &k->tick))
		return k;
	k->mark = 0;
	k->selected = select_get(u, &k->from_ns, &k->to_ns);
	if (!k->selected) {
		k->to_ns = u->vp.head_ns;
		k->from_ns = energy_mark(u, s, &k->mark);
	}
	if (k->from_ns < 0) {
		k->from_ns = u->extent.first_ns;
		k->mark = 0;
	}
	k->joule = total < 0 ? NAN : energy_joule(u, s, (size_t)total, k->from_ns, k->to_ns);
	return k;
}

/* Where the table has no room for it. */
static void tell_used(char out[40], const struct counted *k, double j)
{
	const char *unit = quantity_unit(joule_unit(j));
	char text[QUANTITY_TEXT];

	quantity_text(text, joule_unit(j), j, 7);
	if (k->selected)
		snprintf(out, 40, _("%s %s selected"), text, unit);
	else if (k->mark)
		snprintf(out, 40, _("%s %s since mark %llu"), text, unit, (unsigned long long)k->mark);
	else
		snprintf(out, 40, _("%s %s since the start"), text, unit);
}

static void read_rail(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct counted *k = counted(u, s);
	double j = energy_joule(u, s, row->channel, k->from_ns, k->to_ns);

	char text[40];

	tell_used(text, k, j);
	rows_note(row, 0, STYLE_DIM, "%s", text);
}

static void tell(struct row *row, double joule, int64_t long_ns, uint64_t mark)
{
	double mean = long_ns > 0 ? joule / ((double)long_ns / 1e9) : 0;
	char clock[QUANTITY_TEXT];

	row->value = joule;
	row->unit = joule_unit(joule);
	row->text_style = STYLE_DIM;
	quantity_time(clock, long_ns, NS_PER_S / 10);
	if (isnan(joule))
		snprintf(row->text, sizeof(row->text), "%s", _("no power was measured"));
	else if (mark) /* TRANSLATORS: "mark 2, 12.3 s, mean 24.1 W" */
		snprintf(row->text, sizeof(row->text), _("mark %llu, %s, mean %.1f W"),
			 (unsigned long long)mark, clock, mean);
	else
		snprintf(row->text, sizeof(row->text), _("%s, mean %.1f W"), clock, mean);
}

/* By the recorder's own count where there is one, which began with the sampling. */
static void read_start(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int total = rows_find(u->about, CHANNEL_POWER_TOTAL, -1);
	int64_t from = u->extent.first_ns, to = u->vp.head_ns;

	tell(row, total < 0 ? NAN : energy_joule(u, s, (size_t)total, from, to), to - from, 0);
}

/* Of the selection where there is one. */
static void read_mark(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct counted *k = counted(u, s);

	snprintf(row->name, sizeof(row->name), "%s", k->selected ? _("Selected") : _("Since mark"));
	if (k->selected || k->mark) {
		tell(row, k->joule, k->to_ns - k->from_ns, k->mark);
		return;
	}
	row->value = NAN;
	row->text_style = STYLE_DIM;
	snprintf(row->text, sizeof(row->text), "%s", _("no mark before this time; s sets one"));
}

static void add_rail(struct row_list *l, size_t i, bool part)
{
	rows_signal(l, i, WEIGHT_PART, part)->read = read_rail;
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	int total = rows_find(about, CHANNEL_POWER_TOTAL, -1);

	((struct counted *)ui_state(l->ui, &view_power))->tick = INT64_MIN;
	if (total >= 0)
		rows_signal(l, (size_t)total, WEIGHT_MAIN, false)->read = read_rail;
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
	.state = sizeof(struct counted),
	.draw = charts_draw,
	.move = charts_move,
};
