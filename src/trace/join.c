/* Joining reads the journal a few times from its beginning to its end with
 * buffers of fixed size: once to see how far it is whole, once for each section
 * of version 1, once for the extension (gather.c).
 *
 * Rows of the extension are found by their number, so a row that a damaged
 * journal no longer has must not move those behind it: it stays as a row with
 * nothing but a time between those of its neighbours. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/joint.h"
#include "trace/output.h"

static int fail_write(struct join *j)
{
	return err_sys(
		j->err, ERR_FAILED, errno,
		_("the recording could not be completed (%llu fast samples are in %s.part, the rest in "
		  "%s.part.side); fix the cause, then run nvmtop --recover %s"),
		(unsigned long long)j->fast_rows, j->shown, j->shown, j->shown);
}

static int no_memory(const char *shown, struct err *e)
{
	return err_set(e, ERR_FAILED,
		       _("out of memory: the recording is %s.part; nvmtop --recover %s completes it"), shown,
		       shown);
}

int join_no_memory(const struct join *j)
{
	return no_memory(j->shown, j->err);
}

static int append(struct join *j, const uint8_t *p, size_t n)
{
	if (write_at(j->part, p, n, j->end) < 0)
		return fail_write(j);
	j->end += (off_t)n;
	return 0;
}

static int out_flush(struct join *j)
{
	size_t n = j->out_used;

	j->out_used = 0;
	return append(j, j->out, n);
}

int join_write(struct join *j, const uint8_t *p, size_t n)
{
	if (n > sizeof(j->out) - j->out_used && out_flush(j) < 0)
		return -1;
	if (n > sizeof(j->out))
		return append(j, p, n);
	memcpy(j->out + j->out_used, p, n);
	j->out_used += n;
	return 0;
}

int join_each(struct join *j, journal_visit *visit)
{
	for (int t = 0; t < TIERS; t++)
		j->progress[t] = (struct progress) {.last_ns = -1};
	if (journal_each(&j->journal, visit, j) == 0)
		return 0;
	if (j->journal.unreadable)
		return err_sys(j->err, ERR_FAILED, errno, _("cannot read %s.part.side"), j->shown);
	return -1;
}

/* Rows without a value between two times. */
static int write_holes(struct join *j, enum tier tier, uint64_t n, int64_t from_ns, int64_t to_ns)
{
	uint8_t row[MEDIUM_SIZE];
	const struct layout l = {.rails = j->header[H_RAILS], .zones = j->header[H_ZONES]};

	row_blank(row, &l, tier);
	for (uint64_t i = 1; i <= n; i++) {
		put_f64(row,
			((double)from_ns + (double)(to_ns - from_ns) * (double)i / (double)(n + 1)) / 1e9);
		if (join_write(j, row, row_size[tier]) < 0)
			return -1;
	}
	return 0;
}

static int write_rows(struct join *j, enum tier tier, const uint8_t *p, size_t n)
{
	struct progress *g = &j->progress[tier];
	uint64_t hole, rows = join_rows_take(j, tier, p, n, &hole);
	int64_t first_ns;

	if (rows == 0)
		return 0;
	if (hole > 0 && row_time(p, &first_ns) &&
	    write_holes(j, tier, hole, g->last_ns < 0 ? 0 : g->last_ns, first_ns) < 0)
		return -1;
	row_time(p + (rows - 1) * row_size[tier], &g->last_ns);
	return join_write(j, p, rows * row_size[tier]);
}

static int visit_medium(void *to, uint32_t id, uint8_t *p, size_t n)
{
	return id == CHUNK_MEDIUM ? write_rows(to, TIER_MEDIUM, p, n) : 0;
}

static int visit_slow(void *to, uint32_t id, uint8_t *p, size_t n)
{
	return id == CHUNK_SLOW ? write_rows(to, TIER_SLOW, p, n) : 0;
}

static int write_syncs(struct join *j)
{
	uint8_t sync[SYNC_SIZE];

	for (size_t i = 0; i < j->syncs.n; i++) {
		put_u64(sync, j->syncs.ids[i]);
		put_u64(sync + 8, j->syncs.list[i].row);
		if (join_write(j, sync, sizeof(sync)) < 0)
			return -1;
	}
	return 0;
}

static int write_open(struct join *j)
{
	uint8_t p[WRITER_MAX];

	return gather_chunk(j, CHUNK_OPEN, p, writer_encode(p));
}

static int write_close(struct join *j, uint64_t first)
{
	uint8_t tally[TALLY_SIZE], p[CLOSE_SIZE];

	for (int t = 0; t < TIERS; t++) {
		put_u64(tally + 24 * t, j->rows[t]);
		put_u64(tally + 24 * t + 8, j->late[t]);
		put_u64(tally + 24 * t + 16, j->lost[t]);
	}
	if (gather_chunk(j, CHUNK_TALLY, tally, sizeof(tally)) < 0)
		return -1;
	put_u64(p, first);
	put_u64(p + 8, j->chunks);
	memcpy(p + 16, j->header + H_COUNTS, 32);
	put_u32(p + 48, chunk_crc(j->header, HEADER_SIZE));
	return gather_chunk(j, CHUNK_CLOSE, p, sizeof(p));
}

