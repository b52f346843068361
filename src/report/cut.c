/* A trace, or a part of it, as a stream into the writer of recordings: what it
 * writes is what a recording is, with its extension, marks, gaps and clocks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvmtop/intl.h"
#include "nvmtop/report.h"

#define BLOCK     100      /* that trace_writer_ready() makes room for */
#define WINDOW_NS NS_PER_S /* how far a tier runs ahead of the others */
#define YEAR_NS   (366 * 86400 * NS_PER_S)
#define RELEASE   65536

/* Where the stream goes, and what it has had. */
struct pour {
	struct trace_writer *writer;
	struct sink *sink;
	bool failed;  /* the writer says why */
	bool stopped; /* somebody wants no more of it */
	const struct session *about;
	struct trace *t;
	int64_t shift; /* to be added to the times of t */
	uint64_t marks;
	int64_t last_ns[TIERS]; /* of the rows so far; < 0: none */
	double *values;         /* BLOCK rows of the widest tier */
	uint64_t row[TIERS], end[TIERS], released[TIERS];
	uint64_t total, done;
	report_progress *progress;
};

static bool ready(struct pour *p)
{
	p->failed = p->failed || !trace_writer_ready(p->writer);
	return !p->failed && !p->stopped;
}

static void pour_rows(struct pour *p, enum tier tier, uint64_t to)
{
	const struct session *s = trace_session(p->t);
	size_t width = s->width[tier];
	double column[BLOCK];
	int64_t t_ns[BLOCK];

	while (p->row[tier] < to && ready(p)) {
		size_t n = to - p->row[tier] < BLOCK ? (size_t)(to - p->row[tier]) : BLOCK;

		trace_row_times(p->t, tier, p->row[tier], n, t_ns);
		for (size_t i = 0; i < n; i++)
			t_ns[i] += p->shift;
		for (size_t c = 0; c < s->n_channels; c++) {
			if (s->channels[c].tier != tier)
				continue;
			trace_row_values(p->t, c, p->row[tier], n, column);
			for (size_t i = 0; i < n; i++)
				p->values[i * width + s->channels[c].column] = column[i];
		}
		p->sink->ops->rows(p->sink, &(struct rows) {tier, n, width, t_ns, p->values});
		p->last_ns[tier] = t_ns[n - 1];
		p->row[tier] += n;
		p->done += n;
	}
	if (p->row[tier] - p->released[tier] >= RELEASE) {
		trace_rows_done(p->t, tier, p->released[tier], p->row[tier]);
		p->released[tier] = p->row[tier];
		if (p->progress && p->total > 0)
			p->stopped = !p->progress((double)p->done / (double)p->total);
	}
}

/* The time of the oldest row that is still to come; INT64_MAX: there is none. */
static int64_t oldest(const struct pour *p)
{
	int64_t t_ns, best = INT64_MAX;

	for (int t = 0; t < TIERS; t++) {
		if (p->row[t] == p->end[t])
			continue;
		trace_row_times(p->t, (enum tier)t, p->row[t], 1, &t_ns);
		if (t_ns < best)
			best = t_ns;
	}
	return best;
}

/* The part of a gap that lies in the stretch. */
static void pour_gap(struct pour *p, const struct gap *g, int64_t from_ns, int64_t end_ns)
{
	struct gap cut = *g;
	double length = (double)(g->to_ns - g->from_ns);

	if (cut.from_ns < from_ns)
		cut.from_ns = from_ns;
	if (cut.to_ns > end_ns)
		cut.to_ns = end_ns;
	if (length > 0)
		cut.missed =
			(uint64_t)llround((double)g->missed * (double)(cut.to_ns - cut.from_ns) / length);
	cut.from_ns += p->shift;
	cut.to_ns += p->shift;
	if (cut.missed > 0 && ready(p))
		p->sink->ops->gap(p->sink, &cut);
}

static void pour_mark(struct pour *p, const struct mark *m)
{
	struct mark anew = *m;

	anew.id = ++p->marks;
	anew.t_ns += p->shift;
	if (ready(p))
		p->sink->ops->mark(p->sink, &anew);
}

