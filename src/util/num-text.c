/* Formats numbers. printf() depends on the locale, and finding the shortest form that reads back exactly
 * takes several calls; an export writes billions of numbers. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/num.h"

#define PLACES_MAX 18 /* 10^18 fits into a uint64_t, 10^18 * 2^53 into 128 bits */

typedef unsigned __int128 wide;

static size_t put_digits(char *out, uint64_t v, int at_least)
{
	char buf[24];
	size_t n = 0;

	do
		buf[n++] = (char)('0' + v % 10);
	while ((v /= 10) || (int)n < at_least);
	for (size_t i = 0; i < n; i++)
		out[i] = buf[n - 1 - i];
	return n;
}

/* For v > 0 and finite, with `bits` bits of precision. A double is m * 2^-q. A decimal with k places,
 * d / 10^k, reads back as that double if it is at most half a step away: |d * 2^q - m * 10^k| <= 10^k / 2.
 * 128-bit integers decide this exactly in the usual range of values; returns 0 outside of it. */
static size_t shortest(char *out, double v, int bits)
{
	int exponent;
	wide m = (wide)ldexp(frexp(v, &exponent), bits), unit = 1;
	int q = bits - exponent;

	if (v < 0x1p53 && v == floor(v))
		return put_digits(out, (uint64_t)v, 1);
	for (int k = 0; q >= 1 && q <= 72 && k <= PLACES_MAX; k++, unit *= 10) {
		wide d = (m * unit + ((wide)1 << (q - 1))) >> q, back = d << q;
		wide apart = back > m * unit ? back - m * unit : m * unit - back;
		size_t n;

		/* At a power of two the step below is half as large. */
		if (m == (wide)1 << (bits - 1) && back < m * unit)
			apart *= 2;
		if (2 * apart >= unit || d > 999999999999999999)
			continue;
		n = put_digits(out, (uint64_t)(d / unit), 1);
		out[n++] = '.';
		return n + put_digits(out + n, (uint64_t)(d % unit), k);
	}
	return 0;
}

/* Replaces the locale's decimal point, which may have several bytes, by ".". */
static void point(char *out)
{
	char *p = out + strspn(out, "-0123456789");
	size_t n = strcspn(p, "0123456789e");

	if (n == 0)
		return;
	memmove(p + 1, p + n, strlen(p + n) + 1);
	*p = '.';
}

static void by_printf(char *out, double v, bool single)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(out, NUM_TEXT - 1, "%.*e", digits - 1, v);
		if (single ? (double)strtof(out, NULL) == v : strtod(out, NULL) == v)
			break;
	}
	point(out);
}

static size_t number(char out[NUM_TEXT], double v, bool single)
{
	size_t n = v < 0, rest = 0;

	if (isnan(v) || isinf(v) || v == 0) {
		strcpy(out, isnan(v) ? "nan" : v < 0 ? "-inf" : v > 0 ? "inf" : "0");
		return strlen(out);
	}
	out[0] = '-';
	rest = shortest(out + n, fabs(v), single ? 24 : 53);
	out[n + rest] = '\0';
	if (rest == 0)
		by_printf(out + n, fabs(v), single);
	return rest ? n + rest : strlen(out);
}

size_t num_text(char out[NUM_TEXT], double v)
{
	return number(out, v, false);
}

size_t num_text_single(char out[NUM_TEXT], double v)
{
	return number(out, v, isfinite(v) && fabs(v) <= FLT_MAX && (double)(float)v == v);
}

size_t num_fixed(char out[NUM_TEXT], double v, int decimals)
{
	if (!isfinite(v))
		return num_text(out, v);
	snprintf(out, NUM_TEXT, fabs(v) < 1e10 ? "%.*f" : "%.*e", decimals, v);
	point(out);
	if (!out[strspn(out, "-0.")] && out[0] == '-') /* no "-0.0" */
		memmove(out, out + 1, strlen(out));
	return strlen(out);
}

size_t num_seconds(char out[NUM_TEXT], int64_t ns)
{
	uint64_t t = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	size_t n = ns < 0;

	out[0] = '-';
	n += put_digits(out + n, t / 1000000000, 1);
	out[n++] = '.';
	n += put_digits(out + n, t % 1000000000, 9);
	out[n] = '\0';
	return n;
}
