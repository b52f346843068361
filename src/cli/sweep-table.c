/* What the settings of a sweep cost: mean and spread over the runs, and which of them are worth choosing. A run counts with
 * the numbers that its recording has in a report. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "app/app.h"
#include "cli/sweep.h"
#include "report/compare.h"
#include "util/intl.h"
#include "util/num.h"

static const char *const results[] = {[SWEEP_LEFT] = N_("not reached"),	 [SWEEP_RAN] = "",
				      [SWEEP_UNSETTLED] = N_("not settled"), [SWEEP_FAILED] = N_("failed"),
				      [SWEEP_UNRECORDED] = N_("not recorded"), [SWEEP_NOT] = N_("did not take"),
				      [SWEEP_REFUSED] = N_("refused"),	 [SWEEP_UNSET] = N_("cannot be set")};

void sweep_say(struct sweep_row *row, const char *fmt, ...)
{
	size_t length = strlen(row->why);
	char text[sizeof row->why];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (!strstr(row->why, text))
		snprintf(row->why + length, sizeof row->why - length, "%s%s", length ? "; " : "", text);
}

static void spread_add(struct spread *s, double v)
{
	double off = v - s->mean;

	if (isnan(v))
		return;
	s->n++;
	s->mean += off / (double)s->n;
	s->squares += off * (v - s->mean);
}

static struct side side_get(const struct spread *s)
{
	return (struct side){.n = s->n, .mean = s->n > 0 ? s->mean : NAN, .sd = s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : NAN};
}

/* Says why a run has no value of what such a signal would have. */
static void say_missing(struct sweep_row *row, const struct analysis *a, const char *what, enum channel_kind kind)
{
	char why[300];

	for (size_t i = 0; i < a->channels.n; i++) {
		const struct channel *c = channel_of(a, i);

		if (c->kind != kind && !(kind == CHANNEL_POWER_TOTAL && c->unit == UNIT_MILLIWATT))
			continue;
		unmeasured_reason(a, i, why, sizeof why);
		sweep_say(row, _("no %s: %s"), what, why);
		return;
	}
	sweep_say(row, _("no %s: this board has no signal of it"), what);
}

static void add_energy(struct sweep_table *t, struct sweep_row *row, const struct analysis *a)
{
	const struct part *p = &a->whole;
	const struct result *power = key_of(a, p, KEY_POWER);
	double known = 0, span = 0;

	if (power)
		known_of(a, p, a->at[KEY_POWER], &known, &span);
	if (!power && a->power.n > 1) {
		sweep_say(row, "%s", _("no joules: one power signal may be a part of another; nvmtop report --all has the J of each"));
	} else if (!power || isnan(power->energy.joules)) {
		say_missing(row, a, _("joules"), CHANNEL_POWER_TOTAL);
	} else if (known < KNOWN_ENOUGH * span) {
		sweep_say(row, _("no joules: power is known for only %.1f %% of the time"), 100 * known / span);
	} else {
		double within = power->energy.within / power->energy.known_s * seconds_of(p);

		row->within = row->joules.n == 0 || !(within <= row->within) ? within : row->within;
		spread_add(&row->joules, full_energy(p, a->at[KEY_POWER]));
		spread_add(&row->watts, watts_of(power));
		snprintf(t->power, sizeof t->power, "%s", a->power_name);
	}
}

static void add_heat(struct sweep_row *row, const struct analysis *a)
{
	const struct part *p = &a->whole;
	const struct result *hottest = key_of(a, p, KEY_HOTTEST);
	double longest = NAN;

	if (hottest && hottest->n > 0)
		row->hottest = fmax(hottest->max, row->hottest); /* which is not NaN if one of them is none */
	else
		say_missing(row, a, _("temperature"), CHANNEL_HOTTEST);
	for (size_t i = 0; i < a->channels.n; i++) {
		longest = fmax(throttled_of(a, p, i), longest);
		if (channel_of(a, i)->kind == CHANNEL_THROTTLE_COUNT && p->results[i].n > 0)
			row->events = p->results[i].steps + (isnan(row->events) ? 0 : row->events);
	}
	if (isnan(longest))
		say_missing(row, a, _("throttling"), CHANNEL_THROTTLE);
	else if (p->duration_ns > 0)
		spread_add(&row->throttled, 100 * longest / seconds_of(p));
}

