/* The library of a tool that takes NVTX counters, as Nsight Systems does, without NVIDIA's headers. What it
 * gets goes to the file $NVTX_GOT, a line each. NVTX_TOOL=refuses: it takes nothing; no-counters: no
 * extension; no-domains: only the default one; no-batches: it is older than batches. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct head {
	uint32_t size;
	uint16_t id, version;
	const struct head *next;
};
struct unit {
	struct head head;
	uint64_t flags;
	const char *name;
	uint64_t num, den;
	int64_t limits;
	double min, max;
};
struct clock {
	struct head head;
	uint64_t id;
};
struct attributes {
	size_t size;
	uint64_t type;
	const char *name, *description;
	uint64_t scope;
	const struct head *semantics;
	uint64_t id;
};
struct batch {
	uint64_t id;
	const double *values;
	size_t values_size;
	uint64_t flags;
	const int64_t *times;
	size_t times_size;
};
struct callbacks {
	size_t size;
	int (*table)(int module, void ****out, unsigned *n);
};
struct version {
	size_t size;
	uint32_t version, reserved;
	void (*set)(uint32_t version);
};
struct segment {
	size_t id, n;
	intptr_t *slots;
};
struct module {
	uint16_t version, size, id, compatible;
	size_t n;
	struct segment *segments;
	void *export;
	const void *info;
};

static FILE *out;
static uint64_t ids = (uint64_t)1 << 32;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int is(const char *what)
{
	const char *tool = getenv("NVTX_TOOL");

	return tool && !strcmp(tool, what);
}

static void *create(const char *name)
{
	fprintf(out, "domain %s\n", name);
	return out;
}

static uint64_t add(void *domain, const struct attributes *a)
{
	const struct unit *u = (const struct unit *)(const void *)a->semantics;
	const struct clock *c = (const struct clock *)(const void *)u->head.next;

	fprintf(out, "counter %llu %s %s: %zu %llu %llu %llu, %u %u %u %llu %llu/%llu",
		(unsigned long long)ids, a->name, u->name, a->size, (unsigned long long)a->type,
		(unsigned long long)a->scope, (unsigned long long)a->id, u->head.size, u->head.id,
		u->head.version, (unsigned long long)u->flags & 16, (unsigned long long)u->num,
		(unsigned long long)u->den);
	fprintf(out, ", %u %u %u %llu, %d", c->head.size, c->head.id, c->head.version,
		(unsigned long long)c->id, domain == out);
	if (u->flags & 4)
		fprintf(out, ", from %.17g", u->min);
	if (u->flags & 8)
		fprintf(out, ", to %.17g", u->max);
	fprintf(out, ", %lld ,%s\n", (long long)u->limits, a->description);
	return ids++;
}

static void sample(void *domain, uint64_t id, double v)
{
	fprintf(out, "value %llu %lld %.17g\n", (unsigned long long)id, now(), v);
}

static void no_value(void *domain, uint64_t id, uint8_t why)
{
	fprintf(out, "missing %llu %lld %u\n", (unsigned long long)id, now(), why);
}

static void submit(void *domain, const struct batch *b)
{
	size_t n = b->values_size / sizeof *b->values;

	fprintf(out, "batch %llu %lld %zu %d\n", (unsigned long long)b->id, now(), n,
		n == b->times_size / sizeof *b->times && b->flags == 0 && domain == out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "value %llu %lld %.17g\n", (unsigned long long)b->id, (long long)b->times[i],
			b->values[i]);
}

int InitializeInjectionNvtx2(const void *(*get)(uint32_t id))
{
	const struct callbacks *c = get(1);
	const struct version *v = get(3);
	unsigned n;
	void ***t;

	out = fopen(getenv("NVTX_GOT"), "w");
	if (!out || is("refuses"))
		return 0;
	setvbuf(out, NULL, _IOLBF, 1 << 16);
	v->set(3);
	fprintf(out, "nvtx %zu %zu %u %d:", c->size, v->size, v->version, get(2) == NULL);
	for (int module = 0; module < 8; module++)
		fprintf(out, " %d", c->table(module, &t, &n));
	fprintf(out, "\n");
	if (!c->table(5, &t, &n) || n < 13)
		return 0;
	if (!is("no-domains"))
		*t[12] = (void *)create;
	return 1;
}

int InitializeInjectionNvtxExtension(struct module *m)
{
	if (m->id != 4 || is("no-counters"))
		return 0;
	fprintf(out, "extension %u %u %u %#x %zu %zu\n", m->id, m->version, m->size, (unsigned)m->compatible,
		m->n, m->segments->n);
	m->segments->slots[0] = (intptr_t)add;
	m->segments->slots[2] = (intptr_t)sample;
	m->segments->slots[4] = (intptr_t)no_value;
	if (!is("no-batches"))
		m->segments->slots[5] = (intptr_t)submit;
	return 1;
}
