/* Fast rows and the header have no sums.  What can be said of a row is whether
 * its time can be right; a row whose time cannot (a block that never reached
 * the disk reads as zeroes) must not show its values either, and must not be
 * taken out: marks and the extension count rows.  It stays as a row without
 * values, with a time between its neighbours. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/journal.h"
#include "trace/output.h"
#include "trace/repair.h"

#define BATCH   4096
#define AHEAD   8           /* rows, near and far, that say whether the one before them can be right */
#define LEAP_NS NS_PER_S    /* further than this from row to row is looked at closely */

struct survey {
	struct journal journal;
	struct session about;
	struct channel *channels;
	struct fact *facts;
	bool anchor, rates, other, described, no_memory;
	uint64_t noted;
};

struct scan {
	int part;
	struct repair *out;
	uint64_t at;     /* the next row */
	uint64_t end;    /* of all rows */
	uint64_t begin;  /* of the bad stretch that is open */
	int64_t last_ns; /* of the last good row */
	struct layout layout;
	uint8_t rows[(BATCH + AHEAD) * FAST_SIZE];
};

static void take_channels(struct survey *s, const uint8_t *p, size_t n)
{
	struct place place;

	for (size_t used; n > 0 && s->about.n_channels < MAX_CHANNELS; p += used, n -= used) {
		struct channel *more = reallocarray(s->channels, s->about.n_channels + 1, sizeof(*more));

		s->no_memory |= !more;
		if (!more)
			return;
		s->channels = more;
		used = channel_decode(p, n, &more[s->about.n_channels], &place);
		if (used == 0)
			return;
		s->about.width[more[s->about.n_channels++].tier]++;
	}
}

static void take_facts(struct survey *s, const uint8_t *p, size_t n)
{
	for (size_t used; n > 0; p += used, n -= used) {
		struct fact *more = reallocarray(s->facts, s->about.n_facts + 1, sizeof(*more));

		s->no_memory |= !more;
		if (!more)
			return;
		s->facts = more;
		used = fact_decode(p, n, &more[s->about.n_facts]);
		if (used == 0)
			return;
		s->about.n_facts++;
	}
}

static int visit(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct survey *s = to;

	if (!journal_describes(id) && id != CHUNK_JOIN && !s->other) {
		s->other = true;
		s->described = s->anchor && s->rates && s->about.n_channels > 0 && s->journal.broken == 0;
	}
	if (id == CHUNK_ANCHOR)
		s->anchor = true;
	else if (id == CHUNK_CHANNELS)
		take_channels(s, p, n);
	else if (id == CHUNK_FACTS)
		take_facts(s, p, n);
	else if (id == CHUNK_JOIN && n == JOIN_SIZE)
		s->noted = get_u64(p);
	for (int t = 0; id == CHUNK_RATES && n == RATES_SIZE && t < TIERS; t++) {
		s->about.hz[t] = get_f64(p + 8 * t);
		s->rates = s->about.hz[t] >= 1e-3 && s->about.hz[t] <= 1e6;
		if (!s->rates)
			break;
	}
	return s->no_memory ? -1 : 0;
}

/* A header that no journal vouches for: nothing in it may mislead a reader. */
static void header_tidy(uint8_t *h)
{
	static const uint32_t usual[TIERS] = {1000, 100, 10};
	static const struct {
		int at, most;
	} limits[] = {{H_CORES, MAX_CORES}, {H_RAILS, MAX_RAILS}, {H_ZONES, MAX_ZONES}, {H_EMC, 1}};

	h[H_CORES - 1] = 0;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (h[limits[i].at] > limits[i].most)
			h[limits[i].at] = (uint8_t)limits[i].most;
	for (int t = 0; t < TIERS; t++)
		if (get_u32(h + H_HZ + 4 * t) == 0 || get_u32(h + H_HZ + 4 * t) > 1000000)
			put_u32(h + H_HZ + 4 * t, usual[t]);
	for (int i = 0; i < MAX_RAILS + MAX_ZONES; i++)
		h[H_RAIL_NAMES + (i + 1) * NAME_SIZE - 1] = 0;
	memset(h + H_RESERVED, 0, HEADER_SIZE - H_RESERVED);
}

