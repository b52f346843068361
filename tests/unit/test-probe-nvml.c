/* NVML; this program itself is the library: it is linked with -rdynamic, and a library with an empty
 * name is the program. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "probe/nvml.h"
#include "probe/probe-nvml.h"
#include "test-probe-tree.h"

#define NOT_SUPPORTED 3
#define NOT_FOUND     6
#define TOO_SMALL     7
#define GPU_IS_LOST   15

struct utilization {
	unsigned gpu, memory;
};
struct memory {
	unsigned long long total, free, used;
};
struct field {
	unsigned id, scope;
	long long stamp_us, latency_us;
	int type, failed;
	unsigned long long value;
};
struct sample {
	unsigned long long stamp_us;
	double value;
};
struct process {
	unsigned pid;
	unsigned long long used;
	unsigned instance, compute;
};

/* What the fake returns, by status. */
static struct {
	int init, util, power, temp, clock, memory, engine;
	unsigned devices, percent, mw, mhz, celsius;
	const char *name;
	unsigned inits, shutdowns, calls[2];
	int64_t patience_ns;
	atomic_int hang, hanging, back; /* at initialization */
	int fail_first;                 /* this many utilization calls fail */
	/* Time, if it is not 0, and what has one: the sample that ends 20 ms x k after the clock's start has the
	 * value 100000 + k, a driver shows them in lots of 100 ms and keeps 120; the counter is 50 mJ x its number
	 * of periods of 100 ms. */
	int64_t mono_ns;
	int64_t wall_ns; /* ahead of mono_ns */
	int64_t set_ns;  /* mono_ns when wall_ns became that much; before it was wall_was_ns ahead */
	int64_t wall_was_ns;
	bool samples, counter, instant;
	int64_t tick_ns; /* of the tier; 0: 1 ms */
	unsigned n_processes;
} fake;

static char handles[256];

int clock_gettime(clockid_t id, struct timespec *t)
{
	if (!fake.mono_ns || (id != CLOCK_MONOTONIC && id != CLOCK_REALTIME))
		return (int)syscall(SYS_clock_gettime, id, t);
	int64_t ns = fake.mono_ns + (id == CLOCK_REALTIME ? fake.wall_ns : 0);
	*t = (struct timespec) {.tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS)};
	return 0;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int status);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h);
int nvmlDeviceGetName(void *h, char *name, unsigned size);
int nvmlDeviceGetUtilizationRates(void *h, struct utilization *u);
int nvmlDeviceGetPowerUsage(void *h, unsigned *mw);
int nvmlDeviceGetTemperature(void *h, int sensor, unsigned *c);
int nvmlDeviceGetClockInfo(void *h, int which, unsigned *mhz);
int nvmlDeviceGetMemoryInfo(void *h, struct memory *m);
int nvmlDeviceGetEncoderUtilization(void *h, unsigned *percent, unsigned *us);
int nvmlDeviceGetDecoderUtilization(void *h, unsigned *percent, unsigned *us);
int nvmlDeviceGetSamples(void *h, int what, unsigned long long since_us, int *type, unsigned *n,
			 struct sample *out);
int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *mj);
int nvmlDeviceGetFieldValues(void *h, int n, struct field *f);
int nvmlDeviceGetComputeRunningProcesses_v3(void *h, unsigned *n, struct process *list);

int nvmlInit_v2(void)
{
	while (atomic_load(&fake.hang)) {
		atomic_store(&fake.hanging, 1);
		usleep(1000);
	}
	fake.inits += fake.init == 0;
	atomic_store(&fake.back, 1);
	return fake.init;
}

int nvmlShutdown(void)
{
	fake.shutdowns++;
	return 0;
}

const char *nvmlErrorString(int status)
{
	return status == NOT_SUPPORTED ? "Not Supported"
	       : status == GPU_IS_LOST ? "GPU is \033[31mlost"
				       : NULL;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = fake.devices;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h)
{
	*h = &handles[i];
	return 0;
}

