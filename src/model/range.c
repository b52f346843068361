/* Ranges come by the hundred thousand a second, and hours of them are looked at on a screen 200 columns wide:
 * the store has them in order of end, of which the older part is thinned by length when it is full. Blocks of it
 * know their times, so that a part of the time is found without a look at each range. Those that are dropped
 * are counted in parts of the time, which become longer as it goes on. */
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "model/range.h"
#include "util/array.h"
#include "util/intl.h"

#define BLOCK     1024
#define AGAIN_MAX (1 << 20)
#define NEWEST    100000 /* are never dropped */
#define FOLDS     2048
#define FOLD_ROWS 256

/* A name or a lane, of which there is one only. */
struct range_bytes {
	struct range_bytes *next; /* in its slot */
	uint32_t hash, size;
	_Alignas(8) char bytes[];
};

struct ranges {
	pthread_mutex_t lock;
	struct range_block {
		int64_t begin_ns, end_ns; /* the earliest begin and the latest end */
		struct range *list;
	} *blocks;
	size_t n, n_blocks, most; /* n: ranges in the blocks */
	_Atomic int64_t least_ns;
	void *again; /* a tree of those that may come again, by what tells that it is the same */
	size_t n_again;
	struct range_bytes **slots;      /* lists of them, by hash */
	size_t n_bytes, n_slots;         /* n_slots: a power of 2 */
	const struct range_lane **lanes; /* in order of appearance */
	size_t n_lanes;
	struct range rows[FOLD_ROWS]; /* what stands for those of a lane and depth that were dropped */
	size_t n_rows;
	struct fold {
		uint32_t n;
		int64_t ns; /* the sum of their lengths */
	} (*folds)[FOLDS];  /* of each row; NULL: nothing was dropped */
	int64_t folds_ns;   /* begin of the first */
	int fold_zoom;      /* each is 1 << fold_zoom ns long */
};

struct ranges *ranges_new(size_t most, struct err *e)
{
	struct ranges *r = calloc(1, sizeof(*r));

	if (r) {
		pthread_mutex_init(&r->lock, NULL);
		r->most = most < BLOCK ? BLOCK : most;
		r->fold_zoom = 16;
		return r;
	}
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
}

void ranges_free(struct ranges *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_slots; i++)
		for (struct range_bytes *p = r->slots[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
	for (size_t i = 0; i < r->n_blocks; i++)
		free(r->blocks[i].list);
	tdestroy(r->again, free);
	free(r->slots);
	free(r->lanes);
	free(r->folds);
	free(r->blocks);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* --- names and lanes --- */

/* The store's copy, which is made if there is none and add is set. */
static const void *ranges_bytes(struct ranges *r, const void *bytes, size_t size, bool add)
{
	uint64_t hash = size, word = 0;
	struct range_bytes *p;
	size_t i = 0;

	for (; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, (const char *)bytes + i, sizeof(word));
		if (word) /* most of a lane is empty */
			hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 32;
	}
	memcpy(&word, (const char *)bytes + i, size - i);
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 32;
	for (p = r->n_slots ? r->slots[hash & (r->n_slots - 1)] : NULL; p; p = p->next)
		if (p->hash == (uint32_t)hash && p->size == size && memcmp(p->bytes, bytes, size) == 0)
			return p->bytes;
	if (add && r->n_bytes == r->n_slots) { /* there are as many slots as names and lanes, at least */
		size_t n = r->n_slots ? 2 * r->n_slots : 256;
		struct range_bytes **slots = calloc(n, sizeof(*slots)), *next;

		if (!slots)
			return NULL;
		for (i = 0; i < r->n_slots; i++)
			for (p = r->slots[i]; p; p = next) {
				next = p->next;
				p->next = slots[p->hash & (n - 1)];
				slots[p->hash & (n - 1)] = p;
			}
		free(r->slots);
		r->slots = slots;
		r->n_slots = n;
	}
	p = add ? malloc(sizeof(*p) + size) : NULL;
	if (!p)
		return NULL;
	p->next = r->slots[hash & (r->n_slots - 1)];
	p->hash = (uint32_t)hash;
	p->size = (uint32_t)size;
	memcpy(p->bytes, bytes, size);
	r->slots[hash & (r->n_slots - 1)] = p;
	r->n_bytes++;
	return p->bytes;
}

const char *ranges_name(struct ranges *r, const char *text)
{
	const char *name;

	pthread_mutex_lock(&r->lock);
	name = ranges_bytes(r, text, strlen(text) + 1, true);
	pthread_mutex_unlock(&r->lock);
	return name;
}

const struct range_lane *ranges_lane(struct ranges *r, const struct range_lane *lane)
{
	const struct range_lane *found, **place;

	pthread_mutex_lock(&r->lock);
	found = ranges_bytes(r, lane, sizeof(*lane), false);
	if (!found && r->n_lanes < RANGE_LANES_MAX &&
	    (place = array_add(&r->lanes, &r->n_lanes, sizeof(*place))) != NULL) {
		found = ranges_bytes(r, lane, sizeof(*lane), true);
		*place = found;
		r->n_lanes -= !found;
	}
	pthread_mutex_unlock(&r->lock);
	return found;
}

size_t ranges_lanes(struct ranges *r, const struct range_lane **out, size_t most)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->n_lanes;
	for (size_t i = 0; i < n && i < most; i++)
		out[i] = r->lanes[i];
	pthread_mutex_unlock(&r->lock);
	return n;
}

