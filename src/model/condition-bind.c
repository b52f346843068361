/* Resolves the signal names and units of a condition to channels. A signal has a name, a label and short
 * words; a word that matches several channels is an error. */
#include "model/condition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/intl.h"

static const struct {
	const char *name;
	enum channel_kind kind;
} words[] = {
	{"gpu", CHANNEL_GPU_UTIL}, {"cpu", CHANNEL_CPU_UTIL},      {"emc", CHANNEL_EMC_UTIL},
	{"ram", CHANNEL_RAM_USED}, {"power", CHANNEL_POWER_TOTAL}, {"hottest", CHANNEL_HOTTEST},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

/* Also cpuN, the utilisation of core N. */
static bool is_short_word(const char *name, const struct channel *c)
{
	char core[16];

	for (size_t i = 0; i < WORDS; i++)
		if (words[i].kind == c->kind && strcasecmp(words[i].name, name) == 0)
			return true;
	snprintf(core, sizeof(core), "cpu%d", (int)c->index);
	return c->kind == CHANNEL_CORE_UTIL && strcasecmp(core, name) == 0;
}

/* How a name can match, strictest first. */
enum way { BY_NAME, BY_WORD, BY_LABEL_AND_UNIT, BY_LABEL, WAYS };

static bool is_meant(enum way way, const struct condition_term *t, const struct channel *c)
{
	if (way == BY_NAME)
		return strcasecmp(t->name, c->name) == 0;
	if (way == BY_WORD)
		return is_short_word(t->name, c);
	/* VDD_IN is the label of a voltage, a current and a power channel. */
	return strcasecmp(t->name, c->label) == 0 &&
	       (way == BY_LABEL || !t->unit || t->unit->unit == c->unit);
}

static void bind_list_add(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

/* Lists signals with a name similar to the unknown one, or else the short words. */
static void bind_offer(char *list, size_t size, const char *name, const struct session *about)
{
	size_t stem = strnlen(name, 3), n = 0;

	for (size_t i = 0; i < about->n_channels && n < 6; i++) {
		const struct channel *c = &about->channels[i];
		const char *part = c->name;

		while (part && strncasecmp(part, name, stem) != 0)
			part = (part = strchr(part, '.')) ? part + 1 : NULL;
		if (part && !c->missing[0]) {
			bind_list_add(list, size, c->name);
			n++;
		}
	}
	for (size_t w = 0; !n && w < WORDS; w++)
		for (size_t i = 0; i < about->n_channels; i++)
			if (about->channels[i].kind == words[w].kind && !about->channels[i].missing[0]) {
				bind_list_add(list, size, words[w].name);
				break;
			}
}

static int bind_find(const struct condition_term *t, const struct session *about, size_t *out, struct err *e)
{
	char list[400] = "";
	size_t found = 0;

	for (int way = 0; way < WAYS && !found; way++)
		for (size_t i = 0; i < about->n_channels; i++)
			if (is_meant((enum way)way, t, &about->channels[i])) {
				if (!found++)
					*out = i;
				if (found <= 6)
					bind_list_add(list, sizeof(list), about->channels[i].name);
			}
	if (found == 1)
		return 0;
	if (found)
		return err_set(e, ERR_USAGE, _("\"%s\" is ambiguous: it matches %s"), t->name, list);
	bind_offer(list, sizeof(list), t->name, about);
	if (!list[0])
		return err_set(e, ERR_USAGE, _("unknown signal \"%s\""), t->name);
	return err_set(e, ERR_USAGE,
		       _("unknown signal \"%s\"; known signals include %s (nvmtop once lists all)"), t->name,
		       list);
}

/* Units in which a number is easily taken for another one, as people read them, in those of channels: W, MHz, GiB. */
static const double bare[UNITS] = {
	[UNIT_MILLIWATT] = 1e3, [UNIT_MILLIVOLT] = 1e3, [UNIT_MILLIAMPERE] = 1e3, [UNIT_HZ] = 1e6, [UNIT_KB] = 1 << 20};

static int check_unit(const struct condition_term *t, const struct channel *c, struct err *e)
{
	char list[64] = "";

	if (t->unit ? t->unit->unit == c->unit : !(bare[c->unit] > 0))
		return 0;
	if (c->unit == UNIT_NONE)
		return err_set(e, ERR_USAGE, _("%s has no unit: remove \"%s\""), c->name, t->unit->name);
	for (const struct expr_unit *u = expr_units; u->name; u++)
		if (u->unit == c->unit)
			bind_list_add(list, sizeof(list), u->name);
	if (!t->unit)
		return err_set(e, ERR_USAGE, _("the number for %s needs a unit: %s"), c->name, list);
	return err_set(e, ERR_USAGE, _("\"%s\" is not a unit of %s, which takes %s"), t->unit->name, c->name,
		       list);
}

static int bind_add(struct condition *to, const struct condition_term *t, size_t channel,
	       const struct session *about, struct err *e)
{
	const struct channel *c = &about->channels[channel];

	if (to->n == CONDITION_TERMS)
		return err_set(e, ERR_USAGE, _("the condition has more than %d comparisons"),
			       CONDITION_TERMS);
	if (c->missing[0])
		return err_set(e, ERR_USAGE, _("%s has no value: %s"), c->name, c->missing);
	to->ops[to->n_ops++] = (struct expr_op) {.apply = expr_term, .index = (unsigned)to->n};
	to->terms[to->n] = *t;
	to->terms[to->n].channel = channel;
	to->terms[to->n].tier = c->tier;
	to->terms[to->n].column = c->column;
	if (to->bare && !t->unit) {
		to->terms[to->n++].limit *= bare[c->unit] > 0 ? bare[c->unit] : 1;
		return 0;
	}
	to->n++;
	return check_unit(t, c, e);
}

/* Adds one comparison per throttle channel: joined by "or" if large values make it true, else by "and". */
static int bind_throttles(struct condition *to, const struct condition_term *t, const struct session *about,
			 struct err *e)
{
	expr_apply *join = term_compare(t, INFINITY) ? expr_or : expr_and;
	size_t before = to->n;

	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];

		if (c->kind != CHANNEL_THROTTLE || c->missing[0])
			continue;
		if (bind_add(to, t, i, about, e) < 0)
			return -1;
		if (to->n > before + 1)
			to->ops[to->n_ops++] = (struct expr_op) {.apply = join, .n = 2};
	}
	if (to->n == before)
		return err_set(e, ERR_USAGE, _("\"throttled\" cannot be used: no signal reports throttling"));
	return 0;
}

int condition_bind(struct condition *c, const struct session *about, struct err *e)
{
	struct condition bound = *c;

	if (c->bound)
		return 0;
	bound.n = bound.n_ops = 0;
	for (size_t i = 0; i < c->n_ops; i++) {
		const struct condition_term *t = &c->terms[c->ops[i].index];
		size_t channel = 0;

		if (c->ops[i].apply != expr_term)
			bound.ops[bound.n_ops++] = c->ops[i];
		else if (strcasecmp(t->name, "throttled") == 0
				 ? bind_throttles(&bound, t, about, e) < 0
				 : bind_find(t, about, &channel, e) < 0 || bind_add(&bound, t, channel, about, e) < 0)
			return -1;
	}
	bound.bound = true;
	*c = bound;
	return 0;
}