int nvmlDeviceGetName(void *h, char *name, unsigned size)
{
	(void)h;
	memset(name, 'x', size); /* long names are not terminated */
	if (strlen(fake.name) < size)
		strcpy(name, fake.name);
	return 0;
}

int nvmlDeviceGetUtilizationRates(void *h, struct utilization *u)
{
	fake.calls[0]++;
	if (fake.fail_first && fake.fail_first--)
		return GPU_IS_LOST;
	u->gpu = fake.percent + (unsigned)((char *)h - handles);
	u->memory = 3;
	return fake.util;
}

int nvmlDeviceGetPowerUsage(void *h, unsigned *mw)
{
	(void)h;
	fake.calls[1]++;
	*mw = fake.mw;
	return fake.power;
}

int nvmlDeviceGetTemperature(void *h, int sensor, unsigned *c)
{
	(void)h;
	*c = sensor ? 0 : fake.celsius;
	return fake.temp;
}

int nvmlDeviceGetClockInfo(void *h, int which, unsigned *mhz)
{
	(void)h;
	*mhz = which ? 0 : fake.mhz;
	return fake.clock;
}

int nvmlDeviceGetMemoryInfo(void *h, struct memory *m)
{
	(void)h;
	*m = (struct memory) {.total = 8ULL << 30, .free = 6ULL << 30, .used = 2ULL << 30};
	return fake.memory;
}

int nvmlDeviceGetEncoderUtilization(void *h, unsigned *percent, unsigned *us)
{
	(void)h;
	*percent = 12;
	*us = 166666;
	return fake.engine;
}

int nvmlDeviceGetDecoderUtilization(void *h, unsigned *percent, unsigned *us)
{
	return nvmlDeviceGetEncoderUtilization(h, percent, us);
}

int nvmlDeviceGetSamples(void *h, int what, unsigned long long since_us, int *type, unsigned *n,
			 struct sample *out)
{
	int64_t newest = fake.mono_ns / (100 * MS) * 5;
	unsigned count = 0;

	(void)h;
	if (!fake.samples || what != 0)
		return NOT_SUPPORTED;
	*type = 0; /* double */
	for (int64_t k = newest - 119; k <= newest && out; k++) {
		int64_t t = k * 20 * MS;
		unsigned long long us =
			(unsigned long long)(t + (t < fake.set_ns ? fake.wall_was_ns : fake.wall_ns)) / 1000;
		if (us > since_us && count < *n)
			out[count++] = (struct sample) {us, (double)(100000 + k)};
	}
	*n = out ? count : 120;
	return *n ? 0 : NOT_FOUND;
}

