/* ui-fake: a fake board with waveforms from formulas, as a timeline.
 *
 * Each query sums the samples: slow, but simple enough for a test to trust. */
#ifndef TESTS_UI_FAKE_H
#define TESTS_UI_FAKE_H

#include "model/states.h"
#include "model/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_CHANNELS 64
#define FAKE_START    (INT64_C(1000) * NS_PER_S)

struct fake {
	struct timeline timeline;
	struct session about;
	struct channel channels[FAKE_CHANNELS];
	struct fact facts[8];
	int64_t first_ns, last_ns;
	struct mark marks[40];
	size_t n_marks;
	struct change changes[4];
	size_t n_changes;
	struct gap gaps[4];
	size_t n_gaps;
	struct range_lane lanes[4];
	struct range ranges[512]; /* in order of end */
	size_t n_lanes, n_ranges;
	/* One fast sample of channel 0 that jumps to 100 while everything else is 5. */
	int64_t spike_ns;
	bool exact; /* columns include every sample */
	int base; /* finer columns equal the column of this zoom that contains them */
	int constant; /* 1: every value is 5 except the spike; else the value of everything */
	bool inverted; /* with constant 1: 95, and the spike drops to 0 */
	double (*value)(const struct fake *f, size_t channel, int64_t t_ns); /* replaces the formulas */
	int64_t dead_ns; /* from then on, power is not measured */
	double gated;
	unsigned asked; /* calls of columns() */
};

static const int64_t fake_period[TIERS] = {1000000, 10000000, 100000000};

static double fake_noise(size_t channel, int64_t tick)
{
	uint64_t x = (uint64_t)tick * 2654435761u + channel * 40503u + 12345u;

	x ^= x >> 31;
	x *= UINT64_C(0x9E3779B97F4A7C15);
	x ^= x >> 29;
	return (double)(x % 10000) / 10000;
}

static double fake_value(const struct fake *f, size_t i, int64_t t_ns)
{
	const struct channel *ch = &f->channels[i];
	double s = (double)(t_ns - FAKE_START) / 1e9, noise, busy, slow;

	if (ch->missing[0])
		return NAN;
	if (f->value)
		return f->value(f, i, t_ns);
	if (f->dead_ns && t_ns >= f->dead_ns && (ch->kind == CHANNEL_POWER_TOTAL || ch->kind == CHANNEL_RAIL_POWER))
		return NAN;
	if (f->constant > 1)
		return f->constant;
	if (f->constant)
		return (i == 0 && f->spike_ns && t_ns == f->spike_ns) != f->inverted ? f->inverted ? 95 : 100 : f->inverted ? 0 : 5;
	if (i == 0 && f->spike_ns && t_ns == f->spike_ns)
		return 100;
	noise = fake_noise(i, t_ns / fake_period[ch->tier]);
	busy = (t_ns - FAKE_START) % (9 * NS_PER_S) < 6 * NS_PER_S ? 1 : 0.15;
	slow = 0.5 + 0.5 * sin(s / 7 + (double)i);
	switch (ch->kind) {
	case CHANNEL_GPU_UTIL:
		return round(1000 * (busy * (0.7 + 0.28 * slow) + 0.02 * noise)) / 10;
	case CHANNEL_CPU_UTIL:
	case CHANNEL_CORE_UTIL:
		return 100 * (0.12 + 0.3 * slow * busy + 0.15 * noise);
	case CHANNEL_EMC_UTIL:
		return 100 * (0.35 + 0.4 * slow * busy + 0.04 * noise);
	case CHANNEL_RAM_USED:
		return (18 + 8 * slow) * 1048576;
	case CHANNEL_POWER_TOTAL:
		return 14000 + 24000 * busy * (0.6 + 0.4 * slow) + 900 * noise;
	case CHANNEL_RAIL_POWER:
		return (3000 + 14000 * busy * (0.6 + 0.4 * slow)) / (1 + ch->index) + 300 * noise;
	case CHANNEL_RAIL_VOLTAGE:
		return 5000 - 40 * busy - 20 * noise;
	case CHANNEL_RAIL_CURRENT:
		return (3000 + 14000 * busy) / (1 + ch->index) / 5;
	case CHANNEL_TEMPERATURE:
		return ch->index == 4 ? NAN : 52 + 9 * slow - ch->index + noise * 0.4;
	case CHANNEL_HOTTEST:
		return 62 + 9 * sin(s / 20) + noise * 0.4;
	case CHANNEL_GPU_FREQ:
	case CHANNEL_CPU_FREQ:
		return busy > 0.5 ? 1.3005e9 : 3.06e8;
	case CHANNEL_FAN:
		return 2100 + round(60 * slow);
	case CHANNEL_THROTTLE: /* ten seconds each, one after the other, from 30 s on */
		return s >= 30 + 10 * ch->index && s < 40 + 10 * ch->index;
	case CHANNEL_THROTTLE_COUNT: /* 7 at the start, one more at 70 s */
		return s < 70 ? 7 : 8;
	case CHANNEL_GATED:
		return f->gated;
	default:
		return 100 * slow;
	}
}

