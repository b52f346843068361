/* Merges rows of three tiers, marks, gaps, changes and ranges into time order, in blocks of fixed size, or
 * resamples them to one time base. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "report/export.h"

#define BLOCK 256

/* The samples of a channel since the last resampled row. */
struct gathered {
	double sum, last;
	uint64_t count;
};

/* Rows of one tier, read in blocks. */
struct source {
	enum tier tier;
	size_t *channels; /* numbers in the trace */
	size_t n;
	uint64_t row, end; /* the next one, and the end */
	size_t at, have;
	int64_t t_ns[BLOCK];
	struct gap *
		late; /* single late ticks of the rows that were read; from late[late_at] on they are not written yet */
	size_t n_late, late_at, late_room;
	double *values; /* a BLOCK for each channel */
	double **columns; /* pointers into values */
	struct gathered *gathered;
	int64_t last_ns; /* time of the last gathered row */
	bool seen;
};

struct flow {
	struct export x;
	const struct form *form;
	struct source source[TIERS];
	double *line; /* values of all channels */
	double hz;    /* resampling rate, or 0 */
	const struct mark *marks;
	const struct gap *gaps;
	const struct change *changes;
	size_t n_marks, n_gaps, n_changes, mark, gap, change;
	struct range_order ranges;
	int tier;                   /* whose gaps are written, or -1 */
	uint64_t total, done, made; /* rows: to be read, read, resampled */
	bool stopped;
	report_progress *progress;
};

static int source_make(struct flow *w, enum tier tier)
{
	struct source *s = &w->source[tier];
	struct export *x = &w->x;

	s->tier = tier;
	s->channels = calloc(x->channels.n, sizeof(*s->channels));
	s->values = calloc(x->channels.n * BLOCK, sizeof(*s->values));
	s->columns = calloc(x->channels.n, sizeof(*s->columns));
	s->gathered = calloc(x->channels.n, sizeof(*s->gathered));
	if (!s->channels || !s->values || !s->columns || !s->gathered)
		return -1;
	for (size_t i = 0; i < x->channels.n; i++) {
		size_t channel = x->channels.list[i];

		if (x->session->channels[channel].tier != tier)
			continue;
		x->places[i] = (struct place) {tier, s->n, w->hz <= 0 && channel_is_single(x->session->channels[channel].kind)};
		s->columns[s->n] = s->values + s->n * BLOCK;
		s->channels[s->n++] = channel;
	}
	return 0;
}

static void source_seek(struct source *s, uint64_t row, uint64_t end)
{
	s->row = row;
	s->end = s->n > 0 && end > row ? end : row;
	s->at = s->have = s->n_late = s->late_at = 0;
	s->seen = false;
}

static void go_on(struct flow *w)
{
	if (w->progress && !w->progress(w->total > 0 ? (double)w->done / (double)w->total : 0))
		w->stopped = true;
}

static bool writing(struct flow *w)
{
	if (!w->x.error && ferror(w->x.f))
		w->x.error = errno ? errno : EIO;
	if (w->ranges.failed)
		w->x.error = ENOMEM;
	return !w->x.error && !w->stopped;
}

/* Adds the single late ticks of the block that was read. */
static void late_read(struct source *s, struct flow *w)
{
	s->n_late -= s->late_at;
	if (s->n_late > 0)
		memmove(s->late, s->late + s->late_at, s->n_late * sizeof(*s->late));
	s->late_at = 0;
	if (s->n_late + BLOCK > s->late_room) {
		size_t room = 2 * s->late_room + BLOCK;
		struct gap *more = reallocarray(s->late, room, sizeof(*more));

		if (!more) {
			w->x.error = ENOMEM;
			return;
		}
		s->late = more;
		s->late_room = room;
	}
	s->n_late += trace_late(w->x.trace, s->tier, s->row, s->have, s->late + s->n_late);
}

