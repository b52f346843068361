/* Is this a trace as the format wants it? */
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"
#include "util/intl.h"
#include "trace/trace.h"

static void found(void *to, const char *text)
{
	(void)to;
	printf("%s\n", text);
}

int cmd_check(const struct options *o)
{
	struct trace_checked c;
	struct err e;

	if (trace_is_stream(o->input)) {
		char shown[512];

		text_printable(shown, sizeof shown, o->input, strlen(o->input));
		err_set(&e, ERR_FAILED, _("%s is a stream: convert it with nvmtop recover %s, then check "
					  "the trace"),
			shown, shown);
		return complain(&e);
	}
	if (trace_check(o->input, found, NULL, &c, &e) < 0)
		return complain(&e);
	if (c.wrong > 0) {
		printf(P_("%llu problem found\n", "%llu problems found\n", c.wrong),
		       (unsigned long long)c.wrong);
		return ERR_DAMAGED;
	}
	printf(_("valid; rows: %llu fast, %llu medium, %llu slow; marks: %llu"),
	       (unsigned long long)c.rows[0], (unsigned long long)c.rows[1], (unsigned long long)c.rows[2],
	       (unsigned long long)c.marks);
	printf(c.extended ? _("; extension: %llu chunks\n") : _("; no extension\n"),
	       (unsigned long long)c.chunks);
	return 0;
}

static int finish(struct options *o, struct err *e)
{
	if (operands_in_out(o, &o->input, e) < 0)
		return -1;
	return o->out ? operand_unexpected(o->out, e) : 0;
}

const struct verb verb_check = {
	.name = "check",
	.mode_value = true,
	.operands = "FILE",
	.summary = N_("validate a trace file"),
	.groups = {NULL},
	.finish = finish,
	.run = cmd_check,
};
