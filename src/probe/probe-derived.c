/* Computes channels from others of the same row, after they were read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "model/missing.h"
#include "probe/open.h"

struct derived {
	struct probe probe;
	/* Of energy: values further apart have a gap between them. */
	int64_t gap_ns, last_ns, from_ns;
	double last_mw, joules;
	size_t n;
	uint16_t from[];
};

/* A total without one of its parts would be a lower number that looks right. */
static void total_read(struct probe *p, int64_t t_ns, double *row)
{
	struct derived *d = (struct derived *)p;
	double sum = 0;

	(void)t_ns;
	for (size_t i = 0; i < d->n && !isnan(sum); i++)
		sum = isnan(row[d->from[i]]) ? missing_value(MISSING_PART, d->from[i]) : sum + row[d->from[i]];
	row[p->column] = channel_round(CHANNEL_POWER_TOTAL, sum);
}

/* A unit that is powered down has no temperature and is not the hottest. */
static void hottest_read(struct probe *p, int64_t t_ns, double *row)
{
	struct derived *d = (struct derived *)p;
	double most = missing_value(MISSING_PART, d->from[0]);

	(void)t_ns;
	for (size_t i = 0; i < d->n; i++)
		if (!(row[d->from[i]] <= most) && !isnan(row[d->from[i]]))
			most = row[d->from[i]];
	row[p->column] = channel_round(CHANNEL_HOTTEST, most);
}

/* Energy since the start of the stream: trapezoids over the times at which power was really sampled, as in a report. Where
 * power is missing the energy is missing, so that the gap is visible; a long gap adds nothing. */
static void energy_read(struct probe *p, int64_t t_ns, double *row)
{
	struct derived *d = (struct derived *)p;
	int64_t from_ns = atomic_load_explicit(&p->from_ns, memory_order_relaxed);
	double mw = row[d->from[0]];

	row[p->column] = missing_value(MISSING_PART, d->from[0]);
	if (isnan(mw))
		return;
	if (from_ns != d->from_ns && t_ns >= from_ns) {
		d->from_ns = from_ns;
		d->last_ns = 0;
		d->joules = 0;
	}
	if (d->last_ns && t_ns - d->last_ns <= d->gap_ns)
		d->joules += (mw + d->last_mw) / 2 / 1000 * (double)(t_ns - d->last_ns) / (double)NS_PER_S;
	d->last_ns = t_ns;
	d->last_mw = mw;
	row[p->column] = d->joules;
}

static const struct probe_ops total_ops = {total_read, probe_free};
static const struct probe_ops hottest_ops = {hottest_read, probe_free};
static const struct probe_ops energy_ops = {energy_read, probe_free};

/* window_ns: of the values that it is computed from, which may be so much further apart. */
static int add_derived(struct probe_ctx *o, const struct probe_ops *ops, const struct channel *ch, size_t n,
		       const uint16_t *from, int64_t window_ns, struct err *e)
{
	struct derived *d = probe_new(o, sizeof *d + n * sizeof d->from[0], 0, ops, 0, e);

	if (!d)
		return -1;
	d->probe.derived = true;
	d->gap_ns = COVER_PERIODS * o->tick_ns + (window_ns > 0 ? 2 * window_ns : 0); /* as energy.c has it */
	d->n = n;
	memcpy(d->from, from, n * sizeof *from);
	return probe_ctx_finish(o, &d->probe, probe_ctx_add(o, ch, e), !ch->missing[0], e);
}

/* Describes the sum of one group of rails, from words[first] up to an "or", and collects their *n columns. ch->missing
 * names the first rail that is missing. Returns 1, 0 if a rail is unknown that may be so, or -1 and sets *e. */
static int add_up(struct probe_ctx *o, size_t first, bool optional, size_t *n, uint16_t *from, struct channel *ch,
		  struct err *e)
{
	const char *const *words = o->s->words;
	char name[64], sum[512] = "";
	int known = 1;

