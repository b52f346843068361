/* map: a file in memory that may shrink, or fail, while it is looked at.
 *
 * Reading a mapped page that the file no longer has is SIGBUS.  Within a map of
 * this header it is not: such a page reads as zeroes from then on and the map
 * says that it is torn, so that whoever reads looks again at how much is left
 * before it believes what it saw.  Any other SIGBUS goes where it went before. */
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

/* Maps size bytes (at least 1) of fd for reading and owns fd from then on.  -1:
 * not mapped, errno says why, and fd is still the caller's. */
int map_open(struct map *m, int fd, size_t size);
void map_close(struct map *m);

/* Offset of the lowest page that was asked for and not there, or size. */
size_t map_torn(const struct map *m);

/* How many of its bytes the file has now. */
size_t map_left(const struct map *m);

/* Give pages back that were read: they stay in the kernel's cache. */
void map_release(const struct map *m);
/* Have these bytes read from the disk, without waiting for them. */
void map_want(const struct map *m, size_t at, size_t n);

/* Install the handler of SIGBUS, if another is there.  map_open() does it as well;
 * what was there before gets what is not the maps'.  A handler that is installed
 * later calls map_mend(): true when the fault was one of a map and is mended. */
void map_guard(void);
bool map_mend(const siginfo_t *how);

#endif
