/* view-board: what this is, how it is set, what it does not tell and how that can be
 * mended, and what looking at it costs. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

static const struct fact *facts_of(const struct row_list *l)
{
	return present_facts(&l->ui->present, l->about);
}

static void add_fact(struct row_list *l, const char *name, const char *key)
{
	rows_fact(l, name, facts_of(l), l->about->n_facts, key);
}

static void add_identity(struct row_list *l)
{
	int n = l->n;

	rows_heading(l, _("This machine"), STYLE_OTHER);
	add_fact(l, _("Board"), "title");
	add_fact(l, _("Model"), "model");
	add_fact(l, _("Module"), "module");
	add_fact(l, _("Chip"), "soc");
	add_fact(l, _("Release"), "release");
	add_fact(l, _("JetPack"), "jetpack");
	add_fact(l, _("Kernel"), "kernel");
	add_fact(l, _("Host"), "hostname");
	add_fact(l, _("Known by"), "why");
	add_fact(l, _("Not read"), "other_sensors");
	if (l->n == n + 1)
		snprintf(rows_text(l, _("Board"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("the trace does not name its board"));
}

static void read_pinned(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int i = rows_named(u->about, "clocks.pinned");
	double v = i >= 0 ? rows_value(u, s, (size_t)i, 0) : NAN;

	snprintf(row->text, sizeof(row->text), "%s",
		 isnan(v) ? _("not known")
		 : v > 0  ? _("pinned: lowest and highest clock are the same (jetson_clocks)")
			  : _("free: the governors set them (no jetson_clocks)"));
}

/* One name when all groups of cores have the same one, as nearly always. */
static void add_governors(struct row_list *l)
{
	const struct session *about = l->about;
	const char *first = NULL;
	struct row *row = NULL;
	bool same = true;

	for (size_t i = 0; i < about->n_facts; i++) {
		const struct fact *f = &facts_of(l)[i];
		const char *dot = strchr(f->key, '.');
		size_t used;

		if (strncmp(f->key, "cpu", 3) != 0 || !dot || strcmp(dot, ".governor") != 0)
			continue;
		if (!row)
			row = rows_text(l, _("CPU clock"), NULL);
		same = same && (!first || !strcmp(first, f->value));
		first = first ? first : f->value;
		used = strlen(row->text);
		snprintf(row->text + used, sizeof(row->text) - used, "%s%.*s %s", used ? ", " : "",
			 (int)(dot - f->key), f->key, f->value);
	}
	if (row && same)
		snprintf(row->text, sizeof(row->text), _("governor %.64s"), first);
}

static void add_modes(struct row_list *l)
{
	const struct session *about = l->about;
	const char *governor;
	int n = l->n;

	rows_heading(l, _("Modes"), STYLE_OTHER);
	add_fact(l, _("Power mode"), "mode");
	if (rows_named(about, "clocks.pinned") >= 0)
		rows_text(l, _("Clocks"), read_pinned);
	governor = fact_get(facts_of(l), about->n_facts, "gpu.governor");
	if (governor)
		/* TRANSLATORS: the names of this view have 11 columns on narrow screens. */
		snprintf(rows_text(l, _("GPU clock"), NULL)->text, sizeof(l->rows->text), _("governor %.64s"),
			 governor);
	add_governors(l);
	if (l->n == n + 1)
		l->n = n;
}

static void add_missing(struct row_list *l)
{
	bool headed = false;

	for (size_t i = 0; i < l->about->n_channels; i++) {
		const struct channel *ch = &l->about->channels[i];
		struct row *row;

		if (!ch->missing[0])
			continue;
		if (!headed)
			rows_heading(l, _("Missing, and why"), STYLE_HEAT);
		headed = true;
		row = rows_text(l, ch->label, NULL);
		snprintf(row->text, sizeof(row->text), "%s", ch->missing);
	}
	for (size_t i = 0; i < l->ui->present.n_dead; i++) {
		const struct dead *d = &l->ui->present.dead[i];
		struct row *row;

		if (!headed)
			rows_heading(l, _("Missing, and why"), STYLE_HEAT);
		headed = true;
		row = rows_text(l, l->about->channels[d->channel].label, NULL);
		/* TRANSLATORS: then a time, such as "12:34:56.7". */
		snprintf(row->text, sizeof(row->text), _("stopped answering at %s"), d->since);
	}
}

