/* names: what the files of a recording are called, as paths. */
#ifndef NVMTOP_TRACE_NAMES_H
#define NVMTOP_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The file of that number: NAME.bin, NAME.2.bin, NAME.3.bin, ...  -1: it is too long. */
int part_path(const char *path, unsigned number, char *out, size_t size);
/* Is there something of that name?  suffix: "", ".part" or ".part.side". */
bool name_exists(const char *path, const char *suffix);

#endif
