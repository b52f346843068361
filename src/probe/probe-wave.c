/* Computes a simulated channel, or when a simulated event happens, for the demo board and tests. Time starts
 * with the first read, so that a replayed demo begins where the live one did. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A mark or a setting whose text follows a formula. */
struct event_probe {
	struct wave_probe wave;
	int at, n; /* the present text, from 1; 0: not read yet */
	struct change next;
	atomic_bool pending; /* next is set, and belongs to the other thread */
	char texts[][40];    /* the setting's name or "mark", then its texts */
};

static double compute(struct wave_probe *w, int64_t t_ns, const double *row)
{
	if (w->start_ns < 0)
		w->start_ns = t_ns;
	return formula_value(w->formula, (double)(t_ns - w->start_ns) / (double)NS_PER_S, row);
}

static void wave_read(struct probe *p, int64_t t_ns, double *row)
{
	struct wave_probe *w = (struct wave_probe *)p;
	double v = compute(w, t_ns, row);

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

static void event_read(struct probe *p, int64_t t_ns, double *row)
{
	struct event_probe *v = (struct event_probe *)p;
	double at = compute(&v->wave, t_ns, row) + 1;
	struct change *c = &v->next;

	if (atomic_load_explicit(&v->pending, memory_order_acquire) || !(at >= 1 && at < v->n) ||
	    (int)at == v->at)
		return;
	if (v->at) {
		c->t_ns = t_ns;
		strcpy(c->what, strcmp(v->texts[0], "mark") != 0 ? v->texts[0] : "");
		strcpy(c->from, v->texts[v->at]);
		strcpy(c->to, v->texts[(int)at]);
		atomic_store_explicit(&v->pending, true, memory_order_release);
	}
	v->at = (int)at;
}

static bool event_changed(struct probe *p, struct change *out)
{
	struct event_probe *v = (struct event_probe *)p;

	if (!atomic_load_explicit(&v->pending, memory_order_acquire))
		return false;
	*out = v->next;
	atomic_store_explicit(&v->pending, false, memory_order_release);
	return true;
}

static const struct probe_ops event_ops = {event_read, wave_close};

static int open_event(struct probe_ctx *o, struct err *e)
{
	struct err why = {.code = ERR_NONE};
	struct formula *formula = formula_compile(o->s->expression, column_of, o, &why);
	size_t n = o->s->n_words;
	struct event_probe *v;

	if (!formula)
		return statement_error(o->s, e, "%s", why.text);
	v = probe_new(o, sizeof *v + n * sizeof v->texts[0], 0, &event_ops, 0, e);
	if (!v) {
		free(formula);
		return -1;
	}
	v->wave.probe.computes = true;
	v->wave.probe.changed = event_changed;
	v->wave.formula = formula;
	v->wave.start_ns = -1;
	v->n = (int)n;
	for (size_t i = 0; i < n; i++)
		snprintf(v->texts[i], sizeof v->texts[i], "%s", o->s->words[i]);
	return probe_ctx_finish(o, &v->wave.probe, 0, true, e);
}

const struct probe_kind probe_kind_event = {"event", 3, 16, " ", false, true, open_event};
const struct probe_kind probe_kind_wave = {
	"wave", 1, 1, SETTINGS_CHANNEL " warn crit kernel ", false, true, open_wave};
