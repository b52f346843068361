/* Epochs, ticks and statistics of one trace. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/num.h"
#include "report/analysis.h"

static void tick(void *to, uint64_t rows)
{
	struct reading *r = to;

	r->done += rows;
	if (r->progress && r->rows > 0)
		r->progress(fmin((double)r->done / (double)r->rows, 1));
}

static bool inside(const struct epoch *ep, int64_t t_ns)
{
	return t_ns >= ep->from_ns && t_ns < ep->end_ns;
}

static void gap_add(struct ticks *k, bool lost, uint64_t missed, int64_t ns)
{
	*(lost ? &k->lost : &k->late) += missed;
	k->gaps++;
	if (ns > k->longest_ns)
		k->longest_ns = ns;
}

/* Where the trace does not list them, rows that are far apart do. */
static void gaps_by_times(const struct analysis *a, struct part *p, enum tier tier)
{
	double period = 1e9 / a->session->hz[tier];
	uint64_t row = trace_row_from(a->trace, tier, p->epoch.from_ns);
	uint64_t end = trace_row_from(a->trace, tier, p->epoch.end_ns);
	int64_t t[1024], before = -1;
	uint64_t released = row;

	while (row < end) {
		size_t n = end - row < 1024 ? (size_t)(end - row) : 1024;

		trace_row_times(a->trace, tier, row, n, t);
		for (size_t i = 0; i < n; i++) {
			int64_t apart = before < 0 ? 0 : t[i] - before;

			if ((double)apart > 1.5 * period)
				gap_add(&p->ticks[tier], false, (uint64_t)llround((double)apart / period) - 1,
					apart);
			before = t[i];
		}
		row += n;
		rows_passed(a->trace, tier, row, &released);
	}
}

static void count_ticks(const struct analysis *a, struct part *p)
{
	size_t n;
	const struct gap *gaps = trace_gaps(a->trace, &n);

	for (int t = 0; t < TIERS; t++) {
		p->ticks[t].rows = trace_row_from(a->trace, (enum tier)t, p->epoch.end_ns) -
				   trace_row_from(a->trace, (enum tier)t, p->epoch.from_ns);
		if (!a->counted)
			gaps_by_times(a, p, (enum tier)t);
	}
	for (size_t i = 0; a->counted && i < n; i++)
		if (inside(&p->epoch, gaps[i].from_ns))
			gap_add(&p->ticks[gaps[i].tier], gaps[i].cause == GAP_LOST, gaps[i].missed,
				gaps[i].to_ns - gaps[i].from_ns);
}

static void ticks_sum(struct part *whole, const struct part *p)
{
	for (int t = 0; t < TIERS; t++) {
		struct ticks *w = &whole->ticks[t];
		const struct ticks *k = &p->ticks[t];

		w->rows += k->rows;
		w->late += k->late;
		w->lost += k->lost;
		w->gaps += k->gaps;
		if (k->longest_ns > w->longest_ns)
			w->longest_ns = k->longest_ns;
	}
	whole->duration_ns += p->duration_ns;
}

int analysis_begin(struct analysis *a, struct trace *t, const struct pick *p, double per, struct reading *r,
		   struct err *e)
{
	memset(a, 0, sizeof(*a));
	a->trace = t;
	a->session = trace_session(t);
	a->counted = trace_lists_gaps(t);
	a->per = per;
	a->total = SIZE_MAX;
	if (channels_find(t, p, &a->channels, e) < 0 || epochs_find(t, p, &a->epochs, e) < 0)
		return -1;
	for (size_t i = 0; i < a->channels.n; i++)
		if (channel_of(a, i)->kind == CHANNEL_POWER_TOTAL)
			a->total = i;
	a->parts = calloc(a->epochs.n, sizeof(*a->parts));
	if (!a->parts)
		return err_set(e, ERR_FAILED, _("out of memory"));
	r->rows += stats_rows(t, &a->channels, a->epochs.list, a->epochs.n) * (a->epochs.n > 1 ? 2 : 1);
	return 0;
}

/* Epochs that follow each other are one stretch to whatever is over time. */
static size_t spans_merge(struct epoch *out, const struct epochs *eps)
{
	size_t n = 0;

	for (size_t i = 0; i < eps->n; i++) {
		if (n > 0 && out[n - 1].end_ns == eps->list[i].from_ns) {
			out[n - 1].to_ns = eps->list[i].to_ns;
			out[n - 1].end_ns = eps->list[i].end_ns;
		} else {
			out[n++] = eps->list[i];
		}
	}
	return n;
}

