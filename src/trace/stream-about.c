/* The beginning of a stream: its clocks, facts and channels, of which nothing may
 * be missing before the first row is handed over. */
#include <stdlib.h>

#include "nvmtop/intl.h"
#include "trace/stream-state.h"

int stream_no_memory(struct err *e)
{
	return err_set(e, ERR_FAILED, _("out of memory"));
}

/* Room for one more at the end of an array of n; it doubles. */
static bool grow(void **array, size_t n, size_t size)
{
	void *bigger;

	if (n & (n - 1) || n == 1)
		return true;
	bigger = reallocarray(*array, n ? 2 * n : 2, size);
	if (bigger)
		*array = bigger;
	return bigger != NULL;
}

static bool take_channels(struct stream_in *s, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0 && s->about.n_channels < MAX_CHANNELS; p += used, n -= used) {
		size_t at = s->about.n_channels;

		if (!grow((void **)&s->channels, at, sizeof(*s->channels)) ||
		    !grow((void **)&s->places, at, sizeof(*s->places)))
			return false;
		used = channel_decode(p, n, &s->channels[at], &s->places[at]);
		if (used == 0)
			break;
		s->about.n_channels++;
	}
	return true;
}

static bool take_facts(struct stream_in *s, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0 && s->about.n_facts < MAX_CHANNELS; p += used, n -= used) {
		if (!grow((void **)&s->facts, s->about.n_facts, sizeof(*s->facts)))
			return false;
		used = fact_decode(p, n, &s->facts[s->about.n_facts]);
		if (used == 0)
			break;
		s->about.n_facts++;
	}
	return true;
}

int stream_describe(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e)
{
	bool memory = true;

	if (s->begun)
		return 0;
	if (id == CHUNK_ANCHOR && n >= ANCHOR_SIZE && !s->anchor) {
		anchor_decode(p, &s->about.start);
		s->anchor = s->about.start.mono_ns >= 0 && s->about.start.mono_ns <= TIME_MOST;
	} else if (id == CHUNK_RATES && n >= RATES_SIZE) {
		s->rates = true;
		for (int t = 0; t < TIERS; t++) {
			s->about.hz[t] = get_f64(p + 8 * t);
			s->rates = s->rates && s->about.hz[t] >= 1e-3 && s->about.hz[t] <= 1e6;
		}
	} else if (id == CHUNK_FACTS) {
		memory = take_facts(s, p, n);
	} else if (id == CHUNK_CHANNELS) {
		memory = take_channels(s, p, n);
	}
	return memory ? 0 : stream_no_memory(e);
}

/* Every column of a row belongs to exactly one channel, and so does every column
 * of the extension. */
static bool channels_sound(struct stream_in *s)
{
	uint8_t taken[TIERS][MAX_CHANNELS] = {{0}}, beyond[TIERS][MAX_CHANNELS] = {{0}};

	for (size_t i = 0; i < s->about.n_channels; i++) {
		enum tier t = s->channels[i].tier;

		s->about.width[t]++;
		s->tier[t].extra += s->places[i].field == FIELD_EXTRA;
	}
	for (size_t i = 0; i < s->about.n_channels; i++) {
		const struct channel *c = &s->channels[i];
		const struct place *p = &s->places[i];

		if (c->column >= s->about.width[c->tier] || taken[c->tier][c->column]++)
			return false;
		if (p->field == FIELD_EXTRA &&
		    (p->slot >= s->tier[c->tier].extra || beyond[c->tier][p->slot]++))
			return false;
	}
	return s->about.n_channels > 0;
}

static int tier_open(struct stream_in *s, enum tier t, struct err *e)
{
	struct lane_in *l = &s->tier[t];

	l->last_ns = s->about.start.mono_ns - 1;
	l->channels = calloc(s->about.width[t] + 1, sizeof(*l->channels));
	l->values = calloc(BATCH * s->about.width[t] + 1, sizeof(*l->values));
	if (!l->channels || !l->values)
		return stream_no_memory(e);
	for (size_t i = 0; i < s->about.n_channels; i++)
		if (s->channels[i].tier == t)
			l->channels[l->n_channels++] = i;
	return 0;
}

int stream_begin(struct stream_in *s, struct err *e)
{
	if (s->spoiled || !s->anchor || !s->rates || !channels_sound(s))
		return err_set(
			e, ERR_FAILED,
			_("the beginning of the stream is damaged: it does not say which channels it has"));
	for (int t = 0; t < TIERS; t++)
		if (tier_open(s, (enum tier)t, e) < 0)
			return -1;
	s->about.channels = s->channels;
	s->about.facts = s->facts;
	if (s->to->ops->begin(s->to, &s->about, e) < 0)
		return -1;
	s->begun = true;
	s->state.start = s->about.start;
	s->state.newest_ns = s->about.start.mono_ns;
	return 0;
}
