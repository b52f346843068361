/* Matching a machine to a board. compatible is a list of NUL-terminated strings, the most specific
 * first, and may name several boards, also within longer words ("...-super", "...-as-p3767-0004"): so
 * whole entries are compared, and the first entry that any board knows decides. */
#include <string.h>

#include "board/parsed.h"

static bool has(const struct board *b, const char *entry, size_t len)
{
	for (size_t i = 0; i < b->n_matches; i++)
		if (strlen(b->matches[i]) == len && !memcmp(b->matches[i], entry, len))
			return true;
	return false;
}

int board_match(const char *compatible, size_t len, struct board *const *boards, size_t n, const char **entry)
{
	const char *p = compatible, *end = compatible + len;

	while (p < end) {
		const char *nul = memchr(p, '\0', (size_t)(end - p));
		size_t size = nul ? (size_t)(nul - p) : (size_t)(end - p);
		for (size_t i = 0; size && i < n; i++)
			if (has(boards[i], p, size)) {
				*entry = p;
				return (int)i;
			}
		p += size + 1;
	}
	return -1;
}
