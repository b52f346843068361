/* core-groups: groups the cores by clock.
 *
 * Each core has its own load, but the cores of a cluster share a clock. */
#include "ui/core-groups.h"

#include "ui/rows.h"
#include "ui/screen.h"
#include "util/intl.h"
#include "util/num.h"

#include <math.h>
#include <string.h>

bool cores_list_has(const char *label, int64_t n)
{
	const char *p = label + 3, *end = label + strlen(label);
	int64_t from, to;

	if (strncmp(label, "cpu", 3) != 0)
		return false;
	while (p < end && (p = num_i64(p, end, &from)) != NULL) {
		to = from;
		if (p < end && *p == '-' && !(p = num_i64(p + 1, end, &to)))
			return false;
		if (n >= from && n <= to)
			return true;
		if (p >= end || *p++ != ',')
			return false;
	}
	return false;
}

int core_groups(const struct session *about, struct core_group groups[CORE_GROUPS_MAX])
{
	int n = 0;

	for (size_t i = 0; i < about->n_channels && n < CORE_GROUPS_MAX - 1; i++)
		if (about->channels[i].kind == CHANNEL_CPU_FREQ)
			groups[n++] = (struct core_group) {.clock = (int)i};
	groups[n++] = (struct core_group) {.clock = -1};
	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *ch = &about->channels[i];
		int at = 0;

		if (ch->kind != CHANNEL_CORE_UTIL)
			continue;
		while (at < n - 1 && !cores_list_has(about->channels[groups[at].clock].label, ch->index))
			at++;
		if (groups[at].n < CORE_GROUP_MAX)
			groups[at].core[groups[at].n++] = i;
	}
	for (int i = 0; i < n;)
		if (groups[i].n)
			i++;
		else
			memmove(&groups[i], &groups[i + 1], (size_t)(--n - i) * sizeof(*groups));
	return n;
}

const char *core_no_load(struct ui *u, const struct ui_scene *s)
{
	return isnan(rows_value(u, s, rows_find(u->about, CHANNEL_CPU_UTIL, -1))) ? "--" : _("off");
}