	ch->missing[0] = '\0';
	ch->period_ns = ch->window_ns = ch->age_ns = 0;
	for (*n = 0; first + *n < o->s->n_words && strcmp(words[first + *n], "or") != 0; ++*n) {
		const char *word = words[first + *n];
		text_join(name, sizeof name, word, ".power");
		const struct channel *rail = probe_set_find(o->probes, name);
		if ((!rail || rail->tier != o->s->tier) && optional) {
			known = 0;
			continue;
		}
		if (!rail || rail->tier != o->s->tier)
			return statement_error(o->s, e,
					       _("there is no rail \"%s\" above this line in the %s tier"),
					       word, tier_name(o->s->tier));
		if (rail->missing[0] && !ch->missing[0])
			snprintf(ch->missing, sizeof ch->missing, _("%.40s is missing"), rail->label);
		text_join(sum, sizeof sum, sum, *n ? " + " : "", name);
		if (rail->period_ns > ch->period_ns)
			ch->period_ns = rail->period_ns;
		if ((uint64_t)rail->window_ns > (uint64_t)ch->window_ns) /* WINDOW_UNKNOWN is the greatest */
			ch->window_ns = rail->window_ns;
		if (rail->age_ns > ch->age_ns)
			ch->age_ns = rail->age_ns;
		from[*n] = rail->column;
	}
	text_shortened(ch->source, sizeof ch->source, sum, strlen(sum));
	return *n ? known : statement_error(o->s, e, _("\"or\" must be between rails"));
}

static int open_total(struct probe_ctx *o, struct err *e)
{
	const char *carrier = setting_get(o->s, "carrier");
	bool optional = !strcmp(o->s->words[0], "optional");
	uint16_t from[32], best[32];
	struct channel ch, chosen;
	size_t n, n_best = 0;

	channel_describe(o, &ch, "power.total", false);
	for (size_t first = optional; first <= o->s->n_words; first += n + 1) {
		int known = add_up(o, first, optional, &n, from, &ch, e);
		if (known < 0)
			return -1;
		if (!known || (n_best && (!chosen.missing[0] || ch.missing[0])))
			continue; /* the first complete group, or else the first */
		chosen = ch;
		memcpy(best, from, sizeof best);
		n_best = n;
		if (!chosen.note[0])
			snprintf(chosen.note, sizeof chosen.note, "%s",
				 n > 1 && carrier ? _("sum of rails, without the carrier board")
				 : n > 1          ? _("sum of rails")
				 : carrier && !strcmp(carrier, o->s->words[first]) ? _("carrier input")
										   : _("module input"));
	}
	if (!n_best)
		return 0;
	if (add_derived(o, &total_ops, &chosen, n_best, best, 0, e) < 0)
		return -1;
	channel_describe(o, &ch, "energy.total", false);
	snprintf(ch.label, sizeof ch.label, "%s", _("Energy"));
	ch.unit = UNIT_JOULE;
	ch.family = FAMILY_POWER;
	snprintf(ch.source, sizeof ch.source, "%s", _("power.total over time"));
	snprintf(ch.note, sizeof ch.note, "%s", _("since nvmtop started; gaps add nothing"));
	text_join(ch.missing, sizeof ch.missing, chosen.missing);
	return add_derived(o, &energy_ops, &ch, 1, &probe_set_find(o->probes, chosen.name)->column, chosen.window_ns,
			   e);
}

const struct probe_kind probe_kind_total = {"total", 1, 32, " label note carrier ", false, false, open_total};

static bool left_out(const struct statement *s, const struct channel *c)
{
	const char *except;

	for (size_t i = 0; (except = setting_nth(s, "except", i)); i++)
		if (!strncmp(c->name, "temp.", 5) && !strcmp(c->name + 5, except))
			return true;
	return c->kind != CHANNEL_TEMPERATURE || c->tier != s->tier || heat_is_made_up(c->kernel);
}

static double common(double a, double b)
{
	return a >= b && a <= b ? a : NAN;
}

static int open_hottest(struct probe_ctx *o, struct err *e)
{
	const struct probe_set *r = o->probes;
	uint16_t *from = malloc((r->n_channels + 1) * sizeof *from);
	struct channel ch;
	size_t n = 0, zones = 0;

	if (!from)
		return statement_error(o->s, e, _("out of memory"));
	channel_describe(o, &ch, "temp.hottest", false);
	for (size_t i = 0; i < r->n_channels; i++) {
		const struct channel *c = &r->channels[i];
		if (left_out(o->s, c))
			continue;
		from[zones++] = c->column; /* also of one that comes later */
		if (c->missing[0])
			continue;
		/* It has a limit only if all temperatures have the same. */
		ch.warn = n ? common(ch.warn, c->warn) : c->warn;
		ch.crit = n++ ? common(ch.crit, c->crit) : c->crit;
	}
	snprintf(ch.source, sizeof ch.source, "%s", _("the highest temperature"));
	if (!n)
		snprintf(ch.missing, sizeof ch.missing, "%s", _("no temperature can be read"));
	/* A machine without any temperature needs no channel for it. */
	int result = zones ? add_derived(o, &hottest_ops, &ch, zones, from, 0, e) : 0;
	free(from);
	return result;
}

const struct probe_kind probe_kind_hottest = {
	"hottest", 0, 0, " label note except ", false, false, open_hottest};