/* All of a trace from from_ns up to end_ns, on its own clock. */
static void pour_stretch(struct pour *p, int64_t from_ns, int64_t end_ns)
{
	size_t n_marks, n_gaps, mark = 0, gap = 0;
	const struct mark *marks = trace_marks(p->t, &n_marks);
	const struct gap *gaps = trace_gaps(p->t, &n_gaps);

	for (int t = 0; t < TIERS; t++) {
		p->row[t] = p->released[t] = trace_row_from(p->t, (enum tier)t, from_ns);
		p->end[t] = trace_row_from(p->t, (enum tier)t, end_ns);
	}
	while (mark < n_marks && marks[mark].t_ns < from_ns)
		mark++;
	while (!p->failed && !p->stopped) {
		int64_t until = oldest(p);

		until = until > end_ns - WINDOW_NS ? end_ns : until + WINDOW_NS;
		if (mark < n_marks && marks[mark].t_ns < until)
			until = marks[mark].t_ns;
		for (int t = 0; t < TIERS; t++) {
			uint64_t to = trace_row_from(p->t, (enum tier)t, until);

			pour_rows(p, (enum tier)t, to < p->end[t] ? to : p->end[t]);
		}
		for (; gap < n_gaps && gaps[gap].from_ns < until; gap++)
			if (gaps[gap].to_ns > from_ns)
				pour_gap(p, &gaps[gap], from_ns, end_ns);
		if (until == end_ns)
			return;
		for (; mark < n_marks && marks[mark].t_ns == until; mark++)
			pour_mark(p, &marks[mark]);
	}
}

static int pour_init(struct pour *p, struct trace_writer *w, const struct session *about)
{
	size_t widest = 1;

	memset(p, 0, sizeof(*p));
	p->writer = w;
	p->sink = trace_writer_sink(w);
	p->about = about;
	for (int t = 0; t < TIERS; t++) {
		p->last_ns[t] = -1;
		if (about->width[t] > widest)
			widest = about->width[t];
	}
	p->values = malloc(widest * BLOCK * sizeof(*p->values));
	return p->values ? 0 : -1;
}

/* What was begun is ended; a file that is not whole is no trace of anything. */
static int finish(struct trace_writer *w, struct pour *p, struct err *e)
{
	struct trace_writer_stats stats;
	int r = -1;

	trace_writer_stats(w, &stats);
	if (!p->failed && !p->stopped) {
		r = p->sink->ops->end(p->sink, e);
		if (r < 0)
			unlink(trace_writer_path(w));
	} else {
		trace_writer_discard(w);
		if (p->stopped)
			err_set(e, ERR_FAILED, _("interrupted: nothing was written"));
		else
			*e = stats.err;
	}
	free(p->values);
	trace_writer_free(w);
	return r;
}

static struct trace_writer *writer_new(const char *path, bool force, const struct session *about,
				       struct pour *p, struct err *e)
{
	struct trace_writer *w = trace_writer_new(path, force, e);

	if (!w)
		return NULL;
	if (pour_init(p, w, about) < 0)
		err_set(e, ERR_FAILED, _("out of memory"));
	else if (p->sink->ops->begin(p->sink, about, e) == 0)
		return w;
	free(p->values);
	trace_writer_free(w);
	return NULL;
}

static uint64_t all_rows(const struct trace *t, int64_t from_ns, int64_t end_ns)
{
	uint64_t n = 0;

	for (int i = 0; i < TIERS; i++)
		n += trace_row_from(t, (enum tier)i, end_ns) - trace_row_from(t, (enum tier)i, from_ns);
	return n;
}

static void shown_path(const struct trace *t, char *out, size_t size)
{
	text_printable(out, size, trace_path(t), strlen(trace_path(t)));
}