static int whole_make(struct analysis *a, struct reading *r)
{
	struct epoch *spans = calloc(a->epochs.n, sizeof(*spans));
	int done = -1;

	a->whole.results = calloc(a->channels.n + 1, sizeof(*a->whole.results));
	if (spans && a->whole.results && a->epochs.n == 1) {
		memcpy(a->whole.results, a->parts[0].results, a->channels.n * sizeof(*a->whole.results));
		done = 0;
	} else if (spans && a->whole.results) {
		size_t n = spans_merge(spans, &a->epochs);

		done = stats_make(a->trace, &a->channels, spans, n, a->whole.results, tick, r);
	}
	free(spans);
	return done;
}

int analyse(struct analysis *a, struct reading *r, struct err *e)
{
	a->whole.epoch.from_ns = a->epochs.list[0].from_ns;
	a->whole.epoch.to_ns = a->epochs.list[a->epochs.n - 1].to_ns;
	for (size_t i = 0; i < a->epochs.n; i++) {
		struct part *p = &a->parts[i];

		p->epoch = a->epochs.list[i];
		p->duration_ns = p->epoch.to_ns - p->epoch.from_ns;
		count_ticks(a, p);
		ticks_sum(&a->whole, p);
		p->results = calloc(a->channels.n + 1, sizeof(*p->results));
		if (!p->results || stats_make(a->trace, &a->channels, &p->epoch, 1, p->results, tick, r) < 0)
			return err_set(e, ERR_FAILED, _("out of memory"));
	}
	return whole_make(a, r) < 0 ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
}

void analysis_free(struct analysis *a)
{
	for (size_t i = 0; a->parts && i < a->epochs.n; i++)
		free(a->parts[i].results);
	free(a->parts);
	free(a->whole.results);
	channels_free(&a->channels);
	epochs_free(&a->epochs);
}

const struct channel *channel_of(const struct analysis *a, size_t i)
{
	return &a->session->channels[a->channels.list[i]];
}

double energy_of(const struct analysis *a, const struct part *p, size_t i)
{
	return channel_of(a, i)->unit == UNIT_MILLIWATT ? p->results[i].integral / 1e3 : NAN;
}

double mean_power(const struct analysis *a, const struct part *p, size_t i)
{
	return energy_of(a, p, i) / ((double)p->results[i].covered_ns / 1e9);
}

double rise_of(const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);

	return c->unit == UNIT_CELSIUS ? p->results[i].last - p->results[i].first : NAN;
}

double throttled_of(const struct analysis *a, const struct part *p, size_t i)
{
	if (channel_of(a, i)->kind != CHANNEL_THROTTLE || p->results[i].n == 0)
		return NAN;
	return (double)p->results[i].above_ns / 1e9;
}

double uncovered_of(const struct analysis *a, const struct part *p, size_t i)
{
	(void)a;
	return (double)(p->duration_ns - p->results[i].covered_ns) / 1e9;
}

double items_of(const struct analysis *a, const struct part *p)
{
	return p == &a->whole ? a->per * (double)a->epochs.n : a->per;
}

void part_title(const struct analysis *a, const struct part *p, char *out, size_t size)
{
	if (p == &a->whole)
		snprintf(out, size, "%s", _("whole"));
	else if (p->epoch.label[0])
		snprintf(out, size, _("epoch %llu, %s"), (unsigned long long)p->epoch.id, p->epoch.label);
	else
		snprintf(out, size, _("epoch %llu"), (unsigned long long)p->epoch.id);
}

struct shown shown_unit(const struct channel *c, double largest)
{
	switch (c->unit) {
	case UNIT_HZ:
		return (struct shown) {"MHz", 1e-6};
	case UNIT_KB:
		return largest >= 1048576 ? (struct shown) {"GiB", 1.0 / 1048576}
					  : (struct shown) {"MiB", 1.0 / 1024};
	case UNIT_MILLIVOLT:
		return (struct shown) {"V", 1e-3};
	case UNIT_MILLIAMPERE:
		return (struct shown) {"A", 1e-3};
	case UNIT_MILLIWATT:
		return (struct shown) {"W", 1e-3};
	default:
		return (struct shown) {unit_name(c->unit), 1};
	}
}

size_t shown_text(char *out, double v, double largest)
{
	static const double steps[] = {1000, 100, 10, 1, 0.1, 0.01};
	double size = fabs(largest);
	int decimals = 0;

	if (isnan(v)) {
		strcpy(out, "--");
		return 2;
	}
	while (size > 0 && decimals < 6 && size < steps[decimals])
		decimals++;
	return num_fixed(out, v, size > 0 ? decimals : 3);
}

void signed_text(char *out, double v, double largest)
{
	char text[NUM_TEXT];

	out[0] = '\0';
	if (isnan(v))
		return;
	shown_text(text, v, largest);
	snprintf(out, SIGNED_TEXT, "%s%s", text[0] == '-' ? "" : "+", text);
}