int sweep_add(struct sweep_table *t, struct sweep_row *row, const char *file, struct err *e)
{
	struct trace *trace = open_trace(file, e);
	const struct selection all = {.tier = -1};
	struct reading reading = {.progress = NULL};
	struct analysis a;
	int r;

	if (!trace)
		return -1;
	r = analysis_begin(&a, trace, &all, 0, false, &reading, e);
	if (r == 0)
		r = analyse(&a, &reading, e);
	if (r == 0) {
		spread_add(&row->seconds, seconds_of(&a.whole));
		add_energy(t, row, &a);
		add_heat(row, &a);
	}
	analysis_free(&a);
	trace_close(trace);
	return r;
}

/* Is a larger than b by more than its runs and those of b differ? With one run each nothing is known of that. */
static bool is_beyond(const struct spread *a, const struct spread *b)
{
	const struct side x = side_get(a), y = side_get(b);
	double p, ci95 = welch(x.sd, x.n, y.sd, y.n, x.mean - y.mean, &p);

	return x.mean > y.mean && !(x.mean - y.mean <= ci95);
}

void sweep_compare(struct sweep_table *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		struct sweep_row *a = &t->rows[i];

		a->mark = a->joules.n > 0 ? '*' : ' ';
		for (size_t k = 0; k < t->n_rows && a->mark != ' '; k++) {
			const struct sweep_row *b = &t->rows[k];
			bool better = b->joules.n > 0 && b->seconds.mean <= a->seconds.mean && b->joules.mean <= a->joules.mean &&
				      (b->seconds.mean < a->seconds.mean || b->joules.mean < a->joules.mean);

			if (better)
				a->mark = is_beyond(&a->seconds, &b->seconds) || is_beyond(&a->joules, &b->joules) ? ' ' : '~';
		}
	}
}

static void cell_spread(struct table *t, enum what what, const struct spread *s, double divisor, size_t runs)
{
	struct side side = side_get(s);
	char text[CELL_TEXT];

	side.mean /= divisor;
	side.sd /= divisor;
	spread_text(text, &(struct metric){.what = what}, &side, quantities[what].shown, runs);
	cell_text(t, text);
}

void sweep_print(const struct sweep_table *t, FILE *f)
{
	const struct page page = {.f = f, .columns = terminal_width(fileno(f))};
	const bool items = t->per > 0;
	struct table out = {.page = &page, .n = 8, .wide = {-18, 17, 17, items ? 17 : 0, 7, 6, 11, -12}, .spare = 1 << 4,
			    .head = {_("setting"), "s", "J", items ? _("J per item") : "", _("mean W"), _("max C"), _("throttled %"), ""}};
	bool marked[256] = {false}, now = false;
	char text[CELL_TEXT];
	double bound = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		out.wide[0] = -room_with(-out.wide[0] - 8, t->rows[i].name) - 8;
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct sweep_row *row = &t->rows[i];

		snprintf(text, sizeof text, "%c %s%s", row->mark, row->name, row->now ? _(" (now)") : "");
		cell_text(&out, text);
		cell_spread(&out, DURATION, &row->seconds, 1, row->seconds.n);
		cell_spread(&out, ENERGY, &row->joules, 1, row->seconds.n);
		if (items)
			cell_spread(&out, ENERGY, &row->joules, t->per, row->seconds.n);
		else
			cell_text(&out, "");
		cell_shown(&out, side_get(&row->watts).mean, row->watts.mean);
		cell_shown(&out, row->hottest, 10);
		cell_shown(&out, side_get(&row->throttled).mean, 10);
		cell_text(&out, *results[row->result] ? _(results[row->result]) : "");
		marked[(unsigned char)row->mark] = true;
		now |= row->now;
		if (row->joules.n > 0)
			bound = fmax(bound, isnan(row->within) ? INFINITY : 100 * row->within / row->joules.mean);
	}
	putc('\n', f);
	for (size_t i = 0; i < t->n_rows; i++)
		if (*t->rows[i].why)
			fprintf(f, "%s: %s\n", t->rows[i].name, t->rows[i].why);
	if (marked['*'])
		fputs(_("*: no other setting is better in both time and energy\n"), f);
	if (marked['~'])
		fputs(_("~: another one is better, but by no more than the runs differ (Welch's test, at 5 %)\n"), f);
	if (now)
		fputs(_("(now): as it was before the sweep\n"), f);
	if (isfinite(bound) && bound > 0)
		fprintf(f, _("J and W are those of %s; the joules of a run are right within %.2g %%\n"), t->power, bound);
	else if (bound > 0)
		fprintf(f, _("J and W are those of %s; how right the joules of a run are is not known\n"), t->power);
}

