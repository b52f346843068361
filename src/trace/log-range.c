/* Ranges are written when they end, each name and lane once a chunk, the numbers in columns of bytes, which
 * compress well: successive ranges differ little. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-range.h"

#define TIME_MOST (INT64_C(1) << 61) /* differences of times do not overflow */
#define RECORD 40 /* bytes */

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

static void put_tables(struct log_bytes *raw, const struct distinct *names, const struct distinct *lanes)
{
	log_put_u32(raw, (uint32_t)names->n);
	for (size_t i = 0; i < names->n; i++)
		log_put_str(raw, names->list[i]);
	log_put_u32(raw, (uint32_t)lanes->n);
	for (size_t i = 0; i < lanes->n; i++) {
		const struct range_lane *l = lanes->list[i];

		log_put_u32(raw, l->pid);
		log_put_u32(raw, l->tid);
		log_put_str(raw, l->process);
		log_put_str(raw, l->thread);
		log_put_str(raw, l->domain);
	}
}

void log_ranges_put(struct log_bytes *raw, const struct range *list, size_t n)
{
	struct distinct names = {calloc(2 * n + 1, sizeof(void *)), n}, lanes = {NULL, n};
	struct log_bytes records = {.n = 0};
	int64_t end_ns = 0;
	uint8_t *to;

	raw->failed |= !names.list;
	if (!names.list)
		return;
	lanes.list = names.list + n;
	for (size_t i = 0; i < n; i++) {
		names.list[i] = list[i].name;
		lanes.list[i] = list[i].lane;
	}
	distinct_sort(&names);
	distinct_sort(&lanes);
	put_tables(raw, &names, &lanes);
	for (size_t i = 0; i < n; i++) {
		const struct range *r = &list[i];

		log_put_i64(&records, r->end_ns - end_ns);
		log_put_i64(&records, r->end_ns - r->begin_ns);
		log_put_u32(&records, distinct_at(&names, r->name));
		log_put_u32(&records, distinct_at(&lanes, r->lane));
		log_put_u32(&records, r->colour);
		log_put_u16(&records, r->depth);
		log_put_u8(&records, r->flags);
		log_put_u8(&records, r->payload);
		log_put_u64(&records, r->value);
		end_ns = r->end_ns;
	}
	log_put_u32(raw, (uint32_t)n);
	to = log_bytes_add(raw, records.n);
	if (to && !records.failed)
		log_shuffle(to, records.p, n, RECORD);
	raw->failed |= records.failed;
	log_bytes_free(&records);
	free(names.list);
}

static void get_lane(struct log_in *in, struct range_lane *l)
{
	l->pid = log_get_u32(in);
	l->tid = log_get_u32(in);
	log_get_str(in, l->process, sizeof(l->process));
	log_get_str(in, l->thread, sizeof(l->thread));
	log_get_str(in, l->domain, sizeof(l->domain));
}

struct tables {
	const char *names[LOG_RANGES_MAX];
	const struct range_lane *lanes[LOG_RANGES_MAX];
	uint32_t n_names, n_lanes;
};

static bool get_tables(struct log_in *in, struct ranges *store, struct tables *t)
{
	char name[LOG_NAME_MAX];
	struct range_lane lane;

	t->n_names = log_get_u32(in);
	if (t->n_names > LOG_RANGES_MAX)
		return false;
	for (uint32_t i = 0; i < t->n_names && !in->bad; i++) {
		log_get_str(in, name, sizeof(name));
		t->names[i] = ranges_name(store, name);
	}
	t->n_lanes = log_get_u32(in);
	if (t->n_lanes > LOG_RANGES_MAX)
		return false;
	for (uint32_t i = 0; i < t->n_lanes && !in->bad; i++) {
		get_lane(in, &lane);
		t->lanes[i] = ranges_lane(store, &lane);
	}
	return !in->bad;
}

/* end_ns: of the range before. */
static bool get_record(const uint8_t *p, const struct tables *t, int64_t *end_ns, struct range *out)
{
	struct log_in in = {p, p + RECORD, false};
	int64_t step = log_get_i64(&in), length = log_get_i64(&in);
	uint32_t name = log_get_u32(&in), lane = log_get_u32(&in);

	*out = (struct range) {.colour = log_get_u32(&in)};
	out->depth = (uint16_t)log_get_u16(&in);
	out->flags = (uint8_t)log_get_u8(&in);
	out->payload = (uint8_t)log_get_u8(&in);
	out->value = log_get_u64(&in);
	if (__builtin_add_overflow(*end_ns, step, end_ns) || length < 0 ||
	    __builtin_sub_overflow(*end_ns, length, &out->begin_ns) || name >= t->n_names || lane >= t->n_lanes ||
	    out->payload > RANGE_DOUBLE || out->begin_ns < 0 || *end_ns > TIME_MOST)
		return false;
	out->end_ns = *end_ns;
	out->name = t->names[name];
	out->lane = t->lanes[lane];
	return true;
}

static bool get_records(struct log_in *in, const struct tables *t, range_visit *visit, void *arg)
{
	uint32_t n = log_get_u32(in);
	const uint8_t *p = n <= LOG_RANGES_MAX ? log_in_take(in, (size_t)n * RECORD) : NULL;
	uint8_t *records = p ? malloc((size_t)n * RECORD + 1) : NULL;
	int64_t end_ns = 0;
	bool good = records != NULL, on = true;

	if (records)
		log_unshuffle(records, p, n, RECORD);
	for (uint32_t i = 0; good && on && i < n; i++) {
		struct range r;

		good = get_record(records + (size_t)i * RECORD, t, &end_ns, &r);
		if (good && r.name && r.lane) /* else out of memory */
			on = visit(arg, &r);
	}
	free(records);
	return good;
}

bool log_ranges_get(const uint8_t *p, size_t n, struct ranges *names, range_visit *visit, void *arg)
{
	struct log_in in = {p, p + n, false};
	struct tables *t = malloc(sizeof(*t));
	bool good = t && get_tables(&in, names, t) && get_records(&in, t, visit, arg);

	free(t);
	return good;
}
