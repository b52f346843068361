/* Finds changed settings, sensors that died or came back, signals that were missing at the start, and why values are
 * missing. Clock settings are channels, of which each row is compared with the value before; other settings are texts
 * that the probe set watches.
 *
 * When a channel has no value, its reason is reported once, and again when it is another one or a stream begins.
 *
 * A sensor has died if it had a value once and has had none for DEAD_NS. Channels that come and go with their
 * unit do not count, nor do derived ones; of a rail, only the power is checked. */
#include "engine/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/missing.h"
#include "util/intl.h"

#define EVERY_NS (250 * NS_PER_MS) /* a setting is reported as often at most; texts are looked at as often */
#define DEAD_NS  (3 * NS_PER_S)
#define REASONS  8 /* reported of one channel: one that alternates between two reasons fills no trace */

enum change_about { NOTHING, SETTING, LIFE };

struct signal {
	const struct channel *channel;
	enum change_about about;
	double last;     /* NaN: none yet */
	int64_t gone_ns; /* when it lost its value; 0: it has one */
	int64_t told_ns; /* when its last change of a setting was */
	bool dead, late; /* late: it was missing at the start */
	unsigned told;   /* how many reasons were reported, */
	double reason;   /* and the last one: a NaN */
};

struct changes {
	const struct probe_set *probes;
	const struct sampler *sampler;
	int64_t looked_ns;           /* at texts */
	int64_t seen_ns[TIERS];      /* the newest row that was looked at */
	struct signal *tiers[TIERS]; /* by column */
	struct signal signals[];
};

void changes_again(struct changes *c)
{
	for (size_t i = 0; i < c->probes->n_channels; i++) {
		c->signals[i].reason = NAN;
		c->signals[i].told = 0;
	}
}

struct changes *changes_new(const struct probe_set *probes, const struct sampler *sampler)
{
	static const enum change_about known[CHANNEL_KINDS] = {
		[CHANNEL_FREQ_LIMIT] = SETTING, [CHANNEL_GPU_UTIL] = LIFE, [CHANNEL_CPU_UTIL] = LIFE,
		[CHANNEL_RAM_USED] = LIFE,      [CHANNEL_EMC_UTIL] = LIFE, [CHANNEL_RAIL_POWER] = LIFE,
		[CHANNEL_TEMPERATURE] = LIFE,   [CHANNEL_GPU_FREQ] = LIFE, [CHANNEL_EMC_RATE] = LIFE,
		[CHANNEL_FAN] = LIFE,           [CHANNEL_THROTTLE] = LIFE, [CHANNEL_THROTTLE_COUNT] = LIFE,
	};
	struct changes *c = calloc(1, sizeof(*c) + probes->n_channels * sizeof(c->signals[0]));

	if (!c)
		return NULL;
	c->probes = probes;
	c->sampler = sampler;
	for (size_t t = 0, n = 0; t < TIERS; n += probes->width[t++])
		c->tiers[t] = c->signals + n;
	for (size_t i = 0; i < probes->n_channels; i++) {
		const struct channel *ch = &probes->channels[i];
		struct signal *s = &c->tiers[ch->tier][ch->column];

		s->channel = ch;
		s->about = !strcmp(ch->name, "clocks.pinned") ? SETTING : known[ch->kind];
		s->last = NAN;
		/* The power of a rail speaks for its voltage and current. */
		s->late = ch->missing[0] && (s->about != NOTHING ||
					     (ch->unit != UNIT_JOULE && ch->kind != CHANNEL_RAIL_VOLTAGE &&
					      ch->kind != CHANNEL_RAIL_CURRENT));
	}
	changes_again(c);
	return c;
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

/* Compares a value with those before it. Returns true and fills *out, but for its name, if that is worth a report. */
static bool changes_of_value(const struct changes *c, struct signal *s, int64_t t_ns, double v,
			     struct change *out)
{
	const struct channel *ch = s->channel;
	char why[MISSING_REASON];

	out->t_ns = t_ns;
	out->from[0] = out->to[0] = '\0';
	if (isnan(v) && missing_why(v) != MISSING && memcmp(&v, &s->reason, sizeof(v)) != 0 &&
	    s->told < REASONS) {
		s->reason = v;
		s->told++;
		missing_reason(why, v, ch, c->probes->channels, c->probes->n_channels);
		snprintf(out->to, sizeof(out->to), CHANGE_REASON "%.60s", why);
		s->gone_ns = s->gone_ns ? s->gone_ns : t_ns;
		return true;
	}
	if (isnan(v)) { /* of a setting: the cores that share a clock are offline */
		s->gone_ns = s->gone_ns ? s->gone_ns : t_ns;
		if (s->about != LIFE || isnan(s->last) || s->dead || t_ns - s->gone_ns < DEAD_NS)
			return false;
		s->dead = true;
		out->t_ns = s->gone_ns;
		changes_text(ch, s->last, out->from, sizeof(out->from));
		return true;
	}
	s->gone_ns = 0;
	if (s->about == SETTING && !s->late && (s->last < v || s->last > v)) {
		if (t_ns - s->told_ns < EVERY_NS)
			return false;
		s->told_ns = t_ns;
		changes_text(ch, s->last, out->from, sizeof(out->from));
	} else if (!s->late && !s->dead) {
		s->last = v;
		return false;
	}
	if (s->late)
		snprintf(out->to, sizeof(out->to), "%s", _("now read"));
	else
		changes_text(ch, v, out->to, sizeof(out->to));
	s->late = s->dead = false;
	s->last = v;
	return true;
}

void changes_look(struct changes *c, int64_t now_ns, change_fn *tell, void *to)
{
	struct change change = {.t_ns = 0};

	for (enum tier t = 0; t < TIERS; t++) {
		const struct ring *ring = sampler_ring(c->sampler, t);
		size_t n = ring ? ring_count(ring) : 0;

		for (size_t i = 0; i < n; i++) {
			const struct ring_row row = ring_at(ring, i);

			for (size_t k = 0; row.t_ns > c->seen_ns[t] && k < c->probes->width[t]; k++)
				if (changes_of_value(c, &c->tiers[t][k], row.t_ns, row.values[k], &change)) {
					memcpy(change.what, c->tiers[t][k].channel->name,
					       sizeof(change.what));
					tell(to, &change);
				}
		}
		if (n)
			c->seen_ns[t] = ring_at(ring, n - 1).t_ns;
	}
	if (now_ns - c->looked_ns < EVERY_NS)
		return;
	c->looked_ns = now_ns;
	while (probe_set_changed(c->probes, &change))
		tell(to, &change);
}
