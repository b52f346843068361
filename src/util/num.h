/* num: parses and formats numbers independently of the locale. */
#ifndef NVMTOP_UTIL_NUM_H
#define NVMTOP_UTIL_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses an optional sign and decimal digits from p up to end. Returns the first byte after the number,
 * or NULL if there is no digit or the value does not fit. Skips leading blanks; the caller handles
 * whatever follows (a unit suffix, a newline). */
const char *num_i64(const char *p, const char *end, int64_t *out);

/* Parses the finite decimal number that text begins with, such as "2", "0.5" or "1e3". Returns the first byte after it, or NULL. */
const char *num_begin(const char *text, double *out);
/* Parses all of text as such a number. Returns false for anything else. */
bool num_double(const char *text, double *out);

/* Parses all of text as a duration: "90", "1.5", "250ms", "10s", "2m", "1h30m", "7d", "01:02:03.5" (h:m:s) or
 * "02:03" (m:s). *out is in nanoseconds, 0 .. 2^62. */
bool num_duration_ns(const char *text, int64_t *out);

/* Parses all of text as a number of bytes, 0 .. 2^62: "65536", "500k", "1.5G"; k, M, G, T are powers of
 * 1000, Ki, Mi, Gi, Ti of 1024, and a B may follow. */
bool num_bytes(const char *text, uint64_t *out);
/* Formats the shortest decimal number that reads back as exactly v, in any locale: "0", "-12.5", "1e-07";
 * "nan", "inf" or "-inf" for non-numbers. Returns its length; out always ends with a NUL. */
#define NUM_TEXT 32
size_t num_text(char out[NUM_TEXT], double v);
/* The same if v is a float: the shortest number that reads back as that float, "17.2" for
 * 17.200000762939453. Other values are formatted as by num_text(). */
size_t num_text_single(char out[NUM_TEXT], double v);

/* Formats v with `decimals` (0 .. 9) places, as "%.*f" does in the C locale; with an exponent if that
 * would be longer than 20 characters. */
size_t num_fixed(char out[NUM_TEXT], double v, int decimals);

/* Formats nanoseconds as seconds with all nine decimals, such as "12.000000345". */
size_t num_seconds(char out[NUM_TEXT], int64_t ns);

#endif