int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *mj)
{
	(void)h;
	*mj = 1000000 + 50 * (unsigned long long)(fake.mono_ns / (100 * MS));
	return fake.counter ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(void *h, int n, struct field *f)
{
	(void)h;
	(void)n;
	f->type = 1; /* unsigned int */
	f->value = fake.mw;
	f->failed = fake.instant && f->id == 186 ? 0 : NOT_SUPPORTED;
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *h, unsigned *n, struct process *list)
{
	unsigned room = *n;

	(void)h;
	*n = fake.n_processes;
	if (room < fake.n_processes)
		return TOO_SMALL;
	for (unsigned i = 0; i < *n; i++)
		list[i] = (struct process) {.pid = i + 1, .used = 1024};
	return 0;
}

static void begin(struct tree *t)
{
	memset((void *)&fake, 0, sizeof fake);
	fake.devices = 1;
	fake.name = "NVIDIA Thor";
	fake.percent = 40;
	fake.mw = 61234;
	fake.mhz = 1575;
	fake.celsius = 51;
	tree_begin(t);
	tree_file(t, "/proc/meminfo", "MemTotal: 2 kB\nMemAvailable: 1 kB\n");
	tree_resolve(t, "fast ram");
}

/* Open "nvml WORDS" in the probe set of begin(). */
static int open_words(struct tree *t, enum tier tier, const char *library, const char *words, struct err *e)
{
	char text[128], *word[12];
	size_t n = 0;

	snprintf(text, sizeof text, "%s", words);
	for (char *p = strtok(text, " "); p && n < 12; p = strtok(NULL, " "))
		word[n++] = p;
	struct statement s = {.file = "b.board",
			      .line = 3,
			      .tier = tier,
			      .probe = "nvml",
			      .words = (const char *const *)word,
			      .n_words = n};
	struct probe_ctx o = {.probes = t->probes,
			      .root = t->probes->root,
			      .s = &s,
			      .tick_ns = fake.tick_ns ? fake.tick_ns : MS};
	return open_nvml_library(&o, library, fake.patience_ns, e);
}

static void test_values(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", NULL), 0);
	assert_int_equal(open_words(&t, TIER_SLOW, NULL, "freq temp memory enc dec", NULL), 0);
	assert_int_equal(open_words(&t, TIER_MEDIUM, NULL, "power", NULL), 0);
	assert_int_equal(fake.inits, 1); /* one session for both */
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 40);
	assert_value(&t, "gpu.freq", 1575e6);
	assert_value(&t, "temp.gpu", 51);
	assert_value(&t, "gpu.memory", 2 << 20);
	assert_value(&t, "NVENC.util", 12);
	assert_value(&t, "NVDEC.util", 12);
	assert_int_equal(tree_channel(&t, "gpu.util")->kind, CHANNEL_GPU_UTIL);
	assert_int_equal(tree_channel(&t, "gpu.util")->tier, TIER_FAST);
	assert_int_equal(tree_channel(&t, "gpu.power")->kind, CHANNEL_RAIL_POWER);
	assert_int_equal(tree_channel(&t, "NVENC.util")->kind, CHANNEL_ENGINE_UTIL);
	assert_string_equal(tree_channel(&t, "gpu.util")->source, "NVML: NVIDIA Thor");
	assert_true(tree_channel(&t, "gpu.memory")->hi == 8 << 20);
	fake.percent = 41;
	fake.mw = 61235; /* what was read before the first row is not in it */
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 41);
	assert_value(&t, "gpu.power", 61235);
	/* A failed read is missing only once. */
	fake.util = GPU_IS_LOST;
	tree_tick(&t, MS);
	assert_missing(&t, "gpu.util");
	fake.util = 0;
	fake.percent = 101;
	tree_tick(&t, MS);
	assert_missing(&t, "gpu.util");
	fake.percent = 100;
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 100);
	tree_end(&t);
	assert_int_equal(fake.shutdowns, 1);
}

/* Initialization does not prove that it works. */
static void test_not_supported(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	fake.util = NOT_SUPPORTED;
	fake.power = GPU_IS_LOST;
	fake.celsius = 0;
	fake.memory = 999;
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util power temp memory jpg freq", NULL), 0);
	assert_string_equal(tree_channel(&t, "gpu.util")->missing, "NVML, NVIDIA Thor: Not Supported");
	assert_string_equal(tree_channel(&t, "gpu.power")->missing, "NVML, NVIDIA Thor: GPU is ?[31mlost");
	assert_non_null(strstr(tree_channel(&t, "temp.gpu")->missing, "out of range"));
	assert_non_null(strstr(tree_channel(&t, "gpu.memory")->missing, "unknown error"));
	assert_non_null(strstr(tree_channel(&t, "NVJPG.util")->missing, "no such function"));
	unsigned calls = fake.calls[0];
	tree_tick(&t, MS);
	assert_value(&t, "gpu.freq", 1575e6);
	assert_missing(&t, "gpu.util");
	assert_int_equal(fake.calls[0], calls); /* and not called again */
	tree_end(&t);

	begin(&t);
	fake.fail_first = 2; /* errors at the start are tolerated */
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", NULL), 0);
	assert_string_equal(tree_channel(&t, "gpu.util")->missing, "");
	tree_end(&t);
}

static void expect_none(struct tree *t, const char *library, const char *why)
{
	struct err e;

	assert_int_equal(open_words(t, TIER_FAST, library, "util optional", &e), 0);
	assert_null(probe_set_find(t->probes, "gpu.util"));
	assert_int_equal(open_words(t, TIER_FAST, library, "util", &e), 0);
	const char *missing = tree_channel(t, "gpu.util")->missing;
	if (!strstr(missing, why))
		fail_msg("\"%s\" does not say \"%s\"", missing, why);
	tree_tick(t, MS);
	assert_missing(t, "gpu.util");
	assert_int_equal(fake.inits, fake.shutdowns);
	tree_end(t);
}

