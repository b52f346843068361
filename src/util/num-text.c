/* Numbers into text.  printf follows the locale, and the shortest form that
 * reads back exactly costs several of its calls; an export writes billions.
 *
 * A double is m * 2^-q.  A decimal of k places d / 10^k reads back as it when it
 * is at most half a step away, |d * 2^q - m * 10^k| <= 10^k / 2, and that can be
 * said exactly with integers of 128 bits wherever the numbers of a monitor are.
 * What lies far outside goes through printf. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/num.h"

#define PLACES_MAX 18 /* 10^18 is a uint64_t, 10^18 * 2^53 one of 128 bits */

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

/* d / 10^places, which has at most 18 digits */
static size_t put_decimal(char *out, uint64_t d, int places)
{
	uint64_t unit = 1;
	size_t n;

	for (int i = 0; i < places; i++) {
		if (unit > UINT64_MAX / 10)
			return 0;
		unit *= 10;
	}
	n = put_digits(out, d / unit, 1);
	if (places) {
		out[n++] = '.';
		n += put_digits(out + n, d % unit, places);
	}
	return n;
}

/* v > 0 and finite, of so many bits; 0: not this way */
static size_t shortest(char *out, double v, int bits)
{
	int exponent;
	uint64_t m = (uint64_t)ldexp(frexp(v, &exponent), bits);
	int q = bits - exponent;
	wide scaled = m, half = 1; /* m * 10^k, and 10^k */

	if (v >= 0x1p53 || q > 72 || q < 1)
		return v < 0x1p53 && v == floor(v) ? put_digits(out, (uint64_t)v, 1) : 0;
	if (v == floor(v))
		return put_digits(out, (uint64_t)v, 1);
	for (int k = 0; k <= PLACES_MAX; k++, scaled *= 10, half *= 10) {
		wide d = (scaled + ((wide)1 << (q - 1))) >> q, back = d << q;
		wide apart = back > scaled ? back - scaled : scaled - back;

		/* At a power of two the step below is half as long. */
		if (m == UINT64_C(1) << (bits - 1) && back < scaled)
			apart *= 2;
		if (2 * apart < half && d <= (wide)999999999999999999)
			return put_decimal(out, (uint64_t)d, k);
	}
	return 0;
}

/* The locale's point, which may be several bytes, becomes ".". */
static void point(char *out)
{
	char *p = out + 1;
	size_t n = strcspn(p, "0123456789e");

	if (n == 0)
		return;
	memmove(p + 1, p + n, strlen(p + n) + 1);
	*p = '.';
}

static size_t by_printf(char *out, double v, bool single)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(out, NUM_TEXT - 1, "%.*e", digits - 1, v);
		if (single ? (double)strtof(out, NULL) == v : strtod(out, NULL) == v)
			break;
	}
	point(out);
	return strlen(out);
}

static size_t number(char out[NUM_TEXT], double v, bool single)
{
	size_t n = 0, rest;

	if (!isfinite(v)) {
		strcpy(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return strlen(out);
	}
	if (v == 0) {
		strcpy(out, "0");
		return 1;
	}
	if (v < 0) {
		out[n++] = '-';
		v = -v;
	}
	rest = shortest(out + n, v, single ? 24 : 53);
	if (rest == 0)
		return n + by_printf(out + n, v, single);
	out[n + rest] = '\0';
	return n + rest;
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
	for (size_t i = strspn(out, "-0123456789"); out[i] && out[i] != 'e'; i = strlen(out)) {
		size_t n = strcspn(out + i, "0123456789");

		out[i] = '.';
		memmove(out + i + 1, out + i + n, strlen(out + i + n) + 1);
	}
	if (!out[strspn(out, "-0.")] && out[0] == '-') /* no "-0.0" */
		memmove(out, out + 1, strlen(out));
	return strlen(out);
}

size_t num_seconds(char out[NUM_TEXT], int64_t ns)
{
	uint64_t t = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	size_t n = 0;

	if (ns < 0)
		out[n++] = '-';
	n += put_digits(out + n, t / 1000000000, 1);
	out[n++] = '.';
	n += put_digits(out + n, t % 1000000000, 9);
	out[n] = '\0';
	return n;
}
