/* What META and END say of a recording. Channels keep their columns: those that a later generation describes anew have them
 * already, those that are new get the next ones. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-read.h"
#include "util/array.h"

#define FACTS	    1024
#define PERIOD_MOST (3600 * NS_PER_S) /* of a channel */

const struct log_generation *log_generation_find(const struct trace *r, uint32_t number)
{
	for (size_t i = 0; i < r->n_generations; i++)
		if (r->generations[i].number == number)
			return &r->generations[i];
	return NULL;
}

static int or_other(int found, int other)
{
	return found >= 0 ? found : other;
}

/* A time that the record may have; none: it is not there, or cannot be. */
static int64_t get_period(struct log_in *in, int64_t none)
{
	int64_t ns = in->p < in->end ? log_get_i64(in) : none;

	return in->bad || ns < 0 || ns > PERIOD_MOST ? none : ns;
}

static bool get_channel(struct log_in *in, struct log_channel *from)
{
	struct channel *c = &from->c;
	char former[sizeof(c->name)];

	if (!log_channel_get(in, from))
		return false;
	log_get_str(in, former, sizeof(former));
	c->window_ns = get_period(in, WINDOW_UNKNOWN);
	c->age_ns = get_period(in, 0);
	c->kind = (enum channel_kind)or_other(channel_kind_find(from->kind), CHANNEL_OTHER);
	c->unit = (enum unit)or_other(unit_find(from->unit), UNIT_NONE);
	c->family = (enum family)or_other(family_find(from->family), FAMILY_OTHER);
	if (c->period_ns < 0 || c->period_ns > PERIOD_MOST)
		c->period_ns = 0;
	return (unsigned)c->tier < TIERS && c->column < LOG_CHANNELS;
}

/* Returns the session's column of the channel, which is added if it is new, and described anew if it was missing; -1 if
 * there are too many channels, memory is out or the channel was in another tier. */
static int channel_column(struct trace *r, const struct channel *c, uint32_t number)
{
	struct session *s = &r->session;
	size_t n = s->n_channels;
	struct channel *to;
	uint32_t *of;

	for (size_t i = 0; i < s->n_channels; i++) {
		uint16_t column = r->channels[i].column;

		if (r->numbers[i] != number)
			continue;
		if (r->channels[i].tier != c->tier)
			return -1;
		if (r->channels[i].missing[0] && !c->missing[0] && !strcmp(r->channels[i].name, c->name)) {
			r->channels[i] = *c;
			r->channels[i].column = column;
		}
		return column;
	}
	of = n < LOG_CHANNELS ? array_add(&r->numbers, &n, sizeof(*of)) : NULL;
	to = of ? array_add(&r->channels, &s->n_channels, sizeof(*to)) : NULL;
	if (!to)
		return -1;
	s->channels = r->channels;
	*of = number;
	*to = *c;
	to->column = (uint16_t)s->width[c->tier]++;
	return to->column;
}

static void meta_tier(struct trace *r, struct log_in *in, struct log_generation *g)
{
	unsigned tier = log_get_u8(in), width;
	double hz;

	log_get_u8(in);
	width = log_get_u16(in);
	hz = log_get_f64(in);
	if (in->bad || tier >= TIERS || width > LOG_CHANNELS || !(hz == 0 || (hz >= 1e-3 && hz <= 1e6)) || g->column[tier])
		return;
	g->column[tier] = malloc((width + 1) * sizeof(*g->column[tier]));
	if (!g->column[tier])
		return;
	memset(g->column[tier], 0xFF, (width + 1) * sizeof(*g->column[tier]));
	g->width[tier] = width;
	if (r->n_generations == 0)
		r->session.hz[tier] = hz;
}

static void meta_fact(struct trace *r, struct log_in *in)
{
	struct session *s = &r->session;
	struct fact f, *to = NULL;

	if (log_fact_get(in, &f) && s->n_facts < FACTS)
		to = array_add(&r->facts, &s->n_facts, sizeof(*to));
	if (to)
		*to = f;
	s->facts = r->facts;
}

static void meta_channel(struct trace *r, struct log_in *in, struct log_generation *g)
{
	struct log_channel from;
	const struct channel *c = &from.c;
	int column;

	if (!get_channel(in, &from) || c->column >= g->width[c->tier] || g->column[c->tier][c->column] != NO_COLUMN)
		return;
	column = channel_column(r, c, from.number);
	if (column >= 0)
		g->column[c->tier][c->column] = (uint16_t)column;
}

/* Adds its channels. TIER records precede CHANNEL records; a short META has neither. */
static void meta_take(struct trace *r, const struct log_head *h)
{
	struct log_generation g = {.number = h->generation}, *to;
	struct log_in in = {r->raw.p, r->raw.p + r->raw.n, false}, record;
	bool first = r->n_generations == 0;
	unsigned tag;

	while (log_get_tagged(&in, &tag, &record)) {
		if (tag == LOG_TAG_START && first)
			log_anchor_get(&record, &r->session.start);
		else if (tag == LOG_TAG_TIER)
			meta_tier(r, &record, &g);
		else if (tag == LOG_TAG_FACT && first)
			meta_fact(r, &record);
		else if (tag == LOG_TAG_CHANNEL)
			meta_channel(r, &record, &g);
	}
	if (!g.column[TIER_FAST] && !g.column[TIER_MEDIUM] && !g.column[TIER_SLOW])
		return;
	to = array_add(&r->generations, &r->n_generations, sizeof(*to));
	for (int t = 0; t < TIERS && !to; t++)
		free(g.column[t]);
	if (!to)
		return;
	*to = g;
	if (g.number > r->newest)
		r->newest = g.number;
}

void log_meta_new(struct trace *r, const struct log_item *item)
{
	struct log_head h;

	if (item->kind == LOG_META && r->n_generations < LOG_CHANNELS && log_head_at(r, item->at, &h) && !log_generation_find(r, h.generation) &&
	    log_read_chunk(r, item, &h))
		meta_take(r, &h);
}

int64_t log_part_at(struct trace *r, uint64_t at)
{
	struct log_in in, record;
	struct log_head h;
	unsigned tag;

	if (!log_head_at(r, at, &h) || h.kind != LOG_META ||
	    !log_read_chunk(r, &(struct log_item) {.at = at, .stored = h.stored, .kind = LOG_META, .cell = h.cell}, &h))
		return -1;
	in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
	while (log_get_tagged(&in, &tag, &record))
		if (tag == LOG_TAG_PART && record.end - record.p >= 4)
			return log_get_u32(&record);
	return -1;
}

void log_end_take(struct trace *r)
{
	struct log_in in = {r->raw.p, r->raw.p + r->raw.n, false};

	r->tail.reason = (enum log_reason)log_get_u8(&in);
	log_get_u64(&in);
	log_get_str(&in, r->tail.next, sizeof(r->tail.next));
	r->tail.ended = !in.bad;
	if (strchr(r->tail.next, '/'))
		r->tail.next[0] = '\0';
}
