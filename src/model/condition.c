/* Parses conditions, finds the channels that they mean, and evaluates them over live rows. Parsing needs no board, so that a
 * syntax error is reported before anything is opened. */
#include "model/condition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/intl.h"
#include "util/num.h"

#define BRIDGE_MIN_NS (250 * NS_PER_MS)
#define LISTED	      6 /* signals in a message */

/* --- the text --- */

static int take_hold(struct expr_parser *p, struct condition_term *term)
{
	size_t n = strcspn(p->at, p->ends);
	char time[64];

	snprintf(time, sizeof(time), "%.*s", (int)n, p->at);
	if (n >= sizeof(time) || !num_duration_ns(time, &term->hold_ns))
		return expr_expected(p, p->at, _("a time such as 2s or 500ms"));
	expr_take(p, time);
	return 0;
}

static int comparison(struct expr_parser *p)
{
	struct condition *c = p->arg;
	struct condition_term *term = &c->terms[c->n];
	unsigned level;

	if (c->n == CONDITION_TERMS)
		return err_set(p->e, ERR_USAGE, _("the condition has more than %d comparisons"),
			       CONDITION_TERMS);
	if (expr_take_name(p, term->name) < 0)
		return -1;
	term->compare = expr_take_operator(p, LEVEL_COMPARE, LEVEL_COMPARE, &level);
	if (!term->compare && strcasecmp(term->name, "throttled") != 0)
		return expr_expected(p, p->at, _("a comparison: > >= < <= == or !="));
	if (!term->compare)
		term->compare = expr_above;
	else if (expr_take_number(p, &term->limit, &term->unit) < 0)
		return -1;
	if (expr_take(p, "for") && take_hold(p, term) < 0)
		return -1;
	return expr_emit(p, &(struct expr_op) {.apply = expr_term, .index = (unsigned)c->n++});
}

int condition_parse(struct condition *c, const char *text, struct err *e)
{
	struct expr_parser p = {.ends = " \t<>=!&|()[]",
				.operands = _("the name of a signal"),
				.follow = _("\"and\", \"or\", \"for\" or the end"),
				.highest = LEVEL_AND,
				.operand = comparison,
				.arg = c};

	memset(c, 0, sizeof(*c));
	if (strlen(text) >= sizeof(c->text))
		return err_set(e, ERR_USAGE, _("the condition is too long: at most %zu bytes"),
			       sizeof(c->text) - 1);
	text_printable(c->text, sizeof(c->text), text, strlen(text));
	if (expr_parse(&p, text, e) < 0)
		return -1;
	memcpy(c->ops, p.op, p.n * sizeof(c->ops[0]));
	c->n_ops = p.n;
	return 0;
}

/* --- its channels --- */

