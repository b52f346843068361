/* Finds the next and previous file of a split recording, so that all of its files are shown as one. */
#include <string.h>

#include "app/app.h"
#include "util/clock.h"
#include "trace/trace.h"

#define SKIPPED 64 /* maximum of consecutive numbers used by other files */

/* Is it a trace of the same board that starts after the end of the other, or ends before its start? */
static bool goes_on(const struct trace_summary *here, const char *path, int by)
{
	const struct trace_summary *first, *then;
	struct trace_summary there;
	struct err e;

	first = by > 0 ? here : &there;
	then = by > 0 ? &there : here;
	return trace_peek(path, &there, &e) == 0 && here->real_ns && there.real_ns &&
	       !strcmp(here->board, there.board) &&
	       then->real_ns - first->real_ns >= first->duration_ns - NS_PER_S;
}

bool part_beside(const char *path, const struct trace_summary *here, int by, char *out, size_t size)
{
	char first[4096];
	unsigned number = part_number(path, first, sizeof first);

	for (int i = 0; i < SKIPPED; i++) {
		number += (unsigned)by;
		if (number < 1 || part_path(first, number, out, size) < 0)
			return false;
		if (goes_on(here, out, by))
			return true;
	}
	return false;
}
