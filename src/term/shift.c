/* A running chart is the old one shifted left plus a few new cells. Terminals can shift the rest of a
 * row in about ten bytes, but ncurses detects that only if the end of the row is unchanged. */
#include "term/shift.h"

#define SHIFT_MAX  16 /* largest shift in cells */
#define GAIN       10 /* cells that must be saved to be worth a sequence */
#define CELLS_MOST 1000

/* True if the row has no wide characters. */
static bool simple(const struct cell *row, int w)
{
	for (int i = 0; i < w; i++)
		if (row[i].ch[0] == 0)
			return false;
	return true;
}

/* The number of differing cells after shifting the row by k from x on, for the best x. */
static int moved(const struct cell *was, const struct cell *now, int w, int k, int *best_x)
{
	int best, after = 0, before = 0;

	for (int i = 0; i < w; i++)
		before += !cell_same(&was[i], &now[i]);
	best = before;
	*best_x = w;
	/* From right to left, adding one cell at a time. */
	for (int i = w - 1; i >= 0; i--) {
		before -= !cell_same(&was[i], &now[i]);
		after += i + k >= w || !cell_same(&was[i + k], &now[i]); /* new cells at the end must be drawn */
		if (before + after < best) {
			best = before + after;
			*best_x = i;
		}
	}
	return best;
}

struct shift shift_find(const struct cell *was, const struct cell *now, int w)
{
	struct shift s = {0, 0};
	int differ = 0, best;

	if (w > CELLS_MOST)
		return s;
	for (int i = 0; i < w; i++)
		differ += !cell_same(&was[i], &now[i]);
	if (differ < GAIN || !simple(was, w) || !simple(now, w))
		return s;
	best = differ - GAIN;
	for (int k = 1; k <= SHIFT_MAX && k < w; k++) {
		int x, cost = moved(was, now, w, k, &x);

		if (cost <= best) {
			best = cost - 1;
			s = (struct shift) {x, k};
		}
	}
	return s;
}
