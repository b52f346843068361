/* Opens a log: reads its session from the first META, its chunks from the newest INDEX and a scan of the
 * heads after it. */
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
#include "trace/log-tree.h"
#include "trace/trace-file.h"

#define FRONT	  65536			/* other bytes that may precede the first chunk */
#define SEARCH	  (UINT64_C(64) << 20) /* bytes searched at a time for the first META */
#define FAST_ROWS ((size_t)1 << 20) /* bytes cached */
#define ROWS	  ((size_t)1 << 20) /* of other rows */
#define LISTS	  ((size_t)2 << 20)
#define STRIPS	  ((size_t)6 << 20) /* of strips, LOD and STAT */
#define FACTS	  1024
#define FAULTS	  65536 /* damaged chunks that are counted only once each */
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

/* --- the first chunk, and what describes it --- */

bool log_other_version(unsigned version, const char *shown, struct err *e)
{
	err_set(e, ERR_FAILED,
		_("%s was written by another version of nvmtop: its format has version %u, this one reads "
		  "%u"),
		shown, version, LOG_VERSION);
	return false;
}

static bool first_head(struct trace *r, struct err *e)
{
	uint64_t to = r->size < FRONT ? r->size : FRONT, at = log_source_find(r->source, 0, 0, to);
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
	const struct mark *marks = r->events[EVENTS_MARK].p;
	const struct change *changes = r->events[EVENTS_CHANGE].p;
	int64_t end_ns = log_ranges_end(r);
	bool ranges = false;

	r->from_ns = r->any ? r->first_ns : INT64_MAX;
	r->to_ns = r->any ? r->last_ns : INT64_MIN;
	if (r->events[EVENTS_MARK].n)
		reach(r, marks[0].t_ns, marks[r->events[EVENTS_MARK].n - 1].t_ns);
	if (r->events[EVENTS_CHANGE].n)
		reach(r, changes[0].t_ns, changes[r->events[EVENTS_CHANGE].n - 1].t_ns);
	for (size_t i = 0; i < r->n_groups; i++)
		ranges |= r->groups[i].flags & LOG_GROUP_RANGES;
	if (ranges)
		reach(r, r->session.start.mono_ns, end_ns);
}

static int load(struct trace *r, struct err *e)
{
	if (!first_head(r, e) || describe(r, e) < 0)
		return -1;
	if (log_groups_read(r) < 0)
		return err_set(e, ERR_FAILED, _("out of memory while reading %s"), r->shown);
	if (r->newest > r->generations[0].number || r->n_generations > 1)
		metas_read(r);
	rows_extent(r);
	end_read(r);
	if (!log_events_read(r))
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
	r->rows_from_ns = INT64_MIN;
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

struct trace *trace_open_logs(const int *fds, size_t n, const char *shown, struct err *e)
{
	struct trace *r = trace_alloc();

	if (!r || !(r->shown = strdup(shown))) {
		for (size_t i = 0; i < n; i++)
			close(fds[i]);
		trace_close(r);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	if (files_take(r, fds, n, e) == 0 && load(r, e) == 0)
		return r;
	trace_close(r);
	return NULL;
}

void trace_close(struct trace *r)
{
	if (!r)
		return;
	trace_opened_free(r->opened);
	log_groups_free(r);
	for (int i = 0; r->caches && i < LOG_CACHES; i++)
		log_cache_clear(&r->caches[i]);
	free(r->caches);
	log_file_end(&r->file);
	ranges_free(r->ranges);
	ranges_free(r->other_ranges);
	free(r->range_chunks);
	fold_free(&r->fold);
	log_bytes_free(&r->raw);
	log_bytes_free(&r->raw_index);
	free(r->faulty);
	free(r->holes);
	log_events_free(r);
	free(r->sources);
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
	r->source = &r->file.source;
	newer->source = &newer->file.source;
	newer->opened = NULL;
	newer->other_ranges = NULL;
	newer->shown = r->shown;
	r->opened = old.opened;
	r->other_ranges = old.other_ranges;
	r->shown = old.shown;
	if (old.n_generations > 0) {
		newer->session = r->session;
		newer->channels = r->channels;
		newer->numbers = r->numbers;
		newer->facts = r->facts;
		r->session = old.session;
		r->channels = old.channels;
		r->numbers = old.numbers;
		r->facts = old.facts;
	}
	trace_close(newer);
}

struct timeline *trace_timeline(struct trace *r)
{
	return &r->timeline;
}

/* --- what does not change --- */

const struct session *trace_session(const struct trace *r)
{
	return &r->session;
}

const struct clock_anchor *trace_anchors(const struct trace *r, size_t *n)
{
	*n = r->opened && r->opened->version1 >= 0 ? 0 : r->n_anchors;
	return r->anchors;
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
