/* Ranges are written when they end, each name and lane once a chunk, the numbers in columns of bytes, which
 * compress well: successive ranges differ little. Categories, which few programs use, take no space without any. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-range.h"

#define RECORD 40 /* bytes */

#define FIELD(type, member, bytes) {offsetof(struct type, member), sizeof(((struct type *)0)->member), bytes, false}
#define STR			   0
#define LAST			   {0, 0, 0, false}

/* A range as it is stored. */
struct range_record {
	int64_t step_ns, length_ns; /* from the end of the range before; from its begin */
	uint32_t name, lane;	    /* in the tables of the chunk */
	struct range r;
};
static const struct log_field record_fields[] = {
	FIELD(range_record, step_ns, 8),   FIELD(range_record, length_ns, 8), FIELD(range_record, name, 4),
	FIELD(range_record, lane, 4),	   FIELD(range_record, r.colour, 4),  FIELD(range_record, r.depth, 2),
	FIELD(range_record, r.flags, 1),   FIELD(range_record, r.payload, 1), FIELD(range_record, r.value, 8),
	LAST};
static const struct log_field lane_fields[] = {FIELD(range_lane, pid, 4),	FIELD(range_lane, tid, 4),
					       FIELD(range_lane, process, STR), FIELD(range_lane, thread, STR),
					       FIELD(range_lane, domain, STR),	LAST};

/* The distinct pointers among those in the ranges; an index is the position in the sorted list. */
struct distinct {
	const void **list;
	size_t n;
};

static int by_address(const void *a, const void *b)
{
	const char *p = *(const char *const *)a, *q = *(const char *const *)b;

	return (p > q) - (p < q);
}

static void distinct_sort(struct distinct *d)
{
	size_t n = d->n;

	qsort(d->list, n, sizeof(*d->list), by_address);
	d->n = 0;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || d->list[i] != d->list[d->n - 1])
			d->list[d->n++] = d->list[i];
}

static uint32_t distinct_at(const struct distinct *d, const void *p)
{
	const void **found = bsearch(&p, d->list, d->n, sizeof(*d->list), by_address);

	return (uint32_t)(found - d->list);
}

static void put_names(struct log_bytes *raw, const void **list, size_t n)
{
	log_put_u32(raw, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		log_put_str(raw, list[i]);
}

static void put_tables(struct log_bytes *raw, const struct distinct *names, const struct distinct *lanes)
{
	put_names(raw, names->list, names->n);
	log_put_u32(raw, (uint32_t)lanes->n);
	for (size_t i = 0; i < lanes->n; i++)
		log_fields_put(raw, lane_fields, lanes->list[i]);
}

void log_ranges_put(struct log_bytes *raw, const struct range *list, size_t n)
{
	struct distinct names = {calloc(3 * n + 1, sizeof(void *)), n}, lanes = {NULL, n}, categories = {NULL, n + 1};
	struct log_bytes records = {.n = 0};
	int64_t end_ns = 0;
	uint8_t *to;

	raw->failed |= !names.list;
	if (!names.list)
		return;
	lanes.list = names.list + n;
	categories.list = lanes.list + n; /* the last one stays NULL: none */
	for (size_t i = 0; i < n; i++) {
		names.list[i] = list[i].name;
		lanes.list[i] = list[i].lane;
		categories.list[i] = list[i].category;
	}
	distinct_sort(&names);
	distinct_sort(&lanes);
	distinct_sort(&categories);
	put_tables(raw, &names, &lanes);
	for (size_t i = 0; i < n; i++) {
		const struct range *r = &list[i];
		const struct range_record c = {r->end_ns - end_ns, r->end_ns - r->begin_ns, distinct_at(&names, r->name),
					 distinct_at(&lanes, r->lane), *r};

		log_fields_put(&records, record_fields, &c);
		end_ns = r->end_ns;
	}
	log_put_u32(raw, (uint32_t)n);
	to = log_bytes_add(raw, records.n);
	if (to && !records.failed)
		log_shuffle(to, records.p, n, RECORD);
	if (categories.n > 1) {
		put_names(raw, categories.list + 1, categories.n - 1);
		for (size_t i = 0; i < n; i++)
			log_put_u16(raw, distinct_at(&categories, list[i].category));
	}
	raw->failed |= records.failed;
	log_bytes_free(&records);
	free(names.list);
}

struct tables {
	const char *names[LOG_RANGES_MAX], *categories[LOG_RANGES_MAX];
	const struct range_lane *lanes[LOG_RANGES_MAX];
	uint32_t n_names, n_lanes, n_categories;
};

static uint32_t get_names(struct log_in *in, struct ranges *store, const char *names[LOG_RANGES_MAX])
{
	uint32_t n = log_get_u32(in);
	char name[LOG_NAME_MAX];

	in->bad |= n > LOG_RANGES_MAX;
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		log_get_str(in, name, sizeof(name));
		names[i] = ranges_name(store, name);
	}
	return n;
}