static void test_none(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	expect_none(&t, "libnvidia-ml-that-is-not-there.so.1", "not installed");
	begin(&t);
	expect_none(&t, "libm.so.6", "not a known version of NVML");
	/* One that is installed and refuses is said, also if it is optional. */
	begin(&t);
	fake.init = NOT_SUPPORTED;
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util optional", NULL), 0);
	assert_string_equal(tree_channel(&t, "gpu.util")->missing,
			    "NVML cannot be initialised: Not Supported");
	tree_end(&t);
	begin(&t);
	fake.devices = 0;
	expect_none(&t, NULL, "no device");
	begin(&t);
	fake.name = "Orin (nvgpu)";
	expect_none(&t, NULL, "Orin (nvgpu)");
}

static void test_tree_is_another_machine(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	probe_set_free(t.probes);
	tree_resolve(&t, "fast ram\nfast nvml util\nslow nvml power optional");
	assert_non_null(strstr(tree_channel(&t, "gpu.util")->missing, "the live machine only"));
	assert_null(probe_set_find(t.probes, "gpu.power"));
	assert_int_equal(fake.inits, 0);
	tree_end(&t);
}

static void test_two_devices_and_long_names(void **state)
{
	struct tree t;
	struct err e;
	char name[200];

	(void)state;
	begin(&t);
	fake.devices = 2;
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util enc temp", NULL), 0);
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 40);
	assert_value(&t, "gpu1.util", 41);
	assert_int_equal(tree_channel(&t, "gpu1.util")->kind, CHANNEL_OTHER);
	assert_int_equal(tree_channel(&t, "gpu1.util")->unit, UNIT_PERCENT);
	assert_value(&t, "gpu1.NVENC.util", 12);
	assert_value(&t, "temp.gpu1", 51);
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "speed", &e), -1);
	assert_non_null(strstr(e.text, "b.board:3: unknown NVML quantity \"speed\""));
	tree_end(&t);

	begin(&t);
	memset(name, 'y', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	fake.name = name;
	fake.devices = 60;
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util temp memory enc dec", NULL), 0);
	tree_tick(&t, MS);
	assert_value(&t, "gpu59.util", 99);
	assert_value(&t, "gpu59.NVDEC.util", 12);
	assert_null(probe_set_find(t.probes, "gpu60.util"));
	tree_end(&t);
}

static void begin_power(struct tree *t)
{
	begin(t);
	fake.mono_ns = 1000 * 1000 * MS;
	fake.wall_ns = fake.wall_was_ns = 1700000000000 * MS + 123456;
	fake.samples = fake.counter = fake.instant = true;
	t->t_ns = fake.mono_ns;
}

static void tick(struct tree *t, int64_t ns)
{
	fake.mono_ns += ns;
	tree_tick(t, ns);
}

/* Each sample is in one row, with its time; the counter is in the row after its change. */
static void expect_samples(struct tree *t, int64_t seconds)
{
	int64_t next = 0, counted = 0;
	double joules = NAN;

	for (int64_t i = 0; i < seconds * 100; i++) {
		tick(t, 10 * MS);
		double mw = tree_value(t, "gpu.power"), age = tree_value(t, "gpu.power.age");
		assert_int_equal(isnan(mw), isnan(age));
		if (!isnan(mw)) {
			int64_t k = (int64_t)mw - 100000;
			assert_true(!next || k == next);
			assert_true(fabs((double)(t->t_ns - k * 20 * MS) / 1e6 - age) < 1);
			assert_true(age >= 0 && age < 200);
			next = k + 1;
		}
		double j = tree_value(t, "gpu.energy"), since = tree_value(t, "gpu.energy.age");
		assert_int_equal(isnan(j), isnan(since));
		if (!isnan(j)) {
			assert_true(isnan(joules) || fabs(j - joules - 0.05) < 1e-9);
			assert_true(since >= 0 && since < 11);
			joules = j;
			counted++;
		}
	}
	assert_true(next * 20 * MS > fake.mono_ns - 200 * MS);
	assert_in_range(counted, seconds * 10 - 1, seconds * 10);
}

