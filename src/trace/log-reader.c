/* Opens a log: reads its session from the first META, its chunks from the newest INDEX and a scan of the
 * heads after it, and its events from both. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/io.h"
#include "model/states.h"
#include "trace/log-tree.h"

#define FRONT	  65536			/* other bytes that may precede the first chunk */
#define SEARCH	  (UINT64_C(64) << 20) /* bytes searched at a time for the first META */
#define FAST_ROWS ((size_t)1 << 20) /* bytes cached */
#define ROWS	  ((size_t)1 << 20) /* of other rows */
#define LISTS	  ((size_t)2 << 20)
#define STRIPS	  ((size_t)6 << 20) /* of strips, LOD and STAT */
#define FACTS	  1024
#define FAULTS	  65536 /* damaged chunks that are counted only once each */
#define EVENTS	  (1 << 20)
#define NOTICED	  8 /* groups after a change of the clock in which its META is */
#define PERIOD_MOST (3600 * NS_PER_S) /* of a channel */
#define NEWER     (UINT64_C(1) << 63) /* flag in an offset: the chunk itself, not what is missing before it */

bool log_first(int fd, struct log_head *out)
{
	uint8_t *p = malloc(FRONT);
	ssize_t n = p ? read_all(fd, p, FRONT, 0) : -1;
	size_t at = n >= LOG_HEAD ? log_find(p, (size_t)n, 0) : 0;
	bool found = n >= LOG_HEAD && at <= (size_t)n - LOG_HEAD && log_head_get(p + at, out);

	free(p);
	return found;
}

bool log_begins(int fd)
{
	struct log_head first;

	return log_first(fd, &first);
}

/* --- damage --- */

