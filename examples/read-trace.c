/* Reads a trace: prints a summary, and the mean power and the energy of each
 * rail.
 *
 *	cc read-trace.c $(pkg-config --cflags --libs nvmtop) -o read-trace
 *	./read-trace run.bin
 */
#include <math.h>
#include <nvmtop/nvmtop.h>
#include <stdio.h>

/* Returns the energy of a rail in joules, by the trapezoidal rule over the true
 * times; an interval with a value missing at either end is left out. */
static double energy(const nvmtop_medium *row, uint64_t n, unsigned rail, double *covered_s)
{
	double joules = 0;

	*covered_s = 0;
	for (uint64_t i = 1; i < n; i++) {
		double a = row[i - 1].power_mw[rail], b = row[i].power_mw[rail];
		double dt = row[i].time_s - row[i - 1].time_s;

		if (isnan(a) || isnan(b))
			continue;
		joules += (a + b) / 2 * dt / 1000;
		*covered_s += dt;
	}
	return joules;
}

int main(int argc, char **argv)
{
	nvmtop_header header = {.size = NVMTOP_HEADER_SIZE};
	nvmtop_error error = NVMTOP_ERROR_INIT;
	uint64_t n;

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
	const nvmtop_medium *row = nvmtop_medium_rows(trace, &n);
	for (unsigned i = 0; i < header.rails; i++) {
		double covered, joules = energy(row, n, i, &covered);

		if (covered > 0)
			printf("  %-24s %8.3f W %10.3f J\n", header.rail_name[i], joules / covered, joules);
		else
			printf("  %-24s not measured\n", header.rail_name[i]);
	}
	nvmtop_close(trace);
	return error.code;
}
