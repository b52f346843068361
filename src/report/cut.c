/* A stretch of a trace as a trace of its own. */
#include "nvmtop/intl.h"
#include "report/pour.h"

int trace_cut(struct trace *t, const struct pick *pick, const char *path, bool force,
	      report_progress *progress, struct err *e)
{
	struct session about = *trace_session(t);
	int64_t first, last, from = about.start.mono_ns, end;
	struct pour p;
	char shown[512];

	pour_shown(t, shown, sizeof(shown));
	if (!trace_extent(t, &first, &last))
		return err_set(e, ERR_FAILED, _("there is no sample in %s"), shown);
	if (pick->has_from)
		from += pick->from_ns;
	end = pick->has_to && pick->to_ns <= last - about.start.mono_ns ? about.start.mono_ns + pick->to_ns
									: last + 1;
	if (from >= end || pour_rows_of(t, from, end) == 0)
		return err_set(e, ERR_FAILED, _("there is no sample in that stretch of %s"), shown);
	/* The new trace begins where it is cut. */
	if (about.start.real_ns)
		about.start.real_ns += from - about.start.mono_ns;
	if (about.start.boot_ns)
		about.start.boot_ns += from - about.start.mono_ns;
	about.start.mono_ns = from;
	if (pour_begin(&p, path, force, &about, e) < 0)
		return -1;
	p.t = t;
	p.progress = progress;
	p.total = pour_rows_of(t, from, end);
	pour_stretch(&p, from, end);
	return pour_end(&p, e);
}