static int fake_gap(const struct fake *f, enum tier tier, int64_t t_ns)
{
	for (size_t i = 0; i < f->n_gaps; i++)
		if (f->gaps[i].tier == tier && t_ns >= f->gaps[i].from_ns && t_ns < f->gaps[i].to_ns)
			return 1;
	return 0;
}

static const struct session *fake_session(struct timeline *t)
{
	return &((struct fake *)t)->about;
}

static bool fake_extent(struct timeline *t, int64_t *first_ns, int64_t *last_ns)
{
	struct fake *f = (struct fake *)t;

	*first_ns = f->first_ns;
	*last_ns = f->last_ns;
	return f->first_ns <= f->last_ns;
}

/* What the samples are besides those of a channel. */
static bool fake_alike(const struct fake *a, const struct fake *b)
{
	return a->spike_ns == b->spike_ns && a->constant == b->constant && a->inverted == b->inverted && a->dead_ns == b->dead_ns &&
	       a->gated == b->gated && a->n_gaps == b->n_gaps && memcmp(a->gaps, b->gaps, sizeof(a->gaps)) == 0;
}

/* Summed once: frames show the same columns again and again. */
static struct bin fake_column(const struct fake *f, unsigned of, size_t channel, int64_t column, int64_t from, int64_t to,
			      int64_t stride)
{
	static struct known {
		int64_t from, to;
		uint32_t of, stride; /* of fakes that were alike; in periods */
		uint16_t index;
		uint8_t channel, kind, tier;
		char missing;
		struct bin bin;
	} list[1 << 18];
	const struct channel *ch = &f->channels[channel];
	uint32_t periods = (uint32_t)(stride / fake_period[ch->tier]);
	/* neighbours are neighbours */
	uint64_t hash = ((uint64_t)channel << 32 ^ (uint64_t)stride) * UINT64_C(0x9E3779B97F4A7C15);
	struct known *k = &list[((hash >> 46) + (uint64_t)column) % (1 << 18)];

	if (f->value || k->from != from || k->to != to || k->of != of || k->stride != periods || k->channel != channel ||
	    k->index != ch->index || k->kind != ch->kind || k->tier != ch->tier || k->missing != ch->missing[0]) {
		*k = (struct known) {from, to, of, periods, ch->index, (uint8_t)channel, (uint8_t)ch->kind, (uint8_t)ch->tier, ch->missing[0],
				     {0, 0, 0, 0}};
		for (int64_t at = (from + stride - 1) / stride * stride; at < to; at += stride)
			if (!fake_gap(f, ch->tier, at))
				bin_add(&k->bin, fake_value(f, channel, at));
	}
	return k->bin;
}

