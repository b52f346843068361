/* A recording whose recorder is dead becomes a complete trace; the summary is
 * that of a recording that ended by itself. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "nvmtop/intl.h"
#include "nvmtop/trace.h"

int cmd_recover(const struct options *o)
{
	struct trace_recovery r;
	struct err e;
	char elapsed[32], shown[sizeof r.path];

	if ((trace_is_stream(o->recover) ? trace_unpack(o->recover, o->out, &r, &e)
					 : trace_recover(o->recover, &r, &e)) < 0)
		return complain(&e);
	text_printable(shown, sizeof shown, r.path, strlen(r.path));
	if (r.left_over) {
		fprintf(stderr, _("nvmtop: %s is complete; what was left beside it is removed\n"), shown);
		return e.code == ERR_NONE ? 0 : complain(&e);
	}
	text_elapsed(elapsed, sizeof elapsed, r.last_ns);
	fprintf(stderr,
		P_("nvmtop: recovered %s in %s, with %llu mark\n",
		   "nvmtop: recovered %s in %s, with %llu marks\n", r.marks),
		elapsed, shown, (unsigned long long)r.marks);
	fprintf(stderr, _("  samples: %llu fast, %llu medium, %llu slow; %llu late, %llu lost\n"),
		(unsigned long long)r.rows[TIER_FAST], (unsigned long long)r.rows[TIER_MEDIUM],
		(unsigned long long)r.rows[TIER_SLOW], (unsigned long long)r.late[TIER_FAST],
		(unsigned long long)r.lost[TIER_FAST]);
	return e.code == ERR_NONE ? 0 : complain(&e);
}

struct trace *open_trace(const char *path, struct err *e)
{
	char shown[512];

	if (!trace_interrupted(path))
		return trace_open(path, e);
	text_printable(shown, sizeof shown, path, strlen(path));
	err_set(e, ERR_FAILED,
		_("%s is not there, but a recording to it that was interrupted is: nvmtop --recover %s "
		  "completes it"),
		shown, shown);
	return NULL;
}
