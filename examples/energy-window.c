/* Energy of a piece of work, now: its joules less those of the idle machine, and a value while it runs.
 *
 *	cc energy-window.c $(pkg-config --cflags --libs nvmtop) -o energy-window
 *	./energy-window [BOARD]
 */
#include <nvmtop/nvmtop.h>
#include <stdio.h>
#include <time.h>

/* Replace this with your own. */
static void infer(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;

	while (clock() < end)
		;
}

static void rest(void)
{
	struct timespec t = {0, 500000000};

	nanosleep(&t, NULL);
}

static int measure(nvmtop_live live, void (*work)(void), nvmtop_joules *joules, nvmtop_error *error)
{
	nvmtop_window w = nvmtop_energy_begin(live, error);
	int status;

	if (!w)
		return -1;
	work();
	nvmtop_energy_end(w);
	joules->size = NVMTOP_JOULES_SIZE;
	status = nvmtop_energy_result(w, -1, joules, error);
	nvmtop_energy_forget(w);
	return status;
}

int main(int argc, char **argv)
{
	nvmtop_options options = NVMTOP_OPTIONS_INIT;
	nvmtop_error error = NVMTOP_ERROR_INIT;
	nvmtop_joules idle, joules;
	nvmtop_live live;
	int64_t id;
	double gpu;

	options.board = argc > 1 ? argv[1] : NULL;
	live = nvmtop_live_open(&options, &error);
	if (!live || measure(live, rest, &idle, &error) < 0 || measure(live, infer, &joules, &error) < 0) {
		fprintf(stderr, "energy-window: %s\n", error.text);
		return 1;
	}
	id = nvmtop_live_find(live, "gpu.util");
	if (nvmtop_live_read(live, &id, 1, &gpu, NULL) == 0)
		printf("GPU now %.1f %%\n", gpu);
	printf("infer   %.2f +- %.2f J in %.3f s, %llu readings\n", joules.joules, joules.within, joules.seconds,
	       (unsigned long long)joules.readings);
	nvmtop_energy_subtract(&joules, &idle);
	printf("above idle %.2f +- %.2f J\n", joules.joules, joules.within);
	nvmtop_live_close(live, NULL);
	return 0;
}
