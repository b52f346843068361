/* nvml-power: the power of a device as readings with their own times, and its energy counter.
 *
 * One thread reads, another one takes. */
#ifndef NVMTOP_PROBE_NVML_POWER_H
#define NVMTOP_PROBE_NVML_POWER_H

#include "probe/nvml.h"

struct nvml_reading {
	int64_t t_ns; /* CLOCK_MONOTONIC: a power is the mean over the window that ends then */
	double value;
};

/* The sources of power, the best first. */
enum nvml_source { NVML_BY_SAMPLES, NVML_BY_COUNTER, NVML_BY_INSTANT, NVML_BY_AVERAGE, NVML_NO_POWER };
enum nvml_source nvml_source(const struct nvml_device *d);
int64_t nvml_window_ns(enum nvml_source s);

struct nvml_power;

/* Returns NULL if out of memory. The nvml must live as long. */
struct nvml_power *nvml_power_new(struct nvml *n, unsigned device);
void nvml_power_free(struct nvml_power *p);

/* Reads what is new; call it 10 to 50 times a second. */
void nvml_power_read(struct nvml_power *p);

/* Takes the oldest reading that was not taken yet: of the power, in mW, or of the counter, in J. Returns false
 * if there is none. */
bool nvml_power_take(struct nvml_power *p, bool counter, struct nvml_reading *out);

#endif
