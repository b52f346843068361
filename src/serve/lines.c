/* Lines of JSON and CSV, and whole texts of metrics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/channel.h"
#include "serve/forms.h"
#include "serve/openmetrics.h"
#include "util/json-csv.h"
#include "util/num.h"

static const char *const suffixes[] = {".mean", ".min", ".max"};

/* A counter has no mean: its newest value. Of a mean, further digits than twelve are rounding errors of the sum; a value that
 * was rounded to float is the shortest number that says it. */
static double line_value(const struct channel *c, const struct interval_sum *s, int stat)
{
	bool mean = stat == STREAM_MEAN && !channel_counts(c) && s->bin.min < s->bin.max;
	double v = stat == STREAM_MAX ? s->bin.max : channel_counts(c) && stat == STREAM_MEAN ? s->last : s->bin.min;
	char text[NUM_TEXT];

	if (s->bin.n == 0)
		return (double)NAN;
	if (mean)
		snprintf(text, sizeof text, "%.12g", interval_mean(s));
	else
		num_text_single(text, v);
	return num_double(text, &v) ? v : (double)NAN;
}

/* The statistics of a line in turn, from -1 on; those that were not asked for are left out, and without any there is one
 * under the plain name. Returns false at the end. */
static bool line_next(const struct lines *l, int *stat, const char **suffix)
{
	bool plain = !l->stats[STREAM_MEAN] && !l->stats[STREAM_MIN] && !l->stats[STREAM_MAX];

	for (++*stat; *stat < STREAM_STATS_ALL; ++*stat)
		if (l->stats[*stat] || (plain && *stat == STREAM_MEAN)) {
			*suffix = plain ? "" : suffixes[*stat];
			return true;
		}
	return false;
}

static void line_times(struct record *r, const struct interval *i)
{
	int64_t wall_ns = interval_wall_ns(i);

	if (wall_ns)
		PUT(r, {"time", IN_BOTH, TIME_OF(wall_ns)});
	else
		PUT(r, {"time", IN_BOTH, NUMBER_OF((double)NAN)});
	PUT(r, {"elapsed", IN_BOTH, TIME_OF(i->to_ns - i->about->start.mono_ns)},
	    {"seconds", IN_BOTH, TIME_OF(i->to_ns - i->from_ns)});
}

static void jsonl_line(FILE *f, const struct lines *l, const struct interval *i)
{
	struct record r = {.f = f, .as = AS_JSON};
	bool missing = false;

	json_open(&r, NULL, '{');
	line_times(&r, i);
	for (size_t k = 0; k < l->n; k++) {
		const struct channel *c = &i->about->channels[l->channels[k]];
		char name[sizeof c->name + 8];
		const char *suffix;

		for (int stat = -1; line_next(l, &stat, &suffix);) {
			snprintf(name, sizeof name, "%s%s", c->name, suffix);
			PUT(&r, {name, IN_JSON, NUMBER_OF(line_value(c, &i->sums[l->channels[k]], stat))});
		}
		missing |= i->sums[l->channels[k]].bin.n == 0;
	}
	if (missing)
		json_open(&r, "missing", '{');
	for (size_t k = 0; missing && k < l->n; k++) {
		char reason[256];

		if (i->sums[l->channels[k]].bin.n)
			continue;
		interval_reason(i, l->channels[k], reason, sizeof reason);
		PUT(&r, {i->about->channels[l->channels[k]].name, IN_JSON, TEXT_OF(reason)});
	}
	json_close(&r, missing ? "}}" : "}");
	putc('\n', f);
}

static void csv_begin(FILE *f, const struct lines *l, const struct session *about)
{
	fputs("time,elapsed,seconds", f);
	for (size_t k = 0; k < l->n; k++) {
		const struct channel *c = &about->channels[l->channels[k]];
		const char *unit = unit_name(c->unit), *suffix;
		char name[sizeof c->name + 24];

		for (int stat = -1; line_next(l, &stat, &suffix);) {
			snprintf(name, sizeof name, *unit ? "%s%s [%s]" : "%s%s%s", c->name, suffix, unit);
			putc(',', f);
			put_csv_text(f, name);
		}
	}
	fputs(",missing\n", f);
}

static void csv_line(FILE *f, const struct lines *l, const struct interval *i)
{
	struct record r = {.f = f, .as = AS_CSV};
	char *text = NULL, reason[256];
	size_t size;
	FILE *all = open_memstream(&text, &size);
	const char *suffix;

	line_times(&r, i);
	for (size_t k = 0; k < l->n; k++) {
		const struct channel *c = &i->about->channels[l->channels[k]];
		const struct interval_sum *s = &i->sums[l->channels[k]];

		for (int stat = -1; line_next(l, &stat, &suffix);)
			PUT(&r, {NULL, IN_CSV, NUMBER_OF(line_value(c, s, stat))});
		if (s->bin.n || !all)
			continue;
		interval_reason(i, l->channels[k], reason, sizeof reason);
		fprintf(all, "%s%s: %s", ftell(all) > 0 ? "; " : "", c->name, reason);
	}
	putc(',', f);
	if (all && fclose(all) == 0)
		put_csv_text(f, text);
	putc('\n', f);
	free(text);
}

static void metrics_reason(void *arg, size_t channel, char *out, size_t size)
{
	interval_reason(arg, channel, out, size);
}

static void metrics_lines(FILE *f, const struct lines *l, const struct interval *i)
{
	size_t n = i->about->n_channels;
	double *values = malloc((2 * n + 1) * sizeof *values), *totals = values + n;
	struct bin *bins = calloc(n + 1, sizeof *bins);
	struct interval whole = *i;
	char window[32];
	struct metrics m = {.about = i->about, .channels = l->channels, .n = l->n, .values = values, .totals = totals,
			    .reason = metrics_reason, .arg = &whole};

	snprintf(window, sizeof window, "%gs", (double)(i->to_ns - i->from_ns) / 1e9);
	for (size_t k = 0; values && bins && k < n; k++) {
		const struct channel *c = &i->about->channels[k];
		const struct interval_sum *all = &i->all[k];

		values[k] = line_value(c, &i->sums[k], STREAM_MEAN);
		totals[k] = c->unit == UNIT_MILLIWATT ? all->joules : (double)NAN;
		if (all->bin.n && c->unit == UNIT_PERCENT)
			totals[k] = all->busy_s;
		bins[k] = i->sums[k].bin;
	}
	if (l->stats[STREAM_MEAN] || l->stats[STREAM_MIN] || l->stats[STREAM_MAX])
		m.windows[m.n_windows++] = (struct metric_window) {window, bins};
	if (values && bins)
		openmetrics_write(f, &m);
	free(values);
	free(bins);
}

const struct stream_form form_of_jsonl = {"jsonl", .stats = true, .line = jsonl_line};
const struct stream_form form_of_csv = {"csv", .stats = true, .begin = csv_begin, .line = csv_line};
const struct stream_form form_of_openmetrics = {"openmetrics", .stats = true, .joules = true, .line = metrics_lines};
