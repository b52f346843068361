/* goto: places in time by name.
 *
 * Marks are asked for in blocks: a trace may hold more of them than anybody would
 * keep on a stack. */
#include "goto.h"

#include "nvmtop/num.h"

#include <string.h>

#define BLOCK 32

/* Visit the marks of [from, to) in order until visit() says true. */
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
		/* A block of one and the same instant cannot be passed but by leaving it. */
		from = reached > from && marks[0].t_ns < reached ? reached : reached + 1;
	}
	return false;
}

struct wanted {
	uint64_t id;
	int64_t t_ns;
	bool found;
};

static bool has_id(void *arg, const struct mark *m)
{
	struct wanted *w = arg;

	if (m->id != w->id)
		return false;
	w->t_ns = m->t_ns;
	return w->found = true;
}

static bool is_first(void *arg, const struct mark *m)
{
	struct wanted *w = arg;

	w->t_ns = m->t_ns;
	return w->found = true;
}

static bool remember(void *arg, const struct mark *m)
{
	is_first(arg, m);
	return false;
}

/* Marks may lie a little outside the first and the last sample. */
static int64_t mark_from(const struct extent *e)
{
	return e->first_ns > NS_PER_S ? e->first_ns - NS_PER_S : 0;
}

bool goto_mark(struct timeline *t, const struct extent *e, int64_t t_ns, int n, int64_t *out)
{
	struct wanted w = {0, 0, false};

	if (!e->any)
		return false;
	if (n < 0)
		each_mark(t, mark_from(e), t_ns, remember, &w);
	else
		each_mark(t, t_ns + 1, e->last_ns + NS_PER_S, is_first, &w);
	*out = w.t_ns;
	return w.found;
}

static bool parse_mark(const char *text, struct timeline *t, const struct extent *e, int64_t *out)
{
	const char *end = text + strlen(text);
	struct wanted w = {0, 0, false};
	int64_t id;

	if (num_i64(text, end, &id) != end || id < 1)
		return false;
	w.id = (uint64_t)id;
	each_mark(t, mark_from(e), e->last_ns + NS_PER_S, has_id, &w);
	*out = w.t_ns;
	return w.found;
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
	if (relative)
		from = head_ns;
	if (!num_duration_ns(text + relative, &span))
		return false;
	if (text[0] == '-')
		*out = span > from ? 0 : from - span;
	else
		*out = span > INT64_MAX - from ? INT64_MAX : from + span;
	return true;
}
