/* Several recorders may start within the same second. A name is reserved by creating its file; if another
 * recorder was first, the next name is tried. */
#include "record/naming.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TRIES 100 /* attempts to create a file before others do */

void name_now(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, size, "nvmtop-%Y%m%d-%H%M%S", &tm);
}

void trace_name_now(char *buf, size_t size)
{
	char path[48];
	unsigned number = 1;

	name_now(path, sizeof path - sizeof ".nvmt");
	strcat(path, ".nvmt");
	part_path_free(path, false, &number, buf, size);
}

struct log_writer *record_now(const struct trace_limits *limits, struct err *e)
{
	struct log_writer *s = NULL;
	char name[64];

	for (int i = 0; !s && i < TRIES; i++) {
		trace_name_now(name, sizeof name);
		s = log_writer_new(name, false, e);
		if (!s && trace_name_free(name, false)) /* it failed for another reason */
			break;
	}
	if (s)
		log_writer_limits(s, limits);
	return s;
}
