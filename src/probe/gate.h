/* gate: is a unit powered down?  Asking does not wake it. */
#ifndef NVMTOP_PROBE_GATE_H
#define NVMTOP_PROBE_GATE_H

#include "probe/open.h"

/* Open the first power state file in the directories that the statement names (dir=, devfreq=):
 * gpu_powered_on, is_railgated, power/runtime_status. */
bool gate_open(struct attr *a, const struct root *r, const struct statement *s, struct reason *why);

/* 1: powered down, 0: not, NaN: no answer. */
double gate_read(struct attr *a, const struct root *r);

#endif