static int header_repair(int part, const struct survey *s, const char *shown, struct scan *scan,
			 struct err *e)
{
	uint8_t was[HEADER_SIZE], h[HEADER_SIZE];
	ssize_t n = read_at(part, was, HEADER_SIZE, 0);
	struct layout l;

	if (n < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot recover %s"), shown);
	memcpy(h, was, HEADER_SIZE);
	if (s->described) {
		if (layout_make(&l, &s->about, e) < 0)
			return -1;
		header_encode(h, &s->about, &l);
		layout_free(&l);
	} else if (n < HEADER_SIZE) {
		return err_set(e, ERR_FAILED,
			       _("nothing was recorded to %s before it was interrupted; "
				 "%s.part and %s.part.side can be removed"),
			       shown, shown, shown);
	} else if (get_u32(h + H_MAGIC) != NVMT_MAGIC || get_u32(h + H_VERSION) != NVMT_VERSION) {
		return err_set(e, ERR_FAILED,
			       _("%s.part is not the beginning of a trace, and %s.part.side does not help"),
			       shown, shown);
	} else {
		header_tidy(h);
	}
	scan->layout = (struct layout) {.cores = h[H_CORES], .emc = h[H_EMC]};
	memset(h + H_COUNTS, 0, 32);
	scan->out->header = n < HEADER_SIZE || memcmp(h, was, H_COUNTS) != 0 ||
			    memcmp(h + H_RAIL_NAMES, was + H_RAIL_NAMES, HEADER_SIZE - H_RAIL_NAMES) != 0;
	if ((n < HEADER_SIZE || memcmp(h, was, HEADER_SIZE) != 0) && write_at(part, h, HEADER_SIZE, 0) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot recover %s"), shown);
	return 0;
}

/* What later rows say about the time of one. */
struct vote {
	unsigned right, older; /* that can be right; of them */
};

static void ask(struct vote *v, const struct scan *s, const uint8_t *later, int64_t ns)
{
	int64_t next;

	if (!row_time(later, &next) || next <= s->last_ns)
		return;
	v->right++;
	v->older += next <= ns;
}

/* A leap ahead, in the middle of a block that is none of ours, would leave all that comes
 * behind the block too old: rows from here to the end are asked. */
static bool leap_right(const struct scan *s, int64_t ns)
{
	uint64_t behind = s->end - s->at - 1;
	struct vote v = {0, 0};
	uint8_t row[8];

	for (unsigned i = 1; i <= AHEAD && behind > 0; i++) {
		uint64_t at = s->at + 1 + (behind - 1) * i / AHEAD;

		if (read_at(s->part, row, sizeof(row), (off_t)(HEADER_SIZE + at * FAST_SIZE)) == sizeof(row))
			ask(&v, s, row, ns);
	}
	return behind == 0 || v.older * 2 < v.right;
}

/* Whether the time of the row can be right, `left` rows being there with it. */
static bool row_right(const struct scan *s, const uint8_t *row, uint64_t left, int64_t *ns)
{
	static const uint8_t zeroes[FAST_SIZE];
	struct vote v = {0, 0};
	int64_t next;

	if (!row_time(row, ns) || *ns <= s->last_ns || memcmp(row, zeroes, FAST_SIZE) == 0)
		return false;
	if (left > 1 && row_time(row + FAST_SIZE, &next) && next > *ns && *ns - s->last_ns <= LEAP_NS)
		return true;
	for (unsigned i = 1; i <= AHEAD && i < left; i++)
		ask(&v, s, row + i * FAST_SIZE, *ns);
	return v.older * 2 <= v.right && (*ns - s->last_ns <= LEAP_NS || leap_right(s, *ns));
}

static bool stretch_add(struct repair *out, uint64_t row, uint64_t count)
{
	struct stretch *more;

	if (out->n_bad > 0 && out->bad[out->n_bad - 1].row + out->bad[out->n_bad - 1].count == row) {
		out->bad[out->n_bad - 1].count += count;
		return true;
	}
	more = reallocarray(out->bad, out->n_bad + 1, sizeof(*more));
	if (!more)
		return false;
	out->bad = more;
	more[out->n_bad++] = (struct stretch) {row, count};
	return true;
}

/* The open stretch ends before a row of that time. */
static int stretch_close(struct scan *s, int64_t next_ns)
{
	uint64_t n = s->at - s->begin;
	uint8_t row[FAST_SIZE];
	double from = s->last_ns < 0 ? 0 : (double)s->last_ns;

	row_blank(row, &s->layout, TIER_FAST);
	put_u32(row + F_CPU, ROW_EMPTY);
	for (uint64_t i = 0; i < n; i++) {
		put_f64(row, (from + ((double)next_ns - from) * (double)(i + 1) / (double)(n + 1)) / 1e9);
		if (write_at(s->part, row, FAST_SIZE, (off_t)(HEADER_SIZE + (s->begin + i) * FAST_SIZE)) < 0)
			return -1;
	}
	s->out->rows += n;
	if (n > 0 && stretch_add(s->out, s->begin, n))
		return 0;
	return n > 0 ? -1 : 0;
}

static int rows_scan(struct scan *s, uint64_t *rows)
{
	s->last_ns = -1;
	s->end = *rows;
	while (s->at < *rows) {
		uint64_t n = *rows - s->at < BATCH + AHEAD ? *rows - s->at : BATCH + AHEAD;
		uint64_t mine = n > BATCH ? BATCH : n;
		int64_t ns;

		if (read_at(s->part, s->rows, (size_t)n * FAST_SIZE,
			    (off_t)(HEADER_SIZE + s->at * FAST_SIZE)) != (ssize_t)n * FAST_SIZE)
			return -1;
		for (uint64_t i = 0; i < mine; i++, s->at++) {
			const uint8_t *row = s->rows + i * FAST_SIZE;

			if (!row_right(s, row, n - i, &ns))
				continue;
			if (stretch_close(s, ns) < 0)
				return -1;
			if (get_u32(row + F_CPU) == ROW_EMPTY && !stretch_add(s->out, s->at, 1))
				return -1;
			s->last_ns = ns;
			s->begin = s->at + 1;
		}
	}
	s->out->cut += (*rows - s->begin) * FAST_SIZE;
	*rows = s->begin;
	return 0;
}

static int repair(struct survey *s, struct scan *scan, const char *shown, struct err *e)
{
	struct stat st;
	uint64_t rows, whole;

	if (journal_each(&s->journal, visit, s) < 0)
		return s->journal.unreadable
			       ? err_sys(e, ERR_FAILED, errno, _("cannot read %s.part.side"), shown)
			       : err_set(e, ERR_FAILED, _("out of memory"));
	s->about.channels = s->channels;
	s->about.facts = s->facts;
	if (header_repair(scan->part, s, shown, scan, e) < 0)
		return -1;
	if (fstat(scan->part, &st) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot recover %s"), shown);
	rows = whole = (uint64_t)(st.st_size - HEADER_SIZE) / FAST_SIZE;
	if (s->noted < rows)
		rows = s->noted;
	else
		scan->out->cut = (uint64_t)(st.st_size - HEADER_SIZE) % FAST_SIZE;
	errno = ENOMEM;
	if (rows_scan(scan, &rows) < 0 ||
	    (rows < whole && ftruncate(scan->part, (off_t)(HEADER_SIZE + rows * FAST_SIZE)) < 0))
		return err_sys(e, ERR_FAILED, errno, _("cannot recover %s"), shown);
	return 0;
}

int part_repair(int part_fd, int side_fd, const char *shown, struct repair *out, struct err *e)
{
	struct survey *s = calloc(1, sizeof(*s));
	struct scan *scan = calloc(1, sizeof(*scan));
	int r = -1;

	memset(out, 0, sizeof(*out));
	if (s && scan) {
		s->journal.fd = side_fd;
		s->noted = UINT64_MAX;
		scan->part = part_fd;
		scan->out = out;
		r = repair(s, scan, shown, e);
		free(s->channels);
		free(s->facts);
	} else {
		err_set(e, ERR_FAILED, _("out of memory"));
	}
	free(s);
	free(scan);
	return r;
}