static void fake_columns(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n,
			 struct bin *out)
{
	struct fake *f = (struct fake *)t;
	enum tier tier = f->channels[channel].tier;
	int64_t p = fake_period[tier];
	static struct fake last;
	static unsigned of = 1;

	if (!fake_alike(f, &last)) {
		last = *f;
		of++;
	}
	f->asked++;
	memset(out, 0, n * sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		int base = zoom < f->base ? f->base : zoom;
		int64_t width = INT64_C(1) << base, column = (first + (int64_t)i) >> (base - zoom), from = column * width,
			to = from + width;
		/* At low zoom each sample stands for several, or a frame would take a second. */
		int64_t stride = width > 32 * p && !f->exact ? width / (16 * p) * p : p;

		if (from < f->first_ns)
			from = f->first_ns;
		if (to > f->last_ns + 1)
			to = f->last_ns + 1;
		out[i] = fake_column(f, of, channel, column, from, to, stride);
		out[i].n *= (uint64_t)(stride / p);
		out[i].sum *= (double)(stride / p);
		if (channel == 0 && f->spike_ns >= from && f->spike_ns < to)
			bin_add(&out[i], fake_value(f, channel, f->spike_ns));
	}
}

static double fake_read(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct fake *f = (struct fake *)t;
	int64_t p = fake_period[f->channels[channel].tier], at = t_ns < f->last_ns ? t_ns : f->last_ns;

	at = at / p * p;
	if (at_ns)
		*at_ns = at;
	return at < f->first_ns ? NAN : fake_value(f, channel, at);
}

static int64_t fake_step(struct timeline *t, enum tier tier, int64_t t_ns, int n)
{
	struct fake *f = (struct fake *)t;
	int64_t p = fake_period[tier], at = n < 0 ? (t_ns + p - 1) / p * p + n * p : t_ns / p * p + n * p;

	return at < f->first_ns ? f->first_ns : at > f->last_ns ? f->last_ns : at;
}

static size_t fake_marks(struct timeline *t, int64_t from, int64_t to, struct mark *out, size_t max)
{
	struct fake *f = (struct fake *)t;
	size_t n = 0;

	for (size_t i = 0; i < f->n_marks && n < max; i++)
		if (f->marks[i].t_ns >= from && f->marks[i].t_ns < to)
			out[n++] = f->marks[i];
	return n;
}

static size_t fake_gaps(struct timeline *t, int64_t from, int64_t to, struct gap *out, size_t max)
{
	struct fake *f = (struct fake *)t;
	size_t n = 0;

	for (size_t i = 0; i < f->n_gaps && n < max; i++)
		if (f->gaps[i].from_ns < to && f->gaps[i].to_ns > from)
			out[n++] = f->gaps[i];
	return n;
}

static size_t fake_changes(struct timeline *t, int64_t from, int64_t to, struct change *out, size_t max)
{
	struct fake *f = (struct fake *)t;

	return changes_between(f->changes, f->n_changes, from, to, out, max);
}

static void fake_visit(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	struct fake *f = (struct fake *)t;

	for (size_t i = 0; i < f->n_ranges; i++)
		if (range_touches(&f->ranges[i], from_ns, to_ns) && !visit(arg, &f->ranges[i]))
			return;
}

static size_t fake_lanes(struct timeline *t, const struct range_lane **out, size_t most)
{
	struct fake *f = (struct fake *)t;

	for (size_t i = 0; i < f->n_lanes && i < most; i++)
		out[i] = &f->lanes[i];
	return f->n_lanes;
}

static size_t fake_rows(struct timeline *t, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
			size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	size_t got = 0;

	*column_ns = 0;
	for (int64_t at; got < most; got++) {
		at = fake_step(t, tier, *from_ns - 1, 1);
		if (at < *from_ns || at >= to_ns)
			break;
		for (size_t i = 0; i < n; i++)
			values[i][got] = fake_read(t, channels[i], at, NULL);
		t_ns[got] = at;
		*from_ns = at + 1;
	}
	return got;
}