static bool faulty(struct trace *r, uint64_t at)
{
	size_t lo = 0, hi = r->n_faulty;
	uint64_t *more;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->faulty[mid] == at)
			return true;
		if (r->faulty[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	more = r->n_faulty < FAULTS ? reallocarray(r->faulty, r->n_faulty + 1, sizeof(*more)) : NULL;
	if (!more)
		return r->n_faulty > 0;
	r->faulty = more;
	memmove(more + lo + 1, more + lo, (r->n_faulty++ - lo) * sizeof(*more));
	more[lo] = at;
	return false;
}

bool log_note(struct trace *r, enum log_fault fault, uint64_t at, uint64_t seq, int64_t cell, uint64_t rows)
{
	struct log_damage *d = &r->damage;

	if (r->quiet || faulty(r, at))
		return false;
	d->chunks += fault > LOG_FAULT_OTHER;
	d->rows += rows;
	if (d->first != LOG_FAULT_NONE && (fault <= LOG_FAULT_OTHER || d->first > LOG_FAULT_OTHER))
		return true;
	d->first = fault;
	d->seq = seq;
	d->t_ns = log_cell_ns(cell);
	return true;
}

void log_note_newer(struct trace *r, const struct log_head *h, uint64_t at, uint64_t rows)
{
	if (h->kind == LOG_DATA)
		log_note(r, LOG_FAULT_VERSION, at, h->seq, h->cell, rows);
	else if (!r->quiet && !faulty(r, at | NEWER))
		r->damage.unknown++;
}

void trace_damage(struct trace *r, struct log_damage *out)
{
	pthread_mutex_lock(&r->lock);
	*out = r->damage;
	pthread_mutex_unlock(&r->lock);
}

bool trace_damage_text(struct trace *r, char *out, size_t size)
{
	static const char *const why[] = {
		[LOG_FAULT_BYTES] = "bytes that are no chunk",
		[LOG_FAULT_OTHER] = "another recording",
		[LOG_FAULT_SEQ] = "it is not there",
		[LOG_FAULT_SUM] = "its bytes are not as they were written",
		[LOG_FAULT_CODEC] = "its codec is not known to this version of nvmtop",
		[LOG_FAULT_VERSION] = "its version is not known to this version of nvmtop",
		[LOG_FAULT_COLUMN] =
			"some of its columns are of a form that is not known to this version of nvmtop",
		[LOG_FAULT_CONTENT] = "what it holds cannot be",
		[LOG_FAULT_ORDER] = "it is older than the one before it",
		[LOG_FAULT_CHANNELS] = "the description of its channels is lost",
	};
	struct log_damage d;
	char seq[48], rows[48] = "";
	double s;

	trace_damage(r, &d);
	snprintf(seq, sizeof(seq), d.seq == LOG_SEQ_NONE ? "of unknown number" : "number %llu",
		 (unsigned long long)d.seq);
	if (d.first == LOG_FAULT_NONE)
		return false;
	if (d.rows > 0)
		snprintf(rows, sizeof(rows), ", with %llu rows or more", (unsigned long long)d.rows);
	s = d.t_ns > r->session.start.mono_ns ? (double)(d.t_ns - r->session.start.mono_ns) / (double)NS_PER_S
					      : 0;
	if (d.first == LOG_FAULT_OTHER)
		snprintf(out, size, "another recording follows, the last %llu bytes, which were not read",
			 (unsigned long long)d.bytes);
	else if (d.chunks == 0)
		snprintf(out, size, "%llu bytes belong to no chunk, the first about %.1f s after the start",
			 (unsigned long long)d.bytes, s);
	else
		snprintf(out, size,
			 "%llu of its chunks cannot be used%s; the first, %s, is about %.1f s after the "
			 "start: %s",
			 (unsigned long long)d.chunks, rows, seq, s, why[d.first]);
	return true;
}

/* --- chunks --- */

/* What is wrong with a chunk, or LOG_FAULT_NONE with the head and payload. */
static enum log_fault chunk_get(struct trace *r, const struct log_item *item, struct log_head *h, struct log_bytes *to)
{
	const uint8_t *p = item->bytes;
	struct log_data data;

	if (!p && item->stored <= LOG_STORED_MAX)
		p = r->source->get(r->source, item->at, LOG_HEAD + item->stored);
	if (!p || !log_head_get(p, h) || h->session != r->id || h->kind != item->kind || h->stored != item->stored ||
	    h->cell != item->cell)
		return LOG_FAULT_SUM;
	if (h->version != LOG_VERSION)
		return LOG_FAULT_VERSION;
	switch (log_unpack(r->unpacker, h, p + LOG_HEAD, to)) {
	case LOG_OK: break;
	case LOG_BAD_CODEC: return LOG_FAULT_CODEC;
	default: return LOG_FAULT_SUM;
	}
	if (!log_payload_good(h, to->p, to->n, &data))
		return LOG_FAULT_CONTENT;
	if (to == &r->raw) {
		r->raw_of = *h;
		r->raw_at = item->at;
		r->data = data;
	}
	return LOG_FAULT_NONE;
}

bool log_read_chunk(struct trace *r, const struct log_item *item, struct log_head *h, struct log_bytes *to)
{
	enum log_fault fault;
	uint64_t rows = 0;

	/* The tiers of a chunk are decoded one after the other: do not unpack it again. */
	if (to == &r->raw && item->kind == LOG_DATA && r->raw_of.stored > 0 && r->raw_at == item->at) {
		*h = r->raw_of;
		return true;
	}
	r->raw_of.stored = to == &r->raw ? 0 : r->raw_of.stored;
	*h = (struct log_head) {.seq = LOG_SEQ_NONE};
	for (int t = 0; t < TIERS; t++)
		rows += item->rows[t];
	fault = chunk_get(r, item, h, to);
	to->failed = false;
	if (fault == LOG_FAULT_VERSION)
		log_note_newer(r, h, item->at, rows);
	else if (fault)
		log_note(r, fault, item->at, h->seq, item->cell, rows);
	return !fault;
}

/* --- META --- */

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

static bool get_channel(struct log_in *in, struct log_channel *from)
{
	struct channel *c = &from->c;
	char former[sizeof(c->name)];

	if (!log_channel_get(in, from))
		return false;
	log_get_str(in, former, sizeof(former));
	c->window_ns = in->p < in->end ? log_get_i64(in) : WINDOW_UNKNOWN;
	c->age_ns = in->p < in->end ? log_get_i64(in) : 0;
	if (in->bad || c->window_ns < 0 || c->window_ns > PERIOD_MOST)
		c->window_ns = WINDOW_UNKNOWN;
	if (in->bad || c->age_ns < 0 || c->age_ns > PERIOD_MOST)
		c->age_ns = 0;
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
	struct channel *to;

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
	if (s->n_channels == LOG_CHANNELS)
		return -1;
	to = reallocarray(r->channels, s->n_channels + 1, sizeof(*to));
	if (to) {
		uint32_t *numbers;

		r->channels = to;
		s->channels = to;
		numbers = reallocarray(r->numbers, s->n_channels + 1, sizeof(*numbers));
		if (!numbers)
			return -1;
		r->numbers = numbers;
		numbers[s->n_channels] = number;
		to += s->n_channels++;
		*to = *c;
		to->column = (uint16_t)s->width[c->tier]++;
		return to->column;
	}
	return -1;
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
	struct fact f, *to;

	if (!log_fact_get(in, &f) || r->session.n_facts >= FACTS)
		return;
	to = reallocarray(r->facts, r->session.n_facts + 1, sizeof(*to));
	if (!to)
		return;
	r->facts = to;
	r->session.facts = to;
	to[r->session.n_facts++] = f;
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

bool log_meta_good(const uint8_t *p, size_t n)
{
	struct log_in in = {p, p + n, false}, record;
	struct clock_anchor a;
	unsigned tag;

	while (log_get_tagged(&in, &tag, &record))
		if ((tag == LOG_TAG_START || tag == LOG_TAG_ANCHOR) && !log_anchor_get(&record, &a))
			return false;
	return !in.bad;
}

/* TIER records precede CHANNEL records; a short META has neither. */
int log_meta_take(struct trace *r, const struct log_head *h, const uint8_t *p, size_t n)
{
	struct log_generation g = {.number = h->generation}, *more;
	struct log_in in = {p, p + n, false}, record;
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
		return 0;
	more = reallocarray(r->generations, r->n_generations + 1, sizeof(*more));
	if (!more) {
		for (int t = 0; t < TIERS; t++)
			free(g.column[t]);
		return -1;
	}
	r->generations = more;
	more[r->n_generations++] = g;
	if (g.number > r->newest)
		r->newest = g.number;
	return 0;
}

static bool meta_read(struct trace *r, const struct log_item *item, struct log_head *h)
{
	return log_read_chunk(r, item, h, &r->raw_index);
}

void log_meta_new(struct trace *r, const struct log_item *item)
{
	const uint8_t *p = r->source->get(r->source, item->at, LOG_HEAD);
	struct log_head h;

	if (r->n_generations < LOG_CHANNELS && p && log_head_get(p, &h) && !log_generation_find(r, h.generation) &&
	    meta_read(r, item, &h))
		log_meta_take(r, &h, r->raw_index.p, r->raw_index.n);
}

/* Channels may be added during a recording. */
static void metas_read(struct trace *r)
{
	for (size_t g = 0; g < r->n_groups; g++) {
		const struct log_list *l = r->groups[g].flags & LOG_GROUP_META ? log_list_of(r, &r->groups[g]) : NULL;

		for (size_t i = 0; l && i < l->n; i++)
			if (l->items[i].kind == LOG_META)
				log_meta_new(r, &l->items[i]);
	}
}

/* Reads the anchor of the META in raw_index, which is good. */
static void meta_anchor(struct trace *r, struct clock_anchor *a)
{
	struct log_in in = {r->raw_index.p, r->raw_index.p + r->raw_index.n, false}, record;
	unsigned tag;

	while (log_get_tagged(&in, &tag, &record))
		if (tag == LOG_TAG_ANCHOR)
			log_anchor_get(&record, a);
}

/* --- the first chunk, and what describes it --- */

bool log_other_version(unsigned version, const char *shown, struct err *e)
{
	err_set(e, ERR_FAILED,
		_("%s was written by another version of nvmtop: its format has version %u, this one reads "
		  "%u"),
		shown, version, LOG_VERSION);
	return false;
}

static bool first_head(struct trace *r, uint64_t from, struct err *e)
{
	uint64_t to = r->size - from < FRONT ? r->size : from + FRONT;
	uint64_t at = from < r->size ? log_source_find(r->source, 0, from, to) : to;
	const uint8_t *p = at + LOG_HEAD <= to ? r->source->get(r->source, at, LOG_HEAD) : NULL;
	struct log_head h;

	if (!p || !log_head_get(p, &h)) {
		err_set(e, ERR_FAILED, _("%s is not an nvmtop recording"), r->shown);
		return false;
	}
	r->begin = at;
	r->id = h.session;
	return h.version == LOG_VERSION || log_other_version(h.version, r->shown, e);
}

bool log_through_terminal(struct trace *r, const struct log_item *item)
{
	const uint8_t *p = item->kind == LOG_META ? r->source->get(r->source, item->at + LOG_HEAD, 8) : NULL;

	return p && memcmp(p, log_signature, 4) == 0 && memcmp(p, log_signature, 8) != 0;
}

/* Takes the first full META that can be read: that of the first chunk, or else one found further on. */
static int describe(struct trace *r, struct err *e)
{
	struct log_items items = {.n = 0};
	uint64_t to = r->begin + FRONT, from = r->begin;
	struct log_head h;
	bool mangled = false;

	for (; r->n_generations == 0 && from < r->size; from = to, to += SEARCH) {
		items.n = 0;
		r->quiet = true;
		log_scan(r, from, to < r->size ? to : r->size, from, &items);
		r->quiet = false;
		for (size_t i = 0; i < items.n && r->n_generations == 0; i++) {
			if (items.p[i].kind != LOG_META)
				continue;
			mangled |= log_through_terminal(r, &items.p[i]);
			if (!meta_read(r, &items.p[i], &h))
				continue;
			if (log_meta_take(r, &h, r->raw_index.p, r->raw_index.n) < 0)
				break;
		}
	}
	free(items.p);
	if (r->n_generations > 0)
		return 0;
	if (r->newer)
		return err_set(e, ERR_FAILED, _("%s needs a newer version of nvmtop"), r->shown);
	if (r->damage.first == LOG_FAULT_CONTENT)
		return err_set(e, ERR_FAILED, _("%s cannot be read: its description has times that are out of range"),
			       r->shown);
	if (mangled)
		return err_set(e, ERR_FAILED,
			       _("%s went through a terminal, which changes bytes: use ssh -T"), r->shown);
	return err_set(e, ERR_FAILED, _("%s does not say which signals it has: its description is damaged"),
		       r->shown);
}

/* --- events --- */

void log_events_put(struct trace *r, unsigned kind, struct log_in in)
{
	struct log_event ev;
	struct log_in record;
	bool each = kind == LOG_INDEX;

	while (in.p < in.end) {
		const uint8_t *from;

		if (each)
			kind = log_get_u8(&in);
		from = in.p;
		if (!log_get_record(&in, &record))
			break;
		if (!log_event_get(kind, &record, &ev))
			continue;
		log_put_u8(&r->events, kind);
		log_bytes_put(&r->events, from, (size_t)(in.p - from));
	}
}

static void events_chunk(struct trace *r, const struct log_item *item)
{
	struct log_head h;

	if (log_read_chunk(r, item, &h, &r->raw))
		log_events_put(r, item->kind, (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false});
}

static int by_mark(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	if (m->t_ns != n->t_ns)
		return m->t_ns < n->t_ns ? -1 : 1;
	return (m->id > n->id) - (m->id < n->id);
}

static int by_gap(const void *a, const void *b)
{
	const struct gap *g = a, *h = b;

	if (g->from_ns != h->from_ns)
		return g->from_ns < h->from_ns ? -1 : 1;
	if (g->to_ns != h->to_ns)
		return g->to_ns < h->to_ns ? -1 : 1;
	if (g->tier != h->tier)
		return g->tier < h->tier ? -1 : 1;
	return g->cause != h->cause ? (int)g->cause - (int)h->cause : (g->missed > h->missed) - (g->missed < h->missed);
}

static int by_change(const void *a, const void *b)
{
	const struct change *c = a, *d = b;
	int order = change_is_reason(c) - change_is_reason(d);

	if (order)
		return order;
	if (c->t_ns != d->t_ns)
		return c->t_ns < d->t_ns ? -1 : 1;
	order = strcmp(c->what, d->what);
	order = order ? order : strcmp(c->from, d->from);
	return order ? order : strcmp(c->to, d->to);
}

/* Sorts the list and removes duplicates; returns the new length. */
static size_t sort_once(void *list, size_t n, size_t size, int (*order)(const void *, const void *))
{
	char *p = list;
	size_t kept = n > 0;

	if (n > 1)
		qsort(list, n, size, order);
	for (size_t i = 1; i < n; i++)
		if (order(p + (kept - 1) * size, p + i * size) != 0)
			memmove(p + kept++ * size, p + i * size, size);
	return kept;
}

static bool event_next(struct log_in *in, unsigned *kind, struct log_in *record)
{
	if (in->p >= in->end)
		return false;
	*kind = log_get_u8(in);
	return log_get_record(in, record);
}

/* Returns whether the record is of a channel of this session. */
static bool state_take(struct trace *r, struct log_in *record)
{
	struct state_event *e = &r->states[r->n_states];
	size_t channel = 0;

	if (!log_state_get(record, e) || e->kind >= STATE_KINDS || e->from_ns > e->to_ns)
		return false;
	while (channel < r->session.n_channels && r->numbers[channel] != e->channel)
		channel++;
	e->channel = (uint32_t)channel;
	return channel < r->session.n_channels;
}

static int by_state(const void *a, const void *b)
{
	const struct state_event *e = a, *f = b;

	if (e->from_ns != f->from_ns)
		return e->from_ns < f->from_ns ? -1 : 1;
	if (e->channel != f->channel)
		return e->channel < f->channel ? -1 : 1;
	if (e->to_ns != f->to_ns)
		return e->to_ns < f->to_ns ? -1 : 1;
	return (f->flags & STATE_OPEN) - (e->flags & STATE_OPEN);
}

/* Sorts the events. Of one that was recorded as open and again at its end, the latter is kept. One that is open lasts
 * until the next of its channel, or the last row. */
static int states_sort(struct trace *r)
{
	struct state_event *s = r->states;
	size_t n = 0;
	int64_t *next = calloc(r->session.n_channels + 1, sizeof(*next)), latest = INT64_MIN;

	r->state_reach = calloc(r->n_states + 1, sizeof(*r->state_reach));
	if (!next || !r->state_reach) {
		free(next);
		return -1;
	}
	if (r->n_states > 1)
		qsort(s, r->n_states, sizeof(*s), by_state);
	for (size_t i = 0; i < r->n_states; i++)
		if (n > 0 && s[n - 1].from_ns == s[i].from_ns && s[n - 1].channel == s[i].channel)
			s[n - 1] = s[i];
		else
			s[n++] = s[i];
	r->n_states = n;
	for (size_t i = 0; i < r->session.n_channels; i++)
		next[i] = r->tail.ended ? INT64_MIN : r->last_ns;
	for (size_t i = n; i-- > 0;) {
		if (s[i].flags & STATE_OPEN && next[s[i].channel] > s[i].to_ns)
			s[i].to_ns = next[s[i].channel];
		next[s[i].channel] = s[i].from_ns;
	}
	for (size_t i = 0; i < n; i++)
		r->state_reach[i] = latest = s[i].to_ns > latest ? s[i].to_ns : latest;
	free(next);
	return 0;
}

static void events_take(struct trace *r, struct log_in in)
{
	struct log_in record;
	unsigned kind;

	while (event_next(&in, &kind, &record)) {
		if (kind == LOG_MARK)
			r->n_marks += log_mark_get(&record, &r->marks[r->n_marks]);
		else if (kind == LOG_GAP)
			r->n_gaps += log_gap_get(&record, &r->gaps[r->n_gaps]) &&
				     r->gaps[r->n_gaps].cause <= GAP_ABSENT;
		else if (kind == LOG_STATE)
			r->n_changes += log_change_get(&record, &r->changes[r->n_changes]);
		else if (kind == LOG_EVENT)
			r->n_states += state_take(r, &record);
	}
}

/* What was recorded in missing files is a gap from the last row before them to the first one after them, unless it is
 * listed as another gap. */
static void gaps_absent(struct trace *r)
{
	size_t listed = r->n_gaps;

	for (size_t i = 0; i < r->n_holes; i++)
		for (enum tier t = 0; t < TIERS; t++) {
			uint64_t row = log_rows_before(r, t, r->holes[i]), first;
			struct gap g = {.tier = t, .cause = GAP_ABSENT};
			const struct log_block *b = row > 0 && row < r->rows[t] ? log_block_of(r, t, row - 1, &first) : NULL;
			int64_t missed;

			g.from_ns = b ? b->t_ns[row - 1 - first] : 0;
			b = b ? log_block_of(r, t, row, &first) : NULL;
			if (!b)
				continue;
			g.to_ns = b->t_ns[row - first];
			missed = llround((double)(g.to_ns - g.from_ns) * r->session.hz[t] / NS_PER_S) - 1;
			for (size_t k = 0; missed > 0 && k < listed; k++)
				if (r->gaps[k].tier == t && r->gaps[k].from_ns < g.to_ns && r->gaps[k].to_ns > g.from_ns)
					missed = r->gaps[k].missed < (uint64_t)missed ? missed - (int64_t)r->gaps[k].missed : 0;
			g.missed = missed > 0 ? (uint64_t)missed : 0;
			if (missed > 0)
				r->gaps[r->n_gaps++] = g;
		}
}

static int events_read(struct trace *r)
{
	size_t n[LOG_KINDS] = {0};
	struct log_in in, count, record;
	unsigned kind;
	bool ok;

	for (size_t g = 0; g < r->n_groups; g++) {
		const struct log_list *l = r->groups[g].flags & LOG_GROUP_EVENTS ? log_list_of(r, &r->groups[g]) : NULL;

		for (size_t i = 0; l && i < l->n; i++)
			if (log_has_events(l->items[i].kind))
				events_chunk(r, &l->items[i]);
	}
	in = count = (struct log_in) {r->events.p, r->events.p + r->events.n, false};
	while (event_next(&count, &kind, &record))
		n[kind < LOG_KINDS ? kind : 0]++;
	for (kind = 0; kind < LOG_KINDS; kind++)
		n[kind] = n[kind] < EVENTS ? n[kind] : EVENTS;
	r->marks = calloc(n[LOG_MARK] + 1, sizeof(*r->marks));
	r->gaps = calloc(n[LOG_GAP] + TIERS * r->n_holes + 1, sizeof(*r->gaps));
	r->changes = calloc(n[LOG_STATE] + 1, sizeof(*r->changes));
	r->states = calloc(n[LOG_EVENT] + 1, sizeof(*r->states));
	ok = r->marks && r->gaps && r->changes && r->states && !r->events.failed;
	if (ok) {
		in.end = count.p;
		events_take(r, in);
		gaps_absent(r);
		r->n_marks = sort_once(r->marks, r->n_marks, sizeof(*r->marks), by_mark);
		r->n_gaps = sort_once(r->gaps, r->n_gaps, sizeof(*r->gaps), by_gap);
		r->n_changes = sort_once(r->changes, r->n_changes, sizeof(*r->changes), by_change);
		ok = states_sort(r) == 0;
		while (r->n_changes && change_is_reason(&r->changes[r->n_changes - 1])) {
			r->n_changes--;
			r->n_reasons++;
		}
	}
	log_bytes_free(&r->events);
	return ok ? 0 : -1;
}

/* --- clocks --- */

/* Adds the anchor from the first META in or after the group of t_ns: that META was written when the change or
 * suspend was noticed. */
static void anchor_at(struct trace *r, int64_t t_ns)
{
	struct clock_anchor a = r->session.start;
	struct log_head h;
	size_t g = times_from(r->groups, r->n_groups, sizeof(*r->groups), offsetof(struct log_group, cell),
			      log_span_cell(log_span(log_cell(t_ns), 1), 1));

	for (size_t end = g + NOTICED; g < r->n_groups && g < end; g++) {
		const struct log_list *l = log_list_of(r, &r->groups[g]);

		for (size_t i = 0; l && i < l->n; i++)
			if (l->items[i].kind == LOG_META && meta_read(r, &l->items[i], &h)) {
				meta_anchor(r, &a);
				r->anchors[r->n_anchors++] = a;
				return;
			}
	}
}

static int by_anchor(const void *a, const void *b)
{
	const struct clock_anchor *c = a, *d = b;

	return (c->mono_ns > d->mono_ns) - (c->mono_ns < d->mono_ns);
}

/* Reads the newest META. */
static bool newest_meta(struct trace *r)
{
	for (size_t g = r->n_groups; g-- > 0;) {
		const struct log_list *l = log_list_of(r, &r->groups[g]);
		const struct log_item *last = NULL;
		struct log_head h;

		for (size_t i = 0; l && i < l->n; i++)
			if (l->items[i].kind == LOG_META && (!last || l->items[i].at > last->at))
				last = &l->items[i];
		if (last)
			return meta_read(r, last, &h);
	}
	return false;
}

/* Removes the gaps of suspends: CLOCK_MONOTONIC stops during a suspend, so no row is missing. */
static void gaps_without_suspends(struct trace *r)
{
	size_t n = r->n_gaps;

	r->n_gaps = 0;
	for (size_t i = 0; i < n; i++)
		if (r->gaps[i].cause != LOG_SUSPENDED)
			r->gaps[r->n_gaps++] = r->gaps[i];
}

static int clocks_read(struct trace *r)
{
	struct clock_anchor a = r->session.start;

	r->anchors = calloc(r->n_changes + r->n_gaps + 2, sizeof(*r->anchors));
	if (!r->anchors)
		return -1;
	r->anchors[r->n_anchors++] = a;
	for (size_t i = 0; i < r->n_changes; i++)
		if (strcmp(r->changes[i].what, "clock") == 0)
			anchor_at(r, r->changes[i].t_ns);
	for (size_t i = 0; i < r->n_gaps; i++)
		if (r->gaps[i].cause == LOG_SUSPENDED)
			anchor_at(r, r->gaps[i].to_ns);
	if (newest_meta(r)) {
		meta_anchor(r, &a);
		r->anchors[r->n_anchors++] = a;
	}
	r->n_anchors = sort_once(r->anchors, r->n_anchors, sizeof(*r->anchors), by_anchor);
	gaps_without_suspends(r);
	r->gap_reach = calloc(r->n_gaps + 1, sizeof(*r->gap_reach));
	for (size_t i = 0; r->gap_reach && i < r->n_gaps; i++)
		r->gap_reach[i] = i > 0 && r->gap_reach[i - 1] > r->gaps[i].to_ns ? r->gap_reach[i - 1] : r->gaps[i].to_ns;
	return r->gap_reach ? 0 : -1;
}

/* --- the end --- */

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

static void end_read(struct trace *r)
{
	struct log_head h;

	if (r->end.kind && log_read_chunk(r, &r->end, &h, &r->raw))
		log_end_take(r);
}

static void rows_extent(struct trace *r)
{
	for (enum tier t = 0; t < TIERS; t++) {
		uint64_t rows = r->rows[t], first;
		const struct log_block *b = rows > 0 ? log_block_of(r, t, 0, &first) : NULL;

		if (b && (!r->any || b->t_ns[0] < r->first_ns))
			r->first_ns = b->t_ns[0];
		b = b ? log_block_of(r, t, rows - 1, &first) : NULL;
		if (b && (!r->any || b->t_ns[b->n - 1] > r->last_ns))
			r->last_ns = b->t_ns[b->n - 1];
		r->any |= b != NULL;
	}
	/* Rows that are lost are at the beginning of their cell. */
	if (r->any && log_cell(r->first_ns) < log_cell(r->session.start.mono_ns)) {
		log_note(r, LOG_FAULT_CONTENT, r->begin, LOG_SEQ_NONE, log_cell(r->first_ns), 0);
		r->session.start = (struct clock_anchor) {.mono_ns = r->first_ns};
	}
}

#define DAY_NS (86400 * NS_PER_S)

/* What came before the start is part of how it was then; no recording goes on for a day without a row. */
static void reach(struct trace *r, int64_t from_ns, int64_t to_ns)
{
	int64_t start_ns = r->session.start.mono_ns > 0 ? r->session.start.mono_ns : 0;
	int64_t most_ns = (r->any ? r->last_ns : start_ns) + DAY_NS;

	from_ns = from_ns > start_ns ? from_ns : start_ns;
	to_ns = to_ns > start_ns ? to_ns : start_ns;
	from_ns = from_ns < most_ns ? from_ns : most_ns;
	to_ns = to_ns < most_ns ? to_ns : most_ns;
	r->from_ns = from_ns < r->from_ns ? from_ns : r->from_ns;
	r->to_ns = to_ns > r->to_ns ? to_ns : r->to_ns;
}

/* A gap lies between rows. The begin of the first range is not looked for: there may be one from the start on. */
static void extent(struct trace *r)
{
	int64_t end_ns = log_ranges_end(r);
	bool ranges = false;

	r->from_ns = r->any ? r->first_ns : INT64_MAX;
	r->to_ns = r->any ? r->last_ns : INT64_MIN;
	if (r->n_marks)
		reach(r, r->marks[0].t_ns, r->marks[r->n_marks - 1].t_ns);
	if (r->n_changes)
		reach(r, r->changes[0].t_ns, r->changes[r->n_changes - 1].t_ns);
	for (size_t i = 0; i < r->n_groups; i++)
		ranges |= r->groups[i].flags & LOG_GROUP_RANGES;
	if (ranges)
		reach(r, r->session.start.mono_ns, end_ns);
}

static int load(struct trace *r, uint64_t from, struct err *e)
{
	if (!first_head(r, from, e) || describe(r, e) < 0)
		return -1;
	if (log_groups_read(r) < 0)
		return err_set(e, ERR_FAILED, _("out of memory while reading %s"), r->shown);
	if (r->newest > r->generations[0].number || r->n_generations > 1)
		metas_read(r);
	rows_extent(r);
	end_read(r);
	if (events_read(r) < 0 || clocks_read(r) < 0)
		return err_set(e, ERR_FAILED, _("out of memory while reading %s"), r->shown);
	extent(r);
	if (r->newer)
		return err_set(e, ERR_FAILED, _("%s needs a newer version of nvmtop"), r->shown);
	return 0;
}

struct trace *trace_alloc(void)
{
	struct trace *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->timeline.ops = &log_timeline_ops;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->energy_lock, NULL);
	r->unpacker = log_unpacker_new();
	r->caches = calloc(LOG_CACHES, sizeof(*r->caches));
	for (int i = 0; r->caches && i < LOG_CACHES; i++)
		r->caches[i].most = (const size_t[]) {FAST_ROWS, ROWS, LISTS, STRIPS}[i];
	if (r->caches && r->unpacker)
		return r;
	trace_close(r);
	return NULL;
}

static int files_take(struct trace *r, const int *fds, size_t n, struct err *e)
{
	struct stat st;

	r->files = calloc(n, sizeof(*r->files));
	for (size_t i = 0; i < n && !r->files; i++)
		close(fds[i]);
	if (!r->files)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (size_t i = 0; i < n; i++)
		r->files[r->n_files++].fd = fds[i];
	for (struct log_piece *f = r->files; f < r->files + n; f++) {
		if (fstat(f->fd, &st) < 0)
			return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), r->shown);
		f->at = r->size;
		f->size = (uint64_t)st.st_size;
		r->size += f->size;
	}
	log_file_begin(&r->file, r->files, n);
	r->source = &r->file.source;
	return 0;
}

