/* Reads rows out of the ring and hands them to an ordinary writer, no faster
 * than that takes them.  The oldest go first: the ring runs behind, and as long
 * as the disk is faster than the sampling it never catches up. */
#include "trace/kept.h"

#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "trace/trace.h"

#define BATCH 64
#define NAMES 100000

struct copy {
	const struct kept *k;
	struct keep_file *out;
	struct sink *sink;
	struct mark *marks;
	struct gap *gaps;
	struct change *changes; /* of the stretch */
	struct fact *facts;	/* of its beginning */
	size_t n_marks, n_gaps, n_changes, mark;
	size_t gap[TIERS];
	struct hold_cursor row[TIERS]; /* the next one */
	uint64_t next[TIERS], stop[TIERS];
	uint64_t gone[TIERS]; /* rows that are not held any more, not told yet */
	int64_t last_ns[TIERS];
	int64_t t_ns[BATCH];
	double *values; /* BATCH rows of the widest tier */
	struct joules joules;
};

/* With the lock: the file had to wait so long that its first rows have gone. */
static void gone_early(struct copy *c, enum tier tier)
{
	const struct hold *h = c->k->hold;
	double rows;

	if (!hold_oldest(h, tier) || c->next[tier] != hold_oldest(h, tier) || c->next[tier] >= c->stop[tier])
		return;
	rows = (double)(hold_oldest_ns(h, tier) - c->out->from_ns) * c->k->about->hz[tier] / (double)NS_PER_S;
	if (rows > 2)
		c->gone[tier] = (uint64_t)rows;
}

/* With the lock: what the stretch has, besides rows. */
static void take_notes(struct copy *c)
{
	const struct hold *h = c->k->hold;

	for (size_t i = 0; i < h->n_marks; i++)
		if (h->marks[i].t_ns >= c->out->from_ns && h->marks[i].t_ns <= c->out->to_ns)
			c->marks[c->n_marks++] = h->marks[i];
	for (size_t i = 0; i < h->n_gaps; i++)
		if (h->gaps[i].to_ns > c->out->from_ns && h->gaps[i].to_ns <= c->out->to_ns)
			c->gaps[c->n_gaps++] = h->gaps[i];
	for (int t = 0; t < TIERS; t++) {
		c->last_ns[t] = c->out->from_ns;
		if (!c->k->about->width[t])
			continue;
		c->stop[t] = hold_find(h, &c->row[t], c->out->to_ns + 1);
		c->next[t] = hold_find(h, &c->row[t], c->out->from_ns);
		gone_early(c, (enum tier)t);
	}
}

/* How the machine was set when the stretch began, and what was changed in it. */
static void take_changes(struct copy *c)
{
	const struct hold *h = c->k->hold;
	size_t n = c->k->about->n_facts;

	pthread_mutex_lock(c->k->lock);
	if (n)
		memcpy(c->facts, c->k->facts, n * sizeof(*c->facts));
	for (size_t i = 0; i < h->n_changes; i++) {
		if (h->changes[i].t_ns < c->out->from_ns)
			facts_change(c->facts, n, &h->changes[i]);
		else if (h->changes[i].t_ns <= c->out->to_ns)
			c->changes[c->n_changes++] = h->changes[i];
	}
	pthread_mutex_unlock(c->k->lock);
}

static bool copy_init(struct copy *c, const struct kept *k, struct keep_file *out)
{
	size_t widest = 1;
	bool ok = true;

	memset(c, 0, sizeof(*c));
	c->k = k;
	c->out = out;
	for (int t = 0; t < TIERS; t++) {
		ok = hold_cursor_init(&c->row[t], k->hold, (enum tier)t) && ok;
		if (k->about->width[t] > widest)
			widest = k->about->width[t];
	}
	joules_begin(&c->joules, k->about);
	c->marks = calloc(HOLD_MARKS, sizeof(*c->marks));
	c->gaps = calloc(HOLD_GAPS, sizeof(*c->gaps));
	c->changes = calloc(HOLD_CHANGES, sizeof(*c->changes));
	c->facts = calloc(k->about->n_facts + 1, sizeof(*c->facts));
	c->values = calloc(BATCH * widest, sizeof(*c->values));
	return ok && c->marks && c->gaps && c->changes && c->facts && c->values;
}

