/* map: a mapped file that may shrink or fail while it is read.
 *
 * Reading a mapped page beyond the end of the file raises SIGBUS. Within a map of this header such a
 * page reads as zeroes instead and the map is marked as torn, so that readers check how much is left
 * before they trust what they read. Any other SIGBUS is passed to the previous handler. */
#ifndef NVMTOP_UTIL_MAP_H
#define NVMTOP_UTIL_MAP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	const uint8_t *bytes;	/* NULL: not open */
	size_t size;		/* when it was opened; more than 0 */
	int fd;			/* owned */
	int slot;
};

/* Maps size bytes (at least 1) of fd for reading and takes ownership of fd. -1: not mapped, see errno;
 * fd still belongs to the caller. */
int map_open(struct map *m, int fd, size_t size);
void map_close(struct map *m);

/* Offset of the lowest page that was accessed and missing, or size. */
size_t map_torn(const struct map *m);

/* How many of its bytes the file has now. */
size_t map_left(const struct map *m);

/* Give pages back that were read: they stay in the kernel's cache. */
void map_release(const struct map *m);
/* Have these bytes read from the disk, without waiting for them. */
void map_want(const struct map *m, size_t at, size_t n);

/* Install the SIGBUS handler unless another one is installed. map_open() does it as well; faults outside
 * the maps go to the previous handler. A handler that is installed later calls map_mend(): true when the
 * fault was in a map and is handled. */
void map_guard(void);
bool map_mend(const siginfo_t *how);

#endif
