/* A reader of version 1 gives a row the number of the latest sync point before
 * it: points whose rows or numbers went back and forth would give it the wrong
 * one.  So numbers follow time here, whatever the order of arrival was. */
#include <stdlib.h>

#include "trace/format.h"
#include "trace/output.h"
#include "trace/syncs.h"

int syncs_add(struct syncs *s, const struct mark *m, uint64_t row)
{
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct sync *list = reallocarray(s->list, room, sizeof(*list));
		uint64_t *ids = list ? reallocarray(s->ids, room, sizeof(*ids)) : NULL;

		if (list)
			s->list = list;
		if (!ids)
			return -1;
		s->ids = ids;
		s->room = room;
	}
	s->ids[s->n] = m->id;
	s->list[s->n++] = (struct sync) {m->t_ns, m->id, row};
	return 0;
}

/* A row that cannot be read is as good as one from before. */
static bool is_before(int fd, uint64_t row, int64_t start_ns, int64_t t_ns)
{
	uint8_t time[8];
	int64_t ns;

	return read_at(fd, time, sizeof(time), HEADER_SIZE + (off_t)(row * FAST_SIZE)) != sizeof(time) ||
	       !row_time(time, &ns) || start_ns + ns < t_ns;
}

static uint64_t find_row(int fd, uint64_t rows, int64_t start_ns, const struct sync *s)
{
	uint64_t lo = 0, hi = s->row < rows ? s->row : rows;

	if (hi == 0 || is_before(fd, hi - 1, start_ns, s->t_ns))
		return hi; /* it came in time */
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (is_before(fd, mid, start_ns, s->t_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int by_time(const void *a, const void *b)
{
	const struct sync *s = a, *t = b;

	if (s->t_ns != t->t_ns)
		return s->t_ns < t->t_ns ? -1 : 1;
	return (s->id > t->id) - (s->id < t->id);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void syncs_settle(struct syncs *s, int part_fd, uint64_t rows, int64_t start_ns)
{
	for (size_t i = 0; i < s->n; i++)
		s->list[i].row = find_row(part_fd, rows, start_ns, &s->list[i]);
	if (s->n < 2)
		return;
	qsort(s->list, s->n, sizeof(*s->list), by_time);
	qsort(s->ids, s->n, sizeof(*s->ids), by_number);
	for (size_t i = 1; i < s->n; i++)
		if (s->list[i].row < s->list[i - 1].row)
			s->list[i].row = s->list[i - 1].row;
}

size_t syncs_find(const struct syncs *s, const struct mark *m)
{
	const struct sync wanted = {m->t_ns, m->id, 0};
	const struct sync *at = s->n ? bsearch(&wanted, s->list, s->n, sizeof(*s->list), by_time) : NULL;

	return at ? (size_t)(at - s->list) : SIZE_MAX;
}

void syncs_free(struct syncs *s)
{
	free(s->list);
	free(s->ids);
	*s = (struct syncs) {NULL, NULL, 0, 0};
}
