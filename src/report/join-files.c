/* Joins several traces of one board into one, on the clock of the first, with gaps between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "report/copy-rows.h"

#define YEAR_NS (366 * 86400 * NS_PER_S)

/* Reports the first property in which two sessions differ. */
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

/* Returns the offset that converts times of b to the clock of the first trace. */
static int64_t shift_of(const struct trace *first, const struct trace *b, int64_t last_ns, bool *known)
{
	const struct clock_anchor *s = &trace_session(first)->start, *o = &trace_session(b)->start;
	int64_t apart, from, to;

	*known = s->real_ns != 0 && o->real_ns != 0 &&
		 !__builtin_sub_overflow(o->real_ns - o->mono_ns, s->real_ns - s->mono_ns, &apart) && log_time_good(apart);
	if (!*known) {
		trace_extent(b, &from, &to);
		return last_ns + llround(1e9 / trace_session(first)->hz[TIER_FAST]) - from;
	}
	/* Less than 2 s apart: the same boot, of which the monotonic clock is more accurate. */
	return llabs(apart) < 2 * NS_PER_S ? 0 : apart;
}

/* Where the parts are in the joined trace. */
struct place {
	int64_t shift;
	bool known;
};

static int places_find(struct trace *const *traces, size_t n, struct place *out, struct err *e)
{
	int64_t last[TIERS] = {-1, -1, -1}, t_ns, end_ns = 0, start = trace_session(traces[0])->start.mono_ns;

	for (size_t i = 0; i < n; i++) {
		char shown[512];

		shown_path(traces[i], shown, sizeof(shown));
		if (!trace_extent(traces[i], &t_ns, &t_ns))
			return err_set(e, ERR_FAILED, _("%s has no samples"), shown);
		out[i] = (struct place) {0, true};
		if (i > 0) {
			if (same_board(traces[0], traces[i], e) < 0)
				return -1;
			out[i].shift = shift_of(traces[0], traces[i], end_ns, &out[i].known);
		}
		for (int t = 0; t < TIERS; t++) {
			uint64_t rows = trace_rows(traces[i], (enum tier)t);

			if (rows == 0)
				continue;
			trace_row_times(traces[i], (enum tier)t, 0, 1, &t_ns);
			if (t_ns + out[i].shift < last[t])
				return err_set(e, ERR_FAILED,
					       _("%s begins before the end of the previous trace: give the "
						 "traces in the order in which they were recorded"),
					       shown);
			trace_row_times(traces[i], (enum tier)t, rows - 1, 1, &t_ns);
			last[t] = t_ns + out[i].shift;
		}
		trace_extent(traces[i], &t_ns, &t_ns);
		end_ns = t_ns + out[i].shift > end_ns ? t_ns + out[i].shift : end_ns;
		if (end_ns > start + YEAR_NS)
			return err_set(e, ERR_FAILED,
				       _("%s was recorded more than a year after the first: a trace cannot "
					 "hold that"),
				       shown);
	}
	return 0;
}

/* Time between two parts is a gap like any other. */
static void gaps_between(struct copy *p)
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
		if (copy_ready(p))
			p->sink->ops->gap(p->sink, &g);
	}
}

/* A channel without values in one part may have values in another. */
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
	snprintf(text, sizeof(text), _("%s has no recording time: it is appended without a pause"), shown);
	note(text);
}

/* A fact that changed between two parts is recorded as a change at the start of the second one. */
static void changes_between_parts(struct copy *p, const struct trace *before)
{
	const struct session *s = trace_session(before), *now = trace_session(p->t);
	struct fact *facts = copy_facts(before, INT64_MAX);

	for (size_t i = 0; facts && i < s->n_facts; i++) {
		const char *value = fact_get(now->facts, now->n_facts, facts[i].key);
		struct change c = {.t_ns = now->start.mono_ns + p->shift};

		if (!value || !strcmp(value, facts[i].value) || !copy_ready(p))
			continue;
		snprintf(c.what, sizeof(c.what), "%s", facts[i].key);
		text_printable(c.from, sizeof(c.from), facts[i].value, strlen(facts[i].value));
		text_printable(c.to, sizeof(c.to), value, strlen(value));
		p->sink->ops->change(p->sink, &c);
	}
	free(facts);
}

static void copy_parts(struct copy *p, struct trace *const *traces, size_t n, const struct place *places,
		       void (*note)(const char *text))
{
	for (size_t i = 0; i < n; i++)
		p->total += copy_rows_of(traces[i], INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < n; i++) {
		p->t = traces[i];
		p->shift = places[i].shift;
		if (!places[i].known && note)
			tell_unknown(traces[i], note);
		if (i > 0 && !trace_continues(traces[i - 1], p->t))
			gaps_between(p);
		if (i > 0)
			changes_between_parts(p, traces[i - 1]);
		copy_stretch(p, 0, INT64_MAX);
	}
}

int trace_join_files(struct trace *const *traces, size_t n, const char *path, bool force,
		     report_progress *progress, void (*note)(const char *text), struct err *e)
{
	struct session about = *trace_session(traces[0]);
	struct place *places = calloc(n, sizeof(*places));
	struct channel *channels = NULL;
	struct copy p;
	int r = -1;

	if (!places)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (places_find(traces, n, places, e) == 0) {
		about.channels = channels = channels_merge(traces, n);
		if (!channels) {
			err_set(e, ERR_FAILED, _("out of memory"));
		} else if (copy_begin(&p, path, force, &about, e) == 0) {
			p.progress = progress;
			copy_parts(&p, traces, n, places, note);
			r = copy_end(&p, e);
		}
	}
	free(channels);
	free(places);
	return r;
}
