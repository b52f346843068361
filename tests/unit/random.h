/* random: a reproducible pseudo-random sequence. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

static uint64_t seed = 88172645463325252;

/* Marsaglia's xorshift. */
static inline uint64_t random_next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static inline uint64_t random_below(uint64_t below)
{
	return (random_next() >> 11) % below;
}

#endif
