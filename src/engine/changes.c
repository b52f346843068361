/* Finds changed settings, sensors that died or came back, and signals that were missing at the start. Clock settings
 * are channels and are compared in the newest rows; other settings are texts that the probe set watches.
 *
 * When a channel has no value, its reason is reported once, and again when it is another one or a sink was attached;
 * every row is looked at.
 *
 * A sensor has died if it had a value once and has had none for DEAD_NS. Channels that come and go with their
 * unit do not count, nor do derived ones; of a rail, only the power is checked. */
#include "engine/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"

#define EVERY_NS (250 * NS_PER_MS)
#define DEAD_NS  (3 * NS_PER_S)
#define REASONS  8 /* reported of one channel: one that alternates between two reasons fills no trace */

enum about { NOTHING, SETTING, LIFE, LATE };

struct signal {
	enum about about;
	double last;     /* NaN: none yet */
	int64_t gone_ns; /* when it lost its value; 0: it has one */
	bool dead, late; /* late: it was missing at the start */
	double reason;   /* that was reported last: a NaN */
	unsigned told;   /* how many were */
};

struct changes {
	const struct probe_set *probes;
	struct sampler *const *samplers;
	int64_t looked_ns;
	int64_t seen_ns[TIERS]; /* the newest row whose missing values were looked at */
	struct signal signals[];
};

static enum about about_what(const struct channel *c)
{
	if (!strcmp(c->name, "clocks.pinned"))
		return SETTING;
	switch (c->kind) {
	case CHANNEL_FREQ_LIMIT:
		return SETTING;
	case CHANNEL_GPU_UTIL:
	case CHANNEL_CPU_UTIL:
	case CHANNEL_RAM_USED:
	case CHANNEL_EMC_UTIL:
	case CHANNEL_RAIL_POWER:
	case CHANNEL_TEMPERATURE:
	case CHANNEL_GPU_FREQ:
	case CHANNEL_EMC_RATE:
	case CHANNEL_FAN:
	case CHANNEL_THROTTLE:
	case CHANNEL_THROTTLE_COUNT:
		return LIFE;
	case CHANNEL_RAIL_VOLTAGE:
	case CHANNEL_RAIL_CURRENT:
		return NOTHING;
	default:
		return c->missing[0] && c->unit != UNIT_JOULE ? LATE : NOTHING;
	}
}

void changes_again(struct changes *c)
{
	for (size_t i = 0; i < c->probes->n_channels; i++) {
		c->signals[i].reason = NAN;
		c->signals[i].told = 0;
	}
}

struct changes *changes_new(const struct probe_set *probes, struct sampler *const *samplers)
{
	struct changes *c = calloc(1, sizeof(*c) + probes->n_channels * sizeof(c->signals[0]));

	if (!c)
		return NULL;
	c->probes = probes;
	c->samplers = samplers;
	for (size_t i = 0; i < probes->n_channels; i++) {
		c->signals[i].about = about_what(&probes->channels[i]);
		c->signals[i].last = NAN;
		c->signals[i].late = probes->channels[i].missing[0] != '\0';
	}
	changes_again(c);
	return c;
}

void changes_free(struct changes *c)
{
	free(c);
}

static void value_text(const struct channel *c, double v, char *out, size_t size)
{
	if (!strcmp(c->name, "clocks.pinned"))
		snprintf(out, size, "%s", v > 0 ? _("pinned") : _("not pinned"));
	else if (c->kind == CHANNEL_FREQ_LIMIT && !(v > 0)) /* drivers report 0 for no limit */
		snprintf(out, size, "%s", _("none"));
	else if (c->unit == UNIT_HZ)
		snprintf(out, size, "%.10g MHz", v / 1e6);
	else
		snprintf(out, size, "%.6g%s%s", v, *unit_name(c->unit) ? " " : "", unit_name(c->unit));
}

static bool same(double a, double b)
{
	return !(a < b) && !(a > b);
}

/* Compares v, read at t_ns, with the last value. Returns true and fills *out if it changed. */
static bool setting_changed(struct signal *s, const struct channel *c, int64_t t_ns, double v,
			    struct change *out)
{
	double before = s->last;

