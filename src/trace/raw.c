/* A trace as version 1 has it, for programs that know the format: the header
 * decoded, the rows where they lie, and the fast rows of each epoch. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/log-trace.h"

static void text_get(char *out, size_t size, const uint8_t *p, size_t field)
{
	text_printable(out, size, (const char *)p, strnlen((const char *)p, field));
}

static unsigned at_most(unsigned v, unsigned most)
{
	return v < most ? v : most;
}

void trace_header(const struct trace *t, struct trace_header *out)
{
	const uint8_t *h = t->map;

	if (t->log) {
		log_trace_header(t, out);
		return;
	}
	memset(out, 0, sizeof(*out));
	text_get(out->board, sizeof(out->board), h + H_BOARD, H_CORES - H_BOARD);
	out->cores = at_most(h[H_CORES], MAX_CORES);
	out->rails = at_most(h[H_RAILS], MAX_RAILS);
	out->zones = at_most(h[H_ZONES], MAX_ZONES);
	out->emc = h[H_EMC] != 0;
	for (unsigned i = 0; i < MAX_RAILS; i++)
		text_get(out->rail[i], sizeof(out->rail[i]), h + H_RAIL_NAMES + i * NAME_SIZE, NAME_SIZE);
	for (unsigned i = 0; i < MAX_ZONES; i++)
		text_get(out->zone[i], sizeof(out->zone[i]), h + H_ZONE_NAMES + i * NAME_SIZE, NAME_SIZE);
}

const void *trace_raw(const struct trace *t, enum tier tier, uint64_t *n)
{
	*n = t->log ? 0 : t->section[tier].rows;
	return *n > 0 ? row_at(t, tier, 0) : NULL;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = (*(const struct mark *const *)a)->id, y = (*(const struct mark *const *)b)->id;

	return (x > y) - (x < y);
}

/* The exact marks by their ids, which only the extension has labels of; NULL: there
 * is none, or no memory, and times are then those of the rows. */
static const struct mark **marks_sorted(const struct trace *t)
{
	const struct mark **list = t->n_marks > 0 ? reallocarray(NULL, t->n_marks, sizeof(*list)) : NULL;

	if (!list)
		return NULL;
	for (size_t i = 0; i < t->n_marks; i++)
		list[i] = &t->marks[i];
	qsort(list, t->n_marks, sizeof(*list), by_id);
	return list;
}

static const struct mark *mark_of(const struct trace *t, const struct mark **sorted, uint64_t id)
{
	const struct mark key = {.id = id}, *wanted = &key;
	const struct mark **at = NULL;

	if (sorted && id > 0)
		at = bsearch(&wanted, sorted, t->n_marks, sizeof(*sorted), by_id);
	return at ? *at : NULL;
}

static void epoch_begin(const struct trace *t, const struct mark **sorted, struct trace_epoch *e, uint64_t id,
			uint64_t first)
{
	uint64_t rows = t->section[TIER_FAST].rows;
	const struct mark *m = mark_of(t, sorted, id);

	memset(e, 0, sizeof(*e));
	e->id = id;
	e->first = first;
	if (id > 0)
		e->from_ns = m ? m->t_ns : first < rows ? row_ns(t, TIER_FAST, first) : t->last_ns;
	else
		e->from_ns = t->session.start.mono_ns;
	if (m)
		snprintf(e->label, sizeof(e->label), "%s", m->label);
}

uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max)
{
	const struct mark **sorted = max > 0 ? marks_sorted(t) : NULL;
	uint64_t rows = t->section[TIER_FAST].rows, count = 1;
	struct trace_epoch now, next;

	epoch_begin(t, sorted, &now, 0, 0);
	for (uint64_t i = 0; i < (t->log ? t->n_marks : t->n_sync); i++) {
		const uint8_t *p = t->log ? NULL : t->map + t->sync_at + (size_t)i * SYNC_SIZE;
		uint64_t row = p ? get_u64(p + 8) : row_find(t, TIER_FAST, t->marks[i].t_ns);

		if (row > rows || row < now.first)
			continue; /* damage, which trace_open() has named */
		epoch_begin(t, sorted, &next, p ? get_u64(p) : t->marks[i].id, row);
		now.n = row - now.first;
		now.to_ns = next.from_ns;
		if (count <= max)
			out[count - 1] = now;
		now = next;
		count++;
	}
	now.n = rows - now.first;
	now.to_ns = t->last_ns > now.from_ns ? t->last_ns : now.from_ns;
	if (count <= max)
		out[count - 1] = now;
	free(sorted);
	return count;
}
