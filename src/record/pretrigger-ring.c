/* The chunks are those of a log without an index: a second of a board takes about 12 kB, so a
 * minute is held in less than a megabyte. */
#include "record/pretrigger-ring.h"

#include <stdlib.h>
#include <string.h>

#include "trace/log-decode.h"

#define CELL_NS     (INT64_C(1) << LOG_CELL_ZOOM)
#define EVENT_BYTES 4096 /* of marks, gaps and changes in a second */

double chunk_ring_bytes(const struct session *about, int64_t span_ns)
{
	double second = EVENT_BYTES, cells = (double)NS_PER_S / (double)CELL_NS;

	for (int t = 0; t < TIERS; t++) {
		second += about->hz[t] * (8 * (double)about->width[t] + 4);
		second += cells * ((double)about->width[t] + 32);
	}
	second += cells * (double)(sizeof(struct ring_chunk) + LOG_HEAD + sizeof(void *));
	return second * ((double)span_ns / (double)NS_PER_S + 1);
}

int chunk_ring_begin(struct chunk_ring *r, const struct session *about, int64_t span_ns)
{
	*r = (struct chunk_ring) {.room = 64, .span_ns = span_ns, .n_facts = about->n_facts};
	r->limit = (size_t)chunk_ring_bytes(about, span_ns);
	r->chunks = calloc(r->room, sizeof(*r->chunks));
	r->facts = calloc(about->n_facts + 1, sizeof(*r->facts));
	if (!r->chunks || !r->facts)
		return -1;
	if (about->n_facts)
		memcpy(r->facts, about->facts, about->n_facts * sizeof(*r->facts));
	return 0;
}

static struct ring_chunk **slot(const struct chunk_ring *r, uint64_t number)
{
	return &r->chunks[number & (r->room - 1)];
}

static size_t size_of(const struct ring_chunk *c)
{
	return sizeof(*c) + c->n + sizeof(c);
}

static int chunk_read(struct ring_reader *d, const struct ring_chunk *c)
{
	struct log_head h;

	if (!d->unpacker)
		d->unpacker = log_unpacker_new();
	if (!d->unpacker || !log_head_get(c->bytes, &h) || h.stored != c->n - LOG_HEAD)
		return -1;
	return log_unpack(d->unpacker, &h, c->bytes + LOG_HEAD, &d->raw) == LOG_OK ? 0 : -1;
}

/* Those that were made before that time. */
static void changes_apply(const struct ring_chunk *c, int64_t t_ns, struct fact *facts, size_t n)
{
	struct ring_reader d = {.unpacker = NULL};

	if (c->entry.kind == LOG_STATE && chunk_read(&d, c) == 0) {
		struct log_in in = {d.raw.p, d.raw.p + d.raw.n, false}, record;
		struct change change;

		while (log_get_record(&in, &record))
			if (log_change_get(&record, &change) && change.t_ns < t_ns)
				facts_change(facts, n, &change);
	}
	ring_reader_free(&d);
}

static void drop_first(struct chunk_ring *r)
{
	struct ring_chunk *c = *slot(r, r->first++);

	changes_apply(c, INT64_MAX, r->facts, r->n_facts);
	r->bytes -= size_of(c);
	free(c);
}

static bool grow(struct chunk_ring *r)
{
	struct chunk_ring old = *r;

	if (r->end - r->first < r->room)
		return true;
	r->chunks = calloc(2 * old.room, sizeof(*r->chunks));
	if (!r->chunks) {
		r->chunks = old.chunks;
		return false;
	}
	r->room = 2 * old.room;
	for (uint64_t i = r->first; i < r->end; i++)
		*slot(r, i) = *slot(&old, i);
	free(old.chunks);
	return true;
}