/* --- what is dropped --- */

static void ranges_fold(struct ranges *r, const struct range *range)
{
	size_t row = 0;
	uint64_t part;

	if (!r->folds && !(r->folds = calloc(FOLD_ROWS, sizeof(*r->folds))))
		return;
	while (row < r->n_rows && (r->rows[row].lane != range->lane || r->rows[row].depth != range->depth))
		row++;
	row -= row == FOLD_ROWS; /* what is beyond the last row is counted in it */
	if (row == r->n_rows) {
		r->folds_ns = row == 0 ? range->begin_ns : r->folds_ns;
		r->rows[r->n_rows++] = (struct range) {
			.name = "", .lane = range->lane, .depth = range->depth, .flags = RANGE_FOLDED};
	}
	/* Of times in a damaged file the difference may be large, but there is no overflow. */
	for (uint64_t ns = range->begin_ns > r->folds_ns ? (uint64_t)(range->begin_ns - r->folds_ns) : 0;;) {
		part = ns >> r->fold_zoom;
		if (part < FOLDS)
			break;
		for (size_t k = 0; k < r->n_rows; k++) {
			struct fold *f = r->folds[k];

			for (size_t i = 0; i < FOLDS / 2; i++)
				f[i] = (struct fold) {f[2 * i].n + f[2 * i + 1].n,
						      f[2 * i].ns + f[2 * i + 1].ns};
			memset(f + FOLDS / 2, 0, FOLDS / 2 * sizeof(*f));
		}
		r->fold_zoom++;
	}
	r->folds[row][part].n++;
	r->folds[row][part].ns += range->end_ns - range->begin_ns;
}

static struct range *ranges_at(const struct ranges *r, size_t i)
{
	return &r->blocks[i / BLOCK].list[i % BLOCK];
}

/* Its block is there. */
static void ranges_put(struct ranges *r, const struct range *range)
{
	struct range_block *b = &r->blocks[r->n / BLOCK];
	bool first = r->n % BLOCK == 0;

	b->begin_ns = first || range->begin_ns < b->begin_ns ? range->begin_ns : b->begin_ns;
	b->end_ns = first || range->end_ns > b->end_ns ? range->end_ns : b->end_ns;
	*ranges_at(r, r->n++) = *range;
}

/* Lengths of one class differ by less than a factor of 2: those of class k are below 1 << k ns. */
static int length_class(const struct range *range)
{
	int64_t ns = range->end_ns - range->begin_ns;

	return ns > 0 ? 64 - __builtin_clzll((unsigned long long)ns) : 0;
}

/* Drops a quarter, of those before the newest: the shortest classes, and of the last one of these the oldest. */
static void ranges_thin(struct ranges *r)
{
	size_t all = r->n, old = all - (all / 2 < NEWEST ? all / 2 : NEWEST), drop = all / 4, of[64] = {0};
	int k = 0;

	for (size_t i = 0; i < old; i++)
		of[length_class(ranges_at(r, i))]++;
	for (; of[k] < drop; k++)
		drop -= of[k];
	r->n = 0;
	for (size_t i = 0; i < all; i++) {
		struct range range = *ranges_at(r, i);
		int class = i < old ? length_class(&range) : 64;

		if (class < k || (class == k && drop > 0)) {
			drop -= class == k;
			ranges_fold(r, &range);
		} else {
			ranges_put(r, &range);
		}
	}
	if (r->least_ns < INT64_C(1) << k)
		r->least_ns = INT64_C(1) << k;
}

