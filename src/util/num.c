/* Parses numbers without the C library: strtol() and strtod() depend on the locale, need a terminator and
 * cost several times as much, and a probe parses thousands per second. */
#include <math.h>
#include <string.h>

#include "util/clock.h"
#include "util/num.h"

const char *num_i64(const char *p, const char *end, int64_t *out)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	bool negative = p < end && *p == '-';
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
	uint64_t v = 0;
	const char *first = p, *safe = end - p > 18 ? p + 18 : end; /* 18 digits never overflow */
	for (; p < safe && *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (unsigned)(*p - '0');
	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		unsigned digit = (unsigned)(*p - '0');
		if (v > (limit - digit) / 10)
			return NULL;
		v = v * 10 + digit;
	}
	if (p == first)
		return NULL;
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return p;
}

/* Decimal digits with at most one point. Returns the first byte after them, or NULL. */
static const char *decimal(const char *p, double *out)
{
	double v = 0, place = 1;
	bool point = false, digit = false;

	for (;; p++) {
		if (*p >= '0' && *p <= '9') {
			digit = true;
			v = v * 10 + (*p - '0');
			if (point)
				place *= 10;
		} else if (*p == '.' && !point) {
			point = true;
		} else {
			break;
		}
	}
	if (!digit)
		return NULL;
	*out = v / place;
	return p;
}

const char *num_begin(const char *text, double *out)
{
	bool negative = *text == '-';
	int64_t exponent;
	double v;

	const char *p = decimal(text + (*text == '-' || *text == '+'), &v);
	if (p && (*p == 'e' || *p == 'E') && strspn(p + 1 + (p[1] == '-' || p[1] == '+'), "0123456789")) {
		p = num_i64(p + 1, p + strlen(p), &exponent);
		if (!p || exponent < -400 || exponent > 400)
			return NULL;
		v *= pow(10, (double)exponent);
	}
	if (!p || *p == '.' || !isfinite(v))
		return NULL;
	*out = negative ? -v : v;
	return p;
}

bool num_double(const char *text, double *out)
{
	double v;
	const char *end = num_begin(text, &v);

	if (!end || *end)
		return false;
	*out = v;
	return true;
}

/* Parses [h:]m:s with an optional fraction of the seconds; p is after the first number. */
static bool clock_form(const char *p, double first, double *seconds)
{
	double v, total = first;

	for (int parts = 1; *p == ':'; parts++) {
		p = decimal(p + 1, &v);
		if (!p || parts > 2 || v >= 60)
			return false;
		total = total * 60 + v;
	}
	*seconds = total;
	return !*p;
}

static bool suffix_form(const char *text, double *seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} suffix[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"s", 1}};
	double total = 0, last = INFINITY;

	while (*text) {
		double v;
		const char *p = decimal(text, &v);
		if (!p)
			return false;
		size_t i, n = sizeof suffix / sizeof *suffix;
		for (i = 0; i < n && strncmp(p, suffix[i].name, strlen(suffix[i].name)) != 0; i++)
			;
		if (i == n || suffix[i].seconds >= last)
			return false;
		last = suffix[i].seconds;
		total += v * last;
		text = p + strlen(suffix[i].name);
	}
	*seconds = total;
	return true;
}

bool num_duration_ns(const char *text, int64_t *out)
{
	double v, seconds = 0;

	const char *p = decimal(text, &v);
	if (!p)
		return false;
	if (!*p)
		seconds = v;
	else if (*p == ':' ? !clock_form(p, v, &seconds) : !suffix_form(text, &seconds))
		return false;
	double ns = seconds * (double)NS_PER_S;
	if (!(ns >= 0 && ns <= 0x1p62))
		return false;
	*out = (int64_t)llround(ns);
	return true;
}

bool num_bytes(const char *text, uint64_t *out)
{
	static const char prefix[] = "kMGT";
	double v, unit = 1000, scale = 1;
	const char *p = decimal(text, &v), *at;

	if (!p)
		return false;
	at = *p ? strchr(prefix, *p == 'K' ? 'k' : *p) : NULL;
	if (at) {
		p++;
		if (*p == 'i') {
			unit = 1024;
			p++;
		}
		for (const char *k = prefix; k <= at; k++)
			scale *= unit;
	}
	if (*p == 'B')
		p++;
	v *= scale;
	if (*p || !(v >= 0 && v <= 0x1p62))
		return false;
	*out = (uint64_t)llround(v);
	return true;
}