static void copy_free(struct copy *c)
{
	for (int t = 0; t < TIERS; t++)
		hold_cursor_free(&c->row[t]);
	free(c->marks);
	free(c->gaps);
	free(c->changes);
	free(c->facts);
	free(c->values);
}

/* With the lock: the next row of the tier, where its cursor then stands; false: all are told. */
static bool at_next(struct copy *c, enum tier tier)
{
	return c->next[tier] < c->stop[tier] && hold_at(c->k->hold, &c->row[tier], c->next[tier]);
}

/* The next gap of the tier that is not told yet; NULL: none. */
static struct gap *gap_next(struct copy *c, enum tier tier)
{
	while (c->gap[tier] < c->n_gaps && c->gaps[c->gap[tier]].tier != tier)
		c->gap[tier]++;
	return c->gap[tier] < c->n_gaps ? &c->gaps[c->gap[tier]] : NULL;
}

static void tell_gap(struct copy *c, struct gap *g)
{
	if (g->from_ns < c->out->from_ns) {
		double fit =
			(double)(g->to_ns - c->out->from_ns) * c->k->about->hz[g->tier] / (double)NS_PER_S;

		g->from_ns = c->out->from_ns;
		if ((double)g->missed > fit)
			g->missed = (uint64_t)fit;
	}
	if (g->missed)
		c->sink->ops->gap(c->sink, g);
}

/* With the lock: the tier whose next row is the oldest; TIERS: all is told. */
static enum tier oldest(struct copy *c, int64_t *t_ns)
{
	enum tier tier = TIERS;

	for (int t = 0; t < TIERS; t++) {
		int64_t at;

		if (!at_next(c, (enum tier)t))
			continue;
		at = c->row[t].row.t_ns;
		if (tier == TIERS || at < *t_ns) {
			*t_ns = at;
			tier = (enum tier)t;
		}
	}
	return tier;
}

/* With the lock: rows that have gone while the disk was busy. */
static void skip_gone(struct copy *c, enum tier tier)
{
	uint64_t there = hold_oldest(c->k->hold, tier);

	if (there > c->stop[tier])
		there = c->stop[tier];
	if (there <= c->next[tier])
		return;
	c->gone[tier] += there - c->next[tier];
	c->next[tier] = there;
}

/* With the lock: the hole in front of the next row, or of the end. */
static void tell_gone(struct copy *c, enum tier tier)
{
	struct gap g = {tier, GAP_LOST, c->last_ns[tier], c->out->to_ns, c->gone[tier]};

	if (!c->gone[tier])
		return;
	if (at_next(c, tier))
		g.to_ns = c->row[tier].row.t_ns;
	c->out->lost_rows += c->gone[tier];
	c->gone[tier] = 0;
	c->sink->ops->gap(c->sink, &g);
}

/* With the lock: up to BATCH rows in front of until_ns. */
static size_t take_rows(struct copy *c, enum tier tier, int64_t until_ns)
{
	const struct dense *row = &c->row[tier].row;
	size_t n = 0;

	while (n < BATCH && at_next(c, tier) && !(n && row->t_ns >= until_ns)) {
		c->t_ns[n] = row->t_ns;
		memcpy(c->values + n * row->width, row->values, row->width * sizeof(double));
		c->next[tier]++;
		n++;
	}
	return n;
}

static void tell_marks(struct copy *c, int64_t until_ns)
{
	for (; c->mark < c->n_marks && c->marks[c->mark].t_ns <= until_ns; c->mark++) {
		c->marks[c->mark].id = c->mark + 1;
		c->sink->ops->mark(c->sink, &c->marks[c->mark]);
	}
}

