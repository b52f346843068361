/* Several recorders may begin within the same second. A name is free only once its file has been
 * created: the second recorder takes the next one. */
#include "record/naming.h"

#include <stdio.h>
#include <time.h>

#define NAMES 1000 /* of recordings that began within a second */
#define TRIES 100  /* to be the first to take one */

void name_now(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, size, "nvmtop-%Y%m%d-%H%M%S", &tm);
}

void trace_name_now(char *buf, size_t size)
{
	char base[40];

	name_now(base, sizeof base);
	snprintf(buf, size, "%s.nvmt", base);
	for (int i = 2; i <= NAMES && !trace_name_free(buf, false); i++)
		snprintf(buf, size, "%s.%d.nvmt", base, i);
}

struct log_writer *record_now(const struct trace_limits *limits, struct err *e)
{
	struct log_writer *s = NULL;
	char name[64];

	for (int i = 0; !s && i < TRIES; i++) {
		trace_name_now(name, sizeof name);
		s = log_writer_new(name, false, e);
		if (!s && trace_name_free(name, false)) /* the name is taken by something else */
			break;
	}
	if (s)
		log_writer_limits(s, limits);
	return s;
}