static bool get_tables(struct log_in *in, struct ranges *store, struct tables *t)
{
	t->n_names = get_names(in, store, t->names);
	t->n_lanes = log_get_u32(in);
	if (t->n_lanes > LOG_RANGES_MAX)
		return false;
	for (uint32_t i = 0; i < t->n_lanes && !in->bad; i++) {
		struct range_lane lane = {.pid = 0};

		log_fields_get(in, lane_fields, &lane);
		t->lanes[i] = ranges_lane(store, &lane);
	}
	return !in->bad;
}

/* end_ns: of the range before. */
static bool get_record(const uint8_t *p, const struct tables *t, int64_t *end_ns, struct range *out)
{
	struct range_record c = {.step_ns = 0};

	log_fields_get(&(struct log_in) {p, p + RECORD, false}, record_fields, &c);
	*out = c.r;
	out->flags &= RANGE_AGAIN;
	if (__builtin_add_overflow(*end_ns, c.step_ns, end_ns) || c.length_ns < 0 ||
	    __builtin_sub_overflow(*end_ns, c.length_ns, &out->begin_ns) || c.name >= t->n_names || c.lane >= t->n_lanes ||
	    out->payload > RANGE_DOUBLE || out->begin_ns < 0 || !log_time_good(*end_ns))
		return false;
	out->end_ns = *end_ns;
	out->name = t->names[c.name];
	out->lane = t->lanes[c.lane];
	return true;
}

static bool get_category(const uint8_t *categories, uint32_t i, const struct tables *t, struct range *out)
{
	unsigned at = categories ? categories[2 * (size_t)i] | categories[2 * (size_t)i + 1] << 8 : 0;

	out->category = at && at <= t->n_categories ? t->categories[at - 1] : NULL;
	return at <= t->n_categories;
}

static bool get_records(struct log_in *in, struct ranges *store, struct tables *t, range_visit *visit, void *arg)
{
	uint32_t n = log_get_u32(in);
	const uint8_t *p = n <= LOG_RANGES_MAX ? log_in_take(in, (size_t)n * RECORD) : NULL;
	uint8_t *records = p ? malloc((size_t)n * RECORD + 1) : NULL;
	int64_t end_ns = 0;
	const uint8_t *categories = NULL;
	bool good = records != NULL, on = true;

	if (records && in->p < in->end) {
		t->n_categories = get_names(in, store, t->categories);
		categories = log_in_take(in, 2 * (size_t)n);
		good = categories != NULL;
	}
	if (records)
		log_unshuffle(records, p, n, RECORD);
	for (uint32_t i = 0; good && on && i < n; i++) {
		struct range r;

		good = get_record(records + (size_t)i * RECORD, t, &end_ns, &r) &&
		       get_category(categories, i, t, &r);
		if (good && r.name && r.lane) /* else out of memory */
			on = visit(arg, &r);
	}
	free(records);
	return good;
}

bool log_ranges_get(const uint8_t *p, size_t n, struct ranges *names, range_visit *visit, void *arg)
{
	struct log_in in = {p, p + n, false};
	struct tables *t = calloc(1, sizeof(*t));
	bool good = t && get_tables(&in, names, t) && get_records(&in, names, t, visit, arg);

	free(t);
	return good;
}
