/* The files of a split recording are shown as one: which file is next, and which was before. */
#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "util/clock.h"
#include "util/num.h"
#include "trace/trace.h"

#define SKIPPED 64 /* numbers at most that other files have taken */

/* "run.2.bin" is "run", 2 and ".bin"; "run.bin" is "run", 1 and ".bin". */
static int64_t take_apart(const char *path, size_t *stem, const char **ending)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.'),
		   *p;
	int64_t number;

	if (!dot || dot == base)
		dot = base + strlen(base);
	*ending = dot;
	for (p = dot; p > base && p[-1] >= '0' && p[-1] <= '9'; p--)
		;
	if (p > base + 1 && p < dot && p[-1] == '.' && *p != '0' && num_i64(p, dot, &number) == dot &&
	    number >= 2 && number < 1000000) {
		*stem = (size_t)(p - 1 - path);
		return number;
	}
	*stem = (size_t)(dot - path);
	return 1;
}

/* Is it a trace of the same board that begins when the other has ended, or ends before? */
static bool goes_on(const struct trace_summary *here, const char *path, int by)
{
	const struct trace_summary *first, *then;
	struct trace_summary there;
	struct err e;

	first = by > 0 ? here : &there;
	then = by > 0 ? &there : here;
	return trace_peek(path, &there, &e) == 0 && here->real_ns && there.real_ns &&
	       !strcmp(here->board, there.board) &&
	       then->real_ns >= first->real_ns + first->duration_ns - NS_PER_S;
}

bool part_beside(const char *path, const struct trace_summary *here, int by, char *out, size_t size)
{
	const char *ending;
	size_t stem;
	int64_t number = take_apart(path, &stem, &ending);

	for (int i = 0; i < SKIPPED; i++) {
		number += by;
		if (number < 1)
			return false;
		int n = number == 1 ? snprintf(out, size, "%.*s%s", (int)stem, path, ending)
				    : snprintf(out, size, "%.*s.%lld%s", (int)stem, path, (long long)number,
					       ending);
		if (n < 0 || (size_t)n >= size)
			return false;
		if (goes_on(here, out, by))
			return true;
	}
	return false;
}
