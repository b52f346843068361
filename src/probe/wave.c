/* The compiler of waves: a recursive descent over the text that appends
 * operations for a stack (wave-op.c).  Whatever does not depend on time or row is
 * computed at once, so that a board file may say 60 * 2 without paying for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/num.h"
#include "wave-op.h"

struct wave {
	size_t n;
	struct op op[];
};

static const struct {
	char name[3];
	double factor;
} suffixes[] = {{"", 1}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};

struct compiler {
	const char *text, *p;
	int (*column)(void *arg, const char *channel_name);
	void *arg;
	struct err *e;
	unsigned depth, height; /* nesting now; values on the stack now */
	struct wave *w;
};

static int expression(struct compiler *c, unsigned level);

static int fail(struct compiler *c, const char *at, const char *expected)
{
	char found[32], shown[sizeof found * 3];
	size_t n = 0;

	while (n + 1 < sizeof found && at[n] && at[n] != ' ' && at[n] != '\t')
		n++;
	text_printable(shown, sizeof shown, at, n);
	if (!n)
		return err_set(c->e, ERR_FAILED, _("column %d: expected %s, found the end"),
			       (int)(at - c->text) + 1, expected);
	return err_set(c->e, ERR_FAILED, _("column %d: expected %s, found \"%s\""), (int)(at - c->text) + 1,
		       expected, shown);
}

static void skip_blanks(struct compiler *c)
{
	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
}

/* Append an operation.  When all it needs is constant and it does not ask the
 * time, it becomes its own value. */
static int emit(struct compiler *c, struct op op, bool timed)
{
	struct wave *w = c->w;
	bool constant = !timed;

	for (size_t i = w->n - (op.n <= w->n ? op.n : w->n); i < w->n; i++)
		constant = constant && w->op[i].constant;
	if (w->n == WAVE_OPS || c->height - op.n + 1 > WAVE_STACK)
		return err_set(c->e, ERR_FAILED,
			       _("column %d: the expression is too long: at most %d operations "
				 "and %d values at once"),
			       (int)(c->p - c->text) + 1, WAVE_OPS, WAVE_STACK);
	c->height += 1 - op.n;
	w->op[w->n++] = op;
	if (constant && op.n > 0) {
		struct moment none = {0};
		size_t first = w->n - 1 - op.n;
		double v = ops_run(w->op + first, op.n + 1, &none);
		w->op[first] = (struct op) {.apply = op_number, .number = v, .constant = true};
		w->n = first + 1;
	} else {
		w->op[w->n - 1].constant = constant;
	}
	return 0;
}

static int emit_number(struct compiler *c, double v)
{
	return emit(c, (struct op) {.apply = op_number, .number = v}, false);
}

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static int number(struct compiler *c)
{
	const char *first = c->p, *p = c->p;
	char digits[64];
	double v;

	while (is_digit(*p) || *p == '.')
		p++;
	if ((*p == 'e' || *p == 'E') && (is_digit(p[1]) || ((p[1] == '-' || p[1] == '+') && is_digit(p[2]))))
		for (p += 2; is_digit(*p); p++)
			;
	size_t n = (size_t)(p - first);
	memcpy(digits, first, n < sizeof digits ? n : 0);
	digits[n < sizeof digits ? n : 0] = '\0';
	if (!num_double(digits, &v))
		return fail(c, first, _("a number such as 12, 0.5 or 1e3"));
	for (n = 0; is_letter(p[n]) || is_digit(p[n]); n++)
		;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (n == strlen(suffixes[i].name) && memcmp(p, suffixes[i].name, n) == 0) {
			c->p = p + n;
			return emit_number(c, v * suffixes[i].factor);
		}
	return fail(c, p, _("nothing behind the number but us, ms, s, k, M or G"));
}

