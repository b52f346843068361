/* nvmtop cut: writes a range of a trace to a new trace. */
#include <stdio.h>

#include "cli/verb.h"
#include "util/intl.h"

static int cmd_cut(const struct options *o)
{
	struct err e, damage;
	struct trace *t = open_trace(&o->input, 1, &damage);
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

static int finish_cut(struct options *o, struct err *e)
{
	if (operands_in_out(o, e) < 0)
		return -1;
	const struct option_rule rules[] = {
		{!o->pick.has_from && !o->pick.has_to, N_("nvmtop cut needs --from SEC, --to SEC or both")},
		{!o->out, N_("missing -o FILE, the name of the new trace")},
		{is_stream(o->out), N_("the new trace is written to a file, not to standard output")},
	};

	return RULES(rules, e) < 0 ? -1 : check_time(o, e);
}

const struct verb verb_cut = {
	.name = "cut",
	.operands = "FILE -o NEW",
	.summary = N_("write the range --from .. --to of a trace to a new trace"),
	.groups = {&group_output, &group_time},
	.finish = finish_cut,
	.run = cmd_cut,
};
