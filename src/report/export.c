/* Rows of three tiers, marks, gaps and changes, merged into the order of time in blocks
 * of fixed size, or folded onto one time base. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/intl.h"
#include "report/export.h"

#define BLOCK 256

/* One tier's rows, read a block at a time. */
struct source {
	enum tier tier;
	size_t *channels; /* of the trace */
	size_t n;
	uint64_t row, end; /* the next one, and behind the last */
	size_t at, have;
	int64_t t_ns[BLOCK];
	double *values; /* BLOCK rows of n */
	/* resampling, one a channel */
	double *sum, *last;
	uint64_t *count;
	int64_t last_ns;
	bool seen;
};

struct flow {
	struct export *x;
	const struct form *form;
	struct source source[TIERS];
	double *line; /* of all channels */
	const struct mark *marks;
	const struct gap *gaps;
	const struct change *changes;
	size_t n_marks, n_gaps, n_changes, mark, gap, change;
	int tier;                   /* whose gaps are wanted, or -1 */
	uint64_t total, done, made; /* rows: to be read, read, and of one time base */
	bool stopped;
	int error; /* errno of a failed write */
	report_progress *progress;
};

static int source_make(struct source *s, enum tier tier, const struct export *x)
{
	s->tier = tier;
	s->channels = calloc(x->channels.n + 1, sizeof(*s->channels));
	if (!s->channels)
		return -1;
	for (size_t i = 0; i < x->channels.n; i++) {
		if (x->session->channels[x->channels.list[i]].tier != tier)
			continue;
		x->tier[i] = tier;
		x->single[i] = !x->resampled && trace_is_single(x->trace, x->channels.list[i]);
		x->slot[i] = s->n;
		s->channels[s->n++] = x->channels.list[i];
	}
	s->values = calloc(s->n * BLOCK + 1, sizeof(*s->values));
	s->sum = calloc(s->n + 1, sizeof(*s->sum));
	s->last = calloc(s->n + 1, sizeof(*s->last));
	s->count = calloc(s->n + 1, sizeof(*s->count));
	return s->values && s->sum && s->last && s->count ? 0 : -1;
}

static void source_free(struct source *s)
{
	free(s->channels);
	free(s->values);
	free(s->sum);
	free(s->last);
	free(s->count);
}

static void source_seek(struct source *s, uint64_t row, uint64_t end)
{
	s->row = row;
	s->end = s->n > 0 && end > row ? end : row;
	s->at = s->have = 0;
	s->seen = false;
}

static void go_on(struct flow *w)
{
	if (w->progress)
		w->stopped =
			w->stopped || !w->progress(w->total > 0 ? (double)w->done / (double)w->total : 0);
}

static bool writing(struct flow *w)
{
	if (!w->error && ferror(w->x->f))
		w->error = errno ? errno : EIO;
	return !w->error && !w->stopped;
}

/* See that there is a row; false at the end. */
static bool source_ready(struct source *s, struct flow *w)
{
	double column[BLOCK];
	size_t n;

	if (s->at < s->have)
		return true;
	if (s->row == s->end) {
		s->have = s->at = 0;
		return false;
	}
	n = s->end - s->row < BLOCK ? (size_t)(s->end - s->row) : BLOCK;
	trace_row_times(w->x->trace, s->tier, s->row, n, s->t_ns);
	for (size_t c = 0; c < s->n; c++) {
		trace_row_values(w->x->trace, s->channels[c], s->row, n, column);
		for (size_t i = 0; i < n; i++)
			s->values[i * s->n + c] = column[i];
	}
	s->row += n;
	s->at = 0;
	s->have = n;
	w->done += n;
	go_on(w);
	return true;
}

