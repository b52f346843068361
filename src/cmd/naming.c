/* Several recorders may begin within the same second, or the same moment.  That a name
 * is free is only known when its file was made: who comes second takes the next one. */
#include "cmd/naming.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define NAMES 1000 /* of recordings that were begun within a second */
#define TRIES 100  /* to be the first to take one */

/* Is there a trace of that name, or one that is being recorded, or what is left of one? */
static bool name_taken(const char *name)
{
	static const char *const suffixes[] = {"", ".part", ".part.side"};
	char path[80];
	struct stat st;

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		snprintf(path, sizeof path, "%s%s", name, suffixes[i]);
		if (lstat(path, &st) == 0)
			return true;
	}
	return false;
}

void trace_name_now(char *buf, size_t size)
{
	time_t now = time(NULL);
	char base[40];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(base, sizeof base, "nvmtop-%Y%m%d-%H%M%S", &tm);
	snprintf(buf, size, "%s.bin", base);
	for (int i = 2; i <= NAMES && name_taken(buf); i++)
		snprintf(buf, size, "%s.%d.bin", base, i);
}

struct trace_series *trace_series_now(const struct trace_limits *limits, struct err *e)
{
	struct trace_series *s = NULL;
	char name[64];

	for (int i = 0; !s && i < TRIES; i++) {
		trace_name_now(name, sizeof name);
		s = trace_series_new(name, false, limits, e);
		if (!s && !name_taken(name)) /* there is something else in the way */
			break;
	}
	return s;
}
