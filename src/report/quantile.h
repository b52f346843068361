/* sieve: exact quantiles of more values than fit into memory.
 *
 * Values are sorted into buckets by the leading bits of a key that orders as
 * they do.  A quantile lies in one bucket; when that holds more than one value,
 * the values are gone through once more and only those of the bucket are sorted,
 * by the bits that follow: at most four passes, two for whatever is a float. */
#ifndef NVMTOP_REPORT_QUANTILE_H
#define NVMTOP_REPORT_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTILES 3

struct bucket {
	uint64_t n; /* the highest bit: not all of them have this key */
	uint64_t key;
};

struct aim {
	uint64_t rank; /* of the wanted value within its bucket, from 0 */
	uint64_t prefix;
	int shift; /* how many bits follow the prefix; 0: done */
	int below; /* and how many those that are sorted by now */
	uint64_t mask;
	double value;
	struct bucket *next; /* 2^(bits of the next pass) */
};

struct quantile {
	struct bucket *page[4096]; /* by sign and exponent: 2^9 buckets each */
	struct aim aim[QUANTILES];
	uint64_t n;
	bool no_memory;
};

void quantile_add(struct quantile *s, const double *v, size_t n); /* first pass; NaN is left out */
/* A pass is over: true when there must be another one, with quantile_add_again(). */
bool quantile_next_pass(struct quantile *s, const double at[QUANTILES]);
void quantile_add_again(struct quantile *s, const double *v, size_t n);
void quantile_free(struct quantile *s);

/* How many values are below or at the quantile: its rank from 0 of n. */
uint64_t quantile_rank(double q, uint64_t n);

#endif