struct trace *trace_open_logs(const int *fds, size_t n, uint64_t from, const char *shown, struct err *e)
{
	struct trace *r = trace_alloc();

	if (!r || !(r->shown = strdup(shown))) {
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
		trace_close(r);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	if (files_take(r, fds, n, e) == 0 && load(r, from, e) == 0)
		return r;
	trace_close(r);
	return NULL;
}

struct trace *trace_open_log(int fd, uint64_t from, const char *shown, struct err *e)
{
	return trace_open_logs(&fd, 1, from, shown, e);
}

void trace_close(struct trace *r)
{
	if (!r)
		return;
	log_groups_free(r);
	for (int i = 0; r->caches && i < LOG_CACHES; i++)
		log_cache_clear(&r->caches[i]);
	free(r->caches);
	log_file_end(&r->file);
	ranges_free(r->ranges);
	ranges_free(r->other_ranges);
	free(r->range_chunks);
	bin_order_free(&r->order);
	log_bytes_free(&r->raw);
	log_bytes_free(&r->raw_index);
	free(r->faulty);
	free(r->holes);
	free(r->marks);
	free(r->gaps);
	free(r->gap_reach);
	free(r->sources);
	free(r->changes);
	free(r->states);
	free(r->state_reach);
	free(r->anchors);
	free(r->shown);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->energy_lock);
	while (r->n_files > 0)
		close(r->files[--r->n_files].fd);
	free(r->files);
	for (size_t i = 0; i < r->n_generations; i++)
		for (int t = 0; t < TIERS; t++)
			free(r->generations[i].column[t]);
	free(r->generations);
	log_unpacker_free(r->unpacker);
	free(r->channels);
	free(r->numbers);
	free(r->facts);
	free(r);
}