/* One batch; false when there is no more. */
static bool step(struct copy *c)
{
	int64_t t_ns = 0, until = INT64_MAX;
	enum tier tier;
	struct gap *g;
	size_t n;

	pthread_mutex_lock(c->k->lock);
	for (int t = 0; t < TIERS; t++) {
		if (!c->k->about->width[t])
			continue;
		skip_gone(c, (enum tier)t);
		tell_gone(c, (enum tier)t);
	}
	tier = oldest(c, &t_ns);
	if (tier == TIERS) {
		pthread_mutex_unlock(c->k->lock);
		return false;
	}
	for (g = gap_next(c, tier); g && g->to_ns <= t_ns; g = gap_next(c, tier)) {
		tell_gap(c, g);
		c->gap[tier]++;
	}
	if (g)
		until = g->to_ns;
	if (tier == TIER_FAST) {
		tell_marks(c, t_ns);
		if (c->mark < c->n_marks && c->marks[c->mark].t_ns < until)
			until = c->marks[c->mark].t_ns;
	}
	n = take_rows(c, tier, until);
	pthread_mutex_unlock(c->k->lock);
	joules_count(&c->joules, tier, c->values, c->k->about->width[tier], n, NULL);
	c->last_ns[tier] = c->t_ns[n - 1];
	c->sink->ops->rows(c->sink, &(struct rows) {tier, n, c->k->about->width[tier], c->t_ns, c->values});
	return true;
}

/* The session as if it had begun with the stretch. */
static void describe(const struct copy *c, struct session *out)
{
	struct clock_anchor now;
	int64_t ago;

	*out = *c->k->about;
	out->facts = c->facts;
	clock_anchor(&now);
	ago = now.mono_ns - c->out->from_ns;
	out->start.mono_ns = c->out->from_ns;
	out->start.real_ns = now.real_ns - ago;
	out->start.boot_ns = now.boot_ns - ago;
}

static void write_to(struct copy *c, struct log_writer *w)
{
	struct log_writer_stats stats;
	struct session about;

	take_changes(c);
	describe(c, &about);
	c->sink = log_writer_sink(w);
	log_writer_options(w)->live = false;
	if (c->sink->ops->begin(c->sink, &about, &c->out->err) < 0)
		return;
	c->out->err.code = ERR_NONE;
	pthread_mutex_lock(c->k->lock);
	take_notes(c);
	pthread_mutex_unlock(c->k->lock);
	while (log_writer_ready(w) && step(c))
		;
	tell_marks(c, INT64_MAX);
	for (size_t i = 0; i < c->n_changes; i++)
		c->sink->ops->change(c->sink, &c->changes[i]);
	if (c->sink->ops->end(c->sink, &c->out->err) == 0)
		c->out->err.code = ERR_NONE;
	log_writer_stats(w, &stats);
	memcpy(c->out->rows, stats.rows, sizeof(stats.rows));
	c->out->marks = stats.marks;
	c->out->bytes = stats.bytes;
	c->out->lost_rows += stats.lost_rows;
}

bool kept_write(const struct kept *k, struct keep_file *out)
{
	struct log_writer *w = log_writer_new(out->path, k->force, &out->err);
	struct copy c;

	if (!w)
		return trace_name_free(out->path, k->force);
	if (copy_init(&c, k, out))
		write_to(&c, w);
	else
		err_set(&out->err, ERR_FAILED, _("out of memory"));
	copy_free(&c);
	log_writer_free(w);
	return true;
}

bool kept_name(struct keep_file *out, const char *path, unsigned *number, bool over)
{
	for (; *number < NAMES && part_path(path, *number, out->path, sizeof(out->path)) == 0; ++*number)
		if (trace_name_free(out->path, over))
			return true;
	err_set(&out->err, ERR_FAILED, _("%s: no name is left for another file"), path);
	return false;
}