static const struct {
	const char *name;
	enum channel_kind kind;
} words[] = {
	{"gpu", CHANNEL_GPU_UTIL}, {"cpu", CHANNEL_CPU_UTIL},      {"emc", CHANNEL_EMC_UTIL},
	{"ram", CHANNEL_RAM_USED}, {"power", CHANNEL_POWER_TOTAL}, {"hottest", CHANNEL_HOTTEST},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

/* How strictly a name means a channel: those of the highest rank are meant. cpuN is the utilisation of core N, and VDD_IN the
 * label of a voltage, a current and a power. */
static int name_rank(const struct condition_term *t, const struct channel *c)
{
	enum { NOT_MEANT, BY_LABEL, BY_LABEL_AND_UNIT, BY_WORD, BY_NAME };
	char core[16];

	if (strcasecmp(t->name, "throttled") == 0)
		return c->kind == CHANNEL_THROTTLE && !c->missing[0] ? BY_WORD : NOT_MEANT;
	if (strcasecmp(t->name, c->name) == 0)
		return BY_NAME;
	for (size_t i = 0; i < WORDS; i++)
		if (words[i].kind == c->kind && strcasecmp(words[i].name, t->name) == 0)
			return BY_WORD;
	snprintf(core, sizeof(core), "cpu%d", (int)c->index);
	if (c->kind == CHANNEL_CORE_UTIL && strcasecmp(core, t->name) == 0)
		return BY_WORD;
	if (strcasecmp(t->name, c->label) != 0)
		return NOT_MEANT;
	return t->unit && t->unit->unit != c->unit ? BY_LABEL : BY_LABEL_AND_UNIT;
}

static void list_add(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

/* Offers signals with a name similar to the unknown one, or else the short words. */
static int unknown_name(const char *name, const struct session *about, struct err *e)
{
	size_t stem = strnlen(name, 3), n = 0;
	char list[400] = "";

	for (size_t i = 0; i < about->n_channels && n < LISTED; i++) {
		const struct channel *c = &about->channels[i];
		const char *part = c->name;

		while (part && strncasecmp(part, name, stem) != 0)
			part = (part = strchr(part, '.')) ? part + 1 : NULL;
		if (part && !c->missing[0]) {
			list_add(list, sizeof(list), c->name);
			n++;
		}
	}
	for (size_t w = 0; !n && w < WORDS; w++)
		for (size_t i = 0; i < about->n_channels; i++)
			if (about->channels[i].kind == words[w].kind && !about->channels[i].missing[0]) {
				list_add(list, sizeof(list), words[w].name);
				break;
			}
	if (!list[0])
		return err_set(e, ERR_USAGE, _("unknown signal \"%s\""), name);
	return err_set(e, ERR_USAGE, _("unknown signal \"%s\"; known signals include %s (nvmtop once lists all)"), name, list);
}

/* Units in which a number is easily taken for another one, as people read them, in those of channels: W, MHz, GiB. */
static const double bare[UNITS] = {
	[UNIT_MILLIWATT] = 1e3, [UNIT_MILLIVOLT] = 1e3, [UNIT_MILLIAMPERE] = 1e3, [UNIT_HZ] = 1e6, [UNIT_KB] = 1 << 20};

/* Adds a comparison with a channel. */
static int term_add(struct condition *to, const struct condition_term *t, size_t channel, const struct session *about, struct err *e)
{
	const struct channel *c = &about->channels[channel];
	struct condition_term *term = &to->terms[to->n];
	char list[64] = "";

	if (to->n == CONDITION_TERMS)
		return err_set(e, ERR_USAGE, _("the condition has more than %d comparisons"), CONDITION_TERMS);
	if (c->missing[0])
		return err_set(e, ERR_USAGE, _("%s has no value: %s"), c->name, c->missing);
	to->ops[to->n_ops++] = (struct expr_op) {.apply = expr_term, .index = (unsigned)to->n++};
	*term = *t;
	term->channel = channel;
	term->tier = c->tier;
	term->column = c->column;
	if (t->unit ? t->unit->unit == c->unit : !(bare[c->unit] > 0))
		return 0;
	if (to->bare && !t->unit) {
		term->limit *= bare[c->unit];
		return 0;
	}
	if (c->unit == UNIT_NONE)
		return err_set(e, ERR_USAGE, _("%s has no unit: remove \"%s\""), c->name, t->unit->name);
	for (const struct expr_unit *u = expr_units; u->name; u++)
		if (u->unit == c->unit)
			list_add(list, sizeof(list), u->name);
	if (!t->unit)
		return err_set(e, ERR_USAGE, _("the number for %s needs a unit: %s"), c->name, list);
	return err_set(e, ERR_USAGE, _("\"%s\" is not a unit of %s, which takes %s"), t->unit->name, c->name, list);
}

/* Adds a comparison with what its name means: "throttled" is one for each throttle channel, joined by "or" if large values make
 * it true, else by "and". */
static int term_bind(struct condition *to, const struct condition_term *t, const struct session *about, struct err *e)
{
	bool each = strcasecmp(t->name, "throttled") == 0;
	expr_apply *join = term_compare(t, INFINITY) ? expr_or : expr_and;
	size_t meant[CONDITION_TERMS + 1], n = 0;
	int best = 1, rank;
	char list[400] = "";

	for (size_t i = 0; i < about->n_channels; i++) {
		rank = name_rank(t, &about->channels[i]);
		n = rank > best ? 0 : n;
		best = rank > best ? rank : best;
		if (rank == best && n <= CONDITION_TERMS)
			meant[n++] = i;
	}
	if (n == 0 && each)
		return err_set(e, ERR_USAGE, _("\"throttled\" cannot be used: no signal reports throttling"));
	if (n == 0)
		return unknown_name(t->name, about, e);
	for (size_t i = 0; i < n && i < LISTED; i++)
		list_add(list, sizeof(list), about->channels[meant[i]].name);
	if (n > 1 && !each)
		return err_set(e, ERR_USAGE, _("\"%s\" is ambiguous: it matches %s"), t->name, list);
	for (size_t i = 0; i < n; i++) {
		if (term_add(to, t, meant[i], about, e) < 0)
			return -1;
		if (i > 0)
			to->ops[to->n_ops++] = (struct expr_op) {.apply = join, .n = 2};
	}
	return 0;
}

int condition_bind(struct condition *c, const struct session *about, struct err *e)
{
	struct condition bound = *c;

	if (c->bound)
		return 0;
	bound.n = bound.n_ops = 0;
	for (size_t i = 0; i < c->n_ops; i++)
		if (c->ops[i].apply != expr_term)
			bound.ops[bound.n_ops++] = c->ops[i];
		else if (term_bind(&bound, &c->terms[c->ops[i].index], about, e) < 0)
			return -1;
	bound.bound = true;
	*c = bound;
	return 0;
}

/* --- rows --- */

bool condition_uses(const struct condition *c, enum tier tier)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->terms[i].tier == tier)
			return true;
	return false;
}