/* Everything behind the fast rows, and j->header with its counts. */
static int write_sections(struct join *j)
{
	uint64_t first;

	j->end = HEADER_SIZE + (off_t)(j->fast_rows * FAST_SIZE);
	if (join_each(j, visit_medium) < 0 || join_each(j, visit_slow) < 0 || write_syncs(j) < 0 ||
	    out_flush(j) < 0)
		return -1;
	put_u64(j->header + H_COUNTS, j->fast_rows);
	put_u64(j->header + H_COUNTS + 8, j->rows[TIER_MEDIUM]);
	put_u64(j->header + H_COUNTS + 16, j->rows[TIER_SLOW]);
	put_u64(j->header + H_COUNTS + 24, j->syncs.n);
	if (!j->described) /* without channels there is no extension */
		return out_flush(j);
	first = (uint64_t)j->end + j->out_used;
	if (write_open(j) < 0 || gather(j) < 0)
		return -1;
	return write_close(j, first) < 0 || out_flush(j) < 0 ? -1 : 0;
}

/* Where the fast rows end must be known even if this is interrupted: from here
 * on the size of the part no longer says it. */
static int note_fast_rows(struct join *j)
{
	uint8_t note[CHUNK_HEAD + JOIN_SIZE + CHUNK_CRC];
	off_t at = j->journal.whole;
	size_t n;

	if (j->journal.fd < 0 || j->noted == j->fast_rows)
		return 0;
	put_u64(note + CHUNK_HEAD, j->fast_rows);
	n = chunk_seal(note, CHUNK_JOIN, JOIN_SIZE);
	if (write_at(j->journal.fd, note, n, at) < 0 || ftruncate(j->journal.fd, at + (off_t)n) < 0 ||
	    fdatasync(j->journal.fd) < 0)
		return fail_write(j);
	return 0;
}

static int join_all(struct join *j, struct joined *out)
{
	off_t fast_end;

	if (join_survey(j) < 0)
		return -1;
	for (int t = 0; t < TIERS; t++)
		out->holes[t] = j->progress[t].holes;
	out->broken = j->journal.broken + j->journal.torn;
	if (note_fast_rows(j) < 0)
		return -1;
	fast_end = HEADER_SIZE + (off_t)(j->fast_rows * FAST_SIZE);
	if (write_sections(j) < 0)
		return ftruncate(j->part, fast_end) < 0 ? fail_write(j) : -1;
	/* The counts last, and only when what they count is on the disk. */
	if (ftruncate(j->part, j->end) < 0 || fdatasync(j->part) < 0 ||
	    write_at(j->part, j->header, HEADER_SIZE, 0) < 0 || fdatasync(j->part) < 0)
		return fail_write(j);
	return 0;
}

/* What the last row of a section says; -1: it has none. */
static int64_t last_time(const struct join *j, enum tier tier)
{
	int64_t ns = -1;
	uint8_t row[8];

	if (j->rows[tier] == 0)
		return -1;
	if (read_at(j->part, row, 8, j->at[tier] + (off_t)((j->rows[tier] - 1) * row_size[tier])) == 8)
		row_time(row, &ns);
	return ns;
}

static void report(const struct join *j, struct joined *out)
{
	for (int t = 0; t < TIERS; t++) {
		out->rows[t] = j->rows[t];
		out->late[t] = j->late[t];
		out->lost[t] = j->lost[t];
		out->last_ns[t] = last_time(j, (enum tier)t);
	}
	out->marks = j->syncs.n;
	out->bytes = (uint64_t)j->end;
	out->described = j->described;
	out->doubted = j->doubted;
	out->boot_ns = j->anchor ? j->start.boot_ns : 0;
}

int trace_join_repaired(int part_fd, int side_fd, const char *shown, const struct stretch *bad, size_t n_bad,
			struct joined *out, struct err *e)
{
	struct join *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return no_memory(shown, e);
	j->part = part_fd;
	j->journal.fd = side_fd;
	j->shown = shown;
	j->err = e;
	j->n_bad = n_bad;
	r = 0;
	for (size_t i = 0; i < n_bad && r == 0; i++)
		if (doubts_add(&j->doubts, TIER_FAST, bad[i]) < 0)
			r = no_memory(shown, e);
	if (r == 0)
		r = join_all(j, out);
	if (r == 0)
		report(j, out);
	for (int t = 0; t < TIERS; t++)
		tower_free(&j->summit[t].tower);
	free(j->runs);
	free(j->tiers);
	free(j->fields);
	free(j->slots);
	free(j->settled);
	doubts_free(&j->doubts);
	syncs_free(&j->syncs);
	free(j);
	return r;
}

int trace_join(int part_fd, int side_fd, const char *shown, struct joined *out, struct err *e)
{
	return trace_join_repaired(part_fd, side_fd, shown, NULL, 0, out, e);
}
