/* Copies rows, marks, gaps and changes of a trace to a writer. */
#include <math.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/text.h"
#include "report/copy-rows.h"
#include "trace/nvmt1.h"

#define BLOCK 100 /* rows per push, the number that log_out_ready() makes room for */
#define WINDOW_NS                                                                                            \
	NS_PER_S /* how far a tier may get ahead of the others; also the interval of progress calls */

/* Call before each push into p->sink. Returns false if nothing more may be pushed. */
static bool copy_ready(struct copy *p)
{
	p->failed = p->failed || (p->writer && !log_out_ready(p->writer));
	return !p->failed && !p->stopped;
}

/* Copies the part of a gap that is in the range. */
static void copy_gap(struct copy *p, const struct gap *g, int64_t from_ns, int64_t end_ns)
{
	struct gap cut = *g;
	double length = (double)(g->to_ns - g->from_ns);

	if (cut.from_ns < from_ns)
		cut.from_ns = from_ns;
	if (cut.to_ns > end_ns)
		cut.to_ns = end_ns;
	if (length > 0 && gap_is_hole(g))
		cut.missed =
			(uint64_t)llround((double)g->missed * (double)(cut.to_ns - cut.from_ns) / length);
	if (cut.missed > 0 && copy_ready(p) && p->sink->ops->gap)
		p->sink->ops->gap(p->sink, &cut);
}

static void copy_rows(struct copy *p, enum tier tier, uint64_t to, int64_t from_ns)
{
	const struct session *s = trace_session(p->t);
	size_t width = s->width[tier];
	double column[BLOCK];
	int64_t t_ns[BLOCK];
	struct gap late[BLOCK];

	while (p->row[tier] < to && copy_ready(p)) {
		size_t n = to - p->row[tier] < BLOCK ? (size_t)(to - p->row[tier]) : BLOCK;

		trace_row_times(p->t, tier, p->row[tier], n, t_ns);
		for (size_t c = 0; c < s->n_channels; c++) {
			if (s->channels[c].tier != tier)
				continue;
			trace_row_values(p->t, c, p->row[tier], n, column);
			for (size_t i = 0; i < n; i++)
				p->values[i * width + s->channels[c].column] = column[i];
		}
		for (size_t i = 0, n_late = trace_late(p->t, tier, p->row[tier], n, late); i < n_late; i++)
			copy_gap(p, &late[i], from_ns, INT64_MAX);
		p->sink->ops->rows(p->sink, &(struct rows) {tier, n, width, t_ns, p->values});
		p->row[tier] += n;
		p->done += n;
	}
}

/* The time of the oldest row not yet copied; INT64_MAX if there is none. */
static int64_t oldest(const struct copy *p)
{
	int64_t t_ns, best = INT64_MAX;

	for (int t = 0; t < TIERS; t++) {
		if (p->row[t] >= p->end[t])
			continue;
		trace_row_times(p->t, (enum tier)t, p->row[t], 1, &t_ns);
		if (t_ns < best)
			best = t_ns;
	}
	return best;
}

/* Changes before the range are part of its facts. */
static void copy_changes(struct copy *p, int64_t from_ns, int64_t end_ns)
{
	size_t n;
	const struct change *list = trace_changes(p->t, &n);

	for (size_t i = 0; i < n && list[i].t_ns < end_ns; i++) {
		struct change c = list[i];

		if (c.t_ns < from_ns)
			continue;
		if (copy_ready(p))
			p->sink->ops->change(p->sink, &c);
	}
	list = trace_reasons(p->t, &n);
	for (size_t i = 0; i < n && list[i].t_ns < end_ns; i++) {
		struct change c = list[i];

		if (c.t_ns < from_ns && p->reasons)
			continue;
		c.t_ns = c.t_ns > from_ns ? c.t_ns : from_ns;
		if (copy_ready(p))
			p->sink->ops->change(p->sink, &c);
	}
	p->reasons = true;
}

/* A part of the stretch: ranges that end in it are copied, in the last one those that go on, too. All of them are
 * copied whole: one that is in two copies is the same range in both. */
struct part {
	struct copy *p;
	int64_t from_ns, until_ns, end_ns;
};

static bool copy_range(void *arg, const struct range *range)
{
	const struct part *part = arg;
	struct copy *p = part->p;
	struct range r = *range;

	if (r.end_ns > part->until_ns && part->until_ns < part->end_ns)
		return true;
	if (r.end_ns > part->end_ns)
		r.flags |= RANGE_BEYOND;
	r.begin_ns = r.begin_ns > 0 ? r.begin_ns : 0;
	p->sink->ops->ranges(p->sink, &r, 1);
	return copy_ready(p);
}

static void copy_ranges(struct part *part, int64_t until_ns)
{
	if ((until_ns - part->from_ns < WINDOW_NS && until_ns < part->end_ns) || !part->p->sink->ops->ranges)
		return;
	part->until_ns = until_ns;
	trace_ranges(trace_timeline(part->p->t), part->from_ns, until_ns, 0, copy_range, part);
	part->from_ns = until_ns;
}

