/* Traces out of traces: a stretch of one, or several in a row. */
#include <stdio.h>

#include "cli/cli.h"
#include "app/progress.h"

int cmd_cut(const struct options *o)
{
	struct err e, damage;
	struct trace *t = open_trace(o->input, &damage);
	int status, fd;

	if (!t)
		return complain(&damage);
	if ((fd = signals_open(&e)) < 0) {
		trace_close(t);
		return complain(&e);
	}
	progress_watch(fd);
	status = damage.code == ERR_NONE ? 0 : complain(&damage);
	if (trace_cut(t, &o->pick, o->out, o->force, progress_show, &e) < 0)
		status = complain(&e);
	else if (e.code != ERR_NONE)
		complain(&e);
	progress_show(1);
	return close_read(t, status);
}

static void note(const char *text)
{
	fprintf(stderr, "nvmtop: %s\n", text);
}

int cmd_join(const struct options *o)
{
	struct trace **traces;
	struct err e = {.code = ERR_NONE};
	int status;
	size_t n;

	traces = open_traces(o, &n, &status);
	progress_watch(signals_open(NULL));
	if (n == o->n_files && trace_join_files(traces, n, o->out, o->force, progress_show, note, &e) < 0)
		status = complain(&e);
	else if (e.code != ERR_NONE)
		complain(&e);
	progress_show(1);
	return close_traces(traces, n, status);
}
