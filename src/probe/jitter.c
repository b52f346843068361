/* Chooses the moment within a tick at which a reading is made. If it were always the same, a load in step
 * with the clock would look always on or always off; at a random moment it becomes noise. Of 16 consecutive
 * moments each lies in another sixteenth of its tick: the noise is then as small as possible, and no load is
 * in step with the order.
 *
 * The sequence depends on the tick's number alone: all sources of one period are read together, and tests are
 * reproducible. */
#include "probe/jitter.h"

#define PARTS 16

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Returns the part of its tick that tick n gets: each group of 16 is shuffled. */
static unsigned part_of(uint64_t n)
{
	unsigned char parts[PARTS];
	uint64_t seed = mix(n / PARTS);

	for (unsigned i = 0; i < PARTS; i++) {
		unsigned j = (unsigned)(mix(seed + i) % (i + 1));

		parts[i] = parts[j];
		parts[j] = (unsigned char)i;
	}
	return parts[n % PARTS];
}

int64_t jitter_in(uint64_t n, int64_t period_ns)
{
	double within = (double)(mix(~n) >> 11) * 0x1p-53;

	return (int64_t)(((double)part_of(n) + within) / PARTS * (double)period_ns);
}

int64_t jitter_next(int64_t *slot_ns, int64_t grid_ns, int64_t period_ns, int64_t end_ns)
{
	/* The slot after the last one; the grid may have moved since. */
	int64_t n = (*slot_ns - grid_ns + period_ns / 2) / period_ns + 1, due;
	int64_t newest = end_ns > grid_ns ? (end_ns - grid_ns) / period_ns : 0;

	n = n > newest ? n : newest;
	*slot_ns = grid_ns + n * period_ns;
	due = *slot_ns + jitter_in((uint64_t)n, period_ns);
	return due > end_ns ? due : end_ns;
}