int trace_cut(struct trace *t, const struct pick *pick, const char *path, bool force,
	      report_progress *progress, struct err *e)
{
	struct session about = *trace_session(t);
	int64_t first, last, from = about.start.mono_ns, end;
	struct trace_writer *w;
	struct pour p;
	char shown[512];

	shown_path(t, shown, sizeof(shown));
	if (!trace_extent(t, &first, &last))
		return err_set(e, ERR_FAILED, _("there is no sample in %s"), shown);
	if (pick->has_from)
		from += pick->from_ns;
	end = pick->has_to && pick->to_ns <= last - about.start.mono_ns ? about.start.mono_ns + pick->to_ns
									: last + 1;
	if (from >= end || all_rows(t, from, end) == 0)
		return err_set(e, ERR_FAILED, _("there is no sample in that stretch of %s"), shown);
	/* The new trace begins where it is cut. */
	if (about.start.real_ns)
		about.start.real_ns += from - about.start.mono_ns;
	if (about.start.boot_ns)
		about.start.boot_ns += from - about.start.mono_ns;
	about.start.mono_ns = from;
	w = writer_new(path, force, &about, &p, e);
	if (!w)
		return -1;
	p.t = t;
	p.progress = progress;
	p.total = all_rows(t, from, end);
	pour_stretch(&p, from, end);
	return finish(w, &p, e);
}

/* --- joining --- */

/* The first thing in which two sessions differ. */
static int same_board(const struct trace *a, const struct trace *b, struct err *e)
{
	const struct session *s = trace_session(a), *o = trace_session(b);
	char first[400], other[400];
	const char *board = fact_get(s->facts, s->n_facts, "board");
	const char *board2 = fact_get(o->facts, o->n_facts, "board");

	shown_path(a, first, sizeof(first));
	shown_path(b, other, sizeof(other));
	if (board && board2 && strcmp(board, board2) != 0)
		return err_set(e, ERR_FAILED,
			       _("%s is of board %s and %s of board %s: they cannot be joined"), first, board,
			       other, board2);
	for (int t = 0; t < TIERS; t++)
		if (fabs(s->hz[t] - o->hz[t]) > 1e-9 * s->hz[t])
			return err_set(e, ERR_FAILED,
				       _("%s and %s have different rates: they cannot be joined"), first,
				       other);
	for (size_t i = 0; i < s->n_channels && i < o->n_channels; i++) {
		const struct channel *c = &s->channels[i], *d = &o->channels[i];

		if (strcmp(c->name, d->name) != 0 || c->tier != d->tier || c->unit != d->unit ||
		    c->kind != d->kind || c->column != d->column)
			return err_set(e, ERR_FAILED,
				       _("%s has signal %s where %s has %s: they cannot be joined"), first,
				       c->name, other, d->name);
	}
	if (s->n_channels != o->n_channels)
		return err_set(e, ERR_FAILED, _("%s has %zu signals and %s has %zu: they cannot be joined"),
			       first, s->n_channels, other, o->n_channels);
	return 0;
}

/* What has to be added to the times of b to lie on the clock of the first trace. */
static int64_t shift_of(const struct trace *first, const struct trace *b, int64_t last_ns, bool *known)
{
	const struct clock_anchor *s = &trace_session(first)->start, *o = &trace_session(b)->start;
	int64_t apart = (o->real_ns - o->mono_ns) - (s->real_ns - s->mono_ns), from, to;

	*known = s->real_ns != 0 && o->real_ns != 0;
	if (!*known) {
		trace_extent(b, &from, &to);
		return last_ns + llround(1e9 / trace_session(first)->hz[TIER_FAST]) - from;
	}
	/* Within seconds: the same boot, and its monotonic clock is the better one. */
	return llabs(apart) < 2 * NS_PER_S ? 0 : apart;
}

static int64_t latest(const int64_t last_ns[TIERS])
{
	int64_t best = -1;

	for (int t = 0; t < TIERS; t++)
		if (last_ns[t] > best)
			best = last_ns[t];
	return best;
}

/* Where the parts of the joined trace lie. */
struct place {
	int64_t shift;
	bool known;
};

