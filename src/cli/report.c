/* nvmtop report: statistics of one trace, or of several side by side. */
#include <signal.h>
#include <stdlib.h>

#include "cli/verb.h"
#include "util/intl.h"

/* A file on the command line. */
struct report_file {
	uint32_t recording;
	uint64_t seq;
	size_t trace; /* number of the trace that it is in, from 1; 0: none yet */
};

/* Takes the file `first` and the others of its recording and side for that trace; one that is given again is for another
 * trace. Returns their number. */
static size_t take_recording(const struct options *o, struct report_file *list, size_t first, size_t trace, const char **paths)
{
	size_t end = first < o->against ? o->against : o->n_files, n = 0;

	for (size_t i = first; i < end; i++) {
		bool wanted = i == first || (list[i].recording && list[i].recording == list[first].recording && !list[i].trace);

		for (size_t k = first; k < i; k++)
			wanted &= list[k].trace != trace || list[k].seq != list[i].seq;
		if (!wanted)
			continue;
		list[i].trace = trace;
		paths[n++] = o->files[i];
	}
	return n;
}

struct trace **open_traces(const struct options *o, size_t *n, size_t *n_first, int *status)
{
	struct trace **traces = calloc(o->n_files, sizeof(*traces));
	const char **paths = calloc(o->n_files, sizeof(*paths)); /* of one recording */
	struct report_file *list = calloc(o->n_files, sizeof(*list));
	bool failed = !traces || !paths || !list;
	struct err e;

	*n = *n_first = 0;
	*status = 0;
	if (failed) {
		err_set(&e, ERR_FAILED, _("out of memory"));
		*status = complain(&e);
	}
	for (size_t i = 0; !failed && i < o->n_files; i++)
		list[i].recording = trace_recording(o->files[i], &list[i].seq);
	for (size_t i = 0; !failed && i < o->n_files; i++) {
		if (list[i].trace)
			continue;
		traces[*n] = open_trace(paths, take_recording(o, list, i, *n + 1, paths), &e);
		if (!traces[*n] || e.code != ERR_NONE)
			*status = complain(&e);
		failed = !traces[*n];
		*n += !failed;
		*n_first += !failed && i < o->against;
	}
	free(paths);
	free(list);
	if (!failed)
		return traces;
	*status = close_traces(traces, *n, *status);
	return NULL;
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

static int write_report(struct trace *const *traces, size_t n, size_t n_first, const struct options *o, FILE *out,
			struct err *e)
{
	struct selection pick = o->pick;

	/* Two recordings are compared with each other; more are runs of one program, unless they are told apart. */
	pick.n_first = n_first ? n_first : n == 2 && !o->repeat ? 1 : n;
	if (o->by != REPORT_BY_PHASE)
		return report_ranges(traces, n, &pick, o->by, o->format, out, progress_show, e);
	/* What is chosen is wanted in full. */
	bool all = o->all || o->pick.epoch || o->pick.select;
	enum report_part part = o->summary ? REPORT_PHASES : all ? REPORT_ALL : REPORT_FIRST;

	return report_write(traces, n, &pick, o->per, part, o->format, out, progress_show, e);
}

int report_files(const struct options *o, FILE *out)
{
	size_t n, n_first;
	int status;
	struct trace **traces = open_traces(o, &n, &n_first, &status);
	struct err e;

	if (!traces)
		return status;
	if (o->nsys && n > 1)
		status = complain((err_set(&e, ERR_USAGE, "%s", _("--nsys is for one recording")), &e));
	else if (read_nsys(traces[0], o, &e) == 0 && write_report(traces, n, n_first, o, out, &e) == 0)
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

/* Takes no value: the operands after it are the other side. */
static int value_against(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	(void)t;
	(void)value;
	if (o->against)
		return err_set(e, ERR_USAGE, _("--against can be given once, between the FILEs of two programs"));
	o->against = o->n_files ? o->n_files : SIZE_MAX;
	return 0;
}

/* Order of enum report_format. */
static const char *const formats[] = {"table", "json", "csv", "markdown", NULL};
static const struct option_entry own[] = {
	{"format", "NAME", N_("table, json, csv or markdown"), WORD(format, enum report_format, formats),
	 .wants = N_("table, json, csv or markdown")},
	{"by", "WHAT", N_("phase, or for ranges of NVTX: range, thread or domain"), .take = value_by,
	 .at = AT(by, enum report_by), .words = by_names, .wants = N_("phase, range, thread or domain")},
	{"against", NULL, N_("the FILEs before it are runs of one program, those after it of another: compare these"),
	 .take = value_against},
	{"nsys", "FILE", N_("kernels and NVTX ranges from an export of Nsight Systems (SQLite)"), TEXT(nsys)},
	{"summary", NULL, N_("print only the table of phases"), FLAG(summary)},
	{"all", NULL, N_("print everything about each phase; also with --phase or --select"), FLAG(all)},
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
		{o->against >= o->n_files && o->against, N_("--against stands between FILEs: nvmtop report A1 A2 --against B1 B2")},
		{o->against && o->summary, N_("--against compares, and --summary does not")},
	};

	return RULES(rules, e) < 0 ? -1 : operands_files(o, e);
}

const struct verb verb_report = {
	.name = "report",
	.operands = "FILE... [--against FILE...]",
	.summary = N_("print statistics of each phase of a trace; compare runs of programs"),
	.groups = {&options, &group_items, &group_signals, &group_time},
	.finish = finish,
	.run = cmd_report,
};