bool chunk_ring_put(void *ring, const struct log_entry *e, const uint8_t *chunk, size_t n)
{
	struct chunk_ring *r = ring;
	int64_t oldest = ((e->cell + 1) << LOG_CELL_ZOOM) - r->span_ns;
	struct ring_chunk *c;

	if (e->kind != LOG_DATA && e->kind != LOG_MARK && e->kind != LOG_GAP && e->kind != LOG_STATE)
		return true;
	c = grow(r) ? malloc(sizeof(*c) + n) : NULL;
	if (!c)
		return false;
	*c = (struct ring_chunk) {.entry = *e, .n = n};
	memcpy(c->before, r->rows, sizeof(c->before));
	memcpy(c->bytes, chunk, n);
	for (int t = 0; t < TIERS; t++)
		r->rows[t] += e->rows[t];
	*slot(r, r->end++) = c;
	r->bytes += size_of(c);
	while (r->first + 1 < r->end &&
	       (r->bytes > r->limit || ((*slot(r, r->first))->entry.cell + 1) << LOG_CELL_ZOOM <= oldest))
		drop_first(r);
	if (r->bytes > r->bytes_most)
		r->bytes_most = r->bytes;
	return true;
}

const struct ring_chunk *chunk_ring_at(const struct chunk_ring *r, uint64_t number)
{
	return number >= r->first && number < r->end ? *slot(r, number) : NULL;
}

int chunk_ring_copy(const struct chunk_ring *r, uint64_t number, struct ring_chunk **out)
{
	const struct ring_chunk *c = *slot(r, number);
	struct ring_chunk *more = realloc(*out, sizeof(*c) + c->n);

	if (!more)
		return -1;
	memcpy(more, c, sizeof(*c) + c->n);
	*out = more;
	return 0;
}

uint64_t chunk_ring_find(const struct chunk_ring *r, int64_t t_ns)
{
	uint64_t number = r->first;

	while (number < r->end && ((*slot(r, number))->entry.kind != LOG_DATA ||
				   (*slot(r, number))->entry.cell < log_cell(t_ns)))
		number++;
	return number;
}

void chunk_ring_facts(const struct chunk_ring *r, int64_t t_ns, struct fact *facts)
{
	if (r->n_facts)
		memcpy(facts, r->facts, r->n_facts * sizeof(*facts));
	for (uint64_t i = r->first; i < r->end; i++)
		changes_apply(*slot(r, i), t_ns, facts, r->n_facts);
}

void chunk_ring_free(struct chunk_ring *r)
{
	for (uint64_t i = r->first; i < r->end; i++)
		free(*slot(r, i));
	free(r->chunks);
	free(r->facts);
}

/* --- what a chunk holds --- */

static bool reader_room(struct ring_reader *d, size_t doubles)
{
	if (!d->t_ns) {
		d->t_ns = malloc(LOG_ROWS_MAX * sizeof(*d->t_ns));
		d->column = malloc(LOG_ROWS_MAX * sizeof(*d->column));
	}
	if (doubles > d->room) {
		double *values = reallocarray(d->values, doubles, sizeof(*values));

		d->room = values ? doubles : d->room;
		d->values = values ? values : d->values;
	}
	return d->t_ns && d->column && doubles <= d->room;
}

static int rows_read(struct ring_reader *d, int64_t cell, struct sink *to)
{
	struct log_in in = {d->raw.p, d->raw.p + d->raw.n, false};
	struct log_section s;

	while (log_data_next(&in, &s) == 1) {
		if (!reader_room(d, (size_t)s.n * s.columns) || log_section_times(&s, cell, d->t_ns) < 0)
			return -1;
		log_section_values(&s, NULL, 0, s.columns, d->values, d->column);
		to->ops->rows(to, &(struct rows) {(enum tier)s.tier, s.n, s.columns, d->t_ns, d->values});
	}
	return 0;
}

int chunk_ring_read(struct ring_reader *d, const struct ring_chunk *c, struct sink *to)
{
	struct log_in in, record;
	struct log_event ev;

	if (chunk_read(d, c) < 0)
		return -1;
	if (c->entry.kind == LOG_DATA)
		return rows_read(d, c->entry.cell, to);
	in = (struct log_in) {d->raw.p, d->raw.p + d->raw.n, false};
	while (log_get_record(&in, &record))
		if (log_event_get(c->entry.kind, &record, &ev))
			log_event_send(&ev, to);
	return 0;
}

void ring_reader_free(struct ring_reader *d)
{
	log_unpacker_free(d->unpacker);
	log_bytes_free(&d->raw);
	free(d->t_ns);
	free(d->values);
	free(d->column);
}
