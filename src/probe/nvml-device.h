/* nvml-device: reads one device: its values at each pass, its power as readings with their own times, and its
 * energy counter.
 *
 * One thread makes the passes, another one takes the readings. */
#ifndef NVMTOP_PROBE_NVML_DEVICE_H
#define NVMTOP_PROBE_NVML_DEVICE_H

#include "probe/async-reader.h"
#include "probe/nvml.h"

#define NVML_SAMPLE_NS (20 * NS_PER_MS)

struct nvml_reading {
	int64_t t_ns; /* CLOCK_MONOTONIC: a power is the mean over the window that ends then */
	double value;
};

/* The sources of power, the best first. */
enum nvml_source { NVML_BY_SAMPLES, NVML_BY_COUNTER, NVML_BY_INSTANT, NVML_BY_AVERAGE, NVML_NO_POWER };
enum nvml_source nvml_source(const struct nvml_device *d);
int64_t nvml_window_ns(enum nvml_source s);

/* Makes a reader of the quantities before NVML_POWER that are wanted, a bit for each, which are the values of its
 * passes; if NVML_POWER is, it reads power and counter, too. Holds n. Returns NULL if out of memory. */
struct nvml_reader;
struct async_reader *nvml_reader_new(struct nvml *n, unsigned device, unsigned wanted, struct nvml_reader **out);
struct nvml *nvml_reader_library(const struct nvml_reader *r);

/* Takes the oldest reading that was not taken yet: of the power, in mW, or of the counter, in J. Returns false
 * if there is none. */
bool nvml_reader_take(struct nvml_reader *r, bool counter, struct nvml_reading *out);

#endif
