/* The beginning of a stream: its clocks, facts and channels, of which nothing may
 * be missing before the first row is handed over. */
#include <stdlib.h>

#include "util/intl.h"
#include "trace/stream-state.h"

#define PATIENCE_NS (30 * NS_PER_S) /* the description comes again every 10 s */

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
	uint8_t name[4];

	if (s->begun)
		return 0;
	put_u32(name, id);
	s->sum = chunk_crc_more(chunk_crc_more(s->sum, name, 4), p, n);
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

/* Nothing of it, for another one. */
static void forget_description(struct stream_in *s)
{
	s->about.n_channels = s->about.n_facts = 0;
	s->anchor = s->rates = s->spoiled = false;
	s->sum = 0;
}

/* Every column of a row belongs to exactly one channel, and so does every column
 * of the extension. */
static bool channels_sound(struct stream_in *s)
{
	uint8_t taken[TIERS][MAX_CHANNELS] = {{0}}, beyond[TIERS][MAX_CHANNELS] = {{0}};

	for (int t = 0; t < TIERS; t++)
		s->about.width[t] = s->tier[t].extra = 0;
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

static bool described(struct stream_in *s)
{
	return !s->spoiled && s->anchor && s->rates && channels_sound(s);
}

static int beginning_damaged(struct err *e)
{
	return err_set(e, ERR_FAILED,
		       _("the beginning of the stream is damaged: its list of channels is lost"));
}

int stream_begin(struct stream_in *s, struct err *e)
{
	if (!described(s))
		return beginning_damaged(e);
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

/* Those that waited for the clocks and cannot be right by them. */
static void drop_marks(struct stream_in *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_marks; i++)
		if (s->marks[i].mark.t_ns >= s->about.start.mono_ns)
			s->marks[kept++] = s->marks[i];
	s->n_marks = kept;
}

static int visit_again(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct err unheard;

	return journal_describes(id) ? stream_describe(to, id, p, n, &unheard) : 0;
}

int stream_again(struct stream_in *s, const uint8_t *p, size_t n, struct err *e)
{
	int r;

	if (s->begun) {
		s->other = n >= AGAIN_MORE && get_u32(p) != s->sum;
		s->closed |= s->other;
		return 0;
	}
	r = again_take(&s->again, p, n);
	if (r <= 0)
		return r < 0 ? stream_no_memory(e) : 0;
	forget_description(s);
	if (again_each(&s->again, visit_again, s) < 0)
		return stream_no_memory(e);
	again_free(&s->again);
	if (stream_begin(s, e) < 0)
		return -1;
	/* All that came before, and what belongs to it, is over. */
	for (int t = 0; t < TIERS; t++) {
		const uint8_t *tally = p + AGAIN_TALLY + 24 * t;
		struct lane_in *l = &s->tier[t];

		if (s->about.width[t] > 0 && get_u64(tally) <= UINT64_MAX / 4)
			l->next = l->cols_next = l->missed = get_u64(tally);
		s->state.missed += l->missed;
		s->state.late[t] = get_u64(tally + 8);
		s->state.lost[t] = get_u64(tally + 16);
		l->suspect = false;
	}
	s->late = false;
	drop_marks(s);
	return 0;
}

int stream_not_yet(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e)
{
	int64_t ns;

	if (!s->late && described(s))
		return stream_begin(s, e);
	s->late = true;
	if ((id != CHUNK_FAST && id != CHUNK_MEDIUM && id != CHUNK_SLOW) || n < 8 || !row_time(p, &ns))
		return 0;
	if (s->late_ns < 0)
		s->late_ns = ns;
	return ns - s->late_ns < PATIENCE_NS ? 0 : beginning_damaged(e);
}