/* --- ranges --- */

static int by_key(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	if (p->depth != q->depth)
		return p->depth - q->depth;
	if (p->lane != q->lane)
		return (uintptr_t)p->lane < (uintptr_t)q->lane ? -1 : 1;
	return ((uintptr_t)p->name > (uintptr_t)q->name) - ((uintptr_t)p->name < (uintptr_t)q->name);
}

/* Returns false if out of memory. */
static bool ranges_make_room(struct ranges *r)
{
	struct range_block *b;

	if (r->n == r->most)
		ranges_thin(r);
	if (r->n < r->n_blocks * BLOCK)
		return true;
	b = array_add(&r->blocks, &r->n_blocks, sizeof(*b));
	if (b && !(b->list = malloc(BLOCK * sizeof(*b->list))))
		r->n_blocks--;
	return b && b->list;
}

bool ranges_add(struct ranges *r, const struct range *range)
{
	bool again = range->flags & RANGE_AGAIN, added;
	struct range **found, *copy;

	if (!range->name || !range->lane)
		return false;
	pthread_mutex_lock(&r->lock);
	found = tfind(range, &r->again, by_key);
	copy = found ? *found : NULL;
	if (copy && !again) {
		tdelete(copy, &r->again, by_key);
		free(copy);
		r->n_again--;
	}
	if (again && !copy && r->n_again < AGAIN_MAX && (copy = malloc(sizeof(*copy))) != NULL) {
		*copy = *range;
		found = tsearch(copy, &r->again, by_key);
		r->n_again += found != NULL;
		if (!found)
			free(copy);
	}
	added = again ? found != NULL : ranges_make_room(r);
	if (added && again)
		**found = *range;
	else if (added)
		ranges_put(r, range);
	pthread_mutex_unlock(&r->lock);
	return added;
}

int64_t ranges_least_ns(struct ranges *r)
{
	return r->least_ns;
}

/* --- visits --- */

struct range_walk {
	int64_t from_ns, to_ns;
	range_visit *visit;
	void *arg;
	bool on;
};

static void range_show(struct range_walk *w, const struct range *range)
{
	if (w->on && range_touches(range, w->from_ns, w->to_ns))
		w->on = w->visit(w->arg, range);
}

static void range_show_again(const void *node, VISIT when, void *walk)
{
	if (when == postorder || when == leaf)
		range_show(walk, *(const struct range *const *)node);
}

static void range_show_folds(struct range_walk *w, const struct ranges *r, size_t row)
{
	uint64_t i = w->from_ns > r->folds_ns ? (uint64_t)(w->from_ns - r->folds_ns) >> r->fold_zoom : 0;
	struct range fold = r->rows[row];

	for (; w->on && i < FOLDS; i++) {
		fold.begin_ns = r->folds_ns + (int64_t)(i << r->fold_zoom);
		fold.end_ns = fold.begin_ns + (INT64_C(1) << r->fold_zoom);
		fold.colour = r->folds[row][i].n;
		fold.value = (uint64_t)r->folds[row][i].ns;
		if (fold.begin_ns >= w->to_ns)
			break;
		if (fold.colour)
			w->on = w->visit(w->arg, &fold);
	}
}

void ranges_visit(struct ranges *r, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit,
		  void *arg)
{
	struct range_walk w = {from_ns, to_ns, visit, arg, true};

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; w.on && i < r->n; i++) {
		const struct range_block *b = &r->blocks[i / BLOCK];

		if (i % BLOCK == 0 && (b->begin_ns >= to_ns || b->end_ns < from_ns))
			i += BLOCK - 1;
		else
			range_show(&w, ranges_at(r, i));
	}
	twalk_r(r->again, range_show_again, &w);
	for (size_t row = 0; least_ns > 0 && row < r->n_rows; row++)
		range_show_folds(&w, r, row);
	pthread_mutex_unlock(&r->lock);
}