void condition_start(struct condition_eval *v, const struct condition *c, const double hz[TIERS])
{
	memset(v, 0, sizeof(*v));
	v->c = c;
	for (int t = 0; t < TIERS; t++)
		v->bridge_ns[t] = (int64_t)fmax(10 * (double)NS_PER_S / hz[t], (double)BRIDGE_MIN_NS);
}

bool term_compare(const struct condition_term *t, double x)
{
	const double a[] = {x, t->limit};

	return t->compare(NULL, a, NULL) > 0;
}

void condition_note(struct condition_eval *v, size_t i, int64_t t_ns, bool is)
{
	bool interrupted = t_ns - v->term[i].seen_ns > v->bridge_ns[v->c->terms[i].tier];

	if (is && (!v->term[i].is || interrupted))
		v->term[i].since_ns = t_ns;
	v->term[i].is = is;
	v->term[i].seen_ns = t_ns;
}

bool condition_term_holds(void *eval, size_t i)
{
	const struct condition_eval *v = eval;
	const struct condition_term *t = &v->c->terms[i];

	return v->term[i].is && v->now_ns - v->term[i].seen_ns <= v->bridge_ns[t->tier] &&
	       v->term[i].seen_ns - v->term[i].since_ns >= t->hold_ns;
}

bool condition_holds(struct condition_eval *v, int64_t t_ns)
{
	struct expr_inputs in = {.term = condition_term_holds, .arg = v};

	v->now_ns = t_ns;
	return expr_run(v->c->ops, v->c->n_ops, &in) > 0;
}

bool condition_row(struct condition_eval *v, enum tier tier, int64_t t_ns, const double *values)
{
	for (size_t i = 0; i < v->c->n; i++) {
		const struct condition_term *t = &v->c->terms[i];

		if (t->tier != tier)
			continue;
		if (isnan(values[t->column])) {
			v->term[i].missing = values[t->column];
			continue;
		}
		v->term[i].value = values[t->column];
		condition_note(v, i, t_ns, term_compare(t, values[t->column]));
	}
	return condition_holds(v, t_ns);
}
