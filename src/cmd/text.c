/* Small texts that several ways of using the program share. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cmd/cmd.h"
#include "nvmtop/clock.h"
#include "nvmtop/intl.h"

#define NAMES 1000 /* of recordings that were begun within a second */

int complain(const struct err *e)
{
	fprintf(stderr, "nvmtop: %s\n", e->text);
	return (int)e->code;
}

int stdout_result(int status)
{
	struct err e;

	if (!ferror(stdout))
		return status;
	clearerr(stdout);
	if (errno == EPIPE)
		return status;
	err_sys(&e, ERR_FAILED, errno, _("cannot write to standard output"));
	return complain(&e);
}

/* Is there a trace of that name, or one that is being recorded? */
static bool name_taken(const char *name)
{
	char part[80];
	struct stat st;

	snprintf(part, sizeof part, "%s.part", name);
	return lstat(name, &st) == 0 || lstat(part, &st) == 0;
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

void text_elapsed(char *buf, size_t size, int64_t ns)
{
	int64_t s = ns < 0 ? 0 : ns / NS_PER_S;

	if (s >= 3600)
		snprintf(buf, size, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
			 (int)(s % 60));
	else
		snprintf(buf, size, "%02d:%02d", (int)(s / 60), (int)(s % 60));
}

void text_bytes(char *buf, size_t size, uint64_t bytes)
{
	static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
	double v = (double)bytes;
	size_t i = 0;

	while (v >= 1000 && i + 1 < sizeof unit / sizeof *unit) {
		v /= 1000;
		i++;
	}
	snprintf(buf, size, i && v < 99.95 ? "%.1f %s" : "%.0f %s", v, unit[i]);
}

enum charset charset_of(const struct options *o)
{
	return o->ascii ? CHARSET_ASCII : term_charset();
}
