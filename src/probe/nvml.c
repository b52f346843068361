/* Loads and queries NVML, which may start without working: on an Orin it lists one device whose name ends in
 * "(nvgpu)", and supports nothing. So each quantity of each device is queried a few times at the start, and
 * one that is refused or out of range is missing, with the error of the library. */
#include "probe/nvml.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/clock.h"
#include "util/err.h"
#include "util/intl.h"

#define TRIES          3
#define TRY_NS         (30 * NS_PER_MS) /* a driver that was just loaded has no sample yet */
#define SAMPLES_MOST   4096
#define STALE_NS       (5 * NS_PER_S)
#define CLOCK_GPU      0   /* NVML_CLOCK_GRAPHICS */
#define SENSOR_GPU     0   /* NVML_TEMPERATURE_GPU */
#define TOTAL_POWER    0   /* NVML_TOTAL_POWER_SAMPLES */
#define FIELD_INSTANT  186 /* NVML_FI_DEV_POWER_INSTANT */
#define MW_MOST        1e7
#define NAME_SIZE      96
#define PROCESSES      128 /* room at first */
#define PROCESSES_MOST 1000000
#define OK             0
#define TOO_SMALL      7    /* NVML_ERROR_INSUFFICIENT_SIZE */
#define ABSENT         (-1) /* the library has no such function */
#define NONSENSE       (-2)

typedef struct nvml_handle *handle;
struct utilization {
	unsigned gpu, memory;
};
/* As in versions 2 and 3 of the function. */
struct process {
	unsigned pid;
	unsigned long long used;
	unsigned instance, compute;
};
struct memory {
	unsigned long long total, free, used;
};
union number {
	double real;
	unsigned ui;
	unsigned long ul;
	unsigned long long ull;
};
struct field {
	unsigned id, scope;
	long long stamp_us, latency_us;
	int type, failed;
	union number value;
};
struct sample {
	unsigned long long stamp_us;
	union number value;
};

struct nvml {
	atomic_int holders;
	void *library;
	bool started;
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error)(int);
	int (*count)(unsigned *);
	int (*by_index)(unsigned, handle *);
	int (*name)(handle, char *, unsigned);
	int (*utilization)(handle, struct utilization *);
	int (*power)(handle, unsigned *);
	int (*temperature)(handle, int, unsigned *);
	int (*clock)(handle, int, unsigned *);
	int (*memory)(handle, struct memory *);
	int (*processes[2])(handle, unsigned *, struct process *); /* compute, graphics */
	int (*engine[4])(handle, unsigned *, unsigned *);          /* from NVML_ENC on */
	int (*energy)(handle, unsigned long long *);
	int (*fields)(handle, int, struct field *);
	int (*samples)(handle, int, unsigned long long, int *, unsigned *, struct sample *);
	unsigned n;
	handle *handles;
	struct nvml_device *devices;
};

/* Looks up a function by its name. Returns false if it is required and missing. */
static bool bind(struct nvml *n, void *slot, const char *name, bool needed)
{
	void *f = dlsym(n->library, name);

	memcpy(slot, &f, sizeof f);
	return f || !needed;
}

static bool bind_all(struct nvml *n)
{
	return bind(n, &n->init, "nvmlInit_v2", true) && bind(n, &n->shutdown, "nvmlShutdown", true) &&
	       bind(n, &n->count, "nvmlDeviceGetCount_v2", true) &&
	       bind(n, &n->by_index, "nvmlDeviceGetHandleByIndex_v2", true) &&
	       bind(n, &n->name, "nvmlDeviceGetName", true) && bind(n, &n->error, "nvmlErrorString", false) &&
	       bind(n, &n->utilization, "nvmlDeviceGetUtilizationRates", false) &&
	       bind(n, &n->power, "nvmlDeviceGetPowerUsage", false) &&
	       bind(n, &n->temperature, "nvmlDeviceGetTemperature", false) &&
	       bind(n, &n->clock, "nvmlDeviceGetClockInfo", false) &&
	       bind(n, &n->memory, "nvmlDeviceGetMemoryInfo", false) &&
	       bind(n, &n->processes[0], "nvmlDeviceGetComputeRunningProcesses_v3", false) &&
	       bind(n, &n->processes[1], "nvmlDeviceGetGraphicsRunningProcesses_v3", false) &&
	       bind(n, &n->engine[0], "nvmlDeviceGetEncoderUtilization", false) &&
	       bind(n, &n->engine[1], "nvmlDeviceGetDecoderUtilization", false) &&
	       bind(n, &n->engine[2], "nvmlDeviceGetJpgUtilization", false) &&
	       bind(n, &n->engine[3], "nvmlDeviceGetOfaUtilization", false) &&
	       bind(n, &n->energy, "nvmlDeviceGetTotalEnergyConsumption", false) &&
	       bind(n, &n->fields, "nvmlDeviceGetFieldValues", false) &&
	       bind(n, &n->samples, "nvmlDeviceGetSamples", false);
}

