/* Loads and queries NVML, which may start without working: on an Orin it lists one device whose name ends in
 * "(nvgpu)", and supports nothing. So each quantity of each device is queried a few times at the start, and
 * one that is refused or out of range is missing, with the error of the library. */
#include "probe/nvml.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
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
#define KB_MOST        1e12
#define NAME_SIZE      96
#define PROCESSES      128 /* room at first */
#define PROCESSES_MOST 1000000
#define OK             0
#define TOO_SMALL      7    /* NVML_ERROR_INSUFFICIENT_SIZE */
#define ABSENT         (-1) /* the library has no such function */
#define NONSENSE       (-2)

#define ENGINE(function, name, label, key)                                                                   \
	{function, GET_TWO, 0, AN_UNSIGNED, 0, 1, 0, 100, key,                                               \
	 {name ".util", label, NULL, NULL, UNIT_PERCENT, FAMILY_OTHER, 100, NVML_NEW_NS, 0, CHANNEL_ENGINE_UTIL}}

const struct nvml_field nvml_fields[NVML_QUANTITIES] = {
	[NVML_UTIL] = {"nvmlDeviceGetUtilizationRates", GET_ONE, 0, AN_UNSIGNED, 0, 1, 0, 100, "util",
		       {"gpu.util", "GPU", NULL, N_("the driver's mean over 1/6 s to 1 s"), UNIT_PERCENT,
			FAMILY_GPU, 100, NVML_NEW_NS, 0, 0}},
	[NVML_FREQ] = {"nvmlDeviceGetClockInfo", GET_WHICH, CLOCK_GPU, AN_UNSIGNED, 0, 1e6, 0, 1e10, "freq",
		       {"gpu.freq", N_("GPU clock"), NULL, NULL, UNIT_HZ, FAMILY_GPU, NAN, NVML_NEW_NS, 0, 0}},
	[NVML_TEMP] = {"nvmlDeviceGetTemperature", GET_WHICH, SENSOR_GPU, AN_UNSIGNED, 0, 1, 1, 199, "temp",
		       {"temp.gpu", "GPU", NULL, NULL, UNIT_CELSIUS, FAMILY_HEAT, NAN, NVML_NEW_NS, 0, 0}},
	[NVML_MEMORY] = {"nvmlDeviceGetMemoryInfo", GET_ONE, 0, A_LONG, 2, 1. / 1024, 0, KB_MOST, "memory",
			 {"gpu.memory", N_("GPU memory"), NULL, NULL, UNIT_KB, FAMILY_MEMORY, NAN, NVML_NEW_NS, 0, 0}},
	[NVML_ENC] = ENGINE("nvmlDeviceGetEncoderUtilization", "NVENC", "NVENC", "enc"),
	[NVML_DEC] = ENGINE("nvmlDeviceGetDecoderUtilization", "NVDEC", "NVDEC", "dec"),
	[NVML_JPG] = ENGINE("nvmlDeviceGetJpgUtilization", "NVJPG", "NVJPG", "jpg"),
	[NVML_OFA] = ENGINE("nvmlDeviceGetOfaUtilization", "OFA", "OFA", "ofa"),
	[NVML_POWER] = {"nvmlDeviceGetPowerUsage", GET_ONE, 0, AN_UNSIGNED, 0, 1, 0, MW_MOST, "power",
			{"gpu.power", "GPU", NULL, NULL, UNIT_MILLIWATT, FAMILY_POWER, NAN, NVML_NEW_NS, 0, 0}},
	[NVML_ENERGY] = {"nvmlDeviceGetTotalEnergyConsumption", GET_ONE, 0, A_LONG, 0, 1, 1, INFINITY, NULL,
			 {"gpu.energy", NULL, NULL, N_("since the driver was loaded"), UNIT_JOULE, FAMILY_POWER,
			  NAN, NVML_NEW_NS, 0, CHANNEL_COUNTER}},
	[NVML_INSTANT] = {"nvmlDeviceGetFieldValues", GET_WHICH, 1, A_FIELD, 0, 1, 0, MW_MOST, NULL, {.name = NULL}},
	[NVML_TOTAL] = {"nvmlDeviceGetMemoryInfo", GET_ONE, 0, A_LONG, 0, 1. / 1024, 1, KB_MOST, NULL, {.name = NULL}},
};