void copy_stretch(struct copy *p, int64_t from_ns, int64_t end_ns)
{
	size_t n_marks, n_gaps, mark = 0, gap = 0;
	const struct mark *marks = trace_marks(p->t, &n_marks);
	const struct gap *gaps = trace_gaps(p->t, &n_gaps);
	struct part part = {p, from_ns, from_ns, end_ns};

	for (int t = 0; t < TIERS; t++) {
		p->row[t] = trace_row_from(p->t, (enum tier)t, from_ns);
		p->end[t] = trace_row_from(p->t, (enum tier)t, end_ns);
	}
	while (mark < n_marks && marks[mark].t_ns < from_ns)
		mark++;
	copy_changes(p, from_ns, end_ns);
	while (!p->failed && !p->stopped) {
		int64_t until = oldest(p);

		if (p->progress && p->total > 0 && !p->progress((double)p->done / (double)p->total))
			p->stopped = true;
		until = until > end_ns - WINDOW_NS ? end_ns : until + WINDOW_NS;
		if (mark < n_marks && marks[mark].t_ns < until)
			until = marks[mark].t_ns;
		for (int t = 0; t < TIERS; t++) {
			uint64_t to = trace_row_from(p->t, (enum tier)t, until);

			copy_rows(p, (enum tier)t, to < p->end[t] ? to : p->end[t], from_ns);
		}
		for (; gap < n_gaps && gaps[gap].from_ns < until; gap++)
			if (gaps[gap].to_ns > from_ns)
				copy_gap(p, &gaps[gap], from_ns, end_ns);
		copy_ranges(&part, until);
		if (until == end_ns)
			return;
		for (; mark < n_marks && marks[mark].t_ns == until; mark++)
			if (copy_ready(p) && p->sink->ops->mark)
				p->sink->ops->mark(p->sink, &marks[mark]);
	}
}

int copy_init(struct copy *p, struct sink *to, const struct session *about)
{
	size_t widest = 1;

	p->sink = to;
	for (int t = 0; t < TIERS; t++)
		if (about->width[t] > widest)
			widest = about->width[t];
	p->values = malloc(widest * BLOCK * sizeof(*p->values));
	return p->values ? 0 : -1;
}

static int convert(const struct copy *p, struct err *e)
{
	struct err failed = {.code = ERR_NONE};
	struct trace *t = trace_open(p->temporary, &failed);
	int rc = t ? nvmt1_write(t, p->path, p->force, NULL, NULL, &failed) : -1;

	trace_close(t);
	if (rc < 0)
		*e = failed;
	unlink(p->temporary);
	return rc;
}

/* Renames the complete copy; for .bin, converts it to version 1 first. */
static int publish(struct copy *p, struct err *e)
{
	char shown[512];

	if (text_ends_in(p->path, ".bin"))
		return convert(p, e);
	text_printable(shown, sizeof(shown), p->path, strlen(p->path));
	if (rename(p->temporary, p->path) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot write %s"), shown);
	log_file_list(p->path);
	return 0;
}

int copy_end(struct copy *p, struct err *e)
{
	struct log_out *w = p->writer;
	struct log_out_stats stats;
	int r = -1;

	e->code = ERR_NONE;
	log_out_stats(w, &stats);
	if (!p->failed && !p->stopped) {
		p->sink->ops->end(p->sink, e);
		r = log_out_end(w, e);
	} else {
		log_out_discard(w);
		if (p->stopped)
			err_set(e, ERR_FAILED, _("interrupted: nothing was written"));
		else
			*e = stats.err;
	}
	free(p->values);
	log_out_free(w);
	log_free(p->log);
	if (r == 0)
		r = publish(p, e);
	if (r < 0)
		unlink(p->temporary);
	return r;
}

struct fact *copy_facts(const struct trace *t, int64_t before_ns)
{
	const struct session *s = trace_session(t);
	struct fact *facts = calloc(s->n_facts + 1, sizeof(*facts));
	size_t n;
	const struct change *list = trace_changes(t, &n);

	if (facts && s->n_facts)
		memcpy(facts, s->facts, s->n_facts * sizeof(*facts));
	for (size_t i = 0; facts && i < n && list[i].t_ns < before_ns; i++)
		facts_change(facts, s->n_facts, &list[i]);
	return facts;
}

int copy_begin(struct copy *p, const char *path, bool force, const struct session *about, struct err *e)
{
	struct log_out *w;

	memset(p, 0, sizeof(*p));
	if (snprintf(p->temporary, sizeof(p->temporary), "%s.log.tmp", path) >= (int)sizeof(p->temporary))
		return err_sys(e, ERR_FAILED, ENAMETOOLONG, _("cannot write %s"), path);
	if (log_file_check(path, force, e) < 0)
		return -1;
	snprintf(p->path, sizeof(p->path), "%s", path);
	p->force = force;
	w = log_out_new(p->temporary, true, e);
	if (!w)
		return -1;
	p->writer = w;
	p->log = log_new(&(struct log_bound) {.now = false}, e);
	if (p->log && copy_init(p, log_sink(p->log), about) < 0)
		err_set(e, ERR_FAILED, _("out of memory"));
	else if (p->log && log_out_begin(w, p->log, INT64_MIN, INT64_MAX, e) == 0 &&
		 p->sink->ops->begin(p->sink, about, e) == 0)
		return 0;
	free(p->values);
	log_out_discard(w);
	log_out_free(w);
	log_free(p->log);
	return -1;
}

uint64_t copy_rows_of(const struct trace *t, int64_t from_ns, int64_t end_ns)
{
	uint64_t n = 0;

	for (int i = 0; i < TIERS; i++)
		n += trace_row_from(t, (enum tier)i, end_ns) - trace_row_from(t, (enum tier)i, from_ns);
	return n;
}
