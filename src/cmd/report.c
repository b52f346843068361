/* Numbers out of one trace, or out of several side by side. */
#include <signal.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "nvmtop/intl.h"

int open_traces(const struct options *o, struct trace **out, size_t *n)
{
	struct err e;
	int status = 0;

	for (*n = 0; *n < o->n_files; (*n)++) {
		out[*n] = open_trace(o->files[*n], &e);
		if (!out[*n])
			return complain(&e);
		if (e.code != ERR_NONE)
			status = complain(&e);
	}
	return status;
}

int cmd_report(const struct options *o)
{
	struct trace **traces = calloc(o->n_files, sizeof(*traces));
	struct err e;
	size_t n = 0;
	int status;

	if (!traces) {
		err_set(&e, ERR_FAILED, _("out of memory"));
		return complain(&e);
	}
	signal(SIGPIPE, SIG_IGN);
	status = open_traces(o, traces, &n);
	if (n < o->n_files)
		; /* said already */
	else if (report_write(traces, n, &o->pick, o->per, o->format, stdout, progress_show, &e) == 0)
		status = stdout_result(status);
	else
		status = complain(&e);
	while (n > 0)
		trace_close(traces[--n]);
	free(traces);
	return status;
}
