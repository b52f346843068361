/* Finds epochs by number or label and signals by pattern. A name that matches nothing is an error, since
 * an empty result would look like a measurement. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "report/select.h"

const char *shown_path(const struct trace *t, char *out, size_t size)
{
	text_printable(out, size, trace_path(t), strlen(trace_path(t)));
	return out;
}

/* The operand of --phase: a number, a label, or possibly both. */
struct wish {
	bool all, numbered;
	uint64_t id;
	const char *label; /* NULL: not a label */
};

static bool is_number(const char *text, uint64_t *id)
{
	const char *end = text + strlen(text);
	int64_t n;

	if (num_i64(text, end, &n) != end || n < 0)
		return false;
	*id = (uint64_t)n;
	return true;
}

static struct wish wish_of(const char *name)
{
	struct wish w = {.all = !name, .label = name};

	if (!name)
		return w;
	if (!strncmp(name, "label:", 6)) {
		w.label = name + 6;
	} else if (!strncmp(name, "n:", 2) && is_number(name + 2, &w.id)) {
		w.numbered = true;
		w.label = NULL;
	} else {
		w.numbered = is_number(name, &w.id);
	}
	return w;
}

static bool labelled(const struct wish *w, const char *label)
{
	return w->label && !strcmp(w->label, label);
}

static bool numbered(const struct wish *w, uint64_t id)
{
	return w->numbered && w->id == id;
}

/* Rejects an operand that is both a number and a label: it would select both phases, and their sum as the
 * whole. */
static int wish_check(const struct trace *t, const struct wish *w, const char *name, struct err *e)
{
	size_t n;
	const struct mark *marks = trace_marks(t, &n);
	bool by_number = numbered(w, 0), by_label = labelled(w, "");
	char path[256];

	for (size_t i = 0; i < n; i++) {
		by_number |= numbered(w, marks[i].id);
		by_label |= labelled(w, marks[i].label);
	}
	if (!by_number || !by_label)
		return 0;
	return err_set(
		e, ERR_USAGE,
		_("--phase %s is the number of one phase of %s and the label of another: use --phase n:%s "
		  "for the number, --phase label:%s for the label"),
		name, shown_path(t, path, sizeof(path)), name, name);
}

static bool wanted(const struct epoch *ep, const struct wish *w)
{
	return w->all || numbered(w, ep->id) || labelled(w, ep->label);
}

/* Clips an epoch to --from and --to. Returns false if nothing is left. */
static bool clip(struct epoch *ep, const struct selection *p, int64_t start_ns)
{
	if (p->has_from && ep->from_ns < start_ns + p->from_ns)
		ep->from_ns = start_ns + p->from_ns;
	if (p->has_to && ep->end_ns > start_ns + p->to_ns)
		ep->end_ns = start_ns + p->to_ns;
	if (ep->to_ns > ep->end_ns)
		ep->to_ns = ep->end_ns;
	return ep->from_ns < ep->end_ns;
}

static int none(const struct trace *t, const struct selection *p, size_t n_marks, struct err *e)
{
	char path[256], name[80];

	if (!p->epoch)
		return err_set(e, ERR_FAILED, _("%s has no samples in that range"),
			       shown_path(t, path, sizeof(path)));
	text_printable(name, sizeof(name), p->epoch, strlen(p->epoch));
	return err_set(e, ERR_FAILED,
		       P_("%s has no phase \"%s\": it has %zu mark; --phase takes a number or a label",
			  "%s has no phase \"%s\": it has %zu marks; --phase takes a number or a label",
			  n_marks),
		       shown_path(t, path, sizeof(path)), name, n_marks);
}

int epochs_find(const struct trace *t, const struct selection *p, struct epochs *out, struct err *e)
{
	int64_t first, last, start = trace_session(t)->start.mono_ns;
	size_t n_marks, n = 0;
	const struct mark *marks = trace_marks(t, &n_marks);
	const struct wish wish = wish_of(p->epoch);

	memset(out, 0, sizeof(*out));
	if (!trace_extent(t, &first, &last)) {
		char path[256];

		return err_set(e, ERR_FAILED, _("%s has no samples"), shown_path(t, path, sizeof(path)));
	}
	if (wish_check(t, &wish, p->epoch, e) < 0)
		return -1;
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
		if (wanted(&ep, &wish) && clip(&ep, p, start))
			out->list[n++] = ep;
	}
	out->n = n;
	if (n > 0)
		return 0;
	epochs_free(out);
	return none(t, p, n_marks, e);
}

size_t epochs_chain(const struct epochs *l, size_t i)
{
	while (i + 1 < l->n && l->list[i + 1].from_ns == l->list[i].end_ns)
		i++;
	return i;
}

void epochs_free(struct epochs *l)
{
	free(l->list);
	memset(l, 0, sizeof(*l));
}

/* Marks the channels that match a pattern. */
static bool pattern_mark(const struct session *s, const char *pattern, int tier, size_t *on)
{
	bool any = false;

	for (size_t i = 0; i < s->n_channels; i++) {
		if (fnmatch(pattern, s->channels[i].name, 0) != 0)
			continue;
		any = true;
		if (tier < 0 || (int)s->channels[i].tier == tier)
			on[i] = 1;
	}
	return any;
}

int channels_select(const struct session *s, const char *select, int tier, struct channels *out, char *missing, size_t size)
{
	char pattern[sizeof(s->channels[0].name) + 16];

	out->n = 0;
	out->list = calloc(s->n_channels + 1, sizeof(*out->list));
	/* The list has flags first, which are then replaced by channel numbers. */
	for (const char *p = select ? select : "*"; out->list; p++) {
		size_t n = strcspn(p, ",");

		snprintf(pattern, sizeof(pattern), "%.*s", (int)n, p);
		if (n >= sizeof(pattern) || !pattern_mark(s, pattern, tier, out->list)) {
			text_printable(missing, size, p, n < sizeof(pattern) ? n : strlen(p));
			channels_free(out);
			return 1;
		}
		p += n;
		if (!*p)
			break;
	}
	for (size_t i = 0; out->list && i < s->n_channels; i++)
		if (out->list[i])
			out->list[out->n++] = i;
	return out->list ? 0 : -1;
}

int channels_find(const struct trace *t, const struct selection *p, struct channels *out, struct err *e)
{
	char missing[256], path[512];

	int r = channels_select(trace_session(t), p->select, p->tier, out, missing, sizeof(missing));

	if (r <= 0)
		return r < 0 ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
	return err_set(e, ERR_FAILED, _("%s has no signal \"%s\": nvmtop report %s lists its signals"),
		       shown_path(t, path, sizeof(path)), missing, path);
}

void channels_free(struct channels *l)
{
	free(l->list);
	l->list = NULL;
	l->n = 0;
}
