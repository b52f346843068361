/* nvml-device: reads one device: its values at each pass, its power as readings with their own times, and its
 * energy counter.
 *
 * One thread makes the passes, another one takes the readings. */
#ifndef NVMTOP_PROBE_NVML_DEVICE_H
#define NVMTOP_PROBE_NVML_DEVICE_H

#include "probe/async-reader.h"
#include "probe/nvml.h"

struct nvml_reading {
	int64_t t_ns; /* CLOCK_MONOTONIC: a power is the mean over the window that ends then */
	double value;
};

/* The sources of power, the best first. */
enum nvml_source { NVML_BY_SAMPLES, NVML_BY_COUNTER, NVML_BY_INSTANT, NVML_BY_AVERAGE, NVML_NO_POWER };
enum nvml_source nvml_source(const struct nvml_device *d);
int64_t nvml_window_ns(enum nvml_source s);

struct nvml_reader;

/* A pass has the value of each quantity before NVML_POWER that is wanted; if NVML_POWER is, power and counter are
 * read, too. */
extern const struct async_reader_ops nvml_reader_ops;
/* Holds n. Returns NULL if out of memory. */
struct nvml_reader *nvml_reader_new(struct nvml *n, unsigned device);

/* Takes the oldest reading that was not taken yet: of the power, in mW, or of the counter, in J. Returns false
 * if there is none. */
bool nvml_reader_take(struct nvml_reader *r, bool counter, struct nvml_reading *out);

#endif
