/* nvml-fake: a library in the place of libnvidia-ml.so.1 whose one GPU has a power that is a closed form of time.
 *
 * NVML_FAKE_LOAD="START SECONDS D..." (seconds since 1970): for each D in turn, SECONDS of a load that is busy for
 * D and idle for D, with a second of rest between them. Idle it draws 120 W, busy 700 W. As with a real one each
 * sample is the mean of the 20 ms before its stamp, and the counter changes each 100 ms and takes 4 ms to read. As long
 * as a file NVML_FAKE_WAITS exists, the driver is not loaded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IDLE 120.0
#define BUSY 700.0
#define KEPT 119

struct sample {
	unsigned long long stamp_us, value;
};

static double start, seconds, on[16];
static int loads;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Joules from START to t. */
static double energy(double t)
{
	double busy = 0;

	for (int i = 0; i < loads; i++) {
		double in = fmin(fmax(t - start - i * (seconds + 1), 0), seconds), period = 2 * on[i];
		busy += floor(in / period) * on[i] + fmin(fmod(in, period), on[i]);
	}
	return IDLE * (t - start) + (BUSY - IDLE) * busy;
}

int nvmlInit_v2(void)
{
	const char *load = getenv("NVML_FAKE_LOAD");
	const char *waits = getenv("NVML_FAKE_WAITS");
	int used = 0;

	if (waits && access(waits, F_OK) == 0)
		return 9;
	loads = 0;
	start = now_s();
	if (load && sscanf(load, "%lf %lf%n", &start, &seconds, &used) == 2)
		while (loads < 16 && sscanf(load += used, " %lf%n", &on[loads], &used) == 1)
			loads++;
	return 0;
}

int nvmlShutdown(void)
{
	return 0;
}

const char *nvmlErrorString(int status)
{
	return status == 9 ? "Driver Not Loaded" : status == 3 ? "Not Supported" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = 1;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h)
{
	*h = &loads;
	return i ? 2 : 0;
}

int nvmlDeviceGetName(void *h, char *name, unsigned size)
{
	(void)h;
	snprintf(name, size, "Square wave");
	return 0;
}

int nvmlDeviceGetSamples(void *h, int what, unsigned long long since_us, int *type, unsigned *n, struct sample *out)
{
	unsigned long long newest = (unsigned long long)(now_s() * 50);
	unsigned count = 0;

	(void)h;
	if (what != 0)
		return 3;
	*type = 1; /* unsigned int */
	for (unsigned long long k = newest - KEPT + 1; k <= newest && out; k++)
		if (k * 20000 > since_us && count < *n) {
			double t = (double)k / 50;
			out[count++] = (struct sample) {
				k * 20000, (unsigned)lround((energy(t) - energy(t - 0.02)) / 0.02 * 1000)};
		}
	*n = out ? count : KEPT;
	return *n ? 0 : 6;
}

int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *mj)
{
	struct timespec wait = {.tv_nsec = 4000000};

	(void)h;
	nanosleep(&wait, NULL);
	*mj = (unsigned long long)llround(1e9 + energy(floor(now_s() * 10) / 10) * 1000);
	return 0;
}