	if (isnan(v)) /* the cores that share a clock are offline */
		return false;
	s->last = v;
	if (isnan(before) || same(before, v))
		return false;
	out->t_ns = t_ns;
	value_text(c, before, out->from, sizeof(out->from));
	value_text(c, v, out->to, sizeof(out->to));
	return true;
}

static bool life_changed(struct signal *s, const struct channel *c, int64_t t_ns, double v,
			 struct change *out)
{
	bool was_dead = s->dead;

	if (!isnan(v)) {
		s->last = v;
		s->gone_ns = 0;
		s->dead = false;
		out->t_ns = t_ns;
		if (was_dead)
			value_text(c, v, out->to, sizeof(out->to));
		return was_dead;
	}
	if (isnan(s->last) || was_dead)
		return false;
	if (!s->gone_ns)
		s->gone_ns = t_ns;
	s->dead = t_ns - s->gone_ns >= DEAD_NS;
	out->t_ns = s->gone_ns;
	value_text(c, s->last, out->from, sizeof(out->from));
	return s->dead;
}

static bool signal_changed(struct changes *c, size_t i, struct change *out)
{
	const struct channel *ch = &c->probes->channels[i];
	struct signal *s = &c->signals[i];
	struct sampler *sampler = c->samplers[ch->tier];
	struct ring *ring = sampler ? sampler_ring(sampler) : NULL;
	size_t n = ring && s->about != NOTHING ? ring_count(ring) : 0;
	const struct ring_row *row;

	if (!n)
		return false;
	do /* a reading may be late, and a slow chip has none in most rows */
		row = ring_at(ring, --n);
	while (n && isnan(row->values[ch->column]));
	memset(out, 0, sizeof(*out));
	memcpy(out->what, ch->name, sizeof(out->what));
	if (s->late) {
		if (isnan(row->values[ch->column]))
			return false;
		s->late = false;
		s->last = row->values[ch->column];
		if (s->about == LATE)
			s->about = NOTHING;
		out->t_ns = row->t_ns;
		snprintf(out->to, sizeof(out->to), "%s", _("now read"));
		return true;
	}
	return s->about == SETTING ? setting_changed(s, ch, row->t_ns, row->values[ch->column], out)
				   : life_changed(s, ch, row->t_ns, row->values[ch->column], out);
}

static bool same_reason(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

/* Reports the reasons of the missing values of a row. */
static void look_missing(struct changes *c, enum tier tier, const struct ring_row *row,
			 void (*tell)(void *to, const struct change *c), void *to)
{
	const struct probe_set *r = c->probes;
	struct change change = {.t_ns = row->t_ns};

	for (size_t i = 0; i < r->n_channels; i++) {
		const struct channel *ch = &r->channels[i];
		struct signal *s = &c->signals[i];
		char text[MISSING_REASON];
		double v;

		if (ch->tier != tier || !isnan(v = row->values[ch->column]) || missing_why(v) == MISSING ||
		    same_reason(v, s->reason) || s->told == REASONS)
			continue;
		s->reason = v;
		s->told++;
		missing_reason(text, v, ch, r->channels, r->n_channels);
		memcpy(change.what, ch->name, sizeof(change.what));
		snprintf(change.to, sizeof(change.to), CHANGE_REASON "%.60s", text);
		tell(to, &change);
	}
}

void changes_missing(struct changes *c, void (*tell)(void *to, const struct change *c), void *to)
{
	for (enum tier t = 0; c && t < TIERS; t++) {
		struct ring *ring = c->samplers[t] ? sampler_ring(c->samplers[t]) : NULL;
		size_t n = ring ? ring_count(ring) : 0;

		for (size_t i = 0; i < n; i++) {
			const struct ring_row *row = ring_at(ring, i);

			if (row->t_ns <= c->seen_ns[t])
				continue;
			c->seen_ns[t] = row->t_ns;
			look_missing(c, t, row, tell, to);
		}
	}
}

void changes_look(struct changes *c, int64_t now_ns, void (*tell)(void *to, const struct change *c), void *to)
{
	struct change change;

	changes_missing(c, tell, to);
	if (now_ns - c->looked_ns < EVERY_NS)
		return;
	c->looked_ns = now_ns;
	while (probe_set_changed(c->probes, &change))
		tell(to, &change);
	for (size_t i = 0; i < c->probes->n_channels; i++)
		if (signal_changed(c, i, &change))
			tell(to, &change);
}
