/* probe-nvml: the nvml statement with the library chosen by the caller. */
#ifndef NVMTOP_PROBE_PROBE_NVML_H
#define NVMTOP_PROBE_PROBE_NVML_H

#include "probe/open.h"

/* As open_nvml(), with this library (a literal; NULL: functions of the program itself), which must start
 * within patience_ns. If that is 0 it is started in the calling thread, and there is no reader thread before
 * probe_set_start(). */
int open_nvml_library(struct probe_ctx *o, const char *library, int64_t patience_ns, struct err *e);

#endif
