/* align: computes the time shift that aligns a second trace with the first.
 *
 * Users mark the same phases in the runs they compare. A common label is therefore preferred to a common
 * mark number, and a common number to the start of both traces. */
#include "ui/align.h"

#include "ui/goto.h"
#include "util/intl.h"
#include "util/num.h"
#include "ui/ui.h"

#include <stdlib.h>
#include <string.h>

#define LOOKED 2048 /* marks of each trace that are compared */

void align_extent(struct timeline *t, struct extent *e)
{
	const int64_t most = INT64_C(1) << 61;

	*e = (struct extent) {false, 0, 0};
	if (!t->ops->session(t) || !t->ops->extent(t, &e->first_ns, &e->last_ns))
		return;
	if (e->first_ns < 0)
		e->first_ns = 0;
	if (e->last_ns > most)
		e->last_ns = most;
	e->any = e->first_ns <= e->last_ns;
}

struct marks {
	struct mark *list;
	size_t n;
};

static bool keep(void *arg, const struct mark *m)
{
	struct marks *all = arg;

	all->list[all->n++] = *m;
	return all->n == LOOKED;
}

/* The list stays empty if out of memory. */
static void read_marks(struct marks *all, struct timeline *t, const struct extent *e)
{
	*all = (struct marks) {calloc(LOOKED, sizeof(struct mark)), 0};
	if (all->list)
		goto_each_mark(t, e, keep, all);
}

enum likeness { NO_MARK, NUMBER, NAME };

static enum likeness likeness(const struct mark *a, const struct mark *b)
{
	if (a->label[0] && !strcmp(a->label, b->label))
		return NAME;
	if (a->id != b->id)
		return NO_MARK;
	return a->label[0] || b->label[0] ? NUMBER : NAME;
}

/* Finds the first mark of a that b has too: by name, or else by number alone. */
static enum likeness common(const struct marks *a, const struct marks *b, struct mark *in_a,
			    struct mark *in_b)
{
	for (enum likeness want = NAME; want > NO_MARK; want--)
		for (size_t i = 0; i < a->n; i++)
			for (size_t k = 0; k < b->n; k++)
				if (likeness(&a->list[i], &b->list[k]) >= want) {
					*in_a = a->list[i];
					*in_b = b->list[k];
					return want;
				}
	return NO_MARK;
}

/* The number in "m3"; 0: not a mark number. */
static uint64_t number(const char *how)
{
	const char *end = how + strlen(how);
	int64_t id;

	return (how[0] == 'm' || how[0] == 'M') && num_i64(how + 1, end, &id) == end && id > 0 ? (uint64_t)id
											       : 0;
}

static int64_t clamp_ns(int64_t t)
{
	const int64_t most = INT64_C(1) << 61;

	return t < -most ? -most : t > most ? most : t;
}

static void set(struct ui_align *out, int64_t in_a, int64_t in_b)
{
	out->shift_ns = clamp_ns(in_a) - clamp_ns(in_b);
}

static void set_mark(struct ui_align *out, const struct mark *a, const struct mark *b)
{
	set(out, a->t_ns, b->t_ns);
	if (a->label[0] && !strcmp(a->label, b->label))
		snprintf(out->text, sizeof(out->text), _("aligned at the mark \"%s\""), a->label);
	else
		snprintf(out->text, sizeof(out->text), _("aligned at mark %llu"), (unsigned long long)a->id);
}

static void set_first(struct ui_align *out, struct timeline *a, const struct extent *ea, struct timeline *b,
		      const struct extent *eb)
{
	struct mark in_a, in_b;
	struct marks ma, mb;
	enum likeness how;

	read_marks(&ma, a, ea);
	read_marks(&mb, b, eb);
	how = common(&ma, &mb, &in_a, &in_b);
	if (how != NO_MARK) {
		set_mark(out, &in_a, &in_b);
	} else {
		set(out, ea->first_ns, eb->first_ns);
		snprintf(out->text, sizeof(out->text), "%s", _("aligned at the start: no mark in common"));
	}
	free(ma.list);
	free(mb.list);
}

int ui_align(struct timeline *a, struct timeline *b, const char *how, struct ui_align *out, struct err *e)
{
	struct mark in_a, in_b;
	struct extent ea, eb;
	uint64_t id;
	bool has_a, has_b;
	char shown[96];

	*out = (struct ui_align) {.shift_ns = 0};
	align_extent(a, &ea);
	align_extent(b, &eb);
	if (!ea.any || !eb.any)
		return 0; /* nothing to align */
	if (!how) {
		set_first(out, a, &ea, b, &eb);
		return 0;
	}
	id = number(how);
	has_a = *how && goto_find(a, &ea, how, 0, &in_a);
	has_b = *how && goto_find(b, &eb, how, 0, &in_b);
	if (!has_a && !has_b && id) {
		has_a = goto_find(a, &ea, NULL, id, &in_a);
		has_b = goto_find(b, &eb, NULL, id, &in_b);
	}
	if (has_a && has_b) {
		set_mark(out, &in_a, &in_b);
		return 0;
	}
	if (!strcmp(how, "start")) {
		set(out, ea.first_ns, eb.first_ns);
		snprintf(out->text, sizeof(out->text), "%s", _("aligned at the start"));
		return 0;
	}
	text_printable(shown, sizeof(shown), how, strlen(how));
	/* TRANSLATORS: "the other" is the trace that --with names. */
	return err_set(
		e, ERR_FAILED, "--align %s: %s", shown,
		has_a   ? _("only the replayed trace has such a mark, not the other")
		: has_b ? _("only the trace beside it has such a mark, not the replayed one")
			: _("neither trace has such a mark; it takes a label, m3 for mark 3, or start"));
}
