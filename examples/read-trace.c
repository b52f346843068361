/* Reads a trace: prints a summary, and the mean power and the energy of each
 * rail.
 *
 *	cc read-trace.c $(pkg-config --cflags --libs nvmtop) -o read-trace
 *	./read-trace run.bin
 */
#include <math.h>
#include <nvmtop/nvmtop.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	nvmtop_header header = {.size = NVMTOP_HEADER_SIZE};
	nvmtop_error error = NVMTOP_ERROR_INIT;

	if (argc != 2) {
		fprintf(stderr, "usage: read-trace FILE\n");
		return 2;
	}
	nvmtop_trace *trace = nvmtop_open(argv[1], &error);
	if (!trace) {
		fprintf(stderr, "read-trace: %s\n", error.text);
		return 1;
	}
	if (error.code == NVMTOP_DAMAGED)
		fprintf(stderr, "read-trace: %s\n", error.text);
	nvmtop_get_header(trace, &header);
	printf("%s: %.3f s, %llu fast, %llu medium, %llu slow samples, %llu marks\n", header.board, header.duration_s,
	       (unsigned long long)header.rows[0], (unsigned long long)header.rows[1],
	       (unsigned long long)header.rows[2], (unsigned long long)header.marks);
	for (uint64_t i = 0; i < nvmtop_signals(trace); i++) {
		nvmtop_signal signal = {.size = NVMTOP_SIGNAL_SIZE};
		double joules, within;

		nvmtop_get_signal(trace, i, &signal);
		if (strcmp(signal.unit, "mW"))
			continue;
		joules = nvmtop_energy(trace, i, 0, header.duration_s, &within, NULL);
		if (isnan(joules))
			printf("  %-24s not measured\n", signal.name);
		else if (isnan(within))
			printf("  %-24s %8.3f W %10.3f J\n", signal.name, joules / header.duration_s, joules);
		else
			printf("  %-24s %8.3f W %10.3f +- %.3f J\n", signal.name, joules / header.duration_s, joules, within);
	}
	nvmtop_close(trace);
	return error.code;
}
