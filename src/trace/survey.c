/* The first look of a join: what is there, what is missing, how many of everything. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "util/intl.h"
#include "trace/joint.h"
#include "trace/output.h"

uint64_t join_rows_take(struct join *j, enum tier tier, const uint8_t *p, size_t n, uint64_t *hole)
{
	struct progress *g = &j->progress[tier];
	uint64_t rows = n / row_size[tier], first = g->rows;

	*hole = 0;
	if (n % row_size[tier] == sizeof(first))
		first = get_u64(p + rows * row_size[tier]);
	if (rows == 0 || first < g->rows ||
	    first - g->rows > (j->journal.broken - g->broken) / row_size[tier])
		return 0;
	*hole = first - g->rows;
	g->holes += *hole;
	g->rows = first + rows;
	g->broken = j->journal.broken;
	return rows;
}

static void count_pyramid(struct join *j, const uint8_t *p, size_t n)
{
	struct pyramid_head h, *all;
	struct summit *s;

	if (!pyramid_head_decode(p, n, &h))
		return; /* of a writer of tomorrow */
	s = &j->summit[h.tier];
	all = &s->head;
	if (all->rows == 0 && h.row == 0)
		*all = (struct pyramid_head) {h.tier, h.zoom, h.width, 0, h.first, 0, 0};
	s->broken |= h.zoom != all->zoom || h.width != all->width || h.row != all->rows ||
		     h.first < all->first + all->columns;
	if (s->broken)
		return;
	all->columns = (uint32_t)(h.first + h.columns - all->first);
	all->rows += h.rows;
}

static int count_marks(struct join *j, const uint8_t *p, size_t n)
{
	struct mark m;
	uint64_t row;

	for (size_t used; n > 0; p += used, n -= used) {
		used = mark_decode(p, n, &m, &row);
		if (used == 0)
			break;
		if (syncs_add(&j->syncs, &m, row) < 0)
			return join_no_memory(j);
	}
	return 0;
}

static void count_channels(struct join *j, const uint8_t *p, size_t n)
{
	struct channel c;
	struct place place;

	for (size_t used; n > 0 && j->n_runs < MAX_CHANNELS; p += used, n -= used) {
		used = channel_decode(p, n, &c, &place);
		if (used == 0)
			return;
		j->fields[j->n_runs] = place.field;
		j->slots[j->n_runs] = (uint8_t)place.slot;
		j->extra[c.tier] += place.field == FIELD_EXTRA;
		j->tiers[j->n_runs++] = (uint8_t)c.tier;
	}
}

static void count_gaps(struct join *j, const uint8_t *p, size_t n)
{
	struct gap g;

	for (; n >= GAP_SIZE; p += GAP_SIZE, n -= GAP_SIZE)
		if (gap_decode(p, &g))
			*(g.cause == GAP_LATE ? &j->late[g.tier] : &j->lost[g.tier]) += g.missed;
}

static int count_cover(struct join *j, const uint8_t *p, size_t n)
{
	return n == COVER_SIZE && doubts_cover(&j->doubts, p) < 0
		       ? join_no_memory(j)
		       : 0;
}

static int visit_count(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct join *j = to;
	uint64_t hole;

	if (!journal_describes(id) && id != CHUNK_JOIN && !j->other) {
		/* A description of which nothing is missing. */
		j->other = true;
		j->described = j->anchor && j->n_runs > 0 && j->journal.broken == 0;
	}
	switch (id) {
	case CHUNK_ANCHOR:
		j->anchor |= n == ANCHOR_SIZE;
		if (n == ANCHOR_SIZE)
			anchor_decode(p, &j->start);
		break;
	case CHUNK_CHANNELS:
		count_channels(j, p, n);
		break;
	case CHUNK_MEDIUM:
		join_rows_take(j, TIER_MEDIUM, p, n, &hole);
		break;
	case CHUNK_SLOW:
		join_rows_take(j, TIER_SLOW, p, n, &hole);
		break;
	case CHUNK_PYRAMID:
		count_pyramid(j, p, n);
		break;
	case CHUNK_RUNS:
		doubts_runs(&j->doubts, n / RUN_SIZE);
		break;
	case CHUNK_COVER:
		return count_cover(j, p, n);
	case CHUNK_MARKS:
		return count_marks(j, p, n);
	case CHUNK_GAPS:
		count_gaps(j, p, n);
		break;
	case CHUNK_JOIN:
		if (n == JOIN_SIZE)
			j->noted = get_u64(p); /* an earlier join was interrupted */
		break;
	}
	return 0;
}

int join_survey(struct join *j)
{
	struct stat st;
	ssize_t n = read_at(j->part, j->header, HEADER_SIZE, 0);

	if (n < 0 || fstat(j->part, &st) < 0)
		return err_sys(j->err, ERR_FAILED, errno, _("cannot read %s.part"), j->shown);
	if (n < HEADER_SIZE)
		return err_set(j->err, ERR_FAILED,
			       _("nothing was recorded to %s: not even its header could be written"),
			       j->shown);
	j->fast_rows = (uint64_t)(st.st_size - HEADER_SIZE) / FAST_SIZE;
	memset(j->header + H_COUNTS, 0, 32);
	j->tiers = calloc(MAX_CHANNELS, sizeof(*j->tiers));
	j->fields = calloc(MAX_CHANNELS, sizeof(*j->fields));
	j->slots = calloc(MAX_CHANNELS, sizeof(*j->slots));
	j->noted = UINT64_MAX;
	if (!j->tiers || !j->fields || !j->slots)
		return join_no_memory(j);
	if (join_each(j, visit_count) < 0)
		return -1;
	if (!j->other) /* it ended before there was more than the description */
		j->described = j->anchor && j->n_runs > 0 && j->journal.broken == 0 && j->journal.torn == 0;
	if (j->noted < j->fast_rows)
		j->fast_rows = j->noted;
	j->rows[TIER_FAST] = j->fast_rows;
	for (int t = TIER_MEDIUM; t < TIERS; t++) {
		j->rows[t] = j->progress[t].rows;
		j->lost[t] += j->progress[t].holes;
	}
	syncs_settle(&j->syncs, j->part, j->fast_rows, j->anchor ? j->start.mono_ns : INT64_MIN / 2);
	j->at[TIER_FAST] = HEADER_SIZE;
	for (int t = TIER_MEDIUM; t < TIERS; t++)
		j->at[t] = j->at[t - 1] + (off_t)(j->rows[t - 1] * row_size[t - 1]);
	j->runs = calloc(j->n_runs + 1, sizeof(*j->runs));
	j->settled = calloc(j->n_runs + 1, sizeof(*j->settled));
	if (!j->runs || !j->settled ||
	    doubts_end(&j->doubts, j->rows, j->journal.broken == 0 && j->journal.torn == 0) < 0)
		return join_no_memory(j);
	return 0;
}
