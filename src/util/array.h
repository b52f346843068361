/* array: lists that grow. */
#ifndef NVMTOP_UTIL_ARRAY_H
#define NVMTOP_UTIL_ARRAY_H

#include <stddef.h>

/* Returns the list with room for n items (0, too) of that size, moved if it had less, and updates *room; NULL if out of memory:
 * the list is then unchanged. */
void *array_grow(void *list, size_t n, size_t *room, size_t size);

#endif
