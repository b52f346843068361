/* Computes a simulated channel, for the demo board and tests. Time starts with the first read, so that a
 * replayed demo begins where the live one did. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/clock.h"
#include "util/intl.h"
#include "model/expr.h"
#include "probe/open.h"

struct wave_probe {
	struct probe probe;
	struct formula *formula;
	enum channel_kind kind;
	int64_t start_ns; /* below 0: not started */
};

static void wave_read(struct probe *p, int64_t t_ns, double *row)
{
	struct wave_probe *w = (struct wave_probe *)p;

	if (w->start_ns < 0)
		w->start_ns = t_ns;
	double v = formula_value(w->formula, (double)(t_ns - w->start_ns) / (double)NS_PER_S, row);
	row[p->column] = channel_round(w->kind, isfinite(v) ? v : NAN);
}

static void wave_close(struct probe *p)
{
	struct wave_probe *w = (struct wave_probe *)p;

	free(w->formula);
	probe_free(p);
}

static const struct probe_ops wave_ops = {wave_read, wave_close};

static int column_of(void *arg, const char *name)
{
	const struct probe_ctx *o = arg;
	const struct channel *c = probe_set_find(o->probes, name);

	return c && c->tier == o->s->tier ? c->column : -1;
}

/* Writes the expression on one line, with single blanks. */
static void describe_source(char *out, size_t size, const char *expression)
{
	char text[512] = "", shown[140];
	size_t used = 0;

	for (const char *p = expression; *p && used < sizeof text - 1; p++)
		if ((*p != ' ' && *p != '\t') || (used && text[used - 1] != ' '))
			text[used++] = *p == '\t' ? ' ' : *p;
	text_shortened(shown, sizeof shown, text, used);
	snprintf(out, size, _("simulated: %.140s"), shown);
}

static int open_wave(struct probe_ctx *o, struct err *e)
{
	struct err why = {.code = ERR_NONE};
	struct channel ch;
	struct formula *formula = formula_compile(o->s->expression, column_of, o, &why);

	if (!formula)
		return statement_error(o->s, e, "%s", why.text);
	channel_describe(o, &ch, o->s->words[0], false);
	describe_source(ch.source, sizeof ch.source, o->s->expression);
	struct wave_probe *w = probe_new(o, sizeof *w, 0, &wave_ops, ch.period_ns, e);
	if (!w) {
		free(formula);
		return -1;
	}
	w->probe.computes = true;
	w->formula = formula;
	w->kind = ch.kind;
	w->start_ns = -1;
	return probe_ctx_finish(o, &w->probe, probe_ctx_add(o, &ch, e), true, e);
}

const struct probe_kind probe_kind_wave = {
	"wave", 1, 1, SETTINGS_CHANNEL " warn crit ", false, true, open_wave};
