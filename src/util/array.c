/* The room at least doubles, so that adding items one by one copies each only a few times. */
#include "util/array.h"

#include <stdlib.h>

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
