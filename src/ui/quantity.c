/* quantity: converts values to text with units.
 *
 * A signal keeps one unit and one number of decimals over its whole range, because a change of
 * format looks like a jump. Memory is shown in GiB and labelled so: "61.4 GB" on a 64 GB board
 * would look as if memory were missing. */
#include "ui/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"

static const struct {
	const char *name;
	double factor;
	int decimals;
} units[QUANTITY_UNITS] = {
	[UNIT_NONE] = {"", 1, 1},
	[UNIT_PERCENT] = {"%", 1, 1},
	[UNIT_HZ] = {"MHz", 1e-6, 0},
	[UNIT_KB] = {"GiB", 1.0 / 1048576, 1},
	[UNIT_MILLIVOLT] = {"V", 1e-3, 2},
	[UNIT_MILLIAMPERE] = {"A", 1e-3, 2},
	[UNIT_MILLIWATT] = {"W", 1e-3, 1},
	[UNIT_CELSIUS] = {"C", 1, 1},
	[UNIT_RPM] = {"rpm", 1, 0},
	[UNIT_JOULE] = {"J", 1, 1},
	[UNIT_BYTE_RATE] = {"MB/s", 1e-6, 2},
	[QUANTITY_MIB] = {"MiB", 1.0 / 1024, 1},
	[QUANTITY_KJ] = {"kJ", 1e-3, 1},
};

enum unit quantity_of(const struct channel *ch, double v)
{
	bool whole = ch->kind == CHANNEL_RAM_USED || ch->kind == CHANNEL_RAM_AVAILABLE;

	/* The largest free block and compressed memory are usually a few MiB. */
	if (ch->unit == UNIT_KB && !whole && !(ch->hi >= 1048576))
		return QUANTITY_MIB;
	return ch->unit == UNIT_JOULE && fabs(v) >= 99999.5 ? QUANTITY_KJ : ch->unit;
}

const char *quantity_unit(enum unit u)
{
	return (unsigned)u < QUANTITY_UNITS ? units[u].name : "";
}

static int decimals_of(enum unit u)
{
	return (unsigned)u < QUANTITY_UNITS ? units[u].decimals : 1;
}

/* Whether a count is an integer and needs no decimals. */
static bool is_whole(enum unit u, double v)
{
	return u == UNIT_NONE && v == floor(v);
}

/* Print v with `decimals` decimals, or fewer if they do not fit; returns the number of decimals,
 * or -1: no room. */
static int fit(char out[QUANTITY_TEXT], enum unit u, double v, int width, int decimals)
{
	if (isnan(v)) {
		strcpy(out, "--");
		return decimals;
	}
	if ((unsigned)u < QUANTITY_UNITS)
		v *= units[u].factor;
	for (; decimals >= 0; decimals--) {
		int n = snprintf(out, QUANTITY_TEXT, "%.*f", decimals, v);

		if (out[0] == '-' && strspn(out + 1, "0.") == (size_t)n - 1)
			n = snprintf(out, QUANTITY_TEXT, "%.*f", decimals, 0.0); /* avoid "-0.0" */
		if (n <= width && n < QUANTITY_TEXT)
			return decimals;
	}
	if (snprintf(out, QUANTITY_TEXT, "%.0e", v) > width)
		strcpy(out, v < 0 ? "<<" : ">>");
	return -1;
}

void quantity_text(char out[QUANTITY_TEXT], enum unit u, double v, int width)
{
	fit(out, u, v, width, is_whole(u, v) ? 0 : decimals_of(u));
}

void quantity_alike(char (*out)[QUANTITY_TEXT], enum unit u, const double *v, int n, int width)
{
	int decimals = decimals_of(u);

	for (int i = 0; i < n; i++) {
		int has = is_whole(u, v[i]) ? decimals : fit(out[i], u, v[i], width, decimals);

		decimals = has >= 0 && has < decimals ? has : decimals;
	}
	for (int i = 0; i < n; i++)
		fit(out[i], u, v[i], width, is_whole(u, v[i]) ? 0 : decimals);
}

void quantity_round(char out[QUANTITY_TEXT], enum unit u, double v)
{
	v *= (unsigned)u < QUANTITY_UNITS ? units[u].factor : 1;
	snprintf(out, QUANTITY_TEXT, fabs(v) < 100 ? "%.3g" : "%.0f", v);
}

bool quantity_is_step(enum unit u, double step)
{
	double shown = step * ((unsigned)u < QUANTITY_UNITS ? units[u].factor : 1), power, m;

	if (!(shown > 0) || isinf(shown))
		return false;
	power = pow(10, floor(log10(shown * (1 + 1e-9))));
	m = shown / power;
	return fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 || fabs(m - 5) < 1e-6 ||
	       (fabs(m - 2.5) < 1e-6 && power >= 10);
}

