/* A channel that is made up: the demo board and tests.  Time starts with the
 * first read, so that a replayed demo begins where the live one did. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "open.h"
#include "wave.h"

struct wave_probe {
	struct probe probe;
	struct wave *wave;
	enum channel_kind kind;
	bool started;
	int64_t start_ns;
	uint16_t column;
};

static void wave_read(struct probe *p, int64_t t_ns, double *row)
{
	struct wave_probe *w = (struct wave_probe *)p;

	if (!w->started) {
		w->started = true;
		w->start_ns = t_ns;
	}
	double v = wave_value(w->wave, (double)(t_ns - w->start_ns) / (double)NS_PER_S, row);
	row[w->column] = channel_round(w->kind, isfinite(v) ? v : NAN);
}

static void wave_close(struct probe *p)
{
	struct wave_probe *w = (struct wave_probe *)p;

	wave_free(w->wave);
	free(w);
}

static const struct probe_ops wave_ops = {wave_read, wave_close};

static int column_of(void *arg, const char *name)
{
	const struct opening *o = arg;
	const struct channel *c = rig_find(o->rig, name);

	return c && c->tier == o->s->tier ? c->column : -1;
}

/* The expression in one line of single blanks. */
static void describe_source(char *out, size_t size, const char *expression)
{
	char text[512], shown[140];
	size_t used = 0;

	for (const char *p = expression; *p && used < sizeof text - 1; p++) {
		bool blank = *p == ' ' || *p == '\t';
		if (!blank || (used && text[used - 1] != ' '))
			text[used++] = blank ? ' ' : *p;
	}
	text[used] = '\0';
	text_shortened(shown, sizeof shown, text, used);
	snprintf(out, size, _("made up: %.140s"), shown);
}

int open_wave(struct opening *o, struct err *e)
{
	struct err why = {.code = ERR_NONE};
	struct channel ch;
	struct wave *wave = wave_compile(o->s->expression, column_of, o, &why);

	if (!wave)
		return statement_error(o->s, e, "%s", why.text);
	channel_describe(o, &ch, o->s->words[0], false);
	describe_source(ch.source, sizeof ch.source, o->s->expression);
	struct wave_probe *w = probe_new(o, sizeof *w, &wave_ops, ch.period_ns, e);
	if (!w) {
		wave_free(wave);
		return -1;
	}
	w->probe.computes = true;
	w->wave = wave;
	w->kind = ch.kind;
	int added = opening_column(o, &ch, &w->column, e);

	return opening_finish(o, &w->probe, added, true, e);
}
