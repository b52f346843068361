/* goto: parses places in time and finds marks.
 *
 * Marks are read in blocks, as a trace may have too many for the stack. */
#include "ui/goto.h"

#include "util/num.h"

#include <string.h>
#include <time.h>

#define BLOCK 32

/* Visits the marks in [from, to) in order until visit() returns true. */
static bool each_mark(struct timeline *t, int64_t from, int64_t to,
		      bool (*visit)(void *arg, const struct mark *m), void *arg)
{
	struct mark marks[BLOCK];
	size_t n;

	while (from < to && (n = t->ops->marks(t, from, to, marks, BLOCK)) > 0) {
		int64_t reached = marks[n - 1].t_ns;

		for (size_t i = 0; i < n; i++)
			if (visit(arg, &marks[i]))
				return true;
		if (n < BLOCK)
			return false;
		/* If all marks of a block have the same time, skip that time. */
		from = reached > from && marks[0].t_ns < reached ? reached : reached + 1;
	}
	return false;
}

/* Marks may be slightly before the first or after the last sample. */
static int64_t mark_from(const struct extent *e)
{
	return e->first_ns > NS_PER_S ? e->first_ns - NS_PER_S : 0;
}

bool goto_each_mark(struct timeline *t, const struct extent *e,
		    bool (*visit)(void *arg, const struct mark *m), void *arg)
{
	return e->any && each_mark(t, mark_from(e), e->last_ns + NS_PER_S, visit, arg);
}

struct wanted {
	const char *label; /* NULL: find the id */
	uint64_t id;
	struct mark *out;
};

static bool is_wanted(void *arg, const struct mark *m)
{
	struct wanted *w = arg;

	if (w->label ? strcmp(m->label, w->label) != 0 : m->id != w->id)
		return false;
	*w->out = *m;
	return true;
}

bool goto_find(struct timeline *t, const struct extent *e, const char *label, uint64_t id, struct mark *out)
{
	return goto_each_mark(t, e, is_wanted, &(struct wanted) {label, id, out});
}

bool goto_newest(struct timeline *t, int64_t from, int64_t to, struct mark *out)
{
	struct mark m[BLOCK];
	int64_t step = INT64_C(1) << 30;
	bool found = false;
	size_t n;

	/* Back in growing steps; marks are returned oldest first. */
	for (int64_t left = to; left > from && !found; step = step < INT64_MAX / 8 ? 8 * step : step) {
		int64_t right = left;

		left = right - from > step ? right - step : from;
		for (int64_t at = left; (n = t->ops->marks(t, at, right, m, BLOCK)) > 0; at = m[n - 1].t_ns + 1) {
			*out = m[n - 1];
			found = true;
		}
	}
	return found;
}

bool goto_mark(struct timeline *t, const struct extent *e, int64_t t_ns, int n, int64_t *out)
{
	struct mark m = {.t_ns = 0};
	bool found = e->any && (n < 0 ? goto_newest(t, mark_from(e), t_ns, &m)
				      : t->ops->marks(t, t_ns + 1, e->last_ns + NS_PER_S, &m, 1) > 0);

	*out = m.t_ns;
	return found;
}

static bool parse_mark(const char *text, struct timeline *t, const struct extent *e, int64_t *out)
{
	const char *end = text + strlen(text);
	struct mark m;
	int64_t id;

	if (num_i64(text, end, &id) != end || id < 1 || !goto_find(t, e, NULL, (uint64_t)id, &m))
		return false;
	*out = m.t_ns;
	return true;
}

static bool parse_part(const char *text, size_t len, const struct extent *e, int64_t *out)
{
	char number[32];
	double part;

	if (len >= sizeof(number))
		return false;
	memcpy(number, text, len);
	number[len] = 0;
	if (!num_double(number, &part) || !(part >= 0 && part <= 100))
		return false;
	*out = e->first_ns + (int64_t)((double)(e->last_ns - e->first_ns) * (part / 100));
	return true;
}

/* Parses n digits at *p and advances it; -1: not a digit. */
static int digits(const char **p, int n)
{
	int v = 0;

	for (; n > 0; n--, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		v = v * 10 + (**p - '0');
	}
	return v;
}

