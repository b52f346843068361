/* Opens a second trace and aligns it with the one on the screen. */
#include "app/app.h"

struct trace *with_aligned(const struct options *o, struct trace *shown, struct trace *t,
			   struct ui_align *align, struct err *e)
{
	struct err damage = *e;

	if (ui_align(trace_timeline(shown), trace_timeline(t), o->align, align, e) < 0) {
		trace_close(t);
		return NULL;
	}
	*e = damage;
	return t;
}

struct trace *with_open(const struct options *o, struct trace *shown, struct ui_align *align, struct err *e)
{
	struct trace *t = trace_open_view(o->with, e);

	return t ? with_aligned(o, shown, t, align, e) : NULL;
}
