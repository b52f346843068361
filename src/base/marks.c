/* The marks of a stretch of time, the same for a live history and a saved trace. */
#include "nvmtop/timeline.h"

size_t marks_between(const struct mark *marks, size_t n_marks, int64_t from_ns, int64_t to_ns,
		     struct mark *out, size_t max)
{
	size_t lo = 0, hi = n_marks, n = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (marks[mid].t_ns < from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n_marks && marks[lo].t_ns < to_ns && n < max; lo++)
		out[n++] = marks[lo];
	return n;
}