/* Its constant arguments become the points of a curve. */
static int curve_make(struct compiler *c, const struct function *f, const double *v, unsigned n,
		      const char *at, struct op *op)
{
	bool lag = f->flags & LAG, ok = v[0] > 0;
	unsigned first = lag ? 2 : 1;
	struct curve *k = calloc(1, sizeof *k);

	if (!k)
		return err_set(c->e, ERR_FAILED, _("out of memory"));
	k->period = v[0];
	if (f->flags & CURVE) {
		k->tau = lag ? v[1] : 1;
		k->n = (n - first) / 2;
		for (unsigned i = 0; i < k->n; i++) {
			k->point[i].at = v[first + 2 * i];
			k->point[i].value = v[first + 2 * i + 1];
			ok = ok && k->point[i].at >= (i ? k->point[i - 1].at : 0) && k->point[i].at < v[0] &&
			     (i == 0 || k->point[i].at > k->point[i - 1].at);
		}
	} else {
		k->tau = v[2];
		k->shift = v[3];
		k->n = 2;
		k->point[0].value = 1;
		k->point[1].at = v[1] * v[0];
		ok = ok && v[1] > 0 && v[1] < 1;
	}
	if (!ok || !(k->tau > 0)) {
		free(k);
		if (f->flags & CURVE)
			return fail(c, at,
				    _("a period above 0 and points whose times rise from 0 to below it"));
		return fail(c, at, _("a period and a tau above 0 and a duty between 0 and 1"));
	}
	if (lag)
		curve_settle(k);
	op->curve = k;
	return 0;
}

static int curve_call(struct compiler *c, const struct function *f, unsigned n, size_t start, const char *at)
{
	struct op op = {.apply = f->apply};
	double v[WAVE_ARGS] = {0};

	if ((f->flags & CURVE) && (n - (f->flags & LAG ? 2 : 1)) % 2)
		return fail(c, at, _("a time and a value for every point"));
	for (unsigned i = 0; i < n; i++) {
		if (c->w->n != start + n || !c->w->op[start + i].constant ||
		    !isfinite(c->w->op[start + i].number))
			return fail(c, at, _("constant arguments in a curve"));
		v[i] = c->w->op[start + i].number;
	}
	if (curve_make(c, f, v, n, at, &op) < 0)
		return -1;
	c->w->n = start;
	c->height -= n;
	if (emit(c, op, true) == 0)
		return 0;
	free(op.curve);
	return -1;
}

/* The arguments, behind the opening bracket; returns how many or -1. */
static int arguments(struct compiler *c, const struct function *f)
{
	unsigned n = 0;

	for (;;) {
		const char *at = c->p;
		if (n == f->most)
			return fail(c, at, _("\")\": no more arguments fit"));
		if (expression(c, 0) < 0)
			return -1;
		const struct op *last = &c->w->op[c->w->n - 1];
		if (f->flags & (n == 0   ? ARGUMENT0
				: n == 1 ? ARGUMENT1
					 : 0) &&
		    last->constant && !(last->number > 0))
			return fail(c, at, _("a number above 0"));
		n++;
		skip_blanks(c);
		if (*c->p != ',')
			break;
		c->p++;
		skip_blanks(c);
	}
	if (n < f->least)
		return fail(c, c->p, _("\",\" and another argument"));
	if (*c->p != ')')
		return fail(c, c->p,
			    n < f->most ? _("an operator, \",\" or \")\"") : _("an operator or \")\""));
	c->p++;
	for (unsigned i = n; i < f->most && !(f->flags & LIST); i++, n++)
		if (emit_number(c, f->fill[i - f->least]) < 0)
			return -1;
	return (int)n;
}

static int call(struct compiler *c, const char *name, size_t len)
{
	const struct function *f = function_find(name, len);
	size_t start = c->w->n;

	if (!f)
		return fail(c, name, _("a function such as sin, pulse, noise, settle or if"));
	int n = arguments(c, f);
	if (n < 0)
		return -1;
	if (f->flags & (CURVE | LAG))
		return curve_call(c, f, (unsigned)n, start, name);
	return emit(c, (struct op) {.apply = f->apply, .n = (unsigned)n}, f->flags & TIMED);
}

