/* Computes when the ticks of a tier are due. Missed ticks are skipped and counted: catching up would record a
 * burst of rows at one instant as if the rate were steady. */
#include "engine/grid.h"

int64_t grid_due(const struct grid *g)
{
	return g->start_ns + g->tick * g->period_ns;
}

static uint64_t skip_to(struct grid *g, int64_t tick)
{
	uint64_t skipped = (uint64_t)(tick - g->tick);

	g->tick = tick;
	return skipped;
}

uint64_t grid_begin(struct grid *g, int64_t now_ns)
{
	int64_t newest = (now_ns - g->start_ns) / g->period_ns;

	return newest > g->tick ? skip_to(g, newest) : 0;
}

uint64_t grid_end(struct grid *g, int64_t now_ns)
{
	int64_t newest;

	g->tick++;
	if (now_ns < grid_due(g)) {
		g->overran = false;
		return 0;
	}
	if (!g->overran) {
		g->overran = true;
		return 0;
	}
	g->overran = false;
	newest = (now_ns - g->start_ns) / g->period_ns;
	return skip_to(g, newest + 1);
}
