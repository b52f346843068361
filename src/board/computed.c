/* What a board file says of the signals that are computed from others, for recordings of other programs: they have the
 * rails and zones, and the name of the board. */
#include <string.h>

#include "board/board.h"
#include "probe/open.h"
#include "util/intl.h"

uint32_t board_total(const struct board *b, const char *const *rails, size_t n, const char **note)
{
	for (const struct statement *s = b->statements; s < b->statements + b->n_statements; s++) {
		bool known = true;
		uint32_t sum = 0;

		if (strcmp(s->probe, "total") != 0)
			continue;
		for (size_t i = !strcmp(s->words[0], "optional"); i <= s->n_words; i++) {
			bool ends = i == s->n_words || !strcmp(s->words[i], "or");
			size_t rail = 0;

			while (!ends && rail < n && strcmp(rails[rail], s->words[i]) != 0)
				rail++;
			if (!ends) {
				known &= rail < n;
				sum |= rail < n ? UINT32_C(1) << rail : 0;
				continue;
			}
			if (known && sum) {
				*note = setting_get(s, "note");
				if (!*note)
					*note = sum & (sum - 1) ? _("sum of rails") : _("module input");
				return sum;
			}
			known = true;
			sum = 0;
		}
	}
	return 0;
}

/* As when a board is opened: of the zones that the file names above the line "hottest". */
bool board_zone_counts(const struct board *b, const char *zone)
{
	const char *place, *except, *name = NULL;

	for (const struct statement *s = b->statements; s < b->statements + b->n_statements; s++) {
		const char *key = !strcmp(s->probe, "temp") ? "zone" : "kernel"; /* as the demo has it */

		for (size_t i = 0; !name && (place = setting_nth(s, key, i)); i++)
			if (!strcmp(place, zone) || !strcmp(place, "*"))
				name = s->words[0];
		if (strcmp(s->probe, "hottest") != 0)
			continue;
		for (size_t i = 0; name && (except = setting_nth(s, "except", i)); i++)
			if (!strcmp(except, name))
				return false;
		return name && !heat_is_made_up(zone);
	}
	return false;
}
