/* cache: the folder in which columns that were made are kept for the next time. */
#ifndef NVMTOP_TRACE_CACHE_H
#define NVMTOP_TRACE_CACHE_H

#include "trace/store.h"

/* $XDG_CACHE_HOME/nvmtop or ~/.cache/nvmtop, made when it is not there; -1: there is none. */
int cache_open(void);

/* Remove what was not used for the longest time until `room` bytes fit, and what
 * a process that died has left. */
void cache_tidy(int dir, uint64_t room);

/* Of the file with what belongs to that trace. */
void cache_name(const struct store_id *id, char *name, size_t size);

#endif