static void fake_stat(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	struct fake *f = (struct fake *)t;
	int64_t p = fake_period[f->channels[channel].tier];
	double before = NAN, v;

	*out = (struct span_stats) {.n = 0};
	/* From each sample above 0 to the next one. */
	for (int64_t at = (f->first_ns + p - 1) / p * p; at <= f->last_ns && at < to_ns; at += p) {
		v = fake_value(f, channel, at);
		out->n += at >= from_ns;
		out->rise += at >= from_ns && v > before ? v - before : 0;
		if (at + p > from_ns && at + p <= f->last_ns && v > 0)
			out->above_ns += (uint64_t)((at + p < to_ns ? at + p : to_ns) - (at > from_ns ? at : from_ns));
		before = isnan(v) ? before : v;
	}
}

static int fake_by_begin(const void *a, const void *b)
{
	const struct state_event *e = a, *f = b;

	return e->from_ns != f->from_ns ? (e->from_ns > f->from_ns ? 1 : -1)
					: (int)e->channel - (int)f->channel;
}

static size_t fake_states(struct timeline *t, size_t channel, int64_t from, int64_t to, struct state_event *out, size_t max)
{
	struct fake *f = (struct fake *)t;
	struct state_event list[1024], ended;
	int64_t reach[1024], latest = INT64_MIN;
	size_t n = 0, n_watches;
	struct state_watch *w = state_watches_new(&f->about, &n_watches);

	for (size_t k = 0; w && k < n_watches; k++) {
		int64_t p = fake_period[w[k].at.tier];

		for (int64_t at = (f->first_ns + p - 1) / p * p; at <= f->last_ns && n < 1000; at += p)
			if (state_watch_take(&w[k], at, fake_value(f, w[k].now.channel, at), &ended))
				list[n++] = ended;
		if (w[k].now.count)
			list[n++] = w[k].now;
	}
	free(w);
	qsort(list, n, sizeof(*list), fake_by_begin);
	for (size_t i = 0; i < n; i++)
		reach[i] = latest = list[i].to_ns > latest ? list[i].to_ns : latest;
	return states_between(list, reach, n, channel, from, to, out, max);
}

static bool fake_event(struct timeline *t, int64_t from_ns, int64_t to_ns, bool last, int64_t *out)
{
	struct fake *f = (struct fake *)t;
	struct state_event s[1024];
	int64_t at[1024 + 8];
	size_t n = fake_states(t, SIZE_MAX, from_ns, to_ns, s, 1024), all = 0;
	bool found = false;

	for (size_t i = 0; i < n; i++)
		if (!(s[i].flags & STATE_BEFORE))
			at[all++] = s[i].from_ns;
	for (size_t i = 0; i < f->n_changes; i++)
		at[all++] = f->changes[i].t_ns;
	for (size_t i = 0; i < f->n_gaps; i++)
		if (f->gaps[i].to_ns - f->gaps[i].from_ns >= GAP_EVENT_NS)
			at[all++] = f->gaps[i].from_ns;
	for (size_t i = 0; i < all; i++)
		if (at[i] >= from_ns && at[i] < to_ns && (!found || (last ? at[i] > *out : at[i] < *out))) {
			*out = at[i];
			found = true;
		}
	return found;
}

static const struct timeline_ops fake_ops = {.session = fake_session,
					     .extent = fake_extent,
					     .columns = fake_columns,
					     .value = fake_read,
					     .step = fake_step,
					     .marks = fake_marks,
					     .gaps = fake_gaps,
					     .states = fake_states,
					     .event = fake_event,
					     .changes = fake_changes,
					     .rows = fake_rows,
					     .ranges = fake_visit,
					     .lanes = fake_lanes,
					     .stat = fake_stat};

