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

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A value that is read less often than the tick is kept until the next reading and counts for that time,
 * which must not depend on where in a tick it was read. */
int64_t jitter_next(struct moments *m, int64_t grid_ns, int64_t period_ns, int64_t end_ns)
{
	int64_t n, newest = end_ns > grid_ns ? (end_ns - grid_ns) / period_ns : 0;

	if (period_ns != m->tick_ns) {
		m->due_ns += period_ns / 2 + jitter_in(m->n++, period_ns);
		m->due_ns = later(m->due_ns, end_ns);
		return m->due_ns;
	}
	/* The slot after the last one; the grid may have moved since. */
	n = (m->slot_ns - grid_ns + period_ns / 2) / period_ns + 1;
	n = later(n, newest);
	m->slot_ns = grid_ns + n * period_ns;
	m->due_ns = later(m->slot_ns + jitter_in((uint64_t)n, period_ns), end_ns);
	return m->due_ns;
}
