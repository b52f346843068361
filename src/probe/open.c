/* Checks the statements of a board file, and opens each with the function of its kind of probe. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"

#define KIND(name) &probe_kind_##name,
static const struct probe_kind *const kinds[] = {PROBE_KINDS(KIND)};

static const struct probe_kind *kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

int line_error(const char *file, unsigned line, struct err *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(e, ERR_FAILED, "%s:%u: %s", file, line, text);
}

const char *setting_nth(const struct statement *s, const char *key, size_t nth)
{
	for (size_t i = 0; i < s->n_settings; i++)
		if (!strcmp(s->settings[i].key, key) && nth-- == 0)
			return s->settings[i].value;
	return NULL;
}

const char *setting_get(const struct statement *s, const char *key)
{
	return setting_nth(s, key, 0);
}

bool setting_listed(const char *list, const char *key)
{
	char word[32];

	int n = snprintf(word, sizeof word, " %s ", key);
	return n > 0 && (size_t)n < sizeof word && strstr(list, word) != NULL;
}

static int check_value(const struct statement *s, const struct setting *t, struct err *e)
{
	double number;
	int64_t ns;
	const char *k = t->key, *v = t->value;
	const char *takes =
		!strcmp(k, "gate") && strcmp(v, "none") != 0	     ? _("only \"none\"")
		: !strcmp(k, "kind") && channel_kind_find(v) < 0     ? _("a kind of signal such as temperature or counter")
		: !strcmp(k, "unit") && unit_find(v) < 0	     ? _("one of Hz kB mV mA mW C rpm J B/s %")
		: !strcmp(k, "family") && family_find(v) < 0	     ? _("one of gpu cpu memory power heat other")
		: !strcmp(k, "period") && (!num_duration_ns(v, &ns) || ns > 60 * NS_PER_S)
			? _("a time such as 25ms, at most 60s")
		: !setting_listed(" lo hi scale warn crit index ", k) ? NULL
		: !num_double(v, &number)			     ? _("a number")
		: !strcmp(k, "index") && (number < 0 || number > 1023 || number != (int)number)
			? _("a whole number from 0 to 1023")
			: NULL;

	return takes ? statement_error(s, e, _("%s= takes %s, not \"%s\""), k, takes, v) : 0;
}

/* The settings that are places, and their form. */
static const struct {
	const char *key, *form;
} places[] = {
	{"path", "/FILE"}, {"hwmon", "CHIP/LABEL"}, {"zone", "TYPE"}, {"devfreq", "NODE/FILE"}, {"iio", "DRIVER/RAIL"},
	{"bus", "BUS-ADDRESS/inN"}, {"dir", "/FOLDER"}, {"activity", "/FILE"}, {"rate", "/FILE"}, {"load", "/FILE"},
};

static int check_place(const struct statement *s, const struct setting *t, struct err *e)
{
	bool node = !strcmp(t->key, "devfreq") && setting_listed(" gpu gated limits pinned engine ", s->probe);
	struct place p;

	for (size_t i = 0; i < sizeof places / sizeof *places && !node && strcmp(t->value, "*") != 0; i++)
		if (!strcmp(t->key, places[i].key) &&
		    !place_set(&p, places[i].form[0] == '/' ? "path" : t->key, t->value))
			return statement_error(s, e, _("%s=\"%s\" is not a place; expected %s=%s"), t->key, t->value,
					       t->key, places[i].form);
	return 0;
}

static int check_setting(const struct statement *s, const struct probe_kind *k, size_t i, struct err *e)
{
	const struct setting *t = &s->settings[i];

	if (!setting_listed(k->settings, t->key))
		return statement_error(s, e, _("\"%s\" does not take %s=; it takes:%s"), k->name, t->key,
				       k->settings);
	if (setting_listed(" label kind unit family index lo hi note period hint scale warn crit ", t->key) &&
	    setting_nth(s, t->key, 1))
		return statement_error(s, e, _("%s= is given twice"), t->key);
	return check_value(s, t, e) < 0 || check_place(s, t, e) < 0 ? -1 : 0;
}