static struct channel *fake_add(struct fake *f, const char *label, enum channel_kind kind, unsigned index,
				enum tier tier, enum unit unit, enum family family)
{
	struct channel *ch = &f->channels[f->about.n_channels++];

	memset(ch, 0, sizeof(*ch));
	snprintf(ch->label, sizeof(ch->label), "%s", label);
	snprintf(ch->name, sizeof(ch->name), "%s.%u.%u", label, (unsigned)kind, index);
	ch->kind = kind;
	ch->index = (uint16_t)index;
	ch->tier = tier;
	ch->column = (uint16_t)f->about.width[tier]++;
	ch->unit = unit;
	ch->family = family;
	ch->lo = ch->hi = ch->warn = ch->crit = NAN;
	if (unit == UNIT_PERCENT)
		ch->lo = 0, ch->hi = 100;
	if (unit == UNIT_KB)
		ch->lo = 0, ch->hi = 64349208;
	return ch;
}

static inline void fake_mark(struct fake *f, int64_t t_ns)
{
	struct mark *m = &f->marks[f->n_marks];

	m->t_ns = t_ns;
	m->id = ++f->n_marks;
	m->label[0] = 0;
}

static inline void fake_change(struct fake *f, int64_t t_ns, const char *what, const char *from, const char *to)
{
	struct change *c = &f->changes[f->n_changes++];

	memset(c, 0, sizeof(*c));
	c->t_ns = t_ns;
	snprintf(c->what, sizeof(c->what), "%s", what);
	snprintf(c->from, sizeof(c->from), "%s", from);
	snprintf(c->to, sizeof(c->to), "%s", to);
}

static inline struct range_lane *fake_lane(struct fake *f, uint32_t tid, const char *thread, const char *domain)
{
	struct range_lane *l = &f->lanes[f->n_lanes++];

	*l = (struct range_lane) {.pid = 4711, .tid = tid, .process = "python3"};
	snprintf(l->thread, sizeof(l->thread), "%s", thread);
	snprintf(l->domain, sizeof(l->domain), "%s", domain);
	return l;
}

/* ms: after the start */
static inline struct range *fake_range(struct fake *f, const struct range_lane *l, const char *name, int depth, int from_ms,
				       int to_ms)
{
	struct range *r = &f->ranges[f->n_ranges++];

	*r = (struct range) {.begin_ns = FAKE_START + from_ms * NS_PER_MS,
			     .end_ns = FAKE_START + to_ms * NS_PER_MS,
			     .name = name,
			     .lane = l,
			     .depth = (uint16_t)depth};
	return r;
}

/* Four steps of 20 s in thread main, with a flood in the third; a loader; and a domain that is hardly used. */
static inline void fake_ranges(struct fake *f)
{
	const struct range_lane *m = fake_lane(f, 4711, "main", ""), *loader = fake_lane(f, 4720, "loader", "DALI");
	static const char *const steps[] = {"step 0", "step 1", "step 2", "step 3"};
	struct range *back;

	fake_range(f, fake_lane(f, 4721, "", "NCCL"), "reduce", 0, 20000, 20004);
	for (int i = 0, at = 5000; i < 4; i++, at += 20000) {
		fake_range(f, loader, "load", 0, at, at + 3000);
		fake_range(f, m, "forward", 1, at + 1000, at + 8000)->colour = 0xFF00B050;
		for (int k = 0; i == 2 && k < 200; k++)
			fake_range(f, m, k % 2 ? "aten::mm, seq = 1" : "aten::mm, seq = 2, op_id = 3", 2, at + 9000 + 40 * k,
				   at + 9000 + 40 * k + 20);
		back = fake_range(f, m, "backward", 1, at + 9000, at + 17000);
		back->payload = RANGE_UNSIGNED;
		back->value = 40u + (unsigned)i;
		fake_range(f, m, steps[i], 0, at, at + 18000);
	}
}

