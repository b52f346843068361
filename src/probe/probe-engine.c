/* Reads engines other than CPU and GPU: video encoders and decoders, JPEG, vision, deep learning, crypto.
 *
 * Their clock is in devfreq, readable by every user, or in the clock tree of debugfs. Their load, where the
 * kernel counts it, is in registers that keep their last value when the engine is powered down: so its power
 * state is read first. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/open.h"
#include "util/intl.h"

enum { CLOCK, LOAD, GATE, FILES };

struct engine {
	struct probe probe; /* files that it does not have are closed */
	bool has_clock, has_load, has_gate;
	int util; /* column of the load, after that of the clock */
};

static double number(struct attr *a, const struct root *r, int64_t t_ns, double per, enum channel_kind kind)
{
	double v = attr_poll(a, r, t_ns);

	return channel_round(kind, isnan(v) ? v : v / per);
}

static void engine_read(struct probe *p, int64_t t_ns, double *row)
{
	struct engine *n = (struct engine *)p;
	struct attr *gate = &p->attrs[GATE];
	bool off = n->has_gate && attr_reopen(gate, p->root, t_ns) && gate_read(gate, p->root) > 0;

	row += p->column;
	if (n->has_clock)
		row[0] = off ? 0 : number(&p->attrs[CLOCK], p->root, t_ns, 1, CHANNEL_ENGINE_FREQ);
	if (n->has_load)
		row[n->util] = off ? 0 : number(&p->attrs[LOAD], p->root, t_ns, 10, CHANNEL_ENGINE_UTIL);
}

static const struct probe_ops engine_ops = {engine_read, probe_free};

/* Opens the first candidate that contains a number now; *gone stays true if none exists. */
static bool find_clock(struct engine *n, const struct statement *s, struct reason *why, bool *gone)
{
	char text[128];
	struct place place;
	double hz;

	for (size_t i = 0; i < s->n_settings; i++) {
		const struct setting *t = &s->settings[i];
		if (!strcmp(t->key, "devfreq"))
			text_join(text, sizeof text, t->value, "/cur_freq");
		else if (strcmp(t->key, "path") != 0)
			continue;
		if (!place_set(&place, t->key, !strcmp(t->key, "path") ? t->value : text))
			continue;
		if (place_find(&place, n->probe.root, "") == 0 &&
		    attr_open(&n->probe.attrs[CLOCK], n->probe.root, place.path) == 0 &&
		    (attr_number(&n->probe.attrs[CLOCK], n->probe.root, &hz) || errno == EAGAIN))
			return true;
		int error = errno;
		attr_close(&n->probe.attrs[CLOCK]);
		reason_add_place(why, &place, error);
		*gone &= error == ENOENT;
	}
	return false;
}

/* It is unknown whether reading the load of an engine without power is safe: it is not read then, nor if
 * the power state is unknown, unless the board file permits it (gate=none). */
static bool find_load(struct engine *n, const struct statement *s, struct reason *why)
{
	const char *path;
	double permille;
	bool off = n->has_gate && gate_read(&n->probe.attrs[GATE], n->probe.root) > 0;

	for (size_t i = 0; (path = setting_nth(s, "load", i)); i++) {
		if (!n->has_gate && !setting_get(s, "gate") && strstr(path, "/actmon/")) {
			reason_add(why, _("its power state"), ENODATA);
			continue;
		}
		if (attr_open(&n->probe.attrs[LOAD], n->probe.root, path) == 0 &&
		    (off || attr_number(&n->probe.attrs[LOAD], n->probe.root, &permille) || errno == EAGAIN))
			return true;
		int error = errno;
		attr_close(&n->probe.attrs[LOAD]);
		reason_add(why, path, error);
	}
	return false;
}

/* Both channels of an engine have the same index; engines count up. */
static uint16_t index_of(const struct probe_set *r, const char *name)
{
	size_t stem = strcspn(name, ".") + 1;
	uint16_t next = 0;

	for (size_t i = 0; i < r->n_channels; i++) {
		const struct channel *c = &r->channels[i];
		if (c->kind != CHANNEL_ENGINE_FREQ && c->kind != CHANNEL_ENGINE_UTIL)
			continue;
		if (!strncmp(c->name, name, stem))
			return c->index;
		if (c->index >= next)
			next = (uint16_t)(c->index + 1);
	}
	return next;
}

