/* People edit the file: bad lines are reported with their number, and the rest is used. */
#include <string.h>

#include "app/settings-words.h"
#include "util/intl.h"
#include "util/num.h"

struct reading {
	struct settings *s;
	const struct conf_reader *who;
	unsigned line;
};

static void complain(const struct reading *r, const char *fmt, const char *what, size_t n, const char *more)
{
	char text[512], shown[64];

	text_printable(shown, sizeof shown, what, n);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof text, fmt, shown, more);
#pragma GCC diagnostic pop
	if (r->who->tell)
		r->who->tell(r->who->to, r->line, text);
}

static void check_view(const struct reading *r, const char *name)
{
	char list[256] = "";
	size_t used = 0;

	if (!r->who->view)
		return;
	for (size_t i = 0; r->who->view(i); i++) {
		if (!strcmp(r->who->view(i), name))
			return;
		if (used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
						 r->who->view(i));
	}
	complain(r, _("unknown view \"%s\"; known: %s"), name, strlen(name), list);
}

static struct chart_setting *chart(struct settings *s, const char *view, const char *name)
{
	struct chart_setting *c;

	for (size_t i = 0; i < s->n_charts; i++)
		if (!strcmp(s->charts[i].view, view) && !strcmp(s->charts[i].name, name))
			return &s->charts[i];
	if (s->n_charts == SETTINGS_CHARTS)
		return NULL;
	c = &s->charts[s->n_charts++];
	*c = (struct chart_setting) {.hidden = false};
	strcpy(c->view, view);
	strcpy(c->name, name);
	return c;
}

/* To the end: moves are applied in order. */
static struct chart_setting *last(struct settings *s, struct chart_setting *c)
{
	struct chart_setting moved = *c;
	size_t at = (size_t)(c - s->charts);

	memmove(c, c + 1, (s->n_charts - at - 1) * sizeof *c);
	s->charts[s->n_charts - 1] = moved;
	return &s->charts[s->n_charts - 1];
}

/* The next word of an item; false: no more. */
static bool word(const char **p, const char *end, const char **at, size_t *n)
{
	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
	*at = *p;
	while (*p < end && **p != ' ' && **p != '\t')
		++*p;
	*n = (size_t)(*p - *at);
	return *n > 0;
}

static bool is(const char *at, size_t n, const char *text)
{
	return n == strlen(text) && !memcmp(at, text, n);
}

/* "gpu.util", "gpu.util 3", "gpu.util after cpu.util", "gpu.util first". */
static bool take_item(struct settings *s, enum conf_list list, const char *view, const char *p, size_t n)
{
	char name[SETTINGS_NAME], after[SETTINGS_NAME] = "";
	const char *end = p + n, *at;
	struct chart_setting *c;
	int64_t lines = 0;
	size_t len;

	if (!word(&p, end, &at, &len) || !conf_decode(name, at, len))
		return false;
	if (list == LIST_LINES) {
		if (!word(&p, end, &at, &len) || num_i64(at, at + len, &lines) != at + len || lines < 1 ||
		    lines > CHART_LINES_MAX)
			return false;
	} else if (list == LIST_MOVE) {
		if (!word(&p, end, &at, &len))
			return false;
		if (!is(at, len, "first") && (!is(at, len, "after") || !word(&p, end, &at, &len) ||
					      !conf_decode(after, at, len) || !strcmp(name, after)))
			return false;
	}
	if (word(&p, end, &at, &len))
		return false;
	c = chart(s, view, name);
	if (!c)
		return false;
	if (list == LIST_HIDE)
		c->hidden = true;
	else if (list == LIST_LINES)
		c->lines = (unsigned char)lines;
	else {
		c = last(s, c);
		c->moved = true;
		strcpy(c->after, after);
	}
	return true;
}

static void take_list(const struct reading *r, enum conf_list list, const char *view, const char *p, size_t n)
{
	static const char *const takes[LISTS] = {
		N_("\"%s\": %s takes names of signals such as gpu.util, with commas between them"),
		N_("\"%s\": %s takes names with a number of lines, such as gpu.util 4, power.total 2"),
		N_("\"%s\": %s takes items such as emc.util after gpu.util, or power.total first"),
	};
	const char *end = p + n;

	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t len = (size_t)((comma ? comma : end) - p);

		if (!take_item(r->s, list, view, p, len)) {
			complain(r, _(takes[list]), p, len, conf_lists[list]);
			return;
		}
		p += len + (comma ? 1 : 0);
	}
	check_view(r, view);
}

static void take_line(const struct reading *r, const char *text, size_t n)
{
	char value[256], view[SETTINGS_VIEW];
	const struct conf_word *w;
	struct conf_line l;
	enum conf_kind kind = conf_line(&l, text, n);
	int list;

	if (kind == LINE_NOTHING)
		return;
	if (kind == LINE_WRONG) {
		complain(r, _("\"%s\" is not of the form name = value%s"), text, n, "");
		return;
	}
	list = conf_list_of(l.key, l.key_n, view);
	if (list >= 0) {
		take_list(r, (enum conf_list)list, view, l.value, l.value_n);
		return;
	}
	for (size_t i = 0; (w = conf_words(i)) != NULL; i++)
		if (is(l.key, l.key_n, w->key))
			break;
	if (!w) {
		complain(r, _("unknown setting \"%s\" is ignored%s"), l.key, l.key_n, "");
		return;
	}
	if (l.value_n < sizeof value && !memchr(l.value, 0, l.value_n)) {
		memcpy(value, l.value, l.value_n);
		value[l.value_n] = 0;
		if (w->take(r->s, value)) {
			if (!strcmp(w->key, "view"))
				check_view(r, value);
			return;
		}
	}
	snprintf(value, sizeof value, "%s: %s", w->key, _(w->takes));
	complain(r, _("\"%s\" is not a valid value for %s"), l.value, l.value_n, value);
}

void conf_read(struct settings *s, const char *text, size_t n, const struct conf_reader *who)
{
	struct reading r = {s, who, 0};

	for (const char *p = text, *end = text + n; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);

		r.line++;
		take_line(&r, p, len);
		p += len + (nl ? 1 : 0);
	}
}