/* Reads a block if necessary. Returns false at the end of the tier. */
static bool source_ready(struct source *s, struct flow *w)
{
	uint64_t left = s->end - s->row;

	if (s->at < s->have || left == 0)
		return s->at < s->have;
	s->at = 0;
	s->have = trace_read(w->x.trace, s->tier, s->row, left < BLOCK ? (size_t)left : BLOCK, s->t_ns,
			     s->channels, s->n, s->columns);
	late_read(s, w);
	s->row += s->have;
	w->done += s->have;
	go_on(w);
	return true;
}

/* Returns the next gap, of those that are listed and the single late ticks, and removes it; only looks if !take. NULL:
 * there is none. */
static const struct gap *gap_next(struct flow *w, bool take)
{
	const struct gap *next = w->gap < w->n_gaps ? &w->gaps[w->gap] : NULL;
	size_t *at = &w->gap;

	for (int i = 0; i < TIERS; i++) {
		struct source *s = &w->source[i];

		if (s->late_at < s->n_late && (!next || s->late[s->late_at].from_ns < next->from_ns)) {
			next = &s->late[s->late_at];
			at = &s->late_at;
		}
	}
	*at += take && next;
	return next;
}

/* Writes marks, changes and ranges up to t_ns, and gaps that started before it. */
static void events_until(struct flow *w, int64_t t_ns)
{
	for (;;) {
		int64_t mark = w->mark < w->n_marks ? w->marks[w->mark].t_ns : INT64_MAX;
		int64_t change = w->change < w->n_changes ? w->changes[w->change].t_ns : INT64_MAX;
		const struct gap *g = gap_next(w, false);
		int64_t gap = g ? g->from_ns : INT64_MAX;
		const struct range *r = range_order_peek(&w->ranges);

		if (r && r->begin_ns <= t_ns && r->begin_ns <= gap && r->begin_ns < mark && r->begin_ns < change) {
			w->form->range(&w->x, range_order_take(&w->ranges));
		} else if (mark <= t_ns && mark <= gap && mark <= change) {
			w->form->mark(&w->x, &w->marks[w->mark++]);
		} else if (change <= t_ns && change <= gap) {
			w->form->change(&w->x, &w->changes[w->change++]);
		} else if (gap < t_ns) {
			gap_next(w, true);
			if (w->tier < 0 || (int)g->tier == w->tier)
				w->form->gap(&w->x, g);
		} else {
			return;
		}
	}
}

static void events_seek(struct flow *w, int64_t from_ns)
{
	while (w->mark < w->n_marks && w->marks[w->mark].t_ns < from_ns)
		w->mark++;
	while (w->change < w->n_changes && w->changes[w->change].t_ns < from_ns)
		w->change++;
	while (w->gap < w->n_gaps && w->gaps[w->gap].to_ns <= from_ns)
		w->gap++;
}

static void merge(struct flow *w)
{
	while (writing(w)) {
		struct source *s = NULL;

		for (int i = 0; i < TIERS; i++)
			if (source_ready(&w->source[i], w) &&
			    (!s || w->source[i].t_ns[w->source[i].at] < s->t_ns[s->at]))
				s = &w->source[i];
		if (!s)
			return;
		events_until(w, s->t_ns[s->at]);
		w->form->row(&w->x, &(struct row) {s->t_ns[s->at], (int)s->tier, s->values + s->at, BLOCK});
		s->at++;
	}
}

/* Adds the samples before end_ns to the current row. */
static void gather(struct flow *w, struct source *s, int64_t end_ns)
{
	for (; source_ready(s, w) && s->t_ns[s->at] < end_ns; s->at++) {
		for (size_t c = 0; c < s->n; c++) {
			struct gathered *g = &s->gathered[c];

			g->last = s->values[c * BLOCK + s->at];
			if (isnan(g->last))
				continue;
			g->sum += g->last;
			g->count++;
		}
		s->last_ns = s->t_ns[s->at];
		s->seen = true;
	}
}

