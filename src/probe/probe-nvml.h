/* probe-nvml: the nvml statement with the library chosen by the caller. */
#ifndef NVMTOP_PROBE_PROBE_NVML_H
#define NVMTOP_PROBE_PROBE_NVML_H

#include "probe/open.h"

/* As open_nvml(), from this library (a literal; NULL: functions of the program
 * itself), which has so long to start.  0: started here and now, with no thread
 * before the probe's start(). */
int open_nvml_library(struct probe_ctx *o, const char *library, int64_t patience_ns, struct err *e);

#endif