static void read_own(struct ui *u, const struct ui_scene *s, struct row *row)
{
	row->value = s->own_cpu;
	row->unit = UNIT_PERCENT;
	snprintf(row->text, sizeof(row->text), "%s",
		 isnan(s->own_cpu) ? _("not known of a saved trace") : _("of one core"));
	row->text_style = STYLE_DIM;
}

/* Live it is counted by the sampler; of a trace, by the holes that it tells of. */
static void read_late(struct ui *u, const struct ui_scene *s, struct row *row)
{
	unsigned long long late = s->late, lost = s->lost;

	if (!s->live) {
		struct gap gaps[GAPS_MAX];
		size_t n = u->extent.any ? s->timeline->ops->gaps(s->timeline, u->extent.first_ns,
								  u->extent.last_ns + 1, gaps, GAPS_MAX)
					 : 0;

		late = lost = 0;
		for (size_t i = 0; i < n; i++)
			if (gaps[i].tier == TIER_FAST)
				*(gaps[i].cause == GAP_LOST ? &lost : &late) += gaps[i].missed;
		if (n == GAPS_MAX) {
			snprintf(row->text, sizeof(row->text), _("more than %d holes in this trace"),
				 GAPS_MAX);
			row->text_style = STYLE_WARN;
			return;
		}
	}
	if (s->live)
		snprintf(row->text, sizeof(row->text),
			 P_("%llu late tick of the fast tier", "%llu late ticks of the fast tier", late),
			 late);
	else if (late || lost)
		/* One that was late alone is no hole: it is in the channel below. */
		snprintf(row->text, sizeof(row->text),
			 P_("%llu late tick in holes", "%llu late ticks in holes", late), late);
	else
		snprintf(row->text, sizeof(row->text), "%s", _("no holes"));
	if (lost)
		snprintf(row->text + strlen(row->text), sizeof(row->text) - strlen(row->text),
			 P_(", %llu row lost", ", %llu rows lost", lost), lost);
	row->text_style = lost ? STYLE_ALERT : late ? STYLE_WARN : STYLE_TEXT;
}

static void add_sampling(struct row_list *l)
{
	const struct session *about = l->about;
	struct row *row;

	rows_heading(l, _("Sampling, and what it costs"), STYLE_OTHER);
	row = rows_text(l, _("Rates"), NULL);
	snprintf(row->text, sizeof(row->text), _("%g, %g and %g times a second (fast, medium, slow tier)"),
		 about->hz[TIER_FAST], about->hz[TIER_MEDIUM], about->hz[TIER_SLOW]);
	add_fact(l, _("Priority"), "priority");
	add_fact(l, _("CPU source"), "cpu.source");
	rows_text(l, _("Late"), read_late);
	if (rows_named(about, "nvmtop.cpu") < 0)
		rows_text(l, _("Own CPU"), read_own)->unit_shown = true;
	for (size_t i = 0; i < about->n_channels; i++)
		if (strstr(about->channels[i].name, ".rate") ||
		    !strncmp(about->channels[i].name, "nvmtop.", 7) ||
		    !strcmp(about->channels[i].name, "cpu.window"))
			if (about->channels[i].kind == CHANNEL_OTHER ||
			    about->channels[i].kind == CHANNEL_COUNTER)
				rows_signal(l, i, RANK_REST, false);
}

static void build(struct row_list *l)
{
	add_identity(l);
	add_modes(l);
	add_missing(l);
	add_sampling(l);
	for (int i = 0; i < l->n; i++)
		l->rows[i].part = l->rows[i].kind != ROW_HEADING;
	second_add(l);
}

const struct view view_board = {
	.name = "board",
	.label = N_("Board"),
	.key = '9',
	.facts = true,
	.build = build,
	.draw = charts_draw,
	.move = charts_move,
};
