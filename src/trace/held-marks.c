/* Marks that are set while nothing can be written wait here for the next file and
 * stand at its beginning.  A trace has no place for what came before it began, so
 * the label tells how long before that a mark was set. */
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "trace/held-marks.h"

#define TELL_NS (50 * NS_PER_MS) /* less than that is told by nothing else either */

void mark_move(struct mark *m, int64_t to_ns)
{
	char label[sizeof(m->label)], ago[40];
	int64_t ns = to_ns - m->t_ns, tenths = (ns + TELL_NS) / (NS_PER_S / 10);

	m->t_ns = to_ns;
	if (ns < TELL_NS)
		return;
	snprintf(ago, sizeof(ago), "%s(-%lld.%d s)", m->label[0] ? " " : "", (long long)(tenths / 10),
		 (int)(tenths % 10));
	memcpy(label, m->label, sizeof(label));
	text_printable(m->label, sizeof(m->label) - strlen(ago), label, strnlen(label, sizeof(label)));
	strcat(m->label, ago);
}

static bool hold(struct held_marks *h, const struct held_mark *m)
{
	size_t at;

	if (h->n == HELD_MARKS)
		return false;
	for (at = h->n++; at && h->marks[at - 1].mark.t_ns > m->mark.t_ns; at--)
		h->marks[at] = h->marks[at - 1];
	h->marks[at] = *m;
	return true;
}

bool marks_hold(struct held_marks *h, const struct mark *m)
{
	return hold(h, &(struct held_mark) {*m, false});
}

bool marks_hold_again(struct held_marks *h, const struct mark *m)
{
	for (size_t i = 0; i < h->n_given && i < HELD_MARKS; i++)
		if (h->given[i].id == m->id)
			return hold(h, &(struct held_mark) {h->given[i], true});
	return marks_hold(h, m);
}

size_t marks_give(struct held_marks *h, struct sink *to, int64_t from_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		struct mark m = h->marks[i].mark;

		mark_move(&m, from_ns);
		to->ops->mark(to, &m);
		n += !h->marks[i].was_given;
		h->given[h->n_given++ % HELD_MARKS] = h->marks[i].mark;
	}
	h->n = 0;
	return n;
}
