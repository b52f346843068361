/* NVML; this program itself is the library: it is linked with -rdynamic, and a library with an empty
 * name is the program. */
#include <stdatomic.h>

#include "probe/nvml.h"
#include "probe/probe-nvml.h"
#include "test-probe-tree.h"

#define NOT_SUPPORTED 3
#define GPU_IS_LOST   15

struct utilization {
	unsigned gpu, memory;
};
struct memory {
	unsigned long long total, free, used;
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
} fake;

static char handles[128];

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
	struct probe_ctx o = {.probes = t->probes, .root = t->probes->root, .s = &s, .tick_ns = MS};
	return open_nvml_library(&o, library, fake.patience_ns, e);
}

static void test_values(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", NULL), 0);
	assert_int_equal(open_words(&t, TIER_SLOW, NULL, "freq power temp memory enc dec", NULL), 0);
	assert_int_equal(fake.inits, 1); /* one session for both */
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 40);
	assert_value(&t, "gpu.freq", 1575e6);
	assert_value(&t, "gpu.power", 61234);
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
	/* Utilization is read at each pass, the rest less often. */
	fake.percent = 41;
	fake.mw = 1;
	unsigned calls = fake.calls[1];
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 41);
	assert_value(&t, "gpu.power", 61234);
	assert_int_equal(fake.calls[1], calls);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "gpu.power", 1);
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
	assert_string_equal(tree_channel(&t, "gpu.util")->missing, "NVML cannot be initialised: Not Supported");
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
	fake.devices = 100;
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", NULL), 0);
	tree_tick(&t, MS);
	assert_value(&t, "gpu3.util", 43);
	assert_null(probe_set_find(t.probes, "gpu4.util"));
	tree_end(&t);
}

static void test_thread(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	assert_int_equal(open_words(&t, TIER_FAST, NULL, "util", NULL), 0);
	assert_int_equal(open_words(&t, TIER_SLOW, NULL, "power", NULL), 0);
	probe_set_be_gentle(t.probes);
	assert_true(tree_channel(&t, "gpu.util")->period_ns > 500 * MS);
	probe_set_start(t.probes, 0);
	for (int i = 0; i < 5000 && (isnan(tree_value(&t, "gpu.util")) || isnan(tree_value(&t, "gpu.power")));
	     i++) {
		usleep(1000);
		tree_tick(&t, 1);
	}
	assert_value(&t, "gpu.util", 40);
	assert_value(&t, "gpu.power", 61234);
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
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