void trace_renew(struct trace *r, struct trace *newer)
{
	struct trace old = *r;

	*r = *newer;
	*newer = old;
	newer->session = r->session;
	newer->channels = r->channels;
	newer->numbers = r->numbers;
	newer->facts = r->facts;
	newer->other_ranges = NULL;
	newer->source = &newer->file.source;
	r->source = &r->file.source;
	r->session = old.session;
	r->channels = old.channels;
	r->numbers = old.numbers;
	r->facts = old.facts;
	r->other_ranges = old.other_ranges;
	trace_close(newer);
}

struct timeline *trace_timeline(struct trace *r)
{
	return &r->timeline;
}

void trace_show_ranges(struct trace *r, struct ranges *other)
{
	ranges_free(r->other_ranges);
	r->other_ranges = other;
}

/* --- what does not change --- */

const struct session *trace_session(const struct trace *r)
{
	return &r->session;
}

const struct mark *log_reader_marks(const struct trace *r, size_t *n)
{
	*n = r->n_marks;
	return r->marks;
}

const struct gap *log_reader_gaps(const struct trace *r, size_t *n)
{
	*n = r->n_gaps;
	return r->gaps;
}

const struct change *log_reader_changes(const struct trace *r, size_t *n)
{
	*n = r->n_changes;
	return r->changes;
}