/* In the order of nvmlValueType_t. */
static double number(int type, const union number *v)
{
	const double all[] = {v->real, v->ui, (double)v->ul, (double)v->ull};

	return type >= 0 && type < 4 ? all[type] : NAN;
}

/* Returns OK, a status of NVML, ABSENT or NONSENSE. */
static int read_any(struct nvml *n, handle h, enum nvml_quantity q, double *out)
{
	static const double most[NVML_QUANTITIES] = {
		[NVML_UTIL] = 100,        [NVML_FREQ] = 1e10,      [NVML_TEMP] = 199,
		[NVML_MEMORY] = 1e12,     [NVML_ENC] = 100,        [NVML_DEC] = 100,
		[NVML_JPG] = 100,         [NVML_OFA] = 100,        [NVML_POWER] = MW_MOST,
		[NVML_INSTANT] = MW_MOST, [NVML_ENERGY] = INFINITY};
	struct utilization u = {.gpu = 0};
	struct memory m = {.used = 0};
	struct field field = {.id = FIELD_INSTANT};
	unsigned long long mj = 0;
	unsigned v = 0, window_us;
	int failed;

	switch (q) {
	case NVML_UTIL:
		failed = n->utilization ? n->utilization(h, &u) : ABSENT;
		*out = u.gpu;
		break;
	case NVML_FREQ:
		failed = n->clock ? n->clock(h, CLOCK_GPU, &v) : ABSENT;
		*out = v * 1e6;
		break;
	case NVML_TEMP:
		failed = n->temperature ? n->temperature(h, SENSOR_GPU, &v) : ABSENT;
		*out = v ? (double)v : (double)NAN;
		break;
	case NVML_MEMORY:
		failed = n->memory ? n->memory(h, &m) : ABSENT;
		*out = m.total > 0 && m.used <= m.total ? (double)m.used / 1024 : (double)NAN;
		break;
	case NVML_POWER:
		failed = n->power ? n->power(h, &v) : ABSENT;
		*out = v;
		break;
	case NVML_INSTANT:
		failed = n->fields ? n->fields(h, 1, &field) : ABSENT;
		failed = failed ? failed : field.failed;
		*out = number(field.type, &field.value);
		break;
	case NVML_ENERGY:
		failed = n->energy ? n->energy(h, &mj) : ABSENT;
		*out = mj ? (double)mj : (double)NAN;
		break;
	default:
		failed = n->engine[q - NVML_ENC] ? n->engine[q - NVML_ENC](h, &v, &window_us) : ABSENT;
		*out = v;
	}
	return failed ? failed : *out >= 0 && *out <= most[q] ? OK : NONSENSE;
}

static void say(struct nvml *n, int status, char *out, size_t size)
{
	const char *text = status == ABSENT     ? _("the library has no such function")
			   : status == NONSENSE ? _("its value is out of range")
			   : n->error           ? n->error(status)
						: NULL;

	if (!text)
		text = _("unknown error");
	text_printable(out, size, text, strlen(text));
}

/* Returns how many power samples the driver keeps; 0 if it has none, or none with a time. */
static unsigned try_samples(struct nvml *n, unsigned i)
{
	const struct timespec moment = {.tv_nsec = TRY_NS};
	struct clock_anchor now;
	unsigned room = 0;
	int type;

	if (!n->samples || n->samples(n->handles[i], TOTAL_POWER, 0, &type, &room, NULL) != OK || !room ||
	    room > SAMPLES_MOST)
		return 0;
	struct nvml_sample *got = calloc(room, sizeof *got);
	n->devices[i].samples = room;
	for (int k = 0; got && k < TRIES; k++) {
		unsigned count = nvml_samples(n, i, got);
		clock_anchor(&now);
		if (count && llabs(now.real_ns - got[count - 1].wall_ns) < STALE_NS) {
			free(got);
			return room;
		}
		nanosleep(&moment, NULL);
	}
	free(got);
	return 0;
}

static void try_device(struct nvml *n, unsigned i)
{
	struct nvml_device *d = &n->devices[i];
	struct memory m;
	double v;

	for (int q = 0; q < NVML_QUANTITIES; q++) {
		int status = OK;
		for (int k = 0; k < TRIES; k++)
			if ((status = read_any(n, n->handles[i], (enum nvml_quantity)q, &v)) == OK)
				break;
		if (status != OK)
			say(n, status, d->missing[q], sizeof d->missing[q]);
	}
	d->total_kb = !*d->missing[NVML_MEMORY] && n->memory(n->handles[i], &m) == OK ? (double)m.total / 1024
										      : NAN;
	d->samples = try_samples(n, i);
}

