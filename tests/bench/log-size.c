/* Measures what writing a recording as a log costs.
 *
 *   log-size RECORDING OUTPUT
 *
 * Reads the rows into memory and pushes them 33 ms at a time, as the engine does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/stream-to.h"
#include "rows.h"
#include "trace/trace.h"
#include "trace/log-out.h"

#define STEP_NS (33 * NS_PER_MS)
#define TURNS   5

static const struct mark *marks;
static size_t n_marks;

/* CPU time of all threads, in ns. */
static int64_t push_all(struct log_out *w)
{
	struct sink *s = stream_begin(w, &about, false);
	int64_t began = clock_cpu_ns(), last = 0;
	size_t mark = 0;
	struct err e = {.code = ERR_NONE};

	for (int t = 0; t < TIERS; t++) {
		tiers[t].next = 0;
		if (tiers[t].n > 0 && tiers[t].t_ns[tiers[t].n - 1] > last)
			last = tiers[t].t_ns[tiers[t].n - 1];
	}
	for (int64_t t_ns = about.start.mono_ns; t_ns <= last + STEP_NS && log_out_ready(w); t_ns += STEP_NS) {
		for (enum tier t = 0; t < TIERS; t++)
			rows_push(s, t, t_ns);
		for (; mark < n_marks && marks[mark].t_ns < t_ns; mark++)
			s->ops->mark(s, &marks[mark]);
		if (s->ops->rest)
			s->ops->rest(s);
	}
	if (stream_end(w, s, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	return clock_cpu_ns() - began;
}

static int64_t write_log(const char *path, struct log_out_stats *stats)
{
	struct err e;
	struct log_out *w = log_out_new(path, true, &e);
	int64_t cpu;

	if (!w) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	log_out_options(w)->sync_ns = 0;
	cpu = push_all(w);
	log_out_stats(w, stats);
	log_out_free(w);
	return cpu;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int64_t cpu[TURNS];
	struct log_out_stats stats;
	uint64_t rows = 0;
	struct err e;
	struct trace *t;

	if (argc != 3 || !(t = trace_open(argv[1], &e))) {
		fprintf(stderr, "%s\n", argc == 3 ? e.text : "usage: log-size RECORDING OUTPUT");
		return 1;
	}
	about = *trace_session(t);
	marks = trace_marks(t, &n_marks);
	for (enum tier k = 0; k < TIERS; k++)
		load(t, k);
	for (int i = 0; i < TURNS; i++)
		cpu[i] = write_log(argv[2], &stats);
	for (int k = 0; k < TIERS; k++)
		rows += stats.rows[k];
	qsort(cpu, TURNS, sizeof(cpu[0]), ascending);
	printf("%zu channels, %.1f s, %llu rows (%llu lost), %.0f ns of CPU time a row\n", about.n_channels,
	       (double)(tiers[0].t_ns[tiers[0].n - 1] - tiers[0].t_ns[0]) / 1e9, (unsigned long long)rows,
	       (unsigned long long)stats.lost_rows, (double)cpu[TURNS / 2] / (double)rows);
	for (int k = 0; k < TIERS; k++) {
		free(tiers[k].t_ns);
		free(tiers[k].values);
	}
	trace_close(t);
	return 0;
}
