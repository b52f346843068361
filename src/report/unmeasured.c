/* What was not measured, and why: of a channel without any value the reason, of the others the share of the time in which
 * they had none. */
#include <math.h>
#include <string.h>

#include "model/missing.h"
#include "report/analysis.h"
#include "util/intl.h"

/* A reading that comes this many periods after the last one is not the next one: readings may be at random moments. */
#define APART 2.5

bool unmeasured_reason(const struct analysis *a, size_t i, char *out, size_t size)
{
	const struct channel *c = channel_of(a, i);
	struct change why = {.to = ""};
	size_t n;
	const struct change *reasons = trace_reasons(a->trace, &n);
	bool known = c->missing[0] || reason_before(reasons, n, c->name, INT64_MAX, &why);

	missing_at(out, size, c, why.to);
	return known;
}

/* The share of the time without readings, for a channel that has fewer than its tier has rows. */
static double without_readings(const struct analysis *a, size_t i)
{
	const struct channel *c = channel_of(a, i);
	const struct epoch *ep = &a->whole.epoch;
	uint64_t row = trace_row_from(a->trace, c->tier, ep->from_ns), end = trace_row_from(a->trace, c->tier, ep->end_ns);
	int64_t t_ns[1024], first = 0, last = 0, lost = 0;
	double v[1024];

	for (size_t n; row < end; row += n) {
		n = end - row < 1024 ? (size_t)(end - row) : 1024;
		trace_row_times(a->trace, c->tier, row, n, t_ns);
		trace_row_values(a->trace, a->channels.list[i], row, n, v);
		first = first ? first : t_ns[0];
		last = last ? last : t_ns[0];
		for (size_t k = 0; k < n; k++) {
			bool ends = row + n == end && k + 1 == n;

			if (isnan(v[k]) && !ends)
				continue;
			if ((double)(t_ns[k] - last) > APART * (double)c->period_ns)
				lost += t_ns[k] - last - (isnan(v[k]) ? 0 : c->period_ns);
			last = t_ns[k];
		}
	}
	return last > first ? (double)lost / (double)(last - first) : 0;
}

/* Rows that repeat or lack a value because the kernel has no newer one are not missing. */
static double share_missing(const struct analysis *a, size_t i)
{
	const struct result *r = &a->whole.results[i];
	const struct channel *c = channel_of(a, i);

	if (!r->missing)
		return 0;
	return (double)c->period_ns > 1.5e9 / a->session->hz[c->tier] ? without_readings(a, i)
								     : (double)r->missing / (double)(r->n + r->missing);
}

void write_unmeasured(const struct page *o, const struct analysis *a)
{
	char before[400] = "";
	bool any = false;

	for (size_t i = 0; i < a->channels.n; i++) {
		const struct channel *c = channel_of(a, i);
		bool never = a->whole.results[i].n == 0;
		double percent = never ? 100 : 100 * share_missing(a, i);
		char why[300], text[400];

		if (percent <= 0)
			continue;
		unmeasured_reason(a, i, why, sizeof(why));
		if (never)
			snprintf(text, sizeof(text), "%s", why);
		else if (percent < 0.1)
			snprintf(text, sizeof(text), _("less than 0.1 %% of the time: %s"), why);
		else
			snprintf(text, sizeof(text), _("%.1f %% of the time: %s"), percent, why);
		if (!any)
			fprintf(o->f, "%s%s\n\n", o->markdown ? "### " : "", _("not measured, and why"));
		any = true;
		fprintf(o->f, "%s%-*s %s\n", o->markdown ? "    " : "", o->room, c->name,
			strcmp(text, before) ? text : _("for the same reason"));
		snprintf(before, sizeof(before), "%s", text);
	}
	if (any)
		putc('\n', o->f);
}
