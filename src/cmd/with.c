/* A second trace under the one that is replayed: opened and aligned. */
#include "cmd/cmd.h"

struct trace *with_open(const struct options *o, struct trace *shown, struct ui_align *align, struct err *e)
{
	struct trace *t = open_trace(o->with, e);
	struct err damage;

	if (!t)
		return NULL;
	damage = *e;
	if (ui_align(trace_timeline(shown), trace_timeline(t), o->align, align, e) < 0) {
		trace_close(t);
		return NULL;
	}
	*e = damage;
	return t;
}