typedef struct nvml_handle *handle;
/* As in versions 2 and 3 of the function. */
struct process {
	unsigned pid;
	unsigned long long used;
	unsigned instance, compute;
};
union number {
	double real;
	unsigned ui;
	unsigned long ul;
	unsigned long long ull;
};
struct sample {
	unsigned long long stamp_us;
	union number value;
};
union answer {
	unsigned ui[4];
	unsigned long long ull[4];
	struct {
		unsigned id, scope;
		long long stamp_us, latency_us;
		int type, failed;
		union number value;
	} field;
};
union getter {
	void *symbol;
	int (*one)(handle, void *out);
	int (*two)(handle, void *out, void *us);
	int (*which)(handle, int which, void *out);
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
	int (*processes[2])(handle, unsigned *, struct process *); /* compute, graphics */
	int (*samples)(handle, int, unsigned long long, int *, unsigned *, struct sample *);
	union getter get[NVML_QUANTITIES];
	unsigned n;
	handle *handles;
	struct nvml_device *devices;
};

/* Looks up the functions. Returns false if one that is needed is missing. */
static bool bind(struct nvml *n)
{
	const struct {
		void *slot;
		const char *name;
		bool needed;
	} all[] = {
		{&n->init, "nvmlInit_v2", true},
		{&n->shutdown, "nvmlShutdown", true},
		{&n->count, "nvmlDeviceGetCount_v2", true},
		{&n->by_index, "nvmlDeviceGetHandleByIndex_v2", true},
		{&n->name, "nvmlDeviceGetName", true},
		{&n->error, "nvmlErrorString", false},
		{&n->processes[0], "nvmlDeviceGetComputeRunningProcesses_v3", false},
		{&n->processes[1], "nvmlDeviceGetGraphicsRunningProcesses_v3", false},
		{&n->samples, "nvmlDeviceGetSamples", false},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		void *f = dlsym(n->library, all[i].name);
		memcpy(all[i].slot, &f, sizeof f);
		if (!f && all[i].needed)
			return false;
	}
	for (int q = 0; q < NVML_QUANTITIES; q++)
		n->get[q].symbol = dlsym(n->library, nvml_fields[q].function);
	return true;
}

/* In the order of nvmlValueType_t. */
static double number(int type, const union number *v)
{
	const double all[] = {v->real, v->ui, (double)v->ul, (double)v->ull};

	return type >= 0 && type < 4 ? all[type] : NAN;
}

/* Returns OK, a status of NVML, ABSENT or NONSENSE. */
static int read_any(struct nvml *n, unsigned device, enum nvml_quantity q, double *out)
{
	const struct nvml_field *f = &nvml_fields[q];
	const union getter *get = &n->get[q];
	union answer a = {.ull = {0}};
	handle h = n->handles[device];
	unsigned window_us;
	int failed;

	*out = NAN;
	if (!get->symbol)
		return ABSENT;
	if (f->answer == A_FIELD)
		a.field.id = FIELD_INSTANT;
	failed = f->call == GET_ONE   ? get->one(h, &a)
		 : f->call == GET_TWO ? get->two(h, &a, &window_us)
				      : get->which(h, f->which, &a);
	if (!failed && f->answer == A_FIELD)
		failed = a.field.failed;
	*out = f->scale * (f->answer == A_FIELD  ? number(a.field.type, &a.field.value)
			   : f->answer == A_LONG ? (double)a.ull[f->at]
						 : a.ui[f->at]);
	if (failed)
		return failed;
	if (q == NVML_MEMORY && *out > n->devices[device].total_kb)
		return NONSENSE;
	return *out >= f->least && *out <= f->most ? OK : NONSENSE;
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
	double v;

	d->total_kb = NAN;
	for (int q = NVML_QUANTITIES - 1; q >= 0; q--) { /* the total before what is used of it */
		int status = NONSENSE;
		for (int k = 0; k < TRIES && status != OK; k++)
			status = read_any(n, i, (enum nvml_quantity)q, &v);
		if (status != OK)
			say(n, status, d->missing[q], sizeof d->missing[q]);
		else if (q == NVML_TOTAL)
			d->total_kb = v;
	}
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
	if (!n->library || !bind(n)) {
		snprintf(why, size,
			 n->library ? _("%s is not a known version of NVML") : _("%s is not installed"),
			 library ? library : "-");
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

	return read_any(n, device, q, &v) == OK ? v : NAN;
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
