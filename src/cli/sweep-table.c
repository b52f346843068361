/* What the settings of a sweep cost: mean and spread over the runs, and which of them are worth choosing. A run counts with
 * the numbers that its recording has in a report. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "cli/sweep.h"
#include "util/intl.h"

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

static void add_run(struct side *s, double v)
{
	double n = (double)s->n + 1, off = v - s->mean;

	if (isnan(v))
		return;
	s->mean = s->n > 0 ? s->mean + off / n : v;
	s->sd = s->n > 0 ? sqrt(((s->n > 1 ? s->sd * s->sd * (n - 2) : 0) + off * (v - s->mean)) / (n - 1)) : (double)NAN;
	s->n++;
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

		if (row->joules.n == 0 || isnan(within) || within > row->within)
			row->within = within;
		add_run(&row->joules, full_energy(p, a->at[KEY_POWER]));
		add_run(&row->watts, watts_of(power));
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
		add_run(&row->throttled, 100 * longest / seconds_of(p));
}

int sweep_add(struct sweep_table *t, struct sweep_row *row, const char *file, struct err *e)
{
	struct trace *trace = open_trace(&file, 1, e);
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
		add_run(&row->seconds, seconds_of(&a.whole));
		add_energy(t, row, &a);
		add_heat(row, &a);
	}
	analysis_free(&a);
	trace_close(trace);
	return r;
}

/* Is a larger than b by more than its runs and those of b differ? With one run each nothing is known of that. */
static bool is_beyond(const struct side *a, const struct side *b)
{
	double p, by = a->mean - b->mean;

	return by > 0 && !(by <= welch(a->sd, a->n, b->sd, b->n, by, &p));
}

void sweep_compare(struct sweep_table *t)
{
	for (struct sweep_row *a = t->rows; a < t->rows + t->n_rows; a++) {
		a->mark = a->joules.n > 0 ? '*' : ' ';
		for (const struct sweep_row *b = t->rows; b < t->rows + t->n_rows && a->mark != ' '; b++) {
			double s = a->seconds.mean - b->seconds.mean, j = a->joules.mean - b->joules.mean;

			if (s >= 0 && j >= 0 && s + j > 0)
				a->mark = is_beyond(&a->seconds, &b->seconds) || is_beyond(&a->joules, &b->joules) ? ' ' : '~';
		}
	}
}

enum { SETTING, SECONDS, JOULES, ITEM_JOULES, WATTS, HOTTEST, SLOWED, RESULT, COLUMNS };

static void row_cells(const struct sweep_table *t, const struct sweep_row *row, char cells[COLUMNS][CELL_TEXT])
{
	struct side item = row->joules;

	item.mean /= t->per;
	item.sd /= t->per;
	snprintf(cells[SETTING], CELL_TEXT, "%c %s%s", row->mark, row->name, row->now ? _(" (now)") : "");
	spread_text(cells[SECONDS], &(struct metric){.what = DURATION}, &row->seconds, quantities[DURATION].shown, row->seconds.n);
	spread_text(cells[JOULES], &(struct metric){.what = ENERGY}, &row->joules, quantities[ENERGY].shown, row->seconds.n);
	spread_text(cells[ITEM_JOULES], &(struct metric){.what = ITEM_ENERGY}, &item, quantities[ITEM_ENERGY].shown, row->seconds.n);
	if (t->per == 0)
		*cells[ITEM_JOULES] = '\0';
	shown_text(cells[WATTS], row->watts.mean, row->watts.mean);
	shown_text(cells[HOTTEST], row->hottest, 10);
	shown_text(cells[SLOWED], row->throttled.mean, 10);
	snprintf(cells[RESULT], CELL_TEXT, "%s", *results[row->result] ? _(results[row->result]) : "");
}

