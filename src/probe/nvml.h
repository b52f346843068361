/* nvml: the library of NVIDIA's driver, on Thor and PCs.
 *
 * It is loaded by name when needed and never linked. A call takes some milliseconds, and can hang: only
 * threads that nobody waits for may make one, and several may at once. */
#ifndef NVMTOP_PROBE_NVML_H
#define NVMTOP_PROBE_NVML_H

#include "probe/open.h"

#define NVML_LIBRARY "libnvidia-ml.so.1"
#define NVML_NEW_NS  (100 * NS_PER_MS) /* how often the driver renews what has no time */

enum nvml_quantity {
	NVML_UTIL,
	NVML_FREQ,
	NVML_TEMP,
	NVML_MEMORY,
	NVML_ENC,
	NVML_DEC,
	NVML_JPG,
	NVML_OFA,
	NVML_POWER,   /* on most cards the mean of a second */
	NVML_ENERGY,  /* mJ since the driver was loaded */
	NVML_INSTANT, /* mW, the mean of some 20 ms */
	NVML_TOTAL,   /* kB of memory */
	NVML_QUANTITIES
};
#define NVML_VALUES NVML_POWER /* those that have a value at each pass */

/* How a function of the library is called, what it returns, and the channel that shows it. */
struct nvml_field {
	const char *function;
	enum { GET_ONE, GET_TWO, GET_WHICH } call; /* f(device, out), f(device, out, &us), f(device, which, out) */
	int which;
	enum { AN_UNSIGNED, A_LONG, A_FIELD } answer;
	int at;                    /* the nth number of a struct */
	double scale, least, most; /* in the unit of the channel */
	const char *word;          /* in a board file; NULL: it has no channel of its own */
	struct channel_form form;  /* of gpu0; later ones have gpu1 in the place of gpu, or before the name */
};
extern const struct nvml_field nvml_fields[NVML_QUANTITIES];

struct nvml;

/* What the library and each device reported at the start. */
struct nvml_device {
	char name[64];
	double total_kb;                   /* of memory, or NaN */
	char missing[NVML_QUANTITIES][96]; /* "" or why it has no such value */
	unsigned samples; /* how many of its power samples the driver keeps; 0: it has none */
};

/* The mean power of the 20 ms before a time of CLOCK_REALTIME. */
struct nvml_sample {
	int64_t wall_ns;
	double mw;
};

/* Loads the library, starts it, and queries every device for everything; takes as long as the driver does, a
 * second if it was idle. Returns NULL with the reason in why: no library, no driver, no device, or none that
 * answers. *refused (may be NULL): the library is there, and would not start or list its devices. */
struct nvml *nvml_open(const char *library, bool *refused, char *why, size_t size);
struct nvml *nvml_hold(struct nvml *n); /* must be closed once more */
void nvml_close(struct nvml *n);

unsigned nvml_devices(const struct nvml *n);
const struct nvml_device *nvml_device(const struct nvml *n, unsigned device);

/* Calls take() for each process that uses the device, with its memory on the device in KiB, or NaN; a process
 * that uses compute and graphics is listed twice. Returns false if the library does not list processes. */
bool nvml_processes(struct nvml *n, unsigned device, void (*take)(void *to, int pid, double kb, bool graphics),
		    void *to);

/* Returns NaN if the query fails or its result is out of range. */
double nvml_read(struct nvml *n, unsigned device, enum nvml_quantity q);

/* Gets the power samples that the driver keeps, the oldest first; out has room for nvml_device()->samples.
 * Returns their number. */
unsigned nvml_samples(struct nvml *n, unsigned device, struct nvml_sample *out);

#endif
