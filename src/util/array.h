/* array: lists that grow. */
#ifndef NVMTOP_UTIL_ARRAY_H
#define NVMTOP_UTIL_ARRAY_H

#include <stddef.h>

/* Returns the list with room for n items (0, too) of that size, moved if it had less, and updates *room; NULL if out of memory:
 * the list is then unchanged. */
void *array_grow(void *list, size_t n, size_t *room, size_t size);

/* Adds an item of zeros to the list that `list` points to, and returns it; NULL if out of memory. A list that is NULL at first,
 * and grows by this only. */
void *array_add(void *list, size_t *n, size_t size);

#endif
