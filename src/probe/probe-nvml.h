/* probe-nvml: the nvml statement with the library chosen by the caller. */
#ifndef PROBE_NVML_PROBE_H
#define PROBE_NVML_PROBE_H

#include "open.h"

/* As open_nvml(), from this library (a literal; NULL: functions of the program
 * itself), which has so long to start.  0: started here and now, with no thread
 * before the probe's start(). */
int open_nvml_library(struct opening *o, const char *library, int64_t patience_ns, struct err *e);

#endif