void sweep_print(const struct sweep_table *t, FILE *f)
{
	const struct page page = {.f = f, .columns = terminal_width(fileno(f))};
	struct table out = {.page = &page, .n = COLUMNS, .spare = 1 << WATTS | (t->per > 0 ? 1 << JOULES : 0),
			    .left_out = t->per > 0 ? 0 : 1 << ITEM_JOULES,
			    .head = {_("setting"), "s", "J", t->per > 0 ? _("J per item") : "", _("mean W"), _("max C"), _("throttled %"), ""}};
	bool best = false, tie = false, now = false;
	char cells[COLUMNS][CELL_TEXT];
	double bound = 0;

	for (size_t k = 0; k < COLUMNS; k++)
		out.wide[k] = text_width(out.head[k]) + (k > ITEM_JOULES); /* heads that fill their columns */
	for (size_t i = 0; i < t->n_rows; i++) {
		row_cells(t, &t->rows[i], cells);
		for (size_t k = 0; k < COLUMNS; k++)
			out.wide[k] = room_with(out.wide[k], cells[k]);
	}
	out.wide[SETTING] *= -1;
	out.wide[RESULT] *= -1;
	for (const struct sweep_row *row = t->rows; row < t->rows + t->n_rows; row++) {
		row_cells(t, row, cells);
		for (size_t k = 0; k < COLUMNS; k++)
			cell_text(&out, cells[k]);
		best |= row->mark == '*';
		tie |= row->mark == '~';
		now |= row->now;
		if (row->joules.n > 0)
			bound = fmax(bound, isnan(row->within) ? INFINITY : 100 * row->within / row->joules.mean);
	}
	putc('\n', f);
	for (size_t i = 0; i < t->n_rows; i++)
		if (*t->rows[i].why)
			fprintf(f, "%s: %s\n", t->rows[i].name, t->rows[i].why);
	if (best)
		fputs(_("*: no other setting is better in both time and energy\n"), f);
	if (tie)
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
	const double per = t->per > 0 ? t->per : (double)NAN;
	char temp[PATH_MAX + 8];
	bool good;

	snprintf(temp, sizeof temp, "%s.new", path);
	struct record r = {.f = fopen(temp, "we"), .as = AS_HEAD};
	for (size_t i = 0; r.f && i <= t->n_rows; i++) { /* the first time only for the names */
		const struct sweep_row *row = &t->rows[i ? i - 1 : 0];
		const bool ran = row->result > SWEEP_LEFT && row->result < SWEEP_NOT;

		for (size_t k = 0; k < t->n_axes; k++)
			PUT(&r, {t->axes[k].word, IN_CSV, TEXT_OF(row->choice[k]->shown)});
		PUT(&r, {"now", IN_CSV, TRUTH_OF(row->now)},
		    {"result", IN_CSV, TEXT_OF(row->result == SWEEP_RAN ? "ran" : results[row->result])},
		    {"runs", IN_CSV, COUNT_OF(row->seconds.n)}, {"failed_runs", IN_CSV, COUNT_OF(row->failed)},
		    {"exit_status", IN_CSV, NUMBER_OF(ran ? (double)row->exit_status : (double)NAN)},
		    {"duration_s", IN_CSV, NUMBER_OF(row->seconds.mean)}, {"duration_sd_s", IN_CSV, NUMBER_OF(row->seconds.sd)},
		    {"power", IN_CSV, TEXT_OF(row->joules.n > 0 ? t->power : "")},
		    {"energy_j", IN_CSV, NUMBER_OF(row->joules.mean)}, {"energy_sd_j", IN_CSV, NUMBER_OF(row->joules.sd)},
		    {"energy_within_j", IN_CSV, NUMBER_OF(row->within)}, {"items", IN_CSV, NUMBER_OF(per)},
		    {"energy_per_item_j", IN_CSV, NUMBER_OF(row->joules.mean / per)},
		    {"mean_power_w", IN_CSV, NUMBER_OF(row->watts.mean)}, {"mean_power_sd_w", IN_CSV, NUMBER_OF(row->watts.sd)},
		    {"hottest_c", IN_CSV, NUMBER_OF(row->hottest)}, {"throttled_percent", IN_CSV, NUMBER_OF(row->throttled.mean)},
		    {"throttle_events", IN_CSV, NUMBER_OF(row->events)},
		    {"pareto", IN_CSV, TEXT_OF(row->mark == '*' ? "best" : row->mark == '~' ? "tie" : "")},
		    {"recordings", IN_CSV, TEXT_OF(row->file)}, {"reason", IN_CSV, TEXT_OF(row->why)});
		record_line(&r);
		r.as = AS_CSV;
	}
	good = r.f && !ferror(r.f);
	if (r.f && fclose(r.f) == 0 && good && rename(temp, path) == 0)
		return 0;
	err_sys(e, ERR_FAILED, errno, _("cannot write %s"), path);
	unlink(temp);
	return -1;
}