/* Finds the devices that answer. Returns false with the reason if there are none. */
static bool find_devices(struct nvml *n, bool *refused, char *why, size_t size)
{
	char text[NAME_SIZE] = "";
	unsigned count = 0;
	int status = n->count(&count);

	*refused = status;
	if (status) {
		say(n, status, text, sizeof text);
		snprintf(why, size, _("NVML cannot count its devices: %s"), text);
		return false;
	}
	snprintf(why, size, "%s", _("NVML has no device"));
	n->handles = calloc(count, sizeof *n->handles);
	n->devices = calloc(count, sizeof *n->devices);
	for (unsigned i = 0; i < count && n->handles && n->devices; i++) {
		struct nvml_device *d = &n->devices[n->n];
		char name[NAME_SIZE] = "";
		if ((status = n->by_index(i, &n->handles[n->n])) ||
		    (status = n->name(n->handles[n->n], name, sizeof name))) {
			say(n, status, text, sizeof text);
			snprintf(why, size, _("NVML device %u: %s"), i, text);
			*refused = true;
			continue;
		}
		name[sizeof name - 1] = '\0';
		text_printable(d->name, sizeof d->name, name, strlen(name));
		if (strstr(name, "(nvgpu)")) {
			snprintf(why, size,
				 _("NVML starts but has no values for \"%s\": that GPU is read from "
				   "nvgpu"),
				 d->name);
			continue;
		}
		n->n++;
	}
	return n->n > 0;
}

static bool start(struct nvml *n, const char *library, bool *refused, char *why, size_t size)
{
	char text[96];

	n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!n->library) {
		snprintf(why, size, _("%s is not installed"), library ? library : "-");
		return false;
	}
	if (!bind_all(n)) {
		snprintf(why, size, _("%s is not a known version of NVML"), library ? library : "-");
		return false;
	}
	int status = n->init();
	*refused = status;
	if (status) {
		say(n, status, text, sizeof text);
		snprintf(why, size, _("NVML cannot be initialised: %s"), text);
		return false;
	}
	n->started = true;
	return find_devices(n, refused, why, size);
}

struct nvml *nvml_open(const char *library, bool *refused, char *why, size_t size)
{
	struct nvml *n = calloc(1, sizeof *n);
	bool ignored;

	refused = refused ? refused : &ignored;
	*refused = false;
	if (!n) {
		snprintf(why, size, "%s", _("out of memory"));
		return NULL;
	}
	atomic_init(&n->holders, 1);
	if (!start(n, library, refused, why, size)) {
		nvml_close(n);
		return NULL;
	}
	for (unsigned i = 0; i < n->n; i++)
		try_device(n, i);
	return n;
}

struct nvml *nvml_hold(struct nvml *n)
{
	atomic_fetch_add(&n->holders, 1);
	return n;
}

void nvml_close(struct nvml *n)
{
	if (atomic_fetch_sub(&n->holders, 1) != 1)
		return;
	if (n->started)
		n->shutdown();
	if (n->library)
		dlclose(n->library);
	free(n->handles);
	free(n->devices);
	free(n);
}

unsigned nvml_devices(const struct nvml *n)
{
	return n->n;
}

const struct nvml_device *nvml_device(const struct nvml *n, unsigned device)
{
	return &n->devices[device];
}

double nvml_read(struct nvml *n, unsigned device, enum nvml_quantity q)
{
	double v;

	return read_any(n, n->handles[device], q, &v) == OK ? v : NAN;
}

unsigned nvml_samples(struct nvml *n, unsigned device, struct nvml_sample *out)
{
	unsigned room = n->devices[device].samples, count = room, kept = 0;
	struct sample *list = calloc(room, sizeof *list);
	int type = 0;

	if (!list || n->samples(n->handles[device], TOTAL_POWER, 0, &type, &count, list) != OK)
		count = 0;
	for (unsigned i = 0; i < count && i < room; i++) {
		double mw = number(type, &list[i].value);
		if (mw >= 0 && mw <= MW_MOST && list[i].stamp_us < INT64_MAX / 1000)
			out[kept++] = (struct nvml_sample) {(int64_t)list[i].stamp_us * 1000, mw};
	}
	free(list);
	return kept;
}

bool nvml_processes(struct nvml *n, unsigned device, void (*take)(void *to, int pid, double kb, bool graphics),
		    void *to)
{
	unsigned room = PROCESSES, count = room;
	struct process *list = malloc(room * sizeof *list);
	bool told = false;

	for (int i = 0; i < 2 && list; i++) {
		int failed = n->processes[i] ? TOO_SMALL : ABSENT;
		while (failed == TOO_SMALL && list) {
			count = room;
			failed = n->processes[i](n->handles[device], &count, list);
			if (failed != TOO_SMALL)
				break;
			/* Others may start before the next call. */
			free(list);
			room = 2 * (count > room ? count : room);
			list = room < PROCESSES_MOST ? malloc(room * sizeof *list) : NULL;
		}
		told |= failed == OK;
		for (unsigned k = 0; failed == OK && k < count && k < room; k++)
			if (list[k].pid > 0 && list[k].pid <= INT_MAX)
				take(to, (int)list[k].pid,
				     list[k].used == ~0ULL ? NAN : (double)list[k].used / 1024, i == 1);
	}
	free(list);
	return told;
}