/* Parses an optional "2026-11-20 " or "2026-11-20T"; false: invalid date. */
static bool parse_date(const char **text, struct tm *day)
{
	const char *p = *text;
	int year, month, mday;

	if (strlen(p) < 11 || p[4] != '-')
		return true;
	year = digits(&p, 4), p++;
	month = digits(&p, 2);
	if (*p++ != '-')
		return false;
	mday = digits(&p, 2);
	if (year < 1970 || month < 1 || month > 12 || mday < 1 || mday > 31 || (*p != ' ' && *p != 'T'))
		return false;
	while (*++p == ' ')
		;
	*text = p;
	day->tm_year = year - 1900;
	day->tm_mon = month - 1;
	day->tm_mday = mday;
	return true;
}

/* "14:32:05" or "14:32:05.25". */
static bool parse_clock(const char *p, struct tm *at, int64_t *rest_ns)
{
	int hour = digits(&p, p[0] && p[1] == ':' ? 1 : 2), minute, second;
	char part[16] = "0";
	double rest = 0;

	if (hour < 0 || hour > 23 || *p++ != ':' || (minute = digits(&p, 2)) < 0 || minute > 59 ||
	    *p++ != ':' || (second = digits(&p, 2)) < 0 || second > 60)
		return false;
	if (*p == '.' && strlen(p) < sizeof(part) - 1) {
		strcpy(part + 1, p);
		if (!num_double(part, &rest) || !(rest >= 0 && rest < 1))
			return false;
	} else if (*p) {
		return false;
	}
	at->tm_hour = hour;
	at->tm_min = minute;
	at->tm_sec = second;
	at->tm_isdst = -1;
	*rest_ns = (int64_t)(rest * 1e9);
	return true;
}

/* A clock without a date is tried on each day of the recording. Times up to a second outside the recording
 * are accepted, as users omit fractions. */
static bool parse_wall(const char *text, const struct clock_anchor *start, const struct extent *e,
		       int64_t *out)
{
	int64_t wall = start->real_ns - start->mono_ns, rest;
	time_t first = (time_t)(clock_wall_ns(start, e->first_ns) / NS_PER_S);
	int days = (int)((e->last_ns - e->first_ns) / (86400 * NS_PER_S)) + 2;
	bool dated = strlen(text) >= 11 && text[4] == '-';
	struct tm day;

	if (!start->real_ns || !localtime_r(&first, &day) || !parse_date(&text, &day))
		return false;
	for (int i = 0; i < (dated ? 1 : days); i++) {
		struct tm at = day;
		int64_t ns;
		time_t t;

		if (!parse_clock(text, &at, &rest))
			return false;
		at.tm_mday += i;
		t = mktime(&at);
		if (t < 0 || t > INT64_MAX / NS_PER_S - 1)
			return false;
		if (__builtin_sub_overflow((int64_t)t * NS_PER_S + rest, wall, &ns) || ns < e->first_ns - NS_PER_S ||
		    ns > e->last_ns + NS_PER_S)
			continue;
		*out = ns;
		return true;
	}
	return false;
}

static bool is_clock(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && strchr(colon + 1, ':') && text[0] != '+' && text[0] != '-';
}

bool goto_parse(const char *text, struct timeline *t, const struct extent *e, int64_t head_ns, int64_t *out)
{
	size_t len = strlen(text);
	bool relative = text[0] == '+' || text[0] == '-';
	int64_t span, from = e->first_ns;

	if (!e->any || !len)
		return false;
	if (!strcmp(text, "end") || !strcmp(text, "now"))
		return *out = e->last_ns, true;
	if (!strcmp(text, "start"))
		return *out = e->first_ns, true;
	if (text[0] == 'm' || text[0] == 'M')
		return parse_mark(text + 1, t, e, out);
	if (text[len - 1] == '%')
		return parse_part(text, len - 1, e, out);
	if (is_clock(text) && parse_wall(text, &t->ops->session(t)->start, e, out))
		return true;
	if (relative)
		from = head_ns;
	if (!num_duration_ns(text + relative, &span))
		return false;
	if (is_clock(text) && span > e->last_ns - e->first_ns)
		return false;
	if (text[0] == '-')
		*out = span > from ? 0 : from - span;
	else
		*out = span > INT64_MAX - from ? INT64_MAX : from + span;
	return true;
}