/* What happened before t_ns: marks and changes up to it, gaps that began before it. */
static void events_until(struct flow *w, int64_t t_ns)
{
	for (;;) {
		int64_t mark = w->mark < w->n_marks ? w->marks[w->mark].t_ns : INT64_MAX;
		int64_t change = w->change < w->n_changes ? w->changes[w->change].t_ns : INT64_MAX;
		int64_t gap = w->gap < w->n_gaps ? w->gaps[w->gap].from_ns : INT64_MAX;

		if (mark <= t_ns && mark <= gap && mark <= change) {
			w->form->mark(w->x, &w->marks[w->mark++]);
		} else if (change <= t_ns && change <= gap) {
			w->form->change(w->x, &w->changes[w->change++]);
		} else if (gap < t_ns) {
			if (w->tier < 0 || (int)w->gaps[w->gap].tier == w->tier)
				w->form->gap(w->x, &w->gaps[w->gap]);
			w->gap++;
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
		w->form->row(w->x, &(struct row) {s->t_ns[s->at], (int)s->tier, s->values + s->at * s->n});
		s->at++;
	}
}

/* Take the samples that are older than end_ns. */
static void gather(struct flow *w, struct source *s, int64_t end_ns)
{
	while (source_ready(s, w) && s->t_ns[s->at] < end_ns) {
		const double *v = s->values + s->at * s->n;

		for (size_t c = 0; c < s->n; c++) {
			s->last[c] = v[c];
			if (isnan(v[c]))
				continue;
			s->sum[c] += v[c];
			s->count[c]++;
		}
		s->last_ns = s->t_ns[s->at];
		s->seen = true;
		s->at++;
	}
}

/* The value for the row from t_ns on; ready for the next row. */
static double gathered(struct flow *w, struct source *s, size_t c, int64_t t_ns)
{
	bool held = s->seen && (s->last_ns >= t_ns || t_ns - s->last_ns <= cover_ns(w->x->session, s->tier));
	double v = s->count[c] > 0 ? s->sum[c] / (double)s->count[c] : held ? s->last[c] : NAN;

	s->sum[c] = 0;
	s->count[c] = 0;
	return v;
}

static void gather_before(struct flow *w, int64_t from_ns)
{
	for (int i = 0; i < TIERS; i++) {
		struct source *s = &w->source[i];
		uint64_t row = s->row;

		if (row > 0) /* for what is held at the beginning */
			source_seek(s, row - 1, s->end);
		gather(w, s, from_ns);
		for (size_t c = 0; c < s->n; c++)
			gathered(w, s, c, from_ns);
	}
}

/* Rows at whole multiples of the period since the start.  The first row of a stretch
 * stands before it, when it begins between two, so that no sample is left out; the
 * last one of an epoch may reach into the one behind it, but not beyond end_ns. */
static void resample(struct flow *w, const struct epoch *ep, double hz, bool continues, int64_t end_ns)
{
	struct export *x = w->x;
	int64_t start = x->session->start.mono_ns, first_ns;
	int64_t i = (int64_t)floor((double)(ep->from_ns - start) * hz / 1e9) + 1;

	while (start + llround((double)i * 1e9 / hz) > ep->from_ns)
		i--;
	first_ns = start + llround((double)i * 1e9 / hz);
	if (continues && first_ns < ep->from_ns)
		first_ns = start + llround((double)++i * 1e9 / hz);
	gather_before(w, first_ns > ep->from_ns ? first_ns : ep->from_ns);
	for (; writing(w); i++) {
		int64_t t_ns = start + llround((double)i * 1e9 / hz);
		int64_t next_ns = start + llround((double)(i + 1) * 1e9 / hz);

		if (t_ns >= ep->end_ns)
			return;
		if (next_ns > end_ns)
			next_ns = end_ns;
		for (int k = 0; k < TIERS; k++)
			gather(w, &w->source[k], next_ns);
		for (size_t c = 0; c < x->channels.n; c++)
			w->line[c] = gathered(w, &w->source[x->tier[c]], x->slot[c], t_ns);
		events_until(w, t_ns);
		w->form->row(x, &(struct row) {t_ns, RESAMPLED, w->line});
		if (++w->made % BLOCK == 0)
			go_on(w);
	}
}

/* continues: the epoch before was written, too, and ends where this one begins;
 * end_ns: where the epochs end that follow this one without a hole. */
static void epoch_write(struct flow *w, const struct epoch *ep, double hz, bool continues, int64_t end_ns)
{
	struct export *x = w->x;

	x->epoch = ep->id;
	for (int i = 0; i < TIERS; i++)
		source_seek(&w->source[i], trace_row_from(x->trace, (enum tier)i, ep->from_ns),
			    trace_row_from(x->trace, (enum tier)i, hz > 0 ? end_ns : ep->end_ns));
	events_seek(w, ep->from_ns);
	if (w->form->epoch)
		w->form->epoch(x, ep, true);
	if (hz > 0)
		resample(w, ep, hz, continues, end_ns);
	else
		merge(w);
	events_until(w, ep->end_ns - 1);
	if (w->form->epoch)
		w->form->epoch(x, ep, false);
}

static int64_t chain_end(const struct epochs *eps, size_t k)
{
	while (k + 1 < eps->n && eps->list[k + 1].from_ns == eps->list[k].end_ns)
		k++;
	return eps->list[k].end_ns;
}

static int count(struct flow *w, const struct epochs *eps, double hz, bool force, struct err *e)
{
	double wanted = 0;

	for (size_t k = 0; k < eps->n; k++) {
		const struct epoch *ep = &eps->list[k];

		wanted += (double)(ep->end_ns - ep->from_ns) * hz / 1e9;
		for (int i = 0; i < TIERS; i++)
			if (w->source[i].n > 0)
				w->total += trace_row_from(w->x->trace, (enum tier)i, ep->end_ns) -
					    trace_row_from(w->x->trace, (enum tier)i, ep->from_ns);
	}
	if (force || wanted <= RESAMPLED_MOST * (double)w->total + RESAMPLED_MOST)
		return 0;
	return err_set(
		e, ERR_FAILED,
		_("--resample %g would write %.0f rows from %llu: choose a lower rate, a shorter range with "
		  "--from and --to, or --force"),
		hz, wanted, (unsigned long long)w->total);
}

static void run(struct flow *w, const struct epochs *eps, double hz)
{
	int64_t end_ns = 0;

	w->x->epoch = eps->list[0].id;
	w->form->begin(w->x);
	for (size_t k = 0; k < eps->n && writing(w); k++) {
		bool continues = k > 0 && eps->list[k - 1].end_ns == eps->list[k].from_ns;

		if (!continues)
			end_ns = chain_end(eps, k);
		epoch_write(w, &eps->list[k], hz, continues, end_ns);
	}
	if (w->form->end)
		w->form->end(w->x);
	fflush(w->x->f);
	writing(w);
}

static int prepare(struct flow *w, const struct selection *p, struct epochs *eps, struct err *e)
{
	struct export *x = w->x;

	if (channels_find(x->trace, p, &x->channels, e) < 0 || epochs_find(x->trace, p, eps, e) < 0)
		return -1;
	if (x->channels.n == 0)
		return err_set(e, ERR_FAILED, _("none of the selected signals is in the %s tier"),
			       tier_name((enum tier)p->tier));
	x->slot = calloc(x->channels.n, sizeof(*x->slot));
	x->tier = calloc(x->channels.n, sizeof(*x->tier));
	x->single = calloc(x->channels.n, sizeof(*x->single));
	w->line = calloc(x->channels.n, sizeof(*w->line));
	if (!x->slot || !x->tier || !x->single || !w->line)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (int i = 0; i < TIERS; i++)
		if (source_make(&w->source[i], (enum tier)i, x) < 0)
			return err_set(e, ERR_FAILED, _("out of memory"));
	w->marks = trace_marks(x->trace, &w->n_marks);
	w->gaps = trace_gaps(x->trace, &w->n_gaps);
	w->changes = trace_changes(x->trace, &w->n_changes);
	w->tier = p->tier;
	return 0;
}

int export_write(struct trace *t, const struct selection *p, enum export_form form, double hz, bool force,
		 FILE *f, report_progress *progress, struct err *e)
{
#define EXPORT_FORM(name) &form_##name,
	static const struct form *const forms[] = {EXPORT_FORMS(EXPORT_FORM)};
	struct export *x = calloc(1, sizeof(*x));
	struct flow *w = calloc(1, sizeof(*w));
	struct epochs eps = {0};
	int r = -1, error;

	if (!x || !w) {
		err_set(e, ERR_FAILED, _("out of memory"));
	} else {
		setvbuf(f, NULL, _IOFBF, TEXT_BUFFER);
		x->f = f;
		x->trace = t;
		x->session = trace_session(t);
		x->resampled = hz > 0;
		w->x = x;
		w->form = forms[form];
		w->progress = progress;
		r = prepare(w, p, &eps, e);
		if (r == 0)
			r = count(w, &eps, hz, force, e);
		if (r == 0)
			run(w, &eps, hz);
		if (r == 0 && w->stopped)
			r = err_set(e, ERR_FAILED, _("interrupted: nothing was written"));
		for (int i = 0; i < TIERS; i++)
			source_free(&w->source[i]);
		free(w->line);
		free(x->slot);
		free(x->tier);
		free(x->single);
		channels_free(&x->channels);
	}
	epochs_free(&eps);
	error = w ? w->error : 0;
	free(x);
	free(w);
	if (error)
		errno = error;
	return r;
}
