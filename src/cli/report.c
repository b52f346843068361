/* nvmtop report: statistics of one trace, or of several side by side. */
#include <signal.h>
#include <stdlib.h>

#include "cli/verb.h"
#include "util/intl.h"

struct trace **open_traces(const struct options *o, size_t *n, int *status)
{
	struct trace **traces = calloc(o->n_files, sizeof(*traces));
	struct err e;

	*n = 0;
	*status = 0;
	if (!traces) {
		err_set(&e, ERR_FAILED, _("out of memory"));
		*status = complain(&e);
		return NULL;
	}
	for (; *n < o->n_files; (*n)++) {
		traces[*n] = open_trace(o->files[*n], &e);
		if (!traces[*n] || e.code != ERR_NONE)
			*status = complain(&e);
		if (!traces[*n])
			break;
	}
	return traces;
}

int close_read(struct trace *t, int status)
{
	struct trace_state st;
	char notice[2048];
	int found;

	trace_look(t, &st);
	if (st.news && st.damage.code != ERR_NONE) {
		found = complain(&st.damage);
		status = status ? status : found;
	}
	if (trace_notice(t, notice, sizeof(notice)))
		fprintf(stderr, "nvmtop: %s\n", notice);
	trace_close(t);
	return status;
}

int close_traces(struct trace **traces, size_t n, int status)
{
	for (size_t i = 0; i < n; i++)
		status = close_read(traces[i], status);
	free(traces);
	return status;
}

static int read_nsys(struct trace *t, const struct options *o, struct err *e)
{
	char note[512];

	if (!o->nsys)
		return 0;
	if (report_nsys(t, o->nsys, note, sizeof(note), e) < 0)
		return -1;
	fprintf(stderr, "nvmtop: %s\n", note);
	return 0;
}

static int write_report(struct trace *const *traces, size_t n, const struct options *o, FILE *out, struct err *e)
{
	if (o->by != REPORT_BY_PHASE)
		return report_ranges(traces, n, &o->pick, o->by, o->format, out, progress_show, e);
	/* What is chosen is wanted in full. */
	bool all = o->all || o->pick.epoch || o->pick.select;
	enum report_part part = o->summary ? REPORT_PHASES : all ? REPORT_ALL : REPORT_FIRST;

	return report_write(traces, n, &o->pick, o->per, part, o->format, out, progress_show, e);
}

int report_files(const struct options *o, FILE *out)
{
	struct trace **traces;
	struct err e;
	int status;
	size_t n;

	traces = open_traces(o, &n, &status);
	if (n < o->n_files)
		; /* already reported */
	else if (read_nsys(traces[0], o, &e) == 0 && write_report(traces, n, o, out, &e) == 0)
		status = out == stdout ? stdout_result(status) : status;
	else
		status = complain(&e);
	return close_traces(traces, n, status);
}

static int cmd_report(const struct options *o)
{
	signal(SIGPIPE, SIG_IGN);
	return report_files(o, stdout);
}

static int value_by(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	o->has_by = true;
	return value_word(o, t, value, e);
}

/* Order of enum report_format. */
static const char *const formats[] = {"table", "json", "csv", "markdown", NULL};
static const struct option_entry own[] = {
	{"format", "NAME", N_("table, json, csv or markdown"), WORD(format, enum report_format, formats),
	 .wants = N_("table, json, csv or markdown")},
	{"by", "WHAT", N_("phase, or for ranges of NVTX: range, thread or domain"), .take = value_by,
	 .at = AT(by, enum report_by), .words = by_names, .wants = N_("phase, range, thread or domain")},
	{"nsys", "FILE", N_("kernels and NVTX ranges from an export of Nsight Systems (SQLite)"), TEXT(nsys)},
	{"summary", NULL, N_("print only the table of phases"), FLAG(summary)},
	{"all", NULL, N_("print everything about each phase; also with --phase or --select"), FLAG(all)},
	{"per", "N", N_("each phase has N items; print energy and time per item"), NUMBER(per), .least = 5e-324, .most = 1e300,
	 .wants = N_("a number of items above 0")},
};
static const struct option_group options = {NULL, OPTIONS(own)};

static int finish(struct options *o, struct err *e)
{
	if (o->nsys && !o->has_by)
		o->by = REPORT_BY_RANGE;
	bool ranges = o->by != REPORT_BY_PHASE;
	const struct option_rule rules[] = {
		{ranges && o->summary, N_("--summary is for phases, not for --by range, thread or domain")},
		{ranges && o->all, N_("--all is for phases, not for --by range, thread or domain")},
		{o->all && o->summary, N_("--all and --summary exclude each other")},
		{ranges && o->per > 0, N_("--per is for phases, not for --by range, thread or domain")},
		{o->nsys && !ranges, N_("--nsys is for --by range, thread or domain, not for phases")},
		{o->nsys && o->n_files > 1, N_("--nsys is for one FILE")},
	};

	return RULES(rules, e) < 0 ? -1 : operands_files(o, e);
}

const struct verb verb_report = {
	.name = "report",
	.operands = "FILE...",
	.summary = N_("print statistics of each phase of a trace; compare several traces"),
	.groups = {&options, &group_signals, &group_time},
	.finish = finish,
	.run = cmd_report,
};