static void test_samples(void **state)
{
	struct tree t;

	(void)state;
	begin_power(&t);
	assert_int_equal(open_words(&t, TIER_MEDIUM, NULL, "power", NULL), 0);
	const struct channel *c = tree_channel(&t, "gpu.power");
	assert_int_equal(c->window_ns, 20 * MS);
	assert_int_equal(c->period_ns, 20 * MS);
	assert_int_equal(c->kind, CHANNEL_RAIL_POWER);
	assert_int_equal(tree_channel(&t, "gpu.energy")->kind, CHANNEL_COUNTER);
	assert_int_equal(tree_channel(&t, "gpu.energy")->unit, UNIT_JOULE);
	expect_samples(&t, 5);
	tree_end(&t);
}

/* The wall clock is set forward and back; no sample is lost, repeated or moved. */
static void test_clock_is_set(void **state)
{
	static const int64_t steps_ms[] = {3600000, -3600000, 1000, -1000, -86400000, 90, -90};
	struct tree t;

	(void)state;
	begin_power(&t);
	assert_int_equal(open_words(&t, TIER_MEDIUM, NULL, "power", NULL), 0);
	expect_samples(&t, 3);
	for (size_t i = 0; i < sizeof steps_ms / sizeof *steps_ms; i++) {
		fake.wall_was_ns = fake.wall_ns;
		fake.set_ns = fake.mono_ns + 1;
		fake.wall_ns += steps_ms[i] * MS;
		expect_samples(&t, 3);
	}
	tree_end(&t);
}

/* A reader that was held up for two seconds gets what it missed, and a row never more than one. */
static void test_held_up(void **state)
{
	struct tree t;
	unsigned taken = 0;

	(void)state;
	begin_power(&t);
	assert_int_equal(open_words(&t, TIER_MEDIUM, NULL, "power", NULL), 0);
	expect_samples(&t, 1);
	for (int i = 0; i < 20; i++)
		tick(&t, 10 * MS);
	fake.mono_ns += 2000 * MS;
	t.t_ns += 2000 * MS;
	for (int i = 0; i < 300; i++) {
		tick(&t, 10 * MS);
		taken += !isnan(tree_value(&t, "gpu.power"));
	}
	assert_in_range(taken, 245, 255); /* of 5 s, at 50 Hz */
	tree_end(&t);
}

/* A row that is rarer than samples has the mean of those since the row before. */
static void test_rare_rows(void **state)
{
	struct tree t;

	(void)state;
	begin_power(&t);
	fake.tick_ns = 200 * MS;
	assert_int_equal(open_words(&t, TIER_MEDIUM, NULL, "power", NULL), 0);
	assert_int_equal(tree_channel(&t, "gpu.power")->window_ns, 200 * MS);
	tick(&t, 200 * MS);
	for (int i = 0; i < 20; i++) {
		tick(&t, 200 * MS);
		double k = (double)(fake.mono_ns / (20 * MS)) + 100000;
		assert_value(&t, "gpu.power", k - 4.5); /* k - 9 to k */
		assert_true(tree_value(&t, "gpu.power.age") < 0.001); /* stamps are in us */
	}
	tree_end(&t);
}

