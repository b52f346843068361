/* The room at least doubles, so that adding items one by one copies each only a few times. */
#include "util/array.h"

#include <stdlib.h>
#include <string.h>

void *array_grow(void *list, size_t n, size_t *room, size_t size)
{
	size_t more = *room + n + 8;
	void *p;

	if (list && n <= *room)
		return list;
	p = reallocarray(list, more, size);
	*room = p ? more : *room;
	return p;
}

void *array_add(void *list, size_t *n, size_t size)
{
	char *at;

	memcpy(&at, list, sizeof at); /* of whatever type its items have */
	if (!(*n & (*n - 1))) {
		at = reallocarray(at, *n ? 2 * *n : 1, size);
		if (!at)
			return NULL;
		memcpy(list, &at, sizeof at);
	}
	return memset(at + (*n)++ * size, 0, size);
}
