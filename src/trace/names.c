/* A recording has one name, and several files that are called after it: while it lasts,
 * where it was interrupted, and where it goes on. */
#include "trace/names.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/trace.h"

int part_path(const char *path, unsigned number, char *out, size_t size)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	int n;

	if (!dot || dot == base)
		dot = base + strlen(base);
	if (number == 1)
		n = snprintf(out, size, "%s", path);
	else
		n = snprintf(out, size, "%.*s.%u%s", (int)(dot - path), path, number, dot);
	return n >= 0 && (size_t)n < size ? 0 : -1;
}

bool name_exists(const char *path, const char *suffix)
{
	char name[PATH_MAX + 16];
	struct stat st;
	int n = snprintf(name, sizeof(name), "%s%s", path, suffix);

	return n > 0 && (size_t)n < sizeof(name) && lstat(name, &st) == 0;
}

bool trace_name_free(const char *path, bool over)
{
	return !name_exists(path, ".part") && !name_exists(path, ".part.side") &&
	       (over || !name_exists(path, ""));
}
