/* A recording has one name, and several files that are called after it: while it lasts,
 * where it was interrupted, and where it goes on. */
#include "trace/names.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/trace.h"

bool name_exists(const char *path, const char *suffix)
{
	char name[PATH_MAX + 16];
	struct stat st;
	int n = snprintf(name, sizeof(name), "%s%s", path, suffix);

	return n > 0 && (size_t)n < sizeof(name) && lstat(name, &st) == 0;
}
