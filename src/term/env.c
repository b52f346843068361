/* Terminal properties from the environment, used where neither terminfo nor the terminal reports them. */
#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "term/env.h"

enum charset term_charset(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") ? CHARSET_ASCII : CHARSET_BLOCKS;
}

/* COLORFGBG, set by rxvt and others: "15;0" is foreground;background. */
enum ground env_ground(const char *term)
{
	const char *says = getenv("COLORFGBG"), *last = says ? strrchr(says, ';') : NULL;
	char *end;
	long n;

	if (!strncmp(term, "linux", 5))
		return GROUND_DARK;
	if (!last || !last[1])
		return GROUND_AUTO;
	n = strtol(last + 1, &end, 10);
	if (*end || n < 0 || n > 15)
		return GROUND_AUTO;
	return n == 7 || n > 8 ? GROUND_LIGHT : GROUND_DARK;
}

static void number(const char *name, int *to)
{
	const char *says = getenv(name);
	char *end;
	long n = says ? strtol(says, &end, 10) : 0;

	if (n > 0 && !*end)
		*to = n > INT_MAX ? INT_MAX : (int)n;
}

int env_escape_ms(int told)
{
	int ms = told;

	if (ms <= 0)
		number("ESCDELAY", &ms);
	return ms <= 0 ? 50 : ms > 5000 ? 5000 : ms;
}

void env_size(int *w, int *h)
{
	number("COLUMNS", w);
	number("LINES", h);
}
