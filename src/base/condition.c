/* The text of a condition to its terms.  Nothing here knows a board: a typing
 * error is said before anything is opened. */
#include "nvmtop/condition.h"

#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/num.h"

struct text {
	const char *at;
	struct err *e;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip(struct text *t)
{
	while (blank(*t->at))
		t->at++;
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* The word that stands there, for a message: up to a blank or an operator. */
static const char *word_shown(const struct text *t, char out[64])
{
	size_t n = strcspn(t->at, " \t<>=!&|");

	if (!n)
		n = strspn(t->at, "<>=!&|");
	text_printable(out, 64, t->at, n);
	return out;
}

static int expected(const struct text *t, const char *what)
{
	char shown[64];

	if (!*t->at)
		return err_set(t->e, ERR_USAGE, _("the condition ends where %s should stand"), what);
	return err_set(t->e, ERR_USAGE, _("\"%s\" stands in the condition where %s should"),
		       word_shown(t, shown), what);
}

/* Is the next word this one (lower case)?  Then it is taken. */
static bool take_word(struct text *t, const char *word)
{
	size_t n = strlen(word);

	skip(t);
	for (size_t i = 0; i < n; i++)
		if (lower(t->at[i]) != word[i])
			return false;
	if (letter(t->at[n]) || (t->at[n] >= '0' && t->at[n] <= '9') || t->at[n] == '_' || t->at[n] == '.')
		return false;
	t->at += n;
	return true;
}

static int take_name(struct text *t, struct condition_term *term)
{
	const char *first;
	size_t n;

	skip(t);
	first = t->at;
	if (*first == '[') {
		n = strcspn(++first, "]");
		if (!first[n])
			return err_set(t->e, ERR_USAGE, _("a \"[\" in the condition has no \"]\""));
		t->at = first + n + 1;
	} else {
		n = strcspn(first, " \t<>=!&|()[]");
		t->at = first + n;
	}
	if (!n) {
		t->at = first;
		return expected(t, _("the name of a signal"));
	}
	if (n >= sizeof(term->name)) {
		t->at = first;
		return expected(t, _("the name of a signal"));
	}
	memcpy(term->name, first, n);
	term->name[n] = '\0';
	return 0;
}

static bool take_op(struct text *t, enum condition_op *op)
{
	static const struct {
		const char *text;
		enum condition_op op;
	} ops[] = {{">=", OP_AT_LEAST}, {"<=", OP_AT_MOST}, {"==", OP_EQUAL}, {"!=", OP_DIFFERENT},
		   {">", OP_ABOVE},     {"<", OP_BELOW},    {"=", OP_EQUAL}};

	skip(t);
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		size_t n = strlen(ops[i].text);

		if (strncmp(t->at, ops[i].text, n) != 0)
			continue;
		t->at += n;
		*op = ops[i].op;
		return true;
	}
	return false;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static int take_number(struct text *t, double *out)
{
	char number[64];
	const char *p;
	size_t n;

	skip(t);
	p = t->at + (*t->at == '-' || *t->at == '+');
	while (digit(*p) || *p == '.')
		p++;
	if (lower(*p) == 'e' && (digit(p[1]) || ((p[1] == '-' || p[1] == '+') && digit(p[2]))))
		for (p += 2; digit(*p);)
			p++;
	n = (size_t)(p - t->at);
	if (n == 0 || n >= sizeof(number))
		return expected(t, _("a number"));
	memcpy(number, t->at, n);
	number[n] = '\0';
	if (!num_double(number, out))
		return expected(t, _("a number"));
	t->at = p;
	return 0;
}

static bool is_unit(const char *p, size_t n)
{
	static const char *const names[] = {"%",  "C",  "rpm", "Hz",  "kHz", "MHz", "GHz",      "kB",
					    "MB", "GB", "KiB", "MiB", "GiB", "V",   "mV",       "A",
					    "mA", "W",  "mW",  "kW",  "J",   "kJ",  "\302\260C"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t k = 0;

		if (strlen(names[i]) != n)
			continue;
		while (k < n && lower(p[k]) == lower(names[i][k]))
			k++;
		if (k == n)
			return true;
	}
	return false;
}

/* What stands behind the number, joined to it or not, unless it is the next word. */
static int take_unit(struct text *t, struct condition_term *term)
{
	const char *number_end = t->at;
	size_t n;

	skip(t);
	n = strcspn(t->at, " \t<>=!&|()[]");
	if (is_unit(t->at, n)) {
		/* The sign for degrees says nothing that C does not. */
		if (n == 3 && t->at[0] == '\xc2')
			t->at += 2, n = 1;
		memcpy(term->unit, t->at, n);
		term->unit[n] = '\0';
		t->at += n;
		return 0;
	}
	if (t->at == number_end && n)
		return expected(t, _("a unit (such as %, W, mW, C, MHz or MiB)"));
	t->at = number_end;
	return 0;
}

static int take_hold(struct text *t, struct condition_term *term)
{
	char time[64];
	size_t n;

	if (!take_word(t, "for"))
		return 0;
	skip(t);
	n = strcspn(t->at, " \t<>=!&|()[]");
	if (n && n < sizeof(time)) {
		memcpy(time, t->at, n);
		time[n] = '\0';
		if (num_duration_ns(time, &term->hold_ns)) {
			t->at += n;
			return 0;
		}
	}
	return expected(t, _("a time such as 2s or 500ms"));
}

static bool same_word(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b))
		a++, b++;
	return !*a && !*b;
}

static int take_term(struct text *t, struct condition_term *term)
{
	if (take_name(t, term) < 0)
		return -1;
	if (take_op(t, &term->op)) {
		if (take_number(t, &term->limit) < 0 || take_unit(t, term) < 0)
			return -1;
	} else if (same_word(term->name, "throttled")) {
		term->op = OP_ABOVE;
		term->limit = 0;
	} else {
		return expected(t, _("a comparison: > >= < <= == or !="));
	}
	return take_hold(t, term);
}

static bool take_both(struct text *t)
{
	skip(t);
	if (take_word(t, "and"))
		return true;
	if (strncmp(t->at, "&&", 2) != 0)
		return false;
	t->at += 2;
	return true;
}

static bool take_either(struct text *t)
{
	skip(t);
	if (take_word(t, "or"))
		return true;
	if (strncmp(t->at, "||", 2) != 0)
		return false;
	t->at += 2;
	return true;
}

int condition_parse(struct condition *c, const char *text, struct err *e)
{
	struct text t = {text, e};
	bool alternative = false;

	memset(c, 0, sizeof(*c));
	if (strlen(text) >= sizeof(c->text))
		return err_set(e, ERR_USAGE, _("the condition is too long: at most %zu bytes"),
			       sizeof(c->text) - 1);
	text_printable(c->text, sizeof(c->text), text, strlen(text));
	for (;;) {
		if (c->n == CONDITION_TERMS)
			return err_set(e, ERR_USAGE, _("the condition has more than %d comparisons"),
				       CONDITION_TERMS);
		if (take_term(&t, &c->terms[c->n]) < 0)
			return -1;
		c->terms[c->n++].alternative = alternative;
		alternative = take_either(&t);
		if (alternative || take_both(&t))
			continue;
		skip(&t);
		return *t.at ? expected(&t, _("\"and\", \"or\", \"for\" or the end")) : 0;
	}
}
