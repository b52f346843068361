/* Selects marks and changes by time; shared by the live history and the trace reader. */
#include <string.h>

#include "model/timeline.h"

size_t marks_between(const struct mark *marks, size_t n_marks, int64_t from_ns, int64_t to_ns,
		     struct mark *out, size_t max)
{
	size_t i = times_from(marks, n_marks, sizeof(*marks), offsetof(struct mark, t_ns), from_ns), n = 0;

	for (; i < n_marks && marks[i].t_ns < to_ns && n < max; i++)
		out[n++] = marks[i];
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

bool reason_before(const struct change *reasons, size_t n, const char *name, int64_t t_ns, struct change *out)
{
	bool found = false;

	for (size_t i = 0; i < n && !(found && reasons[i].t_ns > t_ns); i++)
		if (!strcmp(reasons[i].what, name)) {
			*out = reasons[i];
			found = true;
		}
	return found;
}
