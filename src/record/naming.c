/* Several recorders may start within the same second. A name is reserved by creating its file; if another
 * recorder was first, the next name is tried.
 *
 * A file of version 1 begins with the number of its rows, and can be written only when all are known: a recording to
 * run.bin is a log, run.nvmt, until its end. */
#include "record/naming.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/text.h"

#define MOST 1000 /* recordings that begin in the same second */

void name_now(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, size, "nvmtop-%Y%m%d-%H%M%S", &tm);
}

struct log_out *record_now(const struct trace_limits *limits, struct err *e)
{
	struct log_out *w = NULL;
	char first[64], name[PATH_MAX];
	unsigned number = 1;

	name_now(first, sizeof first - sizeof ".nvmt");
	strcat(first, ".nvmt");
	do {
		if (!part_path_free(first, false, &number, name, sizeof name))
			break;
		w = log_out_new(name, false, e);
	} while (!w && !trace_name_free(name, false) && number < MOST);
	if (w)
		log_out_limits(w, limits);
	return w;
}

int record_log(const char *path, bool force, char log[PATH_MAX], struct err *e)
{
	bool bin = text_ends_in(path, ".bin");

	if (bin ? !nvmt1_log_name(path, log, PATH_MAX) : snprintf(log, PATH_MAX, "%s", path) >= PATH_MAX)
		return err_set(e, ERR_FAILED, _("the name of the file to record to is too long"));
	return bin ? log_file_check(path, force, e) : 0;
}

struct log_out *record_to(const char *path, bool force, struct err *e)
{
	char log[PATH_MAX];

	return record_log(path, force, log, e) < 0 ? NULL : log_out_new(log, force, e);
}

int bin_make(const char *log, const char *bin, bool force, nvmt1_progress *progress, void *arg, struct err *e)
{
	char from[512], to[512], why[sizeof e->text];
	struct trace *t = trace_open(log, e);
	int rc = t ? nvmt1_write(t, bin, force, progress, arg, e) : -1;

	trace_close(t);
	if (rc == 0)
		return 0;
	text_printable(from, sizeof from, log, strlen(log));
	text_printable(to, sizeof to, bin, strlen(bin));
	memcpy(why, e->text, sizeof why);
	return err_num(e, e->code, e->num,
		       access(bin, F_OK) == 0
			       ? _("%s; the recording is in %s: nvmtop export nvmt1 --force %s -o %s makes the other of it")
			       : _("%s; the recording is in %s: nvmtop export nvmt1 %s -o %s makes the other of it"),
		       why, from, from, to);
}

int record_bins(struct log_out *w, bool force, nvmt1_progress *progress, void *arg, struct err *e)
{
	char log[PATH_MAX], bin[PATH_MAX];

	for (size_t i = 0; log_out_file(w, i, log, sizeof log, NULL); i++) {
		snprintf(bin, sizeof bin, "%.*s.bin", (int)(strlen(log) - strlen(".nvmt")), log);
		if (bin_make(log, bin, force && i == 0, progress, arg, e) < 0)
			return -1;
	}
	return 0;
}

/* Expands the pattern at *p, which begins with %, and moves *p to its end. */
static int expand_one(const char **p, long pid, char *out, size_t size, struct err *e)
{
	const char *from = *p, *end = from[1] == 'q' && from[2] == '{' ? strchr(from, '}') : NULL, *value;
	char name[128];
	int n;

	*p = end ? end + 1 : from + 2;
	if (from[1] == 'p' && pid == 0)
		return err_set(e, ERR_USAGE,
			       _("%%p in a file name is the process ID of a COMMAND: give one after --"));
	if (from[1] == 'p') {
		n = snprintf(out, size, "%ld", pid);
	} else if (from[1] == 'h') {
		n = gethostname(out, size) < 0 ? (int)size : (int)strlen(out);
	} else if (from[1] == '%') {
		n = snprintf(out, size, "%%");
	} else if (end) {
		snprintf(name, sizeof name, "%.*s", (int)(end - from - 3), from + 3);
		if (!(value = getenv(name)))
			return err_set(e, ERR_USAGE,
				       _("the environment variable \"%s\" in the file name is not set"),
				       name);
		n = snprintf(out, size, "%s", value);
	} else {
		snprintf(name, sizeof name, "%.2s", from);
		return err_set(
			e, ERR_USAGE,
			_("\"%s\" in a file name is unknown: use %%p, %%h, %%q{NAME}, or %%%% for a %%"),
			name);
	}
	return n >= 0 && (size_t)n < size ? n : err_set(e, ERR_FAILED, _("the file name is too long"));
}

int name_expand(const char *pattern, long pid, unsigned run, char *out, size_t size, struct err *e)
{
	char name[PATH_MAX], number[16] = "";
	size_t used = 0;
	const char *base, *dot;
	int n = 0;

	for (const char *p = pattern; *p && n >= 0; used += n > 0 ? (size_t)n : 0) {
		if (*p == '%') {
			n = expand_one(&p, pid, name + used, sizeof name - used, e);
		} else if (used + 1 < sizeof name) {
			name[used] = *p++;
			n = 1;
		} else {
			n = err_set(e, ERR_FAILED, _("the file name is too long"));
		}
	}
	if (n < 0)
		return -1;
	name[used] = '\0';
	base = basename(name);
	dot = strrchr(base, '.');
	if (!dot || dot == base)
		dot = name + used;
	if (run)
		snprintf(number, sizeof number, "-%u", run);
	n = snprintf(out, size, "%.*s%s%s", (int)(dot - name), name, number, dot);
	return (size_t)n < size ? 0 : err_set(e, ERR_FAILED, _("the file name is too long"));
}