/* Returns the value of the row that starts at t_ns, and resets it for the next one. */
static double gathered(struct flow *w, const struct place *p, int64_t t_ns)
{
	struct source *s = &w->source[p->tier];
	struct gathered *g = &s->gathered[p->slot];
	bool held = s->seen && (s->last_ns >= t_ns || t_ns - s->last_ns <= stats_hole_ns(w->x.session->hz[s->tier]));
	double v = g->count > 0 ? g->sum / (double)g->count : held ? g->last : NAN;

	g->sum = 0;
	g->count = 0;
	return v;
}

static void gather_before(struct flow *w, int64_t from_ns)
{
	for (int i = 0; i < TIERS; i++) {
		struct source *s = &w->source[i];

		if (s->row > 0) /* the value held at the start */
			source_seek(s, s->row - 1, s->end);
		gather(w, s, from_ns);
	}
	for (size_t c = 0; c < w->x.channels.n; c++)
		gathered(w, &w->x.places[c], from_ns);
}

static int64_t line_ns(const struct flow *w, int64_t i)
{
	return w->x.session->start.mono_ns + llround((double)i * 1e9 / w->hz);
}

/* Rows are at whole multiples of the period since the start. If a range starts between two multiples, its
 * first row is the one before, so that no sample is left out; the last row of an epoch may extend into
 * the next epoch, but not beyond end_ns. */
static void resample(struct flow *w, const struct epoch *ep, bool continues, int64_t end_ns)
{
	int64_t i = (int64_t)floor((double)(ep->from_ns - w->x.session->start.mono_ns) * w->hz / 1e9) + 1;

	while (line_ns(w, i) > ep->from_ns)
		i--;
	if (continues && line_ns(w, i) < ep->from_ns)
		i++;
	gather_before(w, line_ns(w, i) > ep->from_ns ? line_ns(w, i) : ep->from_ns);
	for (; writing(w) && line_ns(w, i) < ep->end_ns; i++) {
		int64_t t_ns = line_ns(w, i), next_ns = line_ns(w, i + 1);

		for (int k = 0; k < TIERS; k++)
			gather(w, &w->source[k], next_ns < end_ns ? next_ns : end_ns);
		for (size_t c = 0; c < w->x.channels.n; c++)
			w->line[c] = gathered(w, &w->x.places[c], t_ns);
		events_until(w, t_ns);
		w->form->row(&w->x, &(struct row) {t_ns, RESAMPLED, w->line, 1});
		if (++w->made % BLOCK == 0)
			go_on(w);
	}
}

/* continues: the previous epoch was written and ends where this one starts. end_ns: end of the last epoch
 * that follows without interruption. */
static void epoch_write(struct flow *w, const struct epoch *ep, bool continues, int64_t end_ns)
{
	struct export *x = &w->x;

	x->epoch = ep->id;
	for (int i = 0; i < TIERS; i++)
		source_seek(&w->source[i], trace_row_from(x->trace, (enum tier)i, ep->from_ns),
			    trace_row_from(x->trace, (enum tier)i, w->hz > 0 ? end_ns : ep->end_ns));
	events_seek(w, ep->from_ns);
	range_order_part(&w->ranges, ep->from_ns, ep->end_ns);
	events_until(w, ep->from_ns - 1); /* ranges that began before */
	if (w->form->epoch)
		w->form->epoch(x, ep, true);
	if (w->hz > 0)
		resample(w, ep, continues, end_ns);
	else
		merge(w);
	events_until(w, ep->end_ns - 1);
	if (w->form->epoch)
		w->form->epoch(x, ep, false);
}