static int channel(struct compiler *c, const char *at, const char *name, size_t len)
{
	char copy[64];

	if (len > 0 && len < sizeof copy) {
		memcpy(copy, name, len);
		copy[len] = '\0';
		int column = c->column ? c->column(c->arg, copy) : -1;
		if (column >= 0) {
			struct op op = {.apply = op_column, .column = column};
			return emit(c, op, true);
		}
	}
	return fail(c, at, _("the name of a channel that this tier has above this line"));
}

static int named(struct compiler *c)
{
	const char *name = c->p;

	while (is_letter(*c->p) || is_digit(*c->p) || *c->p == '.')
		c->p++;
	size_t len = (size_t)(c->p - name);
	skip_blanks(c);
	if (*c->p == '(') {
		c->p++;
		skip_blanks(c);
		return call(c, name, len);
	}
	if (len == 1 && *name == 't')
		return emit(c, (struct op) {.apply = op_time}, true);
	if (len == 2 && memcmp(name, "pi", 2) == 0)
		return emit_number(c, 3.14159265358979323846);
	if (len == 3 && memcmp(name, "nan", 3) == 0)
		return emit_number(c, NAN);
	return channel(c, name, name, len);
}

static int primary(struct compiler *c)
{
	const char *at = c->p;

	if (is_digit(*at) || *at == '.')
		return number(c);
	if (is_letter(*at))
		return named(c);
	if (*at == '[') {
		size_t len = strcspn(at + 1, "]");
		if (!at[1 + len])
			return fail(c, at + 1 + len, "\"]\"");
		c->p = at + len + 2;
		return channel(c, at, at + 1, len);
	}
	if (*at == '-' || *at == '!') {
		c->p++;
		if (expression(c, 5) < 0)
			return -1;
		return emit(c, (struct op) {.apply = *at == '-' ? op_negate : op_not, .n = 1}, false);
	}
	if (*at != '(')
		return fail(c, at, _("a number, a channel, a function or \"(\""));
	c->p++;
	if (expression(c, 0) < 0)
		return -1;
	if (*c->p != ')')
		return fail(c, c->p, _("an operator or \")\""));
	c->p++;
	return 0;
}

/* Operators of this level and above (level 5: none), by precedence climbing.
 * Ends at the first thing that is none. */
static int expression(struct compiler *c, unsigned level)
{
	const struct infix *o;

	skip_blanks(c);
	if (c->depth == WAVE_DEPTH)
		return err_set(c->e, ERR_FAILED,
			       _("column %d: the expression is nested too deeply: at most %d levels"),
			       (int)(c->p - c->text) + 1, WAVE_DEPTH);
	c->depth++;
	if (primary(c) < 0)
		return -1;
	for (;;) {
		skip_blanks(c);
		o = infix_find(c->p);
		if (!o || o->level < level)
			break;
		c->p += strlen(o->name);
		if (expression(c, o->level + 1U) < 0)
			return -1;
		if (emit(c, (struct op) {.apply = o->apply, .n = 2}, false) < 0)
			return -1;
	}
	c->depth--;
	return 0;
}

struct wave *wave_compile(const char *text, int (*column)(void *arg, const char *channel_name), void *arg,
			  struct err *e)
{
	struct compiler c = {.text = text, .p = text, .column = column, .arg = arg, .e = e};

	if (strlen(text) > WAVE_TEXT) {
		err_set(e, ERR_FAILED, _("the expression is too long: at most %d bytes"), WAVE_TEXT);
		return NULL;
	}
	c.w = malloc(sizeof *c.w + WAVE_OPS * sizeof *c.w->op);
	if (!c.w) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	c.w->n = 0;
	if (expression(&c, 0) < 0 || (*c.p && fail(&c, c.p, _("an operator or the end")) < 0)) {
		wave_free(c.w);
		return NULL;
	}
	struct wave *fitting = realloc(c.w, sizeof *c.w + c.w->n * sizeof *c.w->op);
	return fitting ? fitting : c.w;
}

double wave_value(const struct wave *w, double t_s, const double *row)
{
	struct moment m = {t_s, row};

	return ops_run(w->op, w->n, &m);
}

void wave_free(struct wave *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free(w->op[i].curve);
	free(w);
}
