/* Selects marks and changes by time; shared by the live history and the trace reader. */
#include "model/timeline.h"

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

size_t changes_between(const struct change *changes, size_t n_changes, int64_t from_ns, int64_t to_ns,
		       struct change *out, size_t max)
{
	size_t end = n_changes, n = 0;

	while (end > 0 && changes[end - 1].t_ns >= to_ns)
		end--;
	while (n < end && n < max && changes[end - 1 - n].t_ns >= from_ns)
		n++;
	for (size_t i = 0; i < n; i++)
		out[i] = changes[end - n + i];
	return n;
}
