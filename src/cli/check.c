/* nvmtop check: reads all of a recording and prints what is wrong with it. */
#include <stdio.h>

#include "cli/verb.h"
#include "util/intl.h"
#include "trace/check.h"

static void found(void *to, const char *text)
{
	(void)to;
	printf("%s\n", text);
}

static int cmd_check(const struct options *o)
{
	struct checked c;
	struct err e;
	int rc;

	progress_watch(signals_open(NULL));
	rc = trace_check(o->input, found, NULL, progress_step, NULL, &c, &e);
	progress_show(1);
	if (rc < 0)
		return complain(&e);
	if (c.wrong > 0) {
		printf(P_("%llu problem found\n", "%llu problems found\n", c.wrong), (unsigned long long)c.wrong);
		return ERR_DAMAGED;
	}
	printf(_("valid; rows: %llu fast, %llu medium, %llu slow; marks: %llu"), (unsigned long long)c.rows[0],
	       (unsigned long long)c.rows[1], (unsigned long long)c.rows[2], (unsigned long long)c.marks);
	if (c.chunks > 0)
		printf(P_("; %llu chunk", "; %llu chunks", c.chunks), (unsigned long long)c.chunks);
	if (c.version1)
		printf("%s", _("; NVMT version 1"));
	if (c.unknown > 0)
		printf(_("; %llu of a newer version"), (unsigned long long)c.unknown);
	putchar('\n');
	return 0;
}

const struct verb verb_check = {
	.name = "check",
	.operands = "FILE",
	.summary = N_("validate a trace file"),
	.groups = {NULL},
	.finish = operands_input,
	.run = cmd_check,
};
