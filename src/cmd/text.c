/* Small texts that several ways of using the program share. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "nvmtop/clock.h"
#include "nvmtop/intl.h"

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

void trace_name_now(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, size, "nvmtop-%Y%m%d-%H%M%S.bin", &tm);
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

void recording_trouble(struct trouble *was, const struct trace_series_stats *now, char *out, size_t size)
{
	char shown[sizeof now->path];

	out[0] = '\0';
	if (now->err.code != ERR_NONE) {
		if (!was->said)
			snprintf(out, size, "%s", now->err.text);
		was->said = true;
	} else if (now->holes > was->holes) {
		text_printable(shown, sizeof shown, now->path, strlen(now->path));
		if (was->said)
			snprintf(out, size, _("the recording goes on in %s"), shown);
		else
			snprintf(out, size, _("%s; the recording goes on in %s"), now->last.text, shown);
	}
	if (now->err.code == ERR_NONE) {
		was->said = false;
		was->holes = now->holes;
	}
}

const char *recording_full(void)
{
	return _("the recording is as large as --max-size allows");
}

static void name_of(const struct trace_series *s, size_t i, char *out, size_t size)
{
	char path[4096];
	bool complete;

	trace_series_part(s, i, path, sizeof path, &complete);
	text_printable(out, size, path, strlen(path));
	if (!complete)
		snprintf(out + strlen(out), size - strlen(out), ".part");
}

void recording_name(const struct trace_series *s, char *out, size_t size)
{
	char shown[4096];
	size_t n = 1;

	name_of(s, 0, shown, sizeof shown);
	while (trace_series_part(s, n, NULL, 0, NULL))
		n++;
	snprintf(out, size, "%s", shown);
	if (n > 1)
		snprintf(out, size, P_("%s (%zu file)", "%s (%zu files)", n), shown, n);
}

/* Beyond some the first and the last say it. */
void recording_names(const struct trace_series *s, char *out, size_t size)
{
	char shown[4096];
	size_t n = 0, used = 0;

	while (trace_series_part(s, n, NULL, 0, NULL))
		n++;
	out[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		if (n > 8 && i == 2) {
			used += (size_t)snprintf(out + used, size - used, " ...");
			i = n - 1;
		}
		name_of(s, i, shown, sizeof shown);
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", shown);
	}
	if (n > 8 && used < size)
		snprintf(out + used, size - used, P_(" (%zu file)", " (%zu files)", n), n);
}

enum charset charset_of(const struct options *o)
{
	return o->ascii ? CHARSET_ASCII : term_charset();
}