static int places_find(struct trace *const *traces, size_t n, struct place *out, struct err *e)
{
	int64_t last[TIERS] = {-1, -1, -1}, t_ns, start = trace_session(traces[0])->start.mono_ns;

	for (size_t i = 0; i < n; i++) {
		char shown[512];

		shown_path(traces[i], shown, sizeof(shown));
		if (!trace_extent(traces[i], &t_ns, &t_ns))
			return err_set(e, ERR_FAILED, _("there is no sample in %s"), shown);
		out[i] = (struct place) {0, true};
		if (i > 0) {
			if (same_board(traces[0], traces[i], e) < 0)
				return -1;
			out[i].shift = shift_of(traces[0], traces[i], latest(last), &out[i].known);
		}
		for (int t = 0; t < TIERS; t++) {
			uint64_t rows = trace_rows(traces[i], (enum tier)t);

			if (rows == 0)
				continue;
			trace_row_times(traces[i], (enum tier)t, 0, 1, &t_ns);
			if (t_ns + out[i].shift < last[t])
				return err_set(
					e, ERR_FAILED,
					_("%s begins before the trace before it ends: give them in the order "
					  "in which they were recorded"),
					shown);
			trace_row_times(traces[i], (enum tier)t, rows - 1, 1, &t_ns);
			last[t] = t_ns + out[i].shift;
		}
		if (latest(last) - start > YEAR_NS)
			return err_set(e, ERR_FAILED,
				       _("%s was recorded more than a year after the first: a trace cannot "
					 "hold that"),
				       shown);
	}
	return 0;
}

/* The time between two parts has no rows: that is a gap like any other. */
static void gaps_between(struct pour *p)
{
	for (int t = 0; t < TIERS; t++) {
		struct gap g = {(enum tier)t, GAP_LOST, p->last_ns[t], 0, 0};
		double hz = p->about->hz[t];

		if (trace_rows(p->t, (enum tier)t) == 0 || p->last_ns[t] < 0)
			continue;
		trace_row_times(p->t, (enum tier)t, 0, 1, &g.to_ns);
		g.to_ns += p->shift;
		if ((double)(g.to_ns - g.from_ns) * hz / 1e9 < 1.5)
			continue;
		g.missed = (uint64_t)llround((double)(g.to_ns - g.from_ns) * hz / 1e9) - 1;
		if (ready(p))
			p->sink->ops->gap(p->sink, &g);
	}
}

/* What is missing in one part may be there in another. */
static struct channel *channels_merge(struct trace *const *traces, size_t n)
{
	const struct session *s = trace_session(traces[0]);
	struct channel *list = calloc(s->n_channels + 1, sizeof(*list));

	for (size_t c = 0; list && c < s->n_channels; c++) {
		list[c] = s->channels[c];
		for (size_t i = 1; i < n; i++)
			if (!trace_session(traces[i])->channels[c].missing[0])
				list[c].missing[0] = '\0';
	}
	return list;
}

static void tell_unknown(const struct trace *t, void (*note)(const char *text))
{
	char shown[512], text[768];

	shown_path(t, shown, sizeof(shown));
	snprintf(text, sizeof(text),
		 _("%s does not say when it was recorded: it follows the part before it without a pause"),
		 shown);
	note(text);
}

int trace_join_files(struct trace *const *traces, size_t n, const char *path, bool force,
		     report_progress *progress, void (*note)(const char *text), struct err *e)
{
	struct session about = *trace_session(traces[0]);
	struct place *places = calloc(n, sizeof(*places));
	struct channel *channels = NULL;
	struct trace_writer *w = NULL;
	struct pour p;
	int r = -1;

	if (!places)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (places_find(traces, n, places, e) == 0) {
		channels = channels_merge(traces, n);
		if (!channels)
			err_set(e, ERR_FAILED, _("out of memory"));
		about.channels = channels;
		w = channels ? writer_new(path, force, &about, &p, e) : NULL;
	}
	if (w) {
		p.progress = progress;
		for (size_t i = 0; i < n; i++)
			p.total += all_rows(traces[i], INT64_MIN, INT64_MAX);
		for (size_t i = 0; i < n; i++) {
			p.t = traces[i];
			p.shift = places[i].shift;
			if (!places[i].known && note)
				tell_unknown(traces[i], note);
			if (i > 0)
				gaps_between(&p);
			pour_stretch(&p, 0, INT64_MAX);
		}
		r = finish(w, &p, e);
	}
	free(channels);
	free(places);
	return r;
}
