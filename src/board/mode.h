/* mode: the power mode that nvpmodel has set, held against the clocks that it allows. */
#ifndef NVMTOP_BOARD_MODE_H
#define NVMTOP_BOARD_MODE_H

#include <stdint.h>

#include "util/root.h"

#define MODE_LIMITS 12

/* All 0 at first, except gpu; caches what the configuration defines for a mode. */
struct mode {
	char gpu[128]; /* the GPU's highest clock, for a configuration that does not name the file; or "" */
	bool known;    /* what follows is of mode id */
	int64_t id;
	char name[48];
	struct {
		char path[128];
		int64_t most; /* in the unit of the file */
	} limits[MODE_LIMITS];
	size_t n_limits;
};

/* The mode's name, and whether a clock may be higher than the mode permits.  False: none
 * is set, or it has no name. */
bool mode_read(const struct root *r, void *mode, char *out, size_t size);

#endif