void quantity_bytes(char out[QUANTITY_TEXT], uint64_t bytes)
{
	static const char *const names[] = {"kB", "MB", "GB", "TB", "PB"};
	double v = (double)bytes / 1e3;
	size_t i = 0;

	while (v >= 999.5 && i + 1 < sizeof(names) / sizeof(names[0])) {
		v /= 1e3;
		i++;
	}
	snprintf(out, QUANTITY_TEXT, "%.*f %s", i > 0 && v < 9.95 ? 1 : 0, v, names[i]);
}

void quantity_clock(char out[QUANTITY_TEXT], int64_t ns, int64_t step_ns)
{
	uint64_t t = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t unit = 1000000000;
	unsigned hours, rest;
	int decimals = 0, n = 0;

	while (step_ns > 0 && decimals < 6 && (uint64_t)step_ns < unit) {
		unit /= 10;
		decimals++;
	}
	hours = (unsigned)(t / 3600000000000 % 100000000);
	rest = (unsigned)(t / 1000000000 % 3600);
	if (ns < 0)
		out[n++] = '-';
	if (hours)
		n += snprintf(out + n, QUANTITY_TEXT - (size_t)n, "%u:%02u:%02u", hours, rest / 60,
			      rest % 60);
	else if (rest >= 60)
		n += snprintf(out + n, QUANTITY_TEXT - (size_t)n, "%u:%02u", rest / 60, rest % 60);
	else
		n += snprintf(out + n, QUANTITY_TEXT - (size_t)n, "%u", rest);
	if (decimals)
		out[n++] = '.';
	for (t %= 1000000000; decimals > 0; decimals--, t = t * 10 % 1000000000)
		out[n++] = (char)('0' + t / 100000000);
	out[n] = 0;
}

void quantity_time(char out[QUANTITY_TEXT], int64_t ns, int64_t step_ns)
{
	quantity_clock(out, ns, step_ns);
	if (!strchr(out, ':'))
		strcat(out, " s");
}

void quantity_lasted(char out[QUANTITY_TEXT], int64_t ns)
{
	int64_t step_ns = ns < NS_PER_S / 10 ? NS_PER_MS : ns < 60 * NS_PER_S ? NS_PER_S / 10 : NS_PER_S;

	quantity_time(out, ns + step_ns / 2, step_ns < NS_PER_S ? step_ns : 0);
}

/* The next of 1 2 3 4 5 6 8 10 times a power of ten that is at least v. */
static double round_up(double v)
{
	static const double steps[] = {1, 2, 3, 4, 5, 6, 8, 10};
	double power;

	if (!(v > 0) || isinf(v))
		return 1;
	power = pow(10, floor(log10(v)));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (v <= steps[i] * power * (1 + 1e-9))
			return steps[i] * power;
	return 10 * power;
}

static void fit_heat(struct scale *s, double min, double max)
{
	double lo = min >= 20 ? 20 : min >= 0 ? 0 : -40;
	double hi = max <= 60 ? 60 : max <= 80 ? 80 : max <= 100 ? 100 : max <= 120 ? 120 : round_up(max);

	if (s->set && lo > s->lo && min < s->lo + 30)
		lo = s->lo;
	if (s->set && hi < s->hi && max > s->hi - 25)
		hi = s->hi;
	s->lo = lo;
	s->hi = hi;
}

void scale_fit(struct scale *s, const struct channel *ch, double min, double max)
{
	double smallest = ch->unit == UNIT_MILLIWATT ? 1000 : ch->unit == UNIT_HZ ? 1e8 : 1;
	double hi, lo;

	if (isfinite(ch->lo) && isfinite(ch->hi) && ch->lo < ch->hi) {
		s->lo = ch->lo;
		s->hi = ch->hi;
	} else if (ch->unit == UNIT_PERCENT) {
		s->lo = 0;
		s->hi = 100;
	} else if (!isfinite(min) || !isfinite(max)) {
		if (s->set)
			return;
		s->lo = ch->unit == UNIT_CELSIUS ? 20 : 0;
		s->hi = ch->unit == UNIT_CELSIUS ? 100 : smallest;
		return;
	} else if (ch->unit == UNIT_CELSIUS) {
		fit_heat(s, min, max);
	} else {
		/* Round in the displayed unit. */
		double unit = ch->unit != UNIT_KB ? 1 : quantity_of(ch, max) == QUANTITY_MIB ? 1024 : 1048576;

		hi = round_up((max > smallest ? max : smallest) / unit) * unit;
		lo = min < 0 ? -round_up(-min / unit) * unit : 0;
		if (!s->set || hi > s->hi || max < s->hi / 2)
			s->hi = hi;
		if (!s->set || lo < s->lo || min > s->lo / 2)
			s->lo = lo;
	}
	s->set = true;
}
