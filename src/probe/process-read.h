/* read: one reading of all processes. */
#ifndef NVMTOP_PROBE_PROCESS_READ_H
#define NVMTOP_PROBE_PROCESS_READ_H

#include "probe/processes.h"
#include "probe/nvml.h"

struct reader;
struct reader *reader_open(const struct root *root); /* NULL: out of memory */
void reader_close(struct reader *r);

/* Into l, whose procs has room for *room and is grown.  -1: /proc cannot be read. */
int reader_read(struct reader *r, struct procs_list *l, size_t *room);

#endif
