/* nvgpu: the files that the driver of the Tegra's GPU shows in its directory. */
#ifndef NVMTOP_PROBE_NVGPU_H
#define NVMTOP_PROBE_NVGPU_H

#include "probe/open.h"

#define NVGPU_CANDIDATES 24

/* Where to search according to the board file, kept beyond the statement's life. */
struct nvgpu_where {
	struct nvgpu_candidate {
		bool devfreq; /* name is a device-tree node, else a directory */
		char name[128];
	} at[NVGPU_CANDIDATES];
	size_t n;
};

struct nvgpu {
	const struct root *root;
	struct attr attr;    /* counters or load */
	struct attr powered; /* gpu_powered_on or is_railgated, or closed */
	struct attr slept;   /* power/runtime_suspended_time, or closed */
	bool counters;       /* attr is the counters */
	bool railgated;      /* powered is the latter: "yes" means off */
	double cycles_ns;    /* no clock of this GPU makes more cycles in a nanosecond */
	char dir[128];
};

/* Two counters of 31 bits, "busy total". */
#define NVGPU_MASK INT64_C(0x7fffffff)

void nvgpu_where(struct nvgpu_where *w, const struct statement *s);

/* Is one of them a device of this machine, even without its driver? */
bool nvgpu_expected(const struct nvgpu_where *w, const struct root *r);

/* The first directory with counters that advance (unless they would wrap in interval_ns) or a load.
 * Allocates; waits 2 ms if there are counters. False with the reason. */
bool nvgpu_find(struct nvgpu *g, const struct root *r, const struct nvgpu_where *w, int64_t interval_ns,
		struct reason *why);

/* Open what is in this directory, which was found before; false with errno. */
bool nvgpu_open(struct nvgpu *g, const struct root *r, const char *dir, bool counters);

bool nvgpu_counters(struct nvgpu *g, int64_t *busy, int64_t *total); /* false with errno */
bool nvgpu_load(struct nvgpu *g, double *percent);                   /* the same */

/* Off only if a file says so; an unreadable file does not mean off. */
bool nvgpu_off(struct nvgpu *g);

/* How long it has slept so far, in ms; -1 if unknown. */
int64_t nvgpu_slept(struct nvgpu *g);

void nvgpu_close(struct nvgpu *g); /* may be opened again */
void nvgpu_init(struct nvgpu *g);

#endif
