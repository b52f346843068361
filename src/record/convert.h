/* convert: a recording whose name ends in .bin becomes a file of version 1 when it has ended. */
#ifndef NVMTOP_RECORD_CONVERT_H
#define NVMTOP_RECORD_CONVERT_H

#include "trace/log-writer.h"
#include "trace/nvmt1.h"

/* All files of it, which are on the disk; does nothing for one of another name.  -1: the rest stays
 * a log, and the sentence names it with the command that goes on. */
int record_convert(struct log_writer *w, nvmt1_progress *progress, void *arg, struct err *e);

#endif
