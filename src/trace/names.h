/* names: what the files of a recording are called, as paths. */
#ifndef NVMTOP_TRACE_NAMES_H
#define NVMTOP_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Is there something of that name?  suffix: "", ".part" or ".part.side". */
bool name_exists(const char *path, const char *suffix);

#endif
