/* Epochs out of marks, signals out of patterns.  Whatever is asked for and not
 * there is an error: an empty answer looks like a measured one. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/num.h"
#include "report/pick.h"

int64_t cover_ns(const struct session *s, enum tier tier)
{
	return (int64_t)llround(COVER_PERIODS * 1e9 / s->hz[tier]);
}

static bool wanted(const struct epoch *ep, const char *name)
{
	const char *end = name + strlen(name);
	int64_t id;

	if (!strcmp(ep->label, name))
		return true;
	return num_i64(name, end, &id) == end && id >= 0 && (uint64_t)id == ep->id;
}

/* Cut to --from and --to; false: nothing is left. */
static bool clip(struct epoch *ep, const struct pick *p, int64_t start_ns)
{
	if (p->has_from && ep->from_ns < start_ns + p->from_ns)
		ep->from_ns = start_ns + p->from_ns;
	if (p->has_to && ep->end_ns > start_ns + p->to_ns)
		ep->end_ns = start_ns + p->to_ns;
	if (ep->to_ns > ep->end_ns)
		ep->to_ns = ep->end_ns;
	return ep->from_ns < ep->end_ns;
}

static int none(const struct trace *t, const struct pick *p, size_t n_marks, struct err *e)
{
	char path[256], name[80];

	text_printable(path, sizeof(path), trace_path(t), strlen(trace_path(t)));
	if (!p->epoch)
		return err_set(e, ERR_FAILED, _("there is no sample in that stretch of %s"), path);
	text_printable(name, sizeof(name), p->epoch, strlen(p->epoch));
	return err_set(e, ERR_FAILED,
		       P_("%s has no epoch \"%s\": it has %zu mark; --epoch takes a number or a label",
			  "%s has no epoch \"%s\": it has %zu marks; --epoch takes a number or a label",
			  n_marks),
		       path, name, n_marks);
}

int epochs_find(const struct trace *t, const struct pick *p, struct epochs *out, struct err *e)
{
	int64_t first, last, start = trace_session(t)->start.mono_ns;
	size_t n_marks, n = 0;
	const struct mark *marks = trace_marks(t, &n_marks);

	memset(out, 0, sizeof(*out));
	if (!trace_extent(t, &first, &last)) {
		char path[256];

		text_printable(path, sizeof(path), trace_path(t), strlen(trace_path(t)));
		return err_set(e, ERR_FAILED, _("there is no sample in %s"), path);
	}
	out->list = calloc(n_marks + 1, sizeof(*out->list));
	if (!out->list)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (size_t i = 0; i <= n_marks; i++) {
		struct epoch ep = {.from_ns = first, .to_ns = last, .end_ns = last + 1};

		if (i > 0) {
			ep.id = marks[i - 1].id;
			memcpy(ep.label, marks[i - 1].label, sizeof(ep.label));
			if (marks[i - 1].t_ns > first)
				ep.from_ns = marks[i - 1].t_ns;
		}
		if (i < n_marks && marks[i].t_ns <= last)
			ep.to_ns = ep.end_ns = marks[i].t_ns;
		if ((!p->epoch || wanted(&ep, p->epoch)) && clip(&ep, p, start))
			out->list[n++] = ep;
	}
	out->n = n;
	if (n > 0)
		return 0;
	epochs_free(out);
	return none(t, p, n_marks, e);
}

void epochs_free(struct epochs *l)
{
	free(l->list);
	memset(l, 0, sizeof(*l));
}

static int no_such(const struct trace *t, const char *pattern, struct err *e)
{
	char path[256], name[80];

	text_printable(path, sizeof(path), trace_path(t), strlen(trace_path(t)));
	text_printable(name, sizeof(name), pattern, strlen(pattern));
	return err_set(e, ERR_FAILED,
		       _("%s has no signal \"%s\": nvmtop --report %s names those that it has"), path, name,
		       path);
}

/* Mark the channels that one pattern names. */
static bool pattern_mark(const struct session *s, const char *pattern, int tier, bool *on)
{
	bool any = false;

	for (size_t i = 0; i < s->n_channels; i++) {
		if (fnmatch(pattern, s->channels[i].name, 0) != 0)
			continue;
		any = true;
		if (tier < 0 || (int)s->channels[i].tier == tier)
			on[i] = true;
	}
	return any;
}

static int patterns_mark(const struct trace *t, const char *select, int tier, bool *on, struct err *e)
{
	const struct session *s = trace_session(t);
	char pattern[sizeof(s->channels[0].name) + 16];

	for (const char *p = select;;) {
		size_t n = strcspn(p, ",");

		if (n == 0 || n >= sizeof(pattern))
			return no_such(t, n == 0 ? "" : p, e);
		memcpy(pattern, p, n);
		pattern[n] = '\0';
		if (!pattern_mark(s, pattern, tier, on))
			return no_such(t, pattern, e);
		if (!p[n])
			return 0;
		p += n + 1;
	}
}

int channels_find(const struct trace *t, const struct pick *p, struct channels *out, struct err *e)
{
	const struct session *s = trace_session(t);
	bool *on = calloc(s->n_channels + 1, sizeof(*on));

	out->n = 0;
	out->list = calloc(s->n_channels + 1, sizeof(*out->list));
	if (!on || !out->list) {
		free(on);
		channels_free(out);
		return err_set(e, ERR_FAILED, _("out of memory"));
	}
	if (patterns_mark(t, p->select ? p->select : "*", p->tier, on, e) < 0) {
		free(on);
		channels_free(out);
		return -1;
	}
	for (size_t i = 0; i < s->n_channels; i++)
		if (on[i])
			out->list[out->n++] = i;
	free(on);
	return 0;
}

void channels_free(struct channels *l)
{
	free(l->list);
	l->list = NULL;
	l->n = 0;
}