int probe_check(const struct statement *s, struct err *e)
{
	const struct probe_kind *k = kind_find(s->probe);
	char known[320] = "";
	bool placed = false;

	if (!k) {
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			text_join(known, sizeof known, known, " ", kinds[i]->name);
		return statement_error(s, e, _("unknown probe \"%s\"; known:%s"), s->probe, known);
	}
	if (s->n_words < k->words_min)
		return statement_error(s, e, _("\"%s\" needs a name"), k->name);
	if (s->n_words > k->words_max)
		return statement_error(s, e, _("unexpected \"%s\" after \"%s\""), s->words[k->words_max],
				       k->name);
	for (size_t i = 0; i < s->n_words; i++)
		if (strlen(s->words[i]) > 36)
			return statement_error(s, e, _("the name \"%s\" has more than 36 bytes"),
					       s->words[i]);
	for (size_t i = 0; i < s->n_settings; i++) {
		if (check_setting(s, k, i, e) < 0)
			return -1;
		placed |= setting_listed(SETTINGS_PLACE "dir load ", s->settings[i].key);
	}
	for (size_t i = 0; i < sizeof places / sizeof *places && k->place && !placed; i++)
		if (setting_listed(k->settings, places[i].key))
			text_join(known, sizeof known, known, " ", places[i].key, "=", places[i].form);
	if (*known)
		return statement_error(s, e, _("\"%s\" needs a place to read:%s"), k->name, known);
	if (k->expression && !s->expression)
		return statement_error(s, e, _("\"%s\" needs = and an expression"), k->name);
	if (!k->expression && s->expression)
		return statement_error(s, e, _("only \"wave\" takes = and an expression"));
	return 0;
}

int probe_open(struct probe_set *r, const struct statement *s, int64_t tick_ns, struct err *e)
{
	struct probe_ctx o = {.probes = r, .root = r->root, .s = s, .tick_ns = tick_ns};

	if (probe_check(s, e) < 0)
		return -1;
	return kind_find(s->probe)->open(&o, e);
}

int probe_ctx_add(struct probe_ctx *o, const struct channel *c, struct err *e)
{
	bool seldom = c->period_ns > o->tick_ns && c->window_ns < c->period_ns && !o->s->expression;
	bool seconds = c->period_ns >= NS_PER_S;
	char every[32];

	if (probe_set_find(o->probes, c->name))
		return statement_error(o->s, e, _("duplicate signal \"%s\""), c->name);
	if (o->probes->width[c->tier] >= UINT16_MAX)
		return statement_error(o->s, e, _("more signals than a tier can hold"));
	struct channel *added = probe_set_add_channel(o->probes, c);
	if (!added)
		return statement_error(o->s, e, _("out of memory"));
	if (seldom && !added->missing[0]) {
		snprintf(every, sizeof every, seconds ? _("every %g s") : _("every %g ms"),
			 (double)c->period_ns / (double)(seconds ? NS_PER_S : NS_PER_MS));
		text_join(added->note, sizeof added->note, added->note, added->note[0] ? "; " : "", every);
	}
	return 0;
}

int probe_ctx_add_probe(struct probe_ctx *o, struct probe *p, struct err *e)
{
	if (!p->derived && !p->reader && !p->computes)
		p->width = (uint16_t)(o->probes->width[p->tier] - p->column);
	return probe_set_add_probe(o->probes, p) < 0 ? statement_error(o->s, e, _("out of memory")) : 0;
}

int probe_ctx_finish(struct probe_ctx *o, struct probe *p, int added, bool found, struct err *e)
{
	if (added == 0 && found)
		return probe_ctx_add_probe(o, p, e);
	probe_close(p);
	return added;
}

void *probe_new(const struct probe_ctx *o, size_t size, size_t n_attrs, const struct probe_ops *ops,
		int64_t period_ns, struct err *e)
{
	size_t at = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
	char *memory = calloc(1, at + n_attrs * sizeof(struct attr));
	struct probe *p = (struct probe *)memory;

	if (!p) {
		statement_error(o->s, e, _("out of memory"));
		return NULL;
	}
	p->ops = ops;
	p->tier = o->s->tier;
	p->column = (uint16_t)o->probes->width[p->tier];
	p->period_ns = period_ns;
	p->tick_ns = o->tick_ns;
	p->root = o->root;
	p->attrs = (struct attr *)(memory + at);
	p->n_attrs = n_attrs;
	for (size_t i = 0; i < n_attrs; i++)
		p->attrs[i].fd = -1;
	return p;
}

size_t cpulist_parse(const char *text, bool *set, size_t max)
{
	const char *p = text, *end = text + strlen(text);
	size_t count = 0;

	memset(set, 0, max * sizeof *set);
	while (p && p < end) {
		int64_t first, last;
		p = num_i64(p, end, &first);
		last = first;
		if (p && *p == '-')
			p = num_i64(p + 1, end, &last);
		if (!p || first < 0 || last < first || (*p && *p != ',' && *p != ' '))
			return 0;
		for (int64_t n = first; n <= last && n < (int64_t)max; n++) {
			count += !set[n];
			set[n] = true;
		}
		p += *p == ',';
	}
	return count;
}

size_t cpulist_read(const struct root *r, const char *path, bool *set, size_t max)
{
	char text[256] = "";

	file_line(r, path, text, sizeof text);
	return cpulist_parse(text, set, max);
}
