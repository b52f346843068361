/* Marks that are set while nothing can be written wait here for the next file and
 * stand at its beginning.  A trace has no place for what came before it began, so
 * the label tells how long before that a mark was set. */
#include <stdio.h>
#include <string.h>

#include "nvmtop/clock.h"
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

bool marks_hold(struct held_marks *h, const struct mark *m)
{
	if (h->n == HELD_MARKS)
		return false;
	h->marks[h->n++] = *m;
	return true;
}

size_t marks_give(struct held_marks *h, struct sink *to, int64_t from_ns)
{
	size_t n = h->n;

	for (size_t i = 0; i < n; i++) {
		mark_move(&h->marks[i], from_ns);
		to->ops->mark(to, &h->marks[i]);
	}
	h->n = 0;
	return n;
}
