/* Finds changed settings, sensors that died or came back, and signals that were missing at the start. Clock settings
 * are channels and are compared in the newest rows; other settings are texts that the probe set watches.
 *
 * When a channel has no value, its reason is reported once, and again when it is another one or a stream begins;
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

enum change_about { NOTHING, SETTING, LIFE, LATE };

struct signal {
	enum change_about about;
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

static enum change_about changes_about(const struct channel *c)
{
	static const enum change_about known[CHANNEL_KINDS] = {
		[CHANNEL_FREQ_LIMIT] = SETTING, [CHANNEL_GPU_UTIL] = LIFE, [CHANNEL_CPU_UTIL] = LIFE,
		[CHANNEL_RAM_USED] = LIFE,      [CHANNEL_EMC_UTIL] = LIFE, [CHANNEL_RAIL_POWER] = LIFE,
		[CHANNEL_TEMPERATURE] = LIFE,   [CHANNEL_GPU_FREQ] = LIFE, [CHANNEL_EMC_RATE] = LIFE,
		[CHANNEL_FAN] = LIFE,           [CHANNEL_THROTTLE] = LIFE, [CHANNEL_THROTTLE_COUNT] = LIFE,
	};

	if (!strcmp(c->name, "clocks.pinned"))
		return SETTING;
	if (known[c->kind] != NOTHING || c->kind == CHANNEL_RAIL_VOLTAGE || c->kind == CHANNEL_RAIL_CURRENT)
		return known[c->kind];
	return c->missing[0] && c->unit != UNIT_JOULE ? LATE : NOTHING;
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
		c->signals[i].about = changes_about(&probes->channels[i]);
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

static void changes_text(const struct channel *c, double v, char *out, size_t size)
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

/* Compares the newest value with the one before. Returns true and fills *out if that is worth a report. */
static bool changes_of_channel(struct changes *c, size_t i, struct change *out)
{
	const struct channel *ch = &c->probes->channels[i];
	struct signal *s = &c->signals[i];
	struct ring *ring = c->samplers[ch->tier] ? sampler_ring(c->samplers[ch->tier]) : NULL;
	size_t n = ring && s->about != NOTHING ? ring_count(ring) : 0;
	const struct ring_row *row;
	double v, before = s->last;
	bool was_dead = s->dead;

	if (!n)
		return false;
	do { /* a reading may be late, and a slow chip has none in most rows */
		row = ring_at(ring, --n);
		v = row->values[ch->column];
	} while (n && isnan(v));
	memset(out, 0, sizeof(*out));
	memcpy(out->what, ch->name, sizeof(out->what));
	out->t_ns = row->t_ns;
	if (isnan(v)) { /* of a setting: the cores that share a clock are offline */
		if (s->about != LIFE || isnan(before) || was_dead)
			return false;
		s->gone_ns = s->gone_ns ? s->gone_ns : row->t_ns;
		s->dead = row->t_ns - s->gone_ns >= DEAD_NS;
		out->t_ns = s->gone_ns;
		changes_text(ch, before, out->from, sizeof(out->from));
		return s->dead;
	}
	s->last = v;
	s->gone_ns = 0;
	s->dead = false;
	if (s->late) {
		s->late = false;
		if (s->about == LATE)
			s->about = NOTHING;
		snprintf(out->to, sizeof(out->to), "%s", _("now read"));
		return true;
	}
	if (s->about == SETTING ? isnan(before) || !(before < v || before > v) : !was_dead)
		return false;
	if (s->about == SETTING)
		changes_text(ch, before, out->from, sizeof(out->from));
	changes_text(ch, v, out->to, sizeof(out->to));
	return true;
}

/* Reports the reasons of the missing values of a row. */
static void changes_of_row(struct changes *c, enum tier tier, const struct ring_row *row, change_fn *tell, void *to)
{
	const struct probe_set *r = c->probes;
	struct change change = {.t_ns = row->t_ns};

	for (size_t i = 0; i < r->n_channels; i++) {
		const struct channel *ch = &r->channels[i];
		struct signal *s = &c->signals[i];
		char text[MISSING_REASON];
		double v;

		if (ch->tier != tier || !isnan(v = row->values[ch->column]) || missing_why(v) == MISSING ||
		    !memcmp(&v, &s->reason, sizeof(v)) || s->told == REASONS)
			continue;
		s->reason = v;
		s->told++;
		missing_reason(text, v, ch, r->channels, r->n_channels);
		memcpy(change.what, ch->name, sizeof(change.what));
		snprintf(change.to, sizeof(change.to), CHANGE_REASON "%.60s", text);
		tell(to, &change);
	}
}

void changes_look_missing(struct changes *c, change_fn *tell, void *to)
{
	for (enum tier t = 0; c && t < TIERS; t++) {
		struct ring *ring = c->samplers[t] ? sampler_ring(c->samplers[t]) : NULL;
		size_t n = ring ? ring_count(ring) : 0;

		for (size_t i = 0; i < n; i++) {
			const struct ring_row *row = ring_at(ring, i);

			if (row->t_ns <= c->seen_ns[t])
				continue;
			c->seen_ns[t] = row->t_ns;
			changes_of_row(c, t, row, tell, to);
		}
	}
}

void changes_look(struct changes *c, int64_t now_ns, change_fn *tell, void *to)
{
	struct change change;

	changes_look_missing(c, tell, to);
	if (now_ns - c->looked_ns < EVERY_NS)
		return;
	c->looked_ns = now_ns;
	while (probe_set_changed(c->probes, &change))
		tell(to, &change);
	for (size_t i = 0; i < c->probes->n_channels; i++)
		if (changes_of_channel(c, i, &change))
			tell(to, &change);
}
