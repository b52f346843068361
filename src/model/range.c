/* Ranges come by the hundred thousand a second, and hours of them are looked at on a screen 200 columns wide:
 * the store is an array in order of end, of which the older part is thinned by length when it is full. Blocks of it
 * know their earliest begin, so that a part of the time is found without a look at each range. Those that are dropped
 * are counted in parts of the time, which become longer as it goes on. */
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "model/range.h"
#include "util/clock.h"
#include "util/intl.h"

#define BLOCK	  1024
#define AGAIN_MAX (1 << 20)
#define NEWEST	  100000 /* are never dropped */
#define FOLDS	  2048
#define FOLD_ROWS 256

struct range_name {
	struct range_name *next; /* in its slot */
	uint32_t hash;
	char text[];
};

/* What was dropped of a lane at a depth. */
struct fold_row {
	const struct range_lane *lane;
	uint16_t depth;
	struct fold {
		uint32_t n;
		int64_t ns; /* the sum of their lengths */
	} *folds;
};

/* One that may come again, in order of arrival. */
struct again {
	struct range range;
	struct again *before, *after;
};

struct ranges {
	pthread_mutex_t lock;
	struct range *list;
	size_t n, room, most;
	int64_t *begins; /* the earliest begin of each block of the list */
	int64_t least_ns;
	struct again *first, *last;
	void *again; /* a tree of them, by what tells that it is the same */
	size_t n_again;
	struct range_name **names; /* lists of them, by hash */
	size_t n_names, slots;	   /* slots: a power of 2 */
	struct range_lane **lanes; /* in order of appearance */
	size_t n_lanes;
	void *lane_tree; /* the same, sorted */
	struct fold_row rows[FOLD_ROWS];
	size_t n_rows;
	int64_t folds_ns; /* begin of the first */
	int fold_zoom;	  /* each is 1 << fold_zoom ns long */
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

static void no_free(void *lane)
{
	(void)lane;
}

void ranges_free(struct ranges *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->slots; i++)
		for (struct range_name *p = r->names[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
	free(r->names);
	for (size_t i = 0; i < r->n_lanes; i++)
		free(r->lanes[i]);
	tdestroy(r->lane_tree, no_free);
	free(r->lanes);
	for (size_t i = 0; i < r->n_rows; i++)
		free(r->rows[i].folds);
	tdestroy(r->again, free);
	free(r->list);
	free(r->begins);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* There are as many slots as names, at least. Returns false if out of memory. */
static bool ranges_names_grow(struct ranges *r)
{
	size_t slots = r->slots ? 2 * r->slots : 256;
	struct range_name **names = r->n_names < r->slots ? r->names : calloc(slots, sizeof(*names));

	if (!names || names == r->names)
		return names != NULL;
	for (size_t i = 0; i < r->slots; i++)
		for (struct range_name *p = r->names[i], *next; p; p = next) {
			next = p->next;
			p->next = names[p->hash & (slots - 1)];
			names[p->hash & (slots - 1)] = p;
		}
	free(r->names);
	r->names = names;
	r->slots = slots;
	return true;
}

static const char *ranges_name_of(struct ranges *r, const char *text)
{
	size_t size = strlen(text) + 1;
	uint32_t hash = 2166136261u; /* FNV-1a */
	struct range_name *p;

	for (size_t i = 0; text[i]; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	for (p = r->slots ? r->names[hash & (r->slots - 1)] : NULL; p; p = p->next)
		if (p->hash == hash && !strcmp(p->text, text))
			return p->text;
	p = ranges_names_grow(r) ? malloc(sizeof(*p) + size) : NULL;
	if (!p)
		return NULL;
	p->next = r->names[hash & (r->slots - 1)];
	p->hash = hash;
	memcpy(p->text, text, size);
	r->names[hash & (r->slots - 1)] = p;
	r->n_names++;
	return p->text;
}

const char *ranges_name(struct ranges *r, const char *text)
{
	const char *name;

	pthread_mutex_lock(&r->lock);
	name = ranges_name_of(r, text);
	pthread_mutex_unlock(&r->lock);
	return name;
}

static int by_lane(const void *a, const void *b)
{
	const struct range_lane *l = a, *k = b;
	int order;

	if (l->pid != k->pid)
		return l->pid < k->pid ? -1 : 1;
	if (l->tid != k->tid)
		return l->tid < k->tid ? -1 : 1;
	order = strcmp(l->process, k->process);
	order = order ? order : strcmp(l->thread, k->thread);
	return order ? order : strcmp(l->domain, k->domain);
}

static const struct range_lane *ranges_lane_of(struct ranges *r, const struct range_lane *lane)
{
	struct range_lane **found = tfind(lane, &r->lane_tree, by_lane), **more, *copy;

	if (found || r->n_lanes == RANGE_LANES_MAX)
		return found ? *found : NULL;
	more = r->n_lanes & (r->n_lanes - 1) ? r->lanes : reallocarray(r->lanes, 2 * r->n_lanes + 1, sizeof(*more));
	copy = more ? malloc(sizeof(*copy)) : NULL;
	r->lanes = more ? more : r->lanes;
	if (!copy)
		return NULL;
	*copy = *lane;
	if (!tsearch(copy, &r->lane_tree, by_lane)) {
		free(copy);
		return NULL;
	}
	r->lanes[r->n_lanes++] = copy;
	return copy;
}

const struct range_lane *ranges_lane(struct ranges *r, const struct range_lane *lane)
{
	const struct range_lane *found;

	pthread_mutex_lock(&r->lock);
	found = ranges_lane_of(r, lane);
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

static void ranges_put(struct ranges *r, size_t i, const struct range *range)
{
	int64_t *begin = &r->begins[i / BLOCK];

	if (i % BLOCK == 0 || range->begin_ns < *begin)
		*begin = range->begin_ns;
	r->list[i] = *range;
}

/* What is beyond the last row is counted in it. NULL: out of memory. */
static struct fold_row *ranges_fold_row(struct ranges *r, const struct range *range)
{
	struct fold_row *row;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].lane == range->lane && r->rows[i].depth == range->depth)
			return &r->rows[i];
	if (r->n_rows == FOLD_ROWS)
		return &r->rows[FOLD_ROWS - 1];
	row = &r->rows[r->n_rows];
	if (!(row->folds = calloc(FOLDS, sizeof(*row->folds))))
		return NULL;
	if (r->n_rows++ == 0)
		r->folds_ns = range->begin_ns;
	row->lane = range->lane;
	row->depth = range->depth;
	return row;
}

static void ranges_folds_halve(struct ranges *r)
{
	for (size_t k = 0; k < r->n_rows; k++) {
		struct fold *f = r->rows[k].folds;

		for (size_t i = 0; i < FOLDS / 2; i++)
			f[i] = (struct fold) {f[2 * i].n + f[2 * i + 1].n, f[2 * i].ns + f[2 * i + 1].ns};
		memset(f + FOLDS / 2, 0, FOLDS / 2 * sizeof(*f));
	}
	r->fold_zoom++;
}

static void ranges_fold(struct ranges *r, const struct range *range)
{
	struct fold_row *row = ranges_fold_row(r, range);
	uint64_t i = 0;

	if (!row)
		return;
	/* Of times in a damaged file the difference may be large, but there is no overflow. */
	while (range->begin_ns > r->folds_ns &&
	       (i = (uint64_t)(range->begin_ns - r->folds_ns) >> r->fold_zoom) >= FOLDS)
		ranges_folds_halve(r);
	row->folds[i].n++;
	row->folds[i].ns += range->end_ns - range->begin_ns;
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
		of[length_class(&r->list[i])]++;
	for (; of[k] < drop; k++)
		drop -= of[k];
	r->n = 0;
	for (size_t i = 0; i < all; i++) {
		struct range range = r->list[i];
		int class = i < old ? length_class(&range) : 64;

		if (class < k || (class == k && drop > 0)) {
			drop -= class == k;
			ranges_fold(r, &range);
		} else {
			ranges_put(r, r->n++, &range);
		}
	}
	if (r->least_ns < INT64_C(1) << k)
		r->least_ns = INT64_C(1) << k;
}

static bool ranges_grow(struct ranges *r)
{
	size_t room = r->room ? 2 * r->room : BLOCK;
	struct range *list;
	int64_t *begins;

	room = room < r->most ? room : r->most;
	list = reallocarray(r->list, room, sizeof(*list));
	if (!list)
		return false;
	r->list = list;
	begins = reallocarray(r->begins, room / BLOCK + 1, sizeof(*begins));
	if (!begins)
		return false;
	r->begins = begins;
	r->room = room;
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	if (p->lane != q->lane)
		return (uintptr_t)p->lane < (uintptr_t)q->lane ? -1 : 1;
	if (p->name != q->name)
		return (uintptr_t)p->name < (uintptr_t)q->name ? -1 : 1;
	return p->depth - q->depth;
}

static bool again_add(struct ranges *r, const struct range *range)
{
	struct again *a = r->n_again < AGAIN_MAX ? malloc(sizeof(*a)) : NULL;

	if (!a)
		return false;
	*a = (struct again) {*range, r->last, NULL};
	if (!tsearch(a, &r->again, by_key)) {
		free(a);
		return false;
	}
	*(r->last ? &r->last->after : &r->first) = a;
	r->last = a;
	r->n_again++;
	return true;
}

static void again_drop(struct ranges *r, struct again *a)
{
	tdelete(a, &r->again, by_key);
	*(a->before ? &a->before->after : &r->first) = a->after;
	*(a->after ? &a->after->before : &r->last) = a->before;
	r->n_again--;
	free(a);
}

static bool ranges_add_one(struct ranges *r, const struct range *range)
{
	struct again **found = tfind(range, &r->again, by_key);

	if (range->flags & RANGE_AGAIN) {
		if (found)
			(*found)->range = *range;
		return found || again_add(r, range);
	}
	if (found)
		again_drop(r, *found);
	if (r->n == r->most)
		ranges_thin(r);
	if (r->n == r->room && !ranges_grow(r))
		return false;
	ranges_put(r, r->n++, range);
	return true;
}

bool ranges_add(struct ranges *r, const struct range *range)
{
	bool added;

	pthread_mutex_lock(&r->lock);
	added = range->name && range->lane && ranges_add_one(r, range);
	pthread_mutex_unlock(&r->lock);
	return added;
}

int64_t ranges_least_ns(struct ranges *r)
{
	int64_t ns;

	pthread_mutex_lock(&r->lock);
	ns = r->least_ns;
	pthread_mutex_unlock(&r->lock);
	return ns;
}

/* The first that may end at from_ns or later. */
static size_t ranges_first_at(const struct ranges *r, int64_t from_ns)
{
	int64_t late_ns = from_ns < INT64_MIN + NS_PER_S ? INT64_MIN : from_ns - NS_PER_S;

	return times_from(r->list, r->n, sizeof(*r->list), offsetof(struct range, end_ns), late_ns);
}

static bool ranges_visit_kept(struct ranges *r, int64_t from_ns, int64_t to_ns, range_visit *visit, void *arg)
{
	bool on = true;

	for (size_t i = ranges_first_at(r, from_ns); on && i < r->n; i++) {
		if (i % BLOCK == 0 && r->begins[i / BLOCK] >= to_ns)
			i += BLOCK - 1;
		else if (range_touches(&r->list[i], from_ns, to_ns))
			on = visit(arg, &r->list[i]);
	}
	for (const struct again *a = r->first; on && a; a = a->after)
		if (range_touches(&a->range, from_ns, to_ns))
			on = visit(arg, &a->range);
	return on;
}

static bool ranges_visit_folds(const struct ranges *r, const struct fold_row *row, int64_t from_ns, int64_t to_ns,
			range_visit *visit, void *arg)
{
	uint64_t i = from_ns > r->folds_ns ? (uint64_t)(from_ns - r->folds_ns) >> r->fold_zoom : 0;
	bool on = true;

	for (; on && i < FOLDS; i++) {
		int64_t begin = r->folds_ns + (int64_t)(i << r->fold_zoom);

		if (begin >= to_ns)
			break;
		if (row->folds[i].n)
			on = visit(arg, &(struct range) {.begin_ns = begin,
							 .end_ns = begin + (INT64_C(1) << r->fold_zoom),
							 .name = "",
							 .lane = row->lane,
							 .colour = row->folds[i].n,
							 .depth = row->depth,
							 .flags = RANGE_FOLDED,
							 .value = (uint64_t)row->folds[i].ns});
	}
	return on;
}

void ranges_visit(struct ranges *r, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	bool on;

	pthread_mutex_lock(&r->lock);
	on = ranges_visit_kept(r, from_ns, to_ns, visit, arg);
	for (size_t i = 0; on && least_ns > 0 && i < r->n_rows; i++)
		on = ranges_visit_folds(r, &r->rows[i], from_ns, to_ns, visit, arg);
	pthread_mutex_unlock(&r->lock);
}
