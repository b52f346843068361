/* A datagram comes from any process of this user: a program, a line of shell, a mistake. It is accepted
 * as a whole or rejected. */
#include <string.h>

#include "util/clock.h"
#include "record/marks.h"

#define LONGEST  512
#define AHEAD_NS NS_PER_MS /* a clock that was rounded up is not the future */

/* At most `most` digits; returns their end, or NULL when there is none. */
static const char *digits(const char *p, const char *end, int most, int64_t *out)
{
	const char *from = p;

	for (*out = 0; p < end && *p >= '0' && *p <= '9' && p - from < most; p++)
		*out = *out * 10 + (*p - '0');
	return p > from ? p : NULL;
}

/* "12345.678901234": to the nanosecond, and further digits are ignored. */
static const char *seconds(const char *p, const char *end, int64_t *ns)
{
	int64_t whole, part = 0, scale = NS_PER_S;

	p = digits(p, end, 10, &whole);
	if (!p)
		return NULL;
	if (p < end && *p == '.') {
		const char *from = ++p;

		for (; p < end && *p >= '0' && *p <= '9'; p++)
			if ((scale /= 10) > 0)
				part += (*p - '0') * scale;
		if (p == from)
			return NULL;
	}
	*ns = whole > INT64_MAX / NS_PER_S - 1 ? INT64_MAX : whole * NS_PER_S + part;
	return p;
}

bool mark_parse(const char *text, size_t len, int64_t sent_ns, int64_t now_ns, int64_t *t_ns,
		char label[MARK_LABEL])
{
	static const char head[] = "nvmtop-mark 1 ";
	const size_t n = sizeof(head) - 1;
	const char *end = text + len, *p;

	if (len <= n || len > LONGEST || memcmp(text, head, n) != 0)
		return false;
	if (end[-1] == '\n')
		end--;
	p = seconds(text + n, end, t_ns);
	if (!p || (p < end && *p != ' '))
		return false;
	if (*t_ns == 0)
		*t_ns = sent_ns;
	if (*t_ns > now_ns + AHEAD_NS || *t_ns < sent_ns - MARK_OLDEST_S * NS_PER_S)
		return false;
	if (*t_ns > now_ns)
		*t_ns = now_ns;
	p += p < end;
	text_printable(label, MARK_LABEL, p, (size_t)(end - p));
	return true;
}
