/* Copies a time range of a trace to a separate trace. */
#include <stdlib.h>

#include "util/intl.h"
#include "report/copy-rows.h"

static bool is_one(void *found, const struct range *range)
{
	(void)range;
	*(bool *)found = true;
	return false;
}

/* A clock of the start, later; 0: unknown. */
static int64_t moved(int64_t clock_ns, int64_t by_ns)
{
	int64_t at;

	return clock_ns && !__builtin_add_overflow(clock_ns, by_ns, &at) && log_time_good(at) ? at : 0;
}

int trace_cut(struct trace *t, const struct selection *range, const char *path, bool force,
	      report_progress *progress, struct err *e)
{
	struct session about = *trace_session(t);
	int64_t first, last, from = about.start.mono_ns, end;
	struct fact *facts;
	struct copy p;
	char shown[512];
	bool any;
	int r = -1;

	shown_path(t, shown, sizeof(shown));
	if (!trace_extent(t, &first, &last))
		return err_set(e, ERR_FAILED, _("%s has no samples"), shown);
	if (range->has_from)
		from += range->from_ns;
	end = range->has_to && range->to_ns <= last - about.start.mono_ns ? about.start.mono_ns + range->to_ns
									: last + 1;
	any = from < end && copy_rows_of(t, from, end) > 0;
	if (from < end && !any)
		trace_ranges(trace_timeline(t), from, end, 0, is_one, &any);
	if (!any)
		return err_set(e, ERR_FAILED, _("%s has no samples in that range"), shown);
	/* The new trace starts at the cut. */
	about.start.real_ns = moved(about.start.real_ns, from - about.start.mono_ns);
	about.start.boot_ns = moved(about.start.boot_ns, from - about.start.mono_ns);
	about.start.mono_ns = from;
	about.facts = facts = copy_facts(t, from);
	if (!facts)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (copy_begin(&p, path, force, &about, e) == 0) {
		p.t = t;
		p.progress = progress;
		p.total = copy_rows_of(t, from, end);
		copy_stretch(&p, from, end);
		r = copy_end(&p, e);
	}
	free(facts);
	return r;
}
