/* view-power: the rails under their total, how far each is from its limit, and what
 * has been used up: in the selection, or since the last mark, or since the start, up
 * to the moment that is looked at. */
#include "ui/charts.h"
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

enum { VOLT, AMPERE, USED, LIMIT, FREE };
static const struct table_column table[] = {
	[VOLT] = {N_("V"), 5, 50},         [AMPERE] = {N_("A"), 4, 50},     [USED] = {"J", 5, 76},
	[LIMIT] = {N_("limit A"), 7, 140}, [FREE] = {N_("free %"), 6, 140}, {NULL, 0, 0},
};

static enum unit joule_unit(double j)
{
	return fabs(j) >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE;
}

/* Joules of a power channel; NaN: nothing was measured.  The mean of all samples counts for the time
 * that they cover: late ticks are filled in with the mean, holes add nothing. */
static double joule_of(const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct span span;

	span_read(s->timeline, channel, from_ns, to_ns, &span);
	return span_joule(&span);
}

/* The time and number of the last mark at or before the playhead; -1: there is none. */
static int64_t last_mark(struct ui *u, const struct ui_scene *s, uint64_t *id)
{
	int64_t to = u->vp.head_ns + 1, from = u->extent.first_ns, back = INT64_C(1) << 30;
	struct mark m[64];
	size_t n = 0;

	/* Look back further and further; what is found is oldest first. */
	for (int64_t left = to; left > from; back = back < INT64_MAX / 8 ? 8 * back : back) {
		int64_t right = left;

		left = right - from > back ? right - back : from;
		n = s->timeline->ops->marks(s->timeline, left, right, m, 64);
		while (n == 64) {
			int64_t after = m[63].t_ns + 1;
			size_t more = s->timeline->ops->marks(s->timeline, after, right, m, 64);

			if (!more)
				break;
			n = more;
		}
		if (n)
			break;
	}
	if (!n)
		return -1;
	*id = m[n - 1].id;
	return m[n - 1].t_ns;
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
		k->from_ns = last_mark(u, s, &k->mark);
	}
	if (k->from_ns < 0) {
		k->from_ns = u->extent.first_ns;
		k->mark = 0;
	}
	k->joule = total < 0 ? NAN : joule_of(s, (size_t)total, k->from_ns, k->to_ns);
	return k;
}

static const char *title(struct ui *u, const struct ui_scene *s, int column, char out[TITLE_MAX])
{
	const struct counted *k;
	const char *unit;

	if (column != USED || !u->extent.any)
		return NULL;
	k = counted(u, s);
	unit = quantity_unit(joule_unit(k->joule));
	if (k->mark &&
	    snprintf(out, TITLE_MAX, "%s m%llu", unit, (unsigned long long)k->mark) <= table[USED].w)
		return out;
	snprintf(out, TITLE_MAX, "%s", unit);
	return out;
}

static void tell_limit(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *current =
		row->with[AMPERE] >= 0 ? &u->about->channels[row->with[AMPERE]] : NULL;
	double limit = current && current->crit > 0   ? current->crit
		       : current && current->warn > 0 ? current->warn
						      : NAN;
	char text[QUANTITY_TEXT], most[QUANTITY_TEXT];
	double left;

	if (isnan(limit))
		return;
	left = 100 * (1 - rows_value(u, s, (size_t)row->with[AMPERE], 0) / limit);
	rows_cell(u, row, LIMIT, UNIT_MILLIAMPERE, limit, STYLE_DIM);
	quantity_text(text, UNIT_HZ, 1e6 * left, 4); /* whole ones */
	rows_cell_text(row, FREE, (enum style)(row->alarm ? STYLE_WARN : STYLE_TEXT), text);
	if (!u->at.stats.w) {
		quantity_round(most, UNIT_MILLIAMPERE, limit);
		/* TRANSLATORS: "32 % of 1.2 A free"; 22 columns at most */
		snprintf(row->below[0], sizeof(row->below[0]), _("%s %% of %s A free"), text, most);
	}
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
	double j = joule_of(s, row->channel, k->from_ns, k->to_ns);

	row->below[0][0] = row->below[1][0] = 0;
	tell_limit(u, s, row);
	if (u->frame.w < table[USED].from)
		tell_used(row->below[row->below[0][0] != 0], k, j);
	else
		rows_cell(u, row, USED, joule_unit(k->joule), j, STYLE_TEXT);
}

/* Of another trace in the same stretch, where it has all of that. */
static void read_second(struct ui *u, struct row *b)
{
	const struct second *o = &u->second;
	const struct counted *k = ui_state(u, &view_power);
	double j = NAN;
	struct span span;

	if (!o->provisional && k->from_ns >= o->extent.first_ns && k->to_ns <= o->extent.last_ns) {
		span_read(o->timeline, b->second.channel, k->from_ns - o->shift_ns, k->to_ns - o->shift_ns,
			  &span);
		j = span_joule(&span);
	}
	rows_cell(u, b, USED, joule_unit(k->joule), j, STYLE_TEXT);
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

	tell(row, total < 0 ? NAN : joule_of(s, (size_t)total, from, to), to - from, 0);
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

	((struct counted *)ui_state(l->ui, &view_power))->tick = INT64_MIN;
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
	.state = sizeof(struct counted),
	.table = table,
	.title = title,
	.second = read_second,
	.draw = charts_draw,
	.move = charts_move,
};
