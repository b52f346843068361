#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/quantile.h"

#define MIXED   (UINT64_C(1) << 63)
#define SIGN    (UINT64_C(1) << 63)
#define PAGE    512
#define TOP     43 /* bits that follow the first 21 */
#define STEP    14
#define BUCKETS ((size_t)1 << (STEP + 1)) /* the last step takes 15 bits */

static uint64_t key_of(double v)
{
	uint64_t bits;

	if (v == 0)
		v = 0; /* -0 is 0 */
	memcpy(&bits, &v, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

static double value_of(uint64_t key)
{
	uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline void bucket_add(struct bucket *b, uint64_t key)
{
	if (b->n == 0)
		b->key = key;
	else if (b->key != key)
		b->n |= MIXED;
	b->n++;
}

uint64_t quantile_rank(double q, uint64_t n)
{
	double rank = ceil(q * (double)n - 1e-9);

	return rank < 1 ? 0 : rank > (double)n ? n - 1 : (uint64_t)rank - 1;
}

void quantile_add(struct quantile *s, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t key;
		struct bucket **page;

		if (v[i] != v[i])
			continue;
		key = key_of(v[i]);
		page = &s->page[key >> 52];
		if (!*page && !(*page = calloc(PAGE, sizeof(**page)))) {
			s->no_memory = true;
			return;
		}
		bucket_add(&(*page)[key >> TOP & (PAGE - 1)], key);
		s->n++;
	}
}

/* Of buckets in order, the one that holds the rank, which becomes that within it. */
static size_t walk(const struct bucket *b, size_t n, uint64_t *rank)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t in = b[i].n & ~MIXED;

		if (*rank < in)
			return i;
		*rank -= in;
	}
	return n;
}

static void narrow(struct aim *a, const struct bucket *b, uint64_t prefix, int shift)
{
	a->prefix = prefix;
	a->shift = shift;
	if (shift == 0 || !(b->n & MIXED)) {
		a->value = value_of(b->key);
		a->shift = 0;
	}
}

static void first_aim(struct quantile *s, struct aim *a, double q)
{
	a->rank = quantile_rank(q, s->n);
	for (size_t p = 0; p < sizeof(s->page) / sizeof(s->page[0]); p++) {
		size_t i = s->page[p] ? walk(s->page[p], PAGE, &a->rank) : PAGE;

		if (i < PAGE) {
			narrow(a, &s->page[p][i], (uint64_t)p << 9 | i, TOP);
			return;
		}
	}
}

static int step_of(int shift)
{
	return shift > STEP + 1 ? STEP : shift;
}

static void next_aim(struct aim *a)
{
	int step = step_of(a->shift);
	size_t i = walk(a->next, (size_t)1 << step, &a->rank);

	if (i < BUCKETS)
		narrow(a, &a->next[i], a->prefix << step | i, a->shift - step);
	else
		a->shift = 0; /* the values have changed meanwhile: cannot be */
}

bool quantile_next_pass(struct quantile *s, const double at[QUANTILES])
{
	bool again = false;

	for (int q = 0; q < QUANTILES; q++) {
		struct aim *a = &s->aim[q];

		if (s->n == 0)
			a->value = NAN;
		else if (a->next && a->shift > 0)
			next_aim(a);
		else if (!a->next && a->shift == 0)
			first_aim(s, a, at[q]);
		if (a->shift == 0) {
			a->prefix = UINT64_MAX;
			continue;
		}
		a->below = a->shift - step_of(a->shift);
		a->mask = (UINT64_C(1) << step_of(a->shift)) - 1;
		again = true;
		if (!a->next)
			a->next = malloc(BUCKETS * sizeof(*a->next));
		if (a->next)
			memset(a->next, 0, BUCKETS * sizeof(*a->next));
		else
			s->no_memory = true;
	}
	return again && !s->no_memory;
}

void quantile_add_again(struct quantile *s, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t key = key_of(v[i]);

		for (int q = 0; q < QUANTILES; q++) {
			struct aim *a = &s->aim[q];

			/* An aim that is met has no key that fits. */
			if (key >> a->shift == a->prefix && v[i] == v[i])
				bucket_add(&a->next[key >> a->below & a->mask], key);
		}
	}
}

void quantile_free(struct quantile *s)
{
	for (size_t p = 0; p < sizeof(s->page) / sizeof(s->page[0]); p++)
		free(s->page[p]);
	for (int q = 0; q < QUANTILES; q++)
		free(s->aim[q].next);
	memset(s, 0, sizeof(*s));
}