const struct change *log_reader_reasons(const struct trace *r, size_t *n)
{
	*n = r->n_reasons;
	return r->changes + r->n_changes;
}

const struct clock_anchor *trace_anchors(const struct trace *r, size_t *n)
{
	*n = r->n_anchors;
	return r->anchors;
}

uint64_t trace_absent(const struct trace *r)
{
	return r->absent;
}

bool trace_truncated(const struct trace *r, uint64_t *size)
{
	bool truncated = false;
	struct stat st;

	*size = 0;
	for (const struct log_piece *f = r->files; f < r->files + r->n_files; f++) {
		uint64_t left = fstat(f->fd, &st) == 0 && (uint64_t)st.st_size < f->size ? (uint64_t)st.st_size : f->size;

		truncated |= left < f->size;
		*size += left;
	}
	return truncated;
}

void trace_tail(const struct trace *r, struct log_tail *out)
{
	*out = r->tail;
}

uint64_t trace_rows(const struct trace *r, enum tier tier)
{
	return r->rows[tier];
}

bool trace_extent(const struct trace *r, int64_t *first_ns, int64_t *last_ns)
{
	bool any = r->from_ns <= r->to_ns;

	*first_ns = any ? r->from_ns : 0;
	*last_ns = any ? r->to_ns : 0;
	return any;
}
