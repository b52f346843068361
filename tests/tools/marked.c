/* A program with NVTX ranges, which does what the headers of NVTX do: marked [open | flood RANGES_A_SECOND SECONDS].
 *
 * Without arguments: "run" with three "step" of payload 0 .. 2 in it, each with "copy" in domain "io" beside it; a
 * range "request" by start and end; a mark "half" in domain "io". open: ends within "run". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../nvtx/nvtx-load.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void rest(double seconds)
{
	nanosleep(&(struct timespec) {.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

static void flood(double rate, double seconds)
{
	double begin = now(), at;
	long n = 0;

	while ((at = now() - begin) < seconds) {
		for (; (double)n < at * rate; n++) {
			nvtx.push_a(n % 3 ? "a range with a name of fifty characters, or so, A" : "another one");
			nvtx.pop();
		}
		rest(0.0005);
	}
	printf("%ld\n", n);
}

static void steps(void)
{
	void *io = nvtx.domain_a("io");
	struct nvtx_attr a = {.version = 3, .size = sizeof(a), .payload_type = 1, .message_type = 1};
	uint64_t request = nvtx.start_a("request");

	for (unsigned i = 0; i < 3; i++) {
		a.message.text = "step";
		a.payload.u64 = i;
		nvtx.push_ex(&a);
		a.message.text = "copy";
		nvtx.domain_push(io, &a);
		rest(0.05);
		nvtx.domain_pop(io);
		nvtx.pop();
	}
	a.message.text = "half";
	nvtx.domain_mark(io, &a);
	nvtx.end(request);
}

int main(int argc, char **argv)
{
	const char *library = getenv("NVTX_INJECTION64_PATH");

	if (!library || !nvtx_load(library))
		return 1;
	nvtx.push_a("run");
	if (argc > 3)
		flood(atof(argv[2]), atof(argv[3]));
	else
		steps();
	if (argc == 1)
		nvtx.pop();
	return 0;
}
