/* Reads chunks of an open log. Each part of a reader may meet the same damage: here it is found, counted once, and told in
 * one sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/job.h"
#include "trace/log-read.h"

#define FAST_ROWS ((size_t)1 << 20) /* bytes cached */
#define ROWS	  ((size_t)1 << 20) /* of other rows */
#define LISTS	  ((size_t)2 << 20)
#define STRIPS	  ((size_t)6 << 20) /* of strips, LOD and STAT */
#define TILES	  ((size_t)4 << 20)
#define CHUNKS	  ((size_t)1 << 20)
#define FAULTS	  65536 /* damaged chunks that are counted only once each */
#define NEWER     (UINT64_C(1) << 63) /* flag in an offset: the chunk itself, not what is missing before it */

struct trace *trace_new(const struct log_place *place, const struct timeline_ops *ops)
{
	struct trace *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->timeline.ops = ops;
	r->place = place;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->energy_lock, NULL);
	pthread_mutex_init(&r->packed_lock, NULL);
	r->version1 = -1;
	r->unpacker = log_unpacker_new();
	r->caches = calloc(LOG_CACHES, sizeof(*r->caches));
	for (int i = 0; r->caches && i < LOG_CACHES; i++)
		r->caches[i].most = (const size_t[]) {FAST_ROWS, ROWS, LISTS, STRIPS, TILES, CHUNKS}[i];
	log_forget(r);
	if (r->caches && r->unpacker)
		return r;
	trace_close(r);
	return NULL;
}

void log_forget(struct trace *r)
{
	log_events_free(r);
	free(r->sources);
	free(r->holes);
	free(r->faulty);
	for (size_t i = 0; i < r->n_groups; i++)
		free(r->groups[i].list);
	free(r->groups);
	free(r->sums);
	ranges_free(r->ranges);
	free(r->range_chunks);
	for (int i = 0; r->caches && i < LOG_CACHES; i++)
		log_cache_clear(&r->caches[i]);
	memset((char *)r + offsetof(struct trace, events), 0, sizeof(*r) - offsetof(struct trace, events));
	r->settled = LOG_CELL_LIMIT;
	r->rows_from_ns = INT64_MIN;
	r->from_ns = INT64_MAX;
	r->to_ns = INT64_MIN;
}

void trace_close(struct trace *r)
{
	if (!r)
		return;
	if (r->import)
		job_cancel((struct job *)(void *)r->import);
	if (r->version1 >= 0)
		close(r->version1);
	if (r->packed.p)
		munmap(r->packed.p, r->packed.size);
	log_forget(r);
	ranges_free(r->other_ranges);
	free(r->caches);
	log_unpacker_free(r->unpacker);
	fold_free(&r->fold);
	log_bytes_free(&r->raw);
	log_file_end(&r->file);
	while (r->n_files > 0) {
		close(r->files[--r->n_files].fd);
		free(r->files[r->n_files].path);
	}
	free(r->files);
	free(r->shown);
	for (size_t i = 0; i < r->n_generations; i++)
		for (int t = 0; t < TIERS; t++)
			free(r->generations[i].column[t]);
	free(r->generations);
	free(r->channels);
	free(r->numbers);
	free(r->facts);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->energy_lock);
	pthread_mutex_destroy(&r->packed_lock);
	free(r);
}

/* --- what was found --- */

struct timeline *trace_timeline(struct trace *r)
{
	return &r->timeline;
}

const struct session *trace_session(const struct trace *r)
{
	return &r->session;
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

/* --- damage --- */

/* Whether the damage there was counted before; now it is. */
static bool faulty(struct trace *r, uint64_t at)
{
	size_t i = times_from(r->faulty, r->n_faulty, sizeof(*r->faulty), 0, (int64_t)at);

	if (i < r->n_faulty && r->faulty[i] == (int64_t)at)
		return true;
	if (r->n_faulty == FAULTS || !array_add(&r->faulty, &r->n_faulty, sizeof(*r->faulty)))
		return r->n_faulty > 0;
	memmove(r->faulty + i + 1, r->faulty + i, (r->n_faulty - 1 - i) * sizeof(*r->faulty));
	r->faulty[i] = (int64_t)at;
	return false;
}

bool log_note(struct trace *r, enum log_fault fault, uint64_t at, uint64_t seq, int64_t cell, uint64_t rows)
{
	struct log_damage *d = &r->damage;

	if (faulty(r, at))
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
	else if (!faulty(r, at | NEWER))
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

bool log_head_at(struct trace *r, uint64_t at, struct log_head *h)
{
	const uint8_t *p = r->source->get(r->source, at, LOG_HEAD);

	return p && log_head_get(p, h) && h->session == r->id;
}

/* What is wrong with a chunk, or LOG_FAULT_NONE with the head and payload. DATA is kept. */
static enum log_fault chunk_get(struct trace *r, const struct log_item *item, struct log_head *h)
{
	struct log_cache *cache = &r->caches[LOG_CHUNKS];
	struct log_block *b = item->kind == LOG_DATA ? log_cache_find(cache, item->at) : NULL;
	struct log_kept *kept = b ? (struct log_kept *)(void *)b->records : NULL;
	struct log_bytes room = {.room = SIZE_MAX}, *to = &r->raw;
	const uint8_t *p = item->bytes;
	enum log_unpacked done;
	enum log_fault fault;

	if (kept) {
		*h = kept->head;
		r->data = kept->data;
		return kept->fault;
	}
	if (!p && item->stored <= LOG_STORED_MAX)
		p = r->source->get(r->source, item->at, LOG_HEAD + item->stored);
	if (!p || !log_head_get(p, h) || h->session != r->id || h->kind != item->kind || h->stored != item->stored ||
	    h->cell != item->cell)
		return LOG_FAULT_SUM;
	if (h->version != LOG_VERSION)
		return LOG_FAULT_VERSION;
	if (h->kind == LOG_META && h->stored >= sizeof(log_signature) && memcmp(p + LOG_HEAD, log_signature, 4) == 0)
		r->mangled |= memcmp(p + LOG_HEAD, log_signature, sizeof(log_signature)) != 0;
	if (h->kind == LOG_DATA) {
		b = log_cache_add(cache, item->at, 0, 0, sizeof(*kept) + h->raw);
		if (!b)
			return LOG_FAULT_SUM;
		kept = (struct log_kept *)(void *)b->records;
		room.p = (uint8_t *)(kept + 1);
		to = &room;
	}
	done = log_unpack(r->unpacker, h, p + LOG_HEAD, to);
	fault = done == LOG_BAD_CODEC ? LOG_FAULT_CODEC : done != LOG_OK ? LOG_FAULT_SUM
		: log_payload_good(h, to->p, to->n, &r->data) ? LOG_FAULT_NONE : LOG_FAULT_CONTENT;
	if (kept)
		*kept = (struct log_kept) {*h, r->data, fault};
	return fault;
}

bool log_read_chunk(struct trace *r, const struct log_item *item, struct log_head *h)
{
	enum log_fault fault;
	uint64_t rows = 0;

	*h = (struct log_head) {.seq = LOG_SEQ_NONE};
	for (int t = 0; t < TIERS; t++)
		rows += item->rows[t];
	fault = chunk_get(r, item, h);
	r->raw.failed = false;
	if (fault == LOG_FAULT_VERSION)
		log_note_newer(r, h, item->at, rows);
	else if (fault)
		log_note(r, fault, item->at, h->seq, item->cell, rows);
	return !fault;
}