static void test_other_sources(void **state)
{
	struct tree t;
	double sum = 0;
	int n = 0;

	(void)state;
	/* The counter: 50 mJ each 100 ms. */
	begin_power(&t);
	fake.samples = false;
	assert_int_equal(open_words(&t, TIER_MEDIUM, NULL, "power", NULL), 0);
	assert_int_equal(tree_channel(&t, "gpu.power")->window_ns, 100 * MS);
	for (int i = 0; i < 300; i++) {
		tick(&t, 10 * MS);
		assert_true(isnan(tree_value(&t, "gpu.power")) || !isnan(tree_value(&t, "gpu.energy")));
		if (!isnan(tree_value(&t, "gpu.power"))) {
			sum += tree_value(&t, "gpu.power");
			n++;
		}
	}
	assert_in_range(n, 28, 30);
	assert_true(fabs(sum / n - 500) < 1);
	tree_end(&t);

	/* A mean of 20 ms, or else one of a second: it is one reading each time that it is renewed. */
	for (int instant = 1; instant >= 0; instant--) {
		begin_power(&t);
		fake.samples = fake.counter = false;
		fake.instant = instant;
		assert_int_equal(open_words(&t, TIER_MEDIUM, NULL, "power", NULL), 0);
		const struct channel *c = tree_channel(&t, "gpu.power");
		assert_int_equal(c->window_ns, instant ? 20 * MS : 1000 * MS);
		assert_int_equal(strstr(c->note, "mean of 1 s") == NULL, instant);
		assert_non_null(strstr(tree_channel(&t, "gpu.energy")->missing, "Not Supported"));
		assert_null(probe_set_find(t.probes, "gpu.energy.age"));
		n = 0;
		for (int i = 0; i < 300; i++) {
			fake.mw = 60000 + (unsigned)(i < 200 ? i / 10 : 20);
			tick(&t, 10 * MS);
			n += !isnan(tree_value(&t, "gpu.power"));
		}
		assert_in_range(n, 29, 31);
		tree_end(&t);
	}
}

static void count_process(void *to, int pid, double kb, bool graphics)
{
	(void)graphics;
	assert_true(kb == 1);
	*(int *)to += pid;
}

static void test_many_processes(void **state)
{
	struct tree t;
	char why[200];
	int sum = 0;

	(void)state;
	begin(&t);
	fake.n_processes = 1000;
	struct nvml *n = nvml_open(NULL, NULL, why, sizeof why);
	assert_non_null(n);
	assert_true(nvml_processes(n, 0, count_process, &sum));
	assert_int_equal(sum, 1000 * 1001 / 2);
	nvml_close(n);
	tree_end(&t);
}

static void test_thread(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", NULL), 0);
	assert_int_equal(open_words(&t, TIER_SLOW, NULL, "temp", NULL), 0);
	probe_set_be_gentle(t.probes);
	assert_true(tree_channel(&t, "gpu.util")->period_ns > 500 * MS);
	probe_set_start(t.probes, 0);
	for (int i = 0; i < 5000 && (isnan(tree_value(&t, "gpu.util")) || isnan(tree_value(&t, "temp.gpu")));
	     i++) {
		usleep(1000);
		tree_tick(&t, 1);
	}
	assert_value(&t, "gpu.util", 40);
	assert_value(&t, "temp.gpu", 51);
	tree_end(&t);
	assert_int_equal(fake.shutdowns, 1);
}

/* A hanging driver delays the start only up to a limit. */
static void test_hang(void **state)
{
	struct tree t;
	struct err e;

	(void)state;
	begin(&t);
	fake.patience_ns = 1000 * MS;
	atomic_store(&fake.hang, 1);
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", &e), 0);
	assert_non_null(strstr(tree_channel(&t, "gpu.util")->missing, "did not answer"));
	assert_int_equal(atomic_load(&fake.hanging), 1);
	tree_end(&t);
	fake.init = NOT_SUPPORTED;
	atomic_store(&fake.hang, 0);
	for (int i = 0; i < 5000 && !atomic_load(&fake.back); i++)
		usleep(1000);
	assert_int_equal(atomic_load(&fake.back), 1);
	usleep(50000); /* it cleans up before this program ends */

	begin(&t);
	fake.patience_ns = 10000 * MS;
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", &e), 0);
	assert_string_equal(tree_channel(&t, "gpu.util")->missing, "");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_not_supported),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_tree_is_another_machine),
		cmocka_unit_test(test_two_devices_and_long_names),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_clock_is_set),
		cmocka_unit_test(test_held_up),
		cmocka_unit_test(test_rare_rows),
		cmocka_unit_test(test_other_sources),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
