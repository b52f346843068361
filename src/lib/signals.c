/* The values of a trace as exact doubles, including those that version 1 cannot represent; NaN for values
 * that were not read. */
#include <math.h>
#include <string.h>

#include "lib/lib.h"
#include "util/clock.h"
#include "trace/trace.h"

#define ONCE         4096 /* rows per read */
#define SECONDS_MOST 4e9  /* a century */

_Static_assert((int)NVMTOP_FAST == (int)TIER_FAST && (int)NVMTOP_MEDIUM == (int)TIER_MEDIUM &&
		       (int)NVMTOP_SLOW == (int)TIER_SLOW,
	       "tiers have the same numbers");

static const struct session *about(const nvmtop_trace *t)
{
	return trace_session(trace_in(t));
}

uint64_t nvmtop_signals(const nvmtop_trace *t)
{
	return t ? about(t)->n_channels : 0;
}

/* Programs that were built for an older version have a shorter struct. */
int signal_out(nvmtop_signal *out, const struct channel *c, double hz, const char *missing)
{
	nvmtop_signal s = {.tier = (int)c->tier,
			   .column = c->column,
			   .period_s = fmax((double)c->period_ns / NS_PER_S, 1 / hz),
			   .window_s = c->window_ns == WINDOW_UNKNOWN ? (double)NAN : (double)c->window_ns / NS_PER_S,
			   .age_s = (double)c->age_ns / NS_PER_S,
			   .warn = c->warn,
			   .crit = c->crit};

	if (out->size > sizeof(s) || out->size < offsetof(nvmtop_signal, column))
		return -1;
	s.size = out->size;
	text_out(s.name, sizeof(s.name), c->name);
	text_out(s.label, sizeof(s.label), c->label);
	text_out(s.unit, sizeof(s.unit), unit_name(c->unit));
	text_out(s.source, sizeof(s.source), c->source);
	text_out(s.note, sizeof(s.note), c->note);
	text_out(s.missing, sizeof(s.missing), missing);
	memcpy(out, &s, s.size);
	return 0;
}

int nvmtop_get_signal(const nvmtop_trace *t, uint64_t index, nvmtop_signal *out)
{
	const struct channel *c;

	if (!t || !out || index >= about(t)->n_channels)
		return -1;
	c = &about(t)->channels[index];
	return signal_out(out, c, about(t)->hz[c->tier], c->missing);
}

int64_t nvmtop_find_signal(const nvmtop_trace *t, const char *name)
{
	size_t n = t && name ? about(t)->n_channels : 0, i = n ? channel_find(about(t)->channels, n, name) : 0;

	return i < n ? (int64_t)i : -1;
}

/* The number of existing rows among the n from first on. */
static uint64_t there(const nvmtop_trace *t, enum tier tier, uint64_t first, uint64_t n)
{
	uint64_t rows = trace_rows(trace_in(t), tier);

	return first >= rows ? 0 : n < rows - first ? n : rows - first;
}

uint64_t nvmtop_times(const nvmtop_trace *t, int tier, uint64_t first, uint64_t n, double *out)
{
	int64_t ns[ONCE];
	uint64_t got, done, part;

	if (!t || !out || tier < 0 || tier >= TIERS)
		return 0;
	got = there(t, (enum tier)tier, first, n);
	for (done = 0; done < got; done += part) {
		part = got - done < ONCE ? got - done : ONCE;
		trace_row_times(trace_in(t), (enum tier)tier, first + done, (size_t)part, ns);
		for (uint64_t i = 0; i < part; i++)
			out[done + i] = (double)(ns[i] - about(t)->start.mono_ns) / NS_PER_S;
	}
	return got;
}

uint64_t nvmtop_values(const nvmtop_trace *t, uint64_t signal, uint64_t first, uint64_t n, double *out)
{
	uint64_t got;

	if (!t || !out || signal >= about(t)->n_channels)
		return 0;
	got = there(t, about(t)->channels[signal].tier, first, n);
	if (got > 0)
		trace_row_values(trace_in(t), (size_t)signal, first, (size_t)got, out);
	return got;
}

double nvmtop_energy(const nvmtop_trace *t, uint64_t signal, double from_s, double to_s, double *within,
		     double *known_s)
{
	struct energy_result each[POWER_PARTS], r = {NAN, NAN, 0, NULL};
	struct power_parts parts = {.n = 0};
	bool valid = t && fabs(from_s) < SECONDS_MOST && fabs(to_s) < SECONDS_MOST && from_s < to_s;
	int64_t start_ns = valid ? about(t)->start.mono_ns : 0, first_ns, last_ns;
	int64_t from_ns = start_ns + (valid ? llround(from_s * NS_PER_S) : 0);

	if (valid && signal == NVMTOP_POWER)
		power_parts_find(&parts, about(t));
	else if (valid && signal < about(t)->n_channels && about(t)->channels[signal].unit == UNIT_MILLIWATT)
		parts = (struct power_parts) {1, {(size_t)signal}, true};
	if (valid && trace_extent(trace_in(t), &first_ns, &last_ns) && from_ns < first_ns) /* as in a report */
		from_ns = first_ns;
	for (size_t i = 0; i < parts.n; i++) {
		const struct energy_source *source = trace_source(trace_in(t), parts.channel[i]);

		each[i] = r;
		if (source)
			each[i] = energy_between(source, trace_timeline(trace_in(t)), from_ns, start_ns + llround(to_s * NS_PER_S));
	}
	if (parts.n > 0 && parts.add_up)
		r = power_parts_sum(each, parts.n);
	if (within)
		*within = r.within;
	if (known_s)
		*known_s = r.known_s;
	return r.joules;
}
