/* A mean hides the outliers that matter, and storing every value would grow with the recording. So
 * lateness is counted in a histogram with logarithmic steps. */
#include "model/lateness.h"

#define UNIT_NS 125 /* the finest step */
#define EACH    8   /* steps per doubling */

size_t lateness_step(int64_t late_ns)
{
	uint64_t v = late_ns > 0 ? (uint64_t)late_ns / UNIT_NS : 0;
	unsigned doublings = 0;
	size_t step;

	while (v >= 2 * EACH) {
		v >>= 1;
		doublings++;
	}
	step = doublings * EACH + (size_t)v;
	return step < LATENESS_STEPS ? step : LATENESS_STEPS - 1;
}

/* The upper bound of a step. */
static int64_t step_end_ns(size_t step)
{
	size_t doublings = step < 2 * EACH ? 0 : step / EACH - 1;

	return (int64_t)(((uint64_t)(step - doublings * EACH) + 1) << doublings) * UNIT_NS;
}

int64_t lateness_ns(const struct lateness *now, const struct lateness *since, double share)
{
	uint64_t all = 0, seen = 0;
	uint32_t n[LATENESS_STEPS];

	for (size_t i = 0; i < LATENESS_STEPS; i++) {
		n[i] = now->n[i] - (since ? since->n[i] : 0);
		all += n[i];
	}
	for (size_t i = 0; i < LATENESS_STEPS; i++) {
		seen += n[i];
		if (seen && (double)seen >= share * (double)all)
			return step_end_ns(i);
	}
	return -1;
}
