/* Measures what each phase of a workload costs: records while it runs, marks
 * the beginning of each phase, and reads their means back from the trace.
 *
 *	cc profile-phases.c $(pkg-config --cflags --libs nvmtop) -o profile-phases
 *	./profile-phases run.bin [BOARD]
 */
#include <math.h>
#include <nvmtop/nvmtop.h>
#include <stdio.h>
#include <time.h>

/* Replace these two functions with your own. */
static void preprocess(void)
{
	struct timespec t = {0, 300000000};

	nanosleep(&t, NULL);
}

static void infer(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;

	while (clock() < end)
		;
}

static int record(const char *path, const char *board, nvmtop_error *error)
{
	nvmtop_options options = NVMTOP_OPTIONS_INIT;
	nvmtop_recorder *r;
	int status;

	options.board = board;
	options.force = 1;
	r = nvmtop_start(path, &options, error);
	if (!r)
		return -1;
	nvmtop_wait_for_warmup(r, 5000);
	nvmtop_sync(r, "preprocess");
	preprocess();
	nvmtop_sync(r, "infer");
	infer();
	nvmtop_sync(r, "after");
	status = nvmtop_stop(r, error);
	nvmtop_free(r);
	return status;
}

int main(int argc, char **argv)
{
	nvmtop_error error = NVMTOP_ERROR_INIT;
	nvmtop_epoch epoch[4] = {{.size = NVMTOP_EPOCH_SIZE}};
	uint64_t n, epochs;

	if (argc < 2) {
		fprintf(stderr, "usage: profile-phases FILE [BOARD]\n");
		return 2;
	}
	if (record(argv[1], argc > 2 ? argv[2] : NULL, &error) < 0) {
		fprintf(stderr, "profile-phases: %s\n", error.text);
		return 1;
	}
	nvmtop_trace *trace = nvmtop_open(argv[1], &error);
	if (!trace) {
		fprintf(stderr, "profile-phases: %s\n", error.text);
		return 1;
	}
	const nvmtop_fast *fast = nvmtop_fast_rows(trace, &n);
	epochs = nvmtop_epochs(trace, epoch, 4);
	for (uint64_t i = 0; i < epochs && i < 4; i++) {
		double cpu = 0, used = 0;

		for (uint64_t k = epoch[i].first; k < epoch[i].first + epoch[i].n; k++)
			if (!isnan(fast[k].cpu_aggregate))
				cpu += fast[k].cpu_aggregate, used++;
		printf("%-12s %6.3f s  CPU %5.1f %%  %llu samples\n", epoch[i].label[0] ? epoch[i].label : "before",
		       epoch[i].end_s - epoch[i].start_s, used > 0 ? cpu / used : NAN,
		       (unsigned long long)epoch[i].n);
	}
	nvmtop_close(trace);
	return 0;
}