/* If path is NULL the channel is missing, with why. */
static int add(struct probe_ctx *o, enum channel_kind kind, const char *path, const struct reason *why,
	       struct err *e)
{
	bool util = kind == CHANNEL_ENGINE_UTIL;
	char name[64];
	struct channel ch;

	snprintf(name, sizeof name, "%.36s.%s", o->s->words[0], util ? "util" : "freq");
	channel_describe(o, &ch, name, false);
	ch.kind = kind;
	ch.unit = util ? UNIT_PERCENT : UNIT_HZ;
	ch.lo = 0;
	ch.hi = util ? 100 : (double)NAN;
	ch.index = index_of(o->probes, ch.name);
	if (!setting_get(o->s, "label"))
		text_printable(ch.label, sizeof ch.label, o->s->words[0], strlen(o->s->words[0]));
	channel_source(o, &ch, path, why);
	/* host1x counts in permille according to its source; not compared with other tools. */
	if (path && util && !ch.note[0] && !strstr(path, "host1x/actmon/"))
		snprintf(ch.note, sizeof ch.note, "%s", _("not validated: taken as permille"));
	return probe_ctx_add(o, &ch, e);
}

/* Returns true if one of the nodes is a device of this machine ("15480000.nvdec"), so that its driver may come later. */
static bool awaits_driver(const struct probe_ctx *o)
{
	char **names;
	size_t n;
	bool found = false;

	if (root_list(o->root, "/sys/bus/platform/devices", &names, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *node, *dot = strchr(names[i], '.');
		for (size_t k = 0; (node = setting_nth(o->s, "devfreq", k)); k++)
			found |= !strcmp(names[i], node) || (dot && !strcmp(dot + 1, node));
	}
	free(names);
	return found;
}

static int open_engine(struct probe_ctx *o, struct err *e)
{
	const struct statement *s = o->s;
	struct reason no_clock = {.denied = false}, no_load = no_clock, no_gate = no_clock;
	bool gone = true, optional = s->n_words == 2;
	bool wants_clock = setting_get(s, "devfreq") || setting_get(s, "path");
	bool wants_load = setting_get(s, "load") != NULL;

	if (optional && strcmp(s->words[1], "optional") != 0)
		return statement_error(s, e, _("unexpected \"%s\"; only \"optional\" is allowed there"),
				       s->words[1]);
	if (!wants_clock && !wants_load)
		return statement_error(s, e, _("\"engine\" needs devfreq=, path= or load="));
	struct engine *n = probe_new(o, sizeof *n, FILES, &engine_ops, 0, e);
	if (!n)
		return -1;
	n->has_clock = wants_clock && find_clock(n, s, &no_clock, &gone);
	n->has_gate = gate_open(&n->probe.attrs[GATE], o->root, s, &no_gate);
	n->has_load = wants_load && (n->has_clock || !optional || !wants_clock) && find_load(n, s, &no_load);
	bool nothing = !n->has_clock && !n->has_load;
	if (nothing && optional && (wants_clock ? gone : !no_load.denied) && !awaits_driver(o)) {
		probe_free(&n->probe);
		return 0;
	}
	int added = 0;
	if (wants_clock)
		added = add(o, CHANNEL_ENGINE_FREQ, n->has_clock ? n->probe.attrs[CLOCK].path : NULL,
			    &no_clock, e);
	n->util = wants_clock;
	if (wants_load && added == 0)
		added = add(o, CHANNEL_ENGINE_UTIL, n->has_load ? n->probe.attrs[LOAD].path : NULL,
			    *no_load.tried ? &no_load : &no_clock, e);
	return probe_ctx_finish(o, &n->probe, added, !nothing, e);
}

const struct probe_kind probe_kind_engine = {
	"engine", 1, 2, " dir devfreq path load gate label note hint ", false, false, open_engine};
