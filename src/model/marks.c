/* Selects marks and changes by time; shared by the live history and the trace reader. */
#include <string.h>

#include "model/timeline.h"

size_t marks_between(const struct mark *marks, size_t n_marks, int64_t from_ns, int64_t to_ns,
		     struct mark *out, size_t max)
{
	size_t first = times_from(marks, n_marks, sizeof(*marks), offsetof(struct mark, t_ns), from_ns);
	size_t n = times_from(marks + first, n_marks - first, sizeof(*marks), offsetof(struct mark, t_ns), to_ns);

	n = n < max ? n : max;
	if (n > 0)
		memcpy(out, marks + first, n * sizeof(*out));
	return n;
}

size_t changes_between(const struct change *changes, size_t n_changes, int64_t from_ns, int64_t to_ns,
		       struct change *out, size_t max)
{
	size_t end = times_from(changes, n_changes, sizeof(*changes), offsetof(struct change, t_ns), to_ns);
	size_t n = end - times_from(changes, end, sizeof(*changes), offsetof(struct change, t_ns), from_ns);

	n = n < max ? n : max;
	if (n > 0)
		memcpy(out, changes + end - n, n * sizeof(*out));
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
