/* Makes text safe for a terminal and computes its width. */
#include "util/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include "util/clock.h"
#include "util/intl.h"

static const char *help_of; /* NULL: not told */

void complain_help(const char *verb)
{
	help_of = verb;
}

int complain(const struct err *e)
{
	fprintf(stderr, "nvmtop: %s\n", e->text);
	if (e->code == ERR_USAGE && help_of)
		fprintf(stderr, _("Try 'nvmtop %s%s--help'.\n"), help_of, *help_of ? " " : "");
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

void text_elapsed(char *buf, size_t size, int64_t ns)
{
	int64_t s = ns < 0 ? 0 : ns / NS_PER_S;

	if (s >= 3600)
		snprintf(buf, size, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
			 (int)(s % 60));
	else
		snprintf(buf, size, "%02d:%02d", (int)(s / 60), (int)(s % 60));
}

void text_lasted(char *buf, size_t size, int64_t ns)
{
	double s = ns < 0 ? 0 : (double)ns / (double)NS_PER_S;

	if (s >= 10)
		text_elapsed(buf, size, ns);
	else
		snprintf(buf, size, s < 1 ? "%.2f s" : "%.1f s", s);
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

bool text_next(const char **p, mbstate_t *state, wchar_t *ch, int *width)
{
	size_t n = mbrtowc(ch, *p, MB_LEN_MAX, state);

	if (n == 0)
		return false;
	if (n == (size_t)-1 || n == (size_t)-2) {
		memset(state, 0, sizeof(*state));
		*ch = L'?';
		n = 1;
	}
	*p += n;
	*width = wcwidth(*ch);
	if (*width < 0)
		*ch = L'?', *width = 1;
	return true;
}

int text_width(const char *text)
{
	mbstate_t state;
	wchar_t ch;
	int width, used = 0;

	memset(&state, 0, sizeof(state));
	while (text_next(&text, &state, &ch, &width))
		used += width;
	return used;
}

int terminal_width(int fd)
{
	struct winsize ws;

	return ioctl(fd, TIOCGWINSZ, &ws) == 0 ? ws.ws_col : 0;
}

bool text_ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}
