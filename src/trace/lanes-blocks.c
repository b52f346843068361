/* The blocks that the lanes are made of: out of the pool, filled, to the writer and back. */
#include <sys/mman.h>
#include <unistd.h>

#include "trace/lanes.h"

/* Behind the last record: the number of the first row, and the sum. */
#define TAIL (8 + CHUNK_CRC)

void lanes_give(struct lanes *q, struct block *b)
{
	b->next = q->free;
	q->free = b;
	q->n_free++;
}

/* The whole pages between the two. */
static void release(const void *from, const void *to)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)from + page - 1) & ~(page - 1), end = (uintptr_t)to & ~(page - 1);

	if (first < end)
		madvise((void *)first, end - first, MADV_DONTNEED);
}

void lanes_release(struct lanes *q)
{
	if (q->n_free == BLOCK_COUNT) {
		q->free = NULL;
		q->n_fresh = BLOCK_COUNT;
		release(q->pool, q->pool + BLOCK_COUNT);
		return;
	}
	for (struct block *b = q->free; b; b = b->next)
		release(b->bytes, b->bytes + BLOCK_BYTES);
}

/* One of the pool, which is not empty. */
static struct block *pool_take(struct lanes *q)
{
	struct block *b = q->free;

	if (b)
		q->free = b->next;
	else
		b = &q->pool[BLOCK_COUNT - q->n_fresh--];
	q->n_free--;
	return b;
}

size_t lane_head(const struct lanes *q, enum lane lane)
{
	if (lane == LANE_FAST && !q->stream)
		return 0;
	if (lane >= LANE_COLUMNS && lane < LANE_PYRAMID)
		return CHUNK_HEAD + COLUMNS_HEAD;
	if (lane >= LANE_PYRAMID && lane < LANE_RUNS)
		return CHUNK_HEAD + PYRAMID_HEAD;
	return CHUNK_HEAD;
}

void lane_seal(struct lanes *q, enum lane lane)
{
	struct block *b = q->current[lane];

	if (!b)
		return;
	q->current[lane] = NULL;
	if (b->used == lane_head(q, lane)) {
		lanes_give(q, b);
		return;
	}
	q->sealed += b->used + TAIL;
	if (lane >= LANE_PYRAMID && lane < LANE_PYRAMID + TIERS)
		q->pyramids += b->used + TAIL;
	b->next = NULL;
	*q->tail = b;
	q->tail = &b->next;
}

/* The join leaves out heads, and adds a sync point a mark, the coarser levels of
 * the pyramids (an eighth each of the one before) and some small chunks. */
uint64_t lanes_most(const struct lanes *q)
{
	uint64_t most = q->sealed + q->pyramids / 4 + q->marks * SYNC_SIZE + 1024;

	for (int i = 0; i < LANES; i++)
		if (q->current[i])
			most += q->current[i]->used + TAIL;
	for (int t = 0; t < TIERS; t++)
		if (q->pyramid[t].width > 0 && q->pyramids > 0)
			most += 4 *
				(PYRAMID_HEAD + CHUNK_HEAD + CHUNK_CRC + pyramid_record(q->pyramid[t].width));
	return most + (q->about ? q->about->n_channels * RUN_SIZE : 0);
}

bool lane_room(struct lanes *q, enum lane lane, size_t bytes, size_t keep)
{
	static const uint32_t ids[LANES] = {
		[LANE_FAST] = CHUNK_FAST,
		[LANE_MEDIUM] = CHUNK_MEDIUM,
		[LANE_SLOW] = CHUNK_SLOW,
		[LANE_COLUMNS + TIER_FAST] = CHUNK_COLUMNS,
		[LANE_COLUMNS + TIER_MEDIUM] = CHUNK_COLUMNS,
		[LANE_COLUMNS + TIER_SLOW] = CHUNK_COLUMNS,
		[LANE_PYRAMID + TIER_FAST] = CHUNK_PYRAMID,
		[LANE_PYRAMID + TIER_MEDIUM] = CHUNK_PYRAMID,
		[LANE_PYRAMID + TIER_SLOW] = CHUNK_PYRAMID,
		[LANE_COVER] = CHUNK_COVER,
		[LANE_RUNS] = CHUNK_RUNS,
		[LANE_MARKS] = CHUNK_MARKS,
		[LANE_GAPS] = CHUNK_GAPS,
		[LANE_CHANGES] = CHUNK_CHANGES,
	};
	struct block *b = q->current[lane];

	if (b && b->used + bytes + TAIL <= BLOCK_BYTES)
		return true;
	lane_seal(q, lane);
	if (q->n_free <= keep)
		return false;
	b = pool_take(q);
	b->lane = lane;
	b->id = lane == LANE_FAST && !q->stream ? 0 : ids[lane];
	b->used = lane_head(q, lane);
	b->pyramid.columns = 0;
	q->current[lane] = b;
	return true;
}

bool lane_full(const struct lanes *q, enum lane lane, size_t bytes)
{
	const struct block *b = q->current[lane];

	return b && b->used + bytes + TAIL > BLOCK_BYTES;
}

size_t lane_left(const struct lanes *q, enum lane lane)
{
	return BLOCK_BYTES - TAIL - q->current[lane]->used;
}

uint8_t *lane_end(struct lanes *q, enum lane lane)
{
	return q->current[lane]->bytes + q->current[lane]->used;
}

struct block *lanes_take(struct lanes *q)
{
	struct block *b = q->head;

	if (!b)
		return NULL;
	q->head = b->next;
	if (!q->head)
		q->tail = &q->head;
	return b;
}

size_t block_most(const struct block *b)
{
	return b->used + TAIL;
}

size_t block_finish(struct block *b)
{
	if (b->id == 0)
		return b->used;
	if (b->id == CHUNK_COLUMNS)
		columns_encode(b->bytes + CHUNK_HEAD, &b->columns);
	if (b->id == CHUNK_PYRAMID)
		pyramid_head_encode(b->bytes + CHUNK_HEAD, &b->pyramid);
	if (b->lane <= LANE_SLOW) {
		put_u64(b->bytes + b->used, b->columns.row);
		b->used += 8;
	}
	return chunk_seal(b->bytes, b->id, b->used - CHUNK_HEAD);
}
