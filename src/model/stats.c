/* Statistics of channels, integrated by trapezoids and not across gaps. Shared by summary, report and log
 * so that all of them print the same energy. */
/* The loops over values shall be vectorised even at -O2. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "model/stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "model/channel.h"
#include "util/clock.h"

#define LANES 4

void sum_add(struct sum *s, double v)
{
	double t = s->value + v;

	s->rest += fabs(s->value) >= fabs(v) ? s->value - t + v : v - t + s->value;
	s->value = t;
}

int64_t stats_hole_ns(double hz)
{
	return hz > 0 ? (int64_t)llround(COVER_PERIODS * 1e9 / hz) : 0;
}

void span_stats_between(struct span_stats *s, int64_t t0, double v0, int64_t t1, double v1, int64_t hole_ns, int64_t from_ns, int64_t to_ns)
{
	int64_t from = t0 > from_ns ? t0 : from_ns, to = t1 < to_ns ? t1 : to_ns;
	double middle = (double)(from - t0 + to - t0) / 2;

	s->rise += t1 > from_ns && t1 <= to_ns && v1 > v0 ? v1 - v0 : 0;
	if (t1 - t0 > hole_ns || to <= from)
		return;
	s->integral += (v0 + (v1 - v0) * (middle / (double)(t1 - t0))) * ((double)(to - from) / (double)NS_PER_S);
	s->known_ns += (uint64_t)(to - from);
	s->above_ns += v0 > 0 ? (uint64_t)(to - from) : 0;
}

void span_stats_rows(struct span_stats *s, const int64_t *t_ns, const double *v, const double *apart_ns, double known_ns, size_t n)
{
	double min[LANES], max[LANES], sum[LANES] = {0}, squares[LANES] = {0};
	double area[LANES] = {0}, rise[LANES] = {0}, above = 0, mean;
	size_t i, k;

	for (k = 0; k < LANES; k++)
		min[k] = max[k] = v[n - 1];
	for (i = 0; i + LANES < n; i += LANES) {
		for (k = 0; k < LANES; k++) {
			double a = v[i + k], b = v[i + k + 1], step = b - a;

			min[k] = a < min[k] ? a : min[k];
			max[k] = a > max[k] ? a : max[k];
			sum[k] += a;
			area[k] += (a + b) * apart_ns[i + k];
			rise[k] += step > 0 ? step : 0;
		}
	}
	for (k = 0; i < n; i++) {
		min[k] = v[i] < min[k] ? v[i] : min[k];
		max[k] = v[i] > max[k] ? v[i] : max[k];
		sum[k] += v[i];
		if (i + 1 == n)
			break;
		area[k] += (v[i] + v[i + 1]) * apart_ns[i];
		rise[k] += v[i + 1] > v[i] ? v[i + 1] - v[i] : 0;
	}
	for (k = 1; k < LANES; k++) {
		min[0] = min[k] < min[0] ? min[k] : min[0];
		max[0] = max[k] > max[0] ? max[k] : max[0];
		sum[0] += sum[k];
		area[0] += area[k];
		rise[0] += rise[k];
	}
	mean = sum[0] / (double)n;
	for (i = 0; i + LANES <= n; i += LANES)
		for (k = 0; k < LANES; k++)
			squares[k] += (v[i + k] - mean) * (v[i + k] - mean);
	for (; i < n; i++)
		squares[0] += (v[i] - mean) * (v[i] - mean);
	if (min[0] > 0)
		above = known_ns;
	for (i = 0; i + 1 < n && min[0] <= 0 && max[0] > 0; i++)
		above += v[i] > 0 ? apart_ns[i] : 0;
	*s = (struct span_stats) {.channel = s->channel,
				.n = n,
				.min = min[0],
				.max = max[0],
				.sum = sum[0],
				.squares = squares[0] + squares[1] + squares[2] + squares[3],
				.first_ns = t_ns[0],
				.last_ns = t_ns[n - 1],
				.first = v[0],
				.last = v[n - 1],
				.integral = area[0] / 2 / (double)NS_PER_S,
				.known_ns = (uint64_t)known_ns,
				.above_ns = (uint64_t)above,
				.rise = rise[0]};
}

void span_stats_join(struct span_stats *s, const struct span_stats *later, int64_t hole_ns)
{
	double n = (double)s->n, m = (double)later->n, apart;

	if (later->n == 0)
		return;
	if (s->n == 0) {
		*s = *later;
		return;
	}
	span_stats_between(s, s->last_ns, s->last, later->first_ns, later->first, hole_ns, s->last_ns, later->first_ns);
	apart = later->sum / m - s->sum / n;
	s->squares += later->squares + apart * apart * (n * m / (n + m));
	s->n += later->n;
	s->sum += later->sum;
	s->min = later->min < s->min ? later->min : s->min;
	s->max = later->max > s->max ? later->max : s->max;
	s->integral += later->integral;
	s->known_ns += later->known_ns;
	s->above_ns += later->above_ns;
	s->rise += later->rise;
	s->last_ns = later->last_ns;
	s->last = later->last;
}

#define STRETCH 256 /* values per batch, so that bin numbers are computed with vectors */

int histogram_init(struct histogram *h, double min, double max)
{
	int exponent;

	frexp(fmin(max - min, DBL_MAX) / HISTOGRAM_BINS, &exponent);
	exponent = exponent < -1000 ? -1000 : exponent;
	*h = (struct histogram) {.min = min, .max = max, .scale = ldexp(1, 1 - exponent)};
	h->first = floor(min * h->scale);
	h->last = fmin(fmax(floor(max * h->scale) - h->first, 0), 2 * HISTOGRAM_BINS);
	h->bins = calloc((size_t)h->last + 2, sizeof(*h->bins));
	return h->bins ? 0 : -1;
}

void histogram_free(struct histogram *h)
{
	free(h->bins);
	h->bins = NULL;
}

void histogram_add(struct histogram *h, const double *v, size_t n)
{
	double scale = h->scale, first = h->first, last = h->last;
	int32_t at[STRETCH];

	for (size_t m; n > 0; v += m, n -= m) {
		m = n < STRETCH ? n : STRETCH;
		for (size_t i = 0; i < m; i++) {
			double bin = v[i] * scale - first;

			bin = bin > 0 ? bin : 0;
			bin = bin < last ? bin : last;
			at[i] = (int32_t)(v[i] == v[i] ? bin : last + 1);
		}
		for (size_t i = 0; i < m; i++)
			h->bins[at[i]]++;
	}
}

void histogram_repeat(struct histogram *h, double v, uint64_t n)
{
	h->bins[v == v ? histogram_bin(h, v) : (size_t)h->last + 1] += n;
}

void histogram_join(struct histogram *h, const struct histogram *part)
{
	for (size_t i = 0; i <= (size_t)part->last; i++)
		histogram_repeat(h, (part->first + (double)i) / part->scale, part->bins[i]);
}

uint64_t histogram_count(const struct histogram *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i <= (size_t)h->last; i++)
		n += h->bins[i];
	return n;
}

size_t histogram_find(const struct histogram *h, uint64_t *rank)
{
	size_t i = 0;

	while (i < (size_t)h->last && *rank >= h->bins[i])
		*rank -= h->bins[i++];
	return i;
}

double histogram_value(const struct histogram *h, size_t bin, uint64_t rank)
{
	double within = ((double)rank + 0.5) / (double)h->bins[bin];

	return fmin(fmax((h->first + (double)bin + within) / h->scale, h->min), h->max);
}