static int count(struct flow *w, const struct epochs *eps, bool force, struct err *e)
{
	double wanted = 0;

	for (size_t k = 0; k < eps->n; k++) {
		const struct epoch *ep = &eps->list[k];

		wanted += (double)(ep->end_ns - ep->from_ns) * w->hz / 1e9;
		for (int i = 0; i < TIERS; i++)
			if (w->source[i].n > 0)
				w->total += trace_row_from(w->x.trace, (enum tier)i, ep->end_ns) -
					    trace_row_from(w->x.trace, (enum tier)i, ep->from_ns);
	}
	if (force || wanted <= RESAMPLED_MOST * (double)w->total + RESAMPLED_MOST)
		return 0;
	return err_set(
		e, ERR_FAILED,
		_("--resample %g would write %.0f rows from %llu: choose a lower rate, a shorter range with "
		  "--from and --to, or --force"),
		w->hz, wanted, (unsigned long long)w->total);
}

static void run(struct flow *w, const struct epochs *eps)
{
	int64_t end_ns = 0;

	w->x.epoch = eps->list[0].id;
	w->form->begin(&w->x);
	for (size_t k = 0; k < eps->n && writing(w); k++) {
		bool continues = k > 0 && eps->list[k - 1].end_ns == eps->list[k].from_ns;

		if (!continues)
			end_ns = eps->list[epochs_chain(eps, k)].end_ns;
		epoch_write(w, &eps->list[k], continues, end_ns);
	}
	if (w->form->end)
		w->form->end(&w->x);
	fflush(w->x.f);
	writing(w);
}

static int prepare(struct flow *w, const struct selection *p, struct epochs *eps, struct err *e)
{
	struct export *x = &w->x;
	int made = 0;

	if (channels_find(x->trace, p, &x->channels, e) < 0 || epochs_find(x->trace, p, eps, e) < 0)
		return -1;
	if (x->channels.n == 0)
		return err_set(e, ERR_FAILED, _("none of the selected signals is in the %s tier"),
			       tier_name((enum tier)p->tier));
	x->places = calloc(x->channels.n, sizeof(*x->places));
	w->line = calloc(x->channels.n, sizeof(*w->line));
	for (int i = 0; i < TIERS && x->places && w->line && made == 0; i++)
		made = source_make(w, (enum tier)i);
	if (!x->places || !w->line || made < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	w->marks = trace_marks(x->trace, &w->n_marks);
	w->gaps = trace_gaps(x->trace, &w->n_gaps);
	w->changes = trace_changes(x->trace, &w->n_changes);
	range_order_begin(&w->ranges, x->trace);
	x->has_ranges = trace_lanes(trace_timeline(x->trace), NULL, 0) > 0;
	w->tier = p->tier;
	return 0;
}

int export_write(struct trace *t, const struct selection *p, enum export_form form, double hz, bool force,
		 FILE *f, report_progress *progress, struct err *e)
{
#define EXPORT_FORM(name) &form_##name,
	static const struct form *const forms[] = {EXPORT_FORMS(EXPORT_FORM)};
	struct flow w = {.x = {.f = f, .trace = t, .session = trace_session(t)},
			 .form = forms[form],
			 .hz = hz,
			 .progress = progress};
	struct epochs eps = {0};
	int r;

	setvbuf(f, NULL, _IOFBF, TEXT_BUFFER);
	r = prepare(&w, p, &eps, e);
	if (r == 0)
		r = count(&w, &eps, force, e);
	if (r == 0)
		run(&w, &eps);
	if (r == 0 && w.stopped)
		r = err_set(e, ERR_FAILED, _("interrupted: nothing was written"));
	for (int i = 0; i < TIERS; i++) {
		free(w.source[i].channels);
		free(w.source[i].values);
		free(w.source[i].columns);
		free(w.source[i].gathered);
		free(w.source[i].late);
	}
	range_order_end(&w.ranges);
	free(w.line);
	free(w.x.places);
	channels_free(&w.x.channels);
	epochs_free(&eps);
	if (r == 0 && w.x.error == ENOMEM)
		r = err_set(e, ERR_FAILED, _("out of memory"));
	if (w.x.error)
		errno = w.x.error;
	return r;
}