int sweep_csv(const struct sweep_table *t, const char *path, struct err *e)
{
	char temp[PATH_MAX + 8];
	FILE *f = snprintf(temp, sizeof temp, "%s.new", path) < (int)sizeof temp ? fopen(temp, "we") : NULL;
	struct record r = {.f = f, .as = AS_HEAD};

	for (size_t i = 0; f && i <= t->n_rows; i++) { /* the first time only for the names */
		const struct sweep_row *row = &t->rows[i ? i - 1 : 0];
		const struct side s = side_get(&row->seconds), j = side_get(&row->joules), w = side_get(&row->watts),
				  throttled = side_get(&row->throttled);
		bool ran = row->result > SWEEP_LEFT && row->result < SWEEP_NOT;

		for (size_t k = 0; k < t->n_axes; k++)
			PUT(&r, {t->axes[k].word, IN_CSV, TEXT_OF(row->value[k])});
		PUT(&r, {"now", IN_CSV, TRUTH_OF(row->now)},
		    {"result", IN_CSV, TEXT_OF(row->result == SWEEP_RAN ? "ran" : results[row->result])},
		    {"runs", IN_CSV, COUNT_OF(s.n)}, {"failed_runs", IN_CSV, COUNT_OF(row->failed)},
		    {"exit_status", IN_CSV, NUMBER_OF(ran ? (double)row->exit_status : (double)NAN)}, {"duration_s", IN_CSV, NUMBER_OF(s.mean)},
		    {"duration_sd_s", IN_CSV, NUMBER_OF(s.sd)}, {"power", IN_CSV, TEXT_OF(j.n > 0 ? t->power : "")},
		    {"energy_j", IN_CSV, NUMBER_OF(j.mean)}, {"energy_sd_j", IN_CSV, NUMBER_OF(j.sd)},
		    {"energy_within_j", IN_CSV, NUMBER_OF(row->within)}, {"items", IN_CSV, NUMBER_OF(t->per > 0 ? t->per : NAN)},
		    {"energy_per_item_j", IN_CSV, NUMBER_OF(j.mean / (t->per > 0 ? t->per : NAN))},
		    {"mean_power_w", IN_CSV, NUMBER_OF(w.mean)}, {"mean_power_sd_w", IN_CSV, NUMBER_OF(w.sd)},
		    {"hottest_c", IN_CSV, NUMBER_OF(row->hottest)}, {"throttled_percent", IN_CSV, NUMBER_OF(throttled.mean)},
		    {"throttle_events", IN_CSV, NUMBER_OF(row->events)},
		    {"pareto", IN_CSV, TEXT_OF(row->mark == '*' ? "best" : row->mark == '~' ? "tie" : "")},
		    {"recordings", IN_CSV, TEXT_OF(row->file)}, {"reason", IN_CSV, TEXT_OF(row->why)});
		record_line(&r);
		r.as = AS_CSV;
	}
	if (f && !ferror(f) && fclose(f) == 0 && rename(temp, path) == 0)
		return 0;
	return err_sys(e, ERR_FAILED, errno, _("cannot write %s"), path);
}
