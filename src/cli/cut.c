/* nvmtop cut and join: write a range of a trace, or several traces in a row, to a new trace. */
#include <stdio.h>

#include "cli/verb.h"
#include "util/intl.h"

static int cmd_cut(const struct options *o)
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

static int cmd_join(const struct options *o)
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

static int check_made(const struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{!o->out, N_("missing -o FILE, the name of the new trace")},
		{is_stream(o->out), N_("the new trace is written to a file, not to standard output")},
	};

	return RULES(rules, e);
}

static int finish_cut(struct options *o, struct err *e)
{
	if (operands_in_out(o, e) < 0)
		return -1;
	if (!o->pick.has_from && !o->pick.has_to)
		return err_set(e, ERR_USAGE, _("nvmtop cut needs --from SEC, --to SEC or both"));
	return check_time(o, e) < 0 ? -1 : check_made(o, e);
}

static int finish_join(struct options *o, struct err *e)
{
	if (o->n_files < 2)
		return err_set(e, ERR_USAGE, _("nvmtop join needs two or more traces"));
	return check_made(o, e);
}

const struct verb verb_cut = {
	.name = "cut",
	.mode_value = true,
	.operands = "FILE -o NEW",
	.summary = N_("write the range --from .. --to of a trace to a new trace"),
	.groups = {&group_output, &group_time},
	.finish = finish_cut,
	.run = cmd_cut,
};

const struct verb verb_join = {
	.name = "join",
	.operands = "FILE FILE... -o NEW",
	.summary = N_("join several traces of one board into one trace"),
	.groups = {&group_output},
	.finish = finish_join,
	.run = cmd_join,
};
