/* One scan of the heads of a log, whether it is a file, the end of one that no INDEX lists, or grows: it finds the chunks
 * that a reader can use, and notes what is missing between them. */
#include "trace/log-read.h"
#include "util/array.h"

#define HOLES 4096	/* files that begin after a missing one */
#define ITEMS (4 << 20) /* chunks, enough for some days without an INDEX */

void log_items_add(struct log_items *items, const struct log_item *item)
{
	struct log_item *to = items->n < ITEMS ? array_add(&items->p, &items->n, sizeof(*to)) : NULL;

	items->failed |= !to;
	if (to)
		*to = *item;
}

/* Whether another file than that at s->file begins with the chunk at that position. Chunks that are missing before it are
 * in no file, which is noted. */
static bool file_begins(struct log_scan *s, uint64_t at, const struct log_head *h)
{
	struct trace *r = s->r;
	int64_t part = h->kind == LOG_META ? log_part_at(r, s->file) : -1, next = part >= 0 ? log_part_at(r, at) : -1, *hole;
	bool known = next <= part || h->seq <= s->seq + 1;

	for (size_t i = 0; i < r->n_holes; i++)
		known |= r->holes[i] == h->cell;
	hole = known || r->n_holes == HOLES ? NULL : array_add(&r->holes, &r->n_holes, sizeof(*hole));
	if (hole) {
		*hole = h->cell;
		r->absent += (uint64_t)(next - part - 1);
	}
	if (next > part)
		s->file = at;
	return next > part;
}

/* Notes the bytes before a chunk that are none, or that the numbers before its are missing. */
static void note_hole(struct log_scan *s, uint64_t at, const struct log_head *h)
{
	uint64_t bytes = s->chunks.skipped, missing = h->seq > s->seq + 1 ? h->seq - s->seq - 1 : 0;

	if ((missing == 0 && bytes == 0) || !log_note(s->r, missing ? LOG_FAULT_SEQ : LOG_FAULT_BYTES, at - bytes,
						      missing ? s->seq + 1 : LOG_SEQ_NONE, s->cell, 0))
		return;
	s->r->damage.bytes += bytes;
	s->r->damage.chunks += missing ? missing - 1 : 0;
}

void log_scan_begin(struct log_scan *s, struct trace *r, uint64_t from, uint64_t to, uint64_t file)
{
	*s = (struct log_scan) {.r = r, .file = file, .seq = LOG_SEQ_NONE, .before = LOG_SEQ_NONE};
	s->cell = log_cell(r->session.start.mono_ns);
	log_chunks_begin(&s->chunks, r->source, r->id, from, to);
}

bool log_scan_next(struct log_scan *s, struct log_item *item, struct log_head *h)
{
	struct log_chunks *c = &s->chunks;
	struct trace *r = s->r;
	uint64_t at;

	while (log_chunks_next(c, h, &at)) {
		s->other = h->session != r->id;
		if (s->other)
			return false;
		if (c->cut)
			s->seq = s->before;
		if (s->seq != LOG_SEQ_NONE &&
		    (!(s->ended || c->skipped || c->cut || h->seq > s->seq + 1) || !file_begins(s, at, h)))
			note_hole(s, at, h);
		if (s->seq != LOG_SEQ_NONE && h->seq <= s->seq) {
			log_note(r, LOG_FAULT_ORDER, at, h->seq, h->cell, 0);
			continue;
		}
		s->before = s->seq;
		s->seq = h->seq;
		s->ended = h->kind == LOG_END;
		s->cell = h->cell;
		if (h->version != LOG_VERSION || h->kind == 0 || h->kind >= LOG_KINDS) {
			r->newer |= h->flags & LOG_CRITICAL;
			log_note_newer(r, h, at, 0);
			continue;
		}
		if (h->generation > r->newest)
			r->newest = h->generation;
		*item = (struct log_item) {.at = at, .stored = h->stored, .kind = h->kind, .cell = h->cell};
		return true;
	}
	return false;
}

/* Notes the bytes after the last chunk: an unfinished chunk, or another recording. */
static void note_tail(struct log_scan *s)
{
	struct trace *r = s->r;
	uint64_t at = s->chunks.end, other = log_source_find(r->source, 0, at, r->size);
	struct log_head h;

	while (log_head_at(r, other, &h))
		other = log_source_find(r->source, 0, other + 1, r->size);
	r->tail.torn = r->size - at;
	r->tail.other = other + LOG_HEAD <= r->size ? r->size - other : 0;
	if (r->tail.other && log_note(r, LOG_FAULT_OTHER, at, LOG_SEQ_NONE, s->cell, 0))
		r->damage.bytes += r->tail.other;
}

void log_scan(struct trace *r, uint64_t from, uint64_t to, uint64_t file, struct log_items *items)
{
	size_t known = items->n;
	struct log_item item, *last;
	struct log_scan s;
	struct log_head h;

	log_scan_begin(&s, r, from, to, file);
	while (!items->failed && log_scan_next(&s, &item, &h)) {
		last = items->n > known ? &items->p[items->n - 1] : NULL;
		items->n -= last && last->at + LOG_HEAD + last->stored > item.at; /* it was cut short */
		log_items_add(items, &item);
	}
	if (to == r->size && s.chunks.end < to)
		note_tail(&s);
	if (to < r->size && s.seq != LOG_SEQ_NONE && log_head_at(r, to, &h) && h.seq > s.seq + 1)
		file_begins(&s, to, &h);
}