static void fake_fact(struct fake *f, const char *key, const char *value)
{
	struct fact *fact = &f->facts[f->about.n_facts++];

	snprintf(fact->key, sizeof(fact->key), "%s", key);
	snprintf(fact->value, sizeof(fact->value), "%s", value);
}

/* An AGX Orin sampled for this long. */
static void fake_init(struct fake *f, int64_t long_ns)
{
	static const char *const rails[] = {"GPU_SOC", "CPU_CV", "VIN_SYS_5V0", "VDDQ_VDD2_1V8AO"};
	static const char *const zones[] = {"cpu", "gpu", "soc0", "soc1", "cv0", "tj", "tboard"};

	memset(f, 0, sizeof(*f));
	f->timeline.ops = &fake_ops;
	f->first_ns = FAKE_START;
	f->last_ns = FAKE_START + long_ns;
	f->about.channels = f->channels;
	f->about.facts = f->facts;
	f->about.start.mono_ns = FAKE_START;
	f->about.start.real_ns = INT64_C(1795185000) * NS_PER_S;
	for (int t = 0; t < TIERS; t++)
		f->about.hz[t] = 1e9 / (double)fake_period[t];
	fake_fact(f, "title", "Jetson AGX Orin");
	fake_fact(f, "release", "L4T 36.4.3");
	fake_fact(f, "mode", "MODE_30W");
	fake_add(f, "GPU", CHANNEL_GPU_UTIL, 0, TIER_FAST, UNIT_PERCENT, FAMILY_GPU);
	fake_add(f, "CPU", CHANNEL_CPU_UTIL, 0, TIER_FAST, UNIT_PERCENT, FAMILY_CPU);
	for (unsigned i = 0; i < 12; i++) {
		char label[16];

		snprintf(label, sizeof(label), "cpu%u", i);
		fake_add(f, label, CHANNEL_CORE_UTIL, i, TIER_FAST, UNIT_PERCENT, FAMILY_CPU);
	}
	fake_add(f, "EMC", CHANNEL_EMC_UTIL, 0, TIER_FAST, UNIT_PERCENT, FAMILY_MEMORY);
	fake_add(f, "RAM", CHANNEL_RAM_USED, 0, TIER_FAST, UNIT_KB, FAMILY_MEMORY);
	for (unsigned i = 0; i < 4; i++) {
		fake_add(f, rails[i], CHANNEL_RAIL_POWER, i, TIER_MEDIUM, UNIT_MILLIWATT, FAMILY_POWER);
		fake_add(f, rails[i], CHANNEL_RAIL_VOLTAGE, i, TIER_MEDIUM, UNIT_MILLIVOLT, FAMILY_POWER);
		fake_add(f, rails[i], CHANNEL_RAIL_CURRENT, i, TIER_MEDIUM, UNIT_MILLIAMPERE, FAMILY_POWER);
	}
	fake_add(f, "Power", CHANNEL_POWER_TOTAL, 0, TIER_MEDIUM, UNIT_MILLIWATT, FAMILY_POWER);
	fake_add(f, "Hottest", CHANNEL_HOTTEST, 0, TIER_SLOW, UNIT_CELSIUS, FAMILY_HEAT);
	for (unsigned i = 0; i < 7; i++)
		fake_add(f, zones[i], CHANNEL_TEMPERATURE, i, TIER_SLOW, UNIT_CELSIUS, FAMILY_HEAT);
	fake_add(f, "GPU clock", CHANNEL_GPU_FREQ, 0, TIER_MEDIUM, UNIT_HZ, FAMILY_GPU);
	fake_add(f, "CPU clock", CHANNEL_CPU_FREQ, 0, TIER_MEDIUM, UNIT_HZ, FAMILY_CPU);
	fake_add(f, "Fan", CHANNEL_FAN, 0, TIER_SLOW, UNIT_RPM, FAMILY_OTHER);
}

#endif
