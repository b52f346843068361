/* Chunks that wait for the disk, in the order in which they were made. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-output.h"

/* Once the queue was full, half of it must be free before rows are accepted again: one long gap is
 * better than many short ones. */
static bool has_room(struct log_writer *w, size_t n)
{
	size_t limit = w->stats.dropping ? w->limit / 2 : w->limit;

	w->stats.dropping = w->stats.queued + n > limit;
	return !w->stats.dropping;
}

bool queue_put(void *writer, const struct log_entry *e, const uint8_t *chunk, size_t n)
{
	struct log_writer *w = writer;
	struct block *b;

	if (e->kind == LOG_META && e->distance == 0 && w->builder)
		log_builder_limit(w->builder, writer_part_limit(w));
	if (w->stats.failed || (e->kind == LOG_DATA && !has_room(w, n)))
		return false;
	b = malloc(sizeof(*b) + n);
	if (!b)
		return false;
	*b = (struct block) {.about = *e, .part = w->part, .n = n};
	memcpy(b->bytes, chunk, n);
	*w->end = b;
	w->end = &b->next;
	w->stats.queued += n;
	if (e->kind == LOG_END)
		writer_part_ended(w, e->distance + n);
	pthread_cond_signal(&w->wake);
	return true;
}

static struct block *unlink_first(struct log_writer *w)
{
	struct block *b = w->head;

	w->head = b->next;
	if (!w->head)
		w->end = &w->head;
	w->stats.queued -= b->n;
	return b;
}

/* How many marks a chunk holds. */
static uint64_t marks_in(const struct block *b)
{
	struct log_unpacker *u = b->about.kind == LOG_MARK ? log_unpacker_new() : NULL;
	struct log_bytes raw = {.n = 0};
	struct log_in in, record;
	struct log_head h;
	uint64_t n = 0;

	if (u && log_head_get(b->bytes, &h) && log_unpack(u, &h, b->bytes + LOG_HEAD, &raw) == LOG_OK) {
		in = (struct log_in) {raw.p, raw.p + raw.n, false};
		while (log_get_record(&in, &record))
			n++;
	}
	log_bytes_free(&raw);
	log_unpacker_free(u);
	return n;
}

void queue_taken(struct log_writer *w, bool written)
{
	struct block *b = unlink_first(w);

	if (written) {
		w->stats.bytes += b->n;
		w->stats.kind[b->about.kind] += b->n;
	} else {
		w->stats.lost_marks += marks_in(b);
	}
	for (int t = 0; b->about.kind == LOG_DATA && t < TIERS; t++)
		*(written ? &w->stats.rows[t] : &w->stats.lost_rows) += b->about.rows[t];
	free(b);
	pthread_cond_broadcast(&w->changed);
}

void queue_return(struct log_writer *w, unsigned part)
{
	while (w->head && w->head->part == part) {
		struct block *b = unlink_first(w);

		log_builder_lost(w->builder, &b->about, b->bytes);
		free(b);
	}
	pthread_cond_broadcast(&w->changed);
}
