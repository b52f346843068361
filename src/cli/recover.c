/* nvmtop recover: completes a recording whose recorder has died. */
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"
#include "util/intl.h"
#include "trace/recover.h"
#include "trace/trace.h"

static int report(const struct recovery *r, const struct err *e)
{
	char elapsed[32], shown[sizeof r->path];
	struct trace_summary s;
	struct err unused;

	text_printable(shown, sizeof shown, r->path, strlen(r->path));
	if (r->complete) {
		fprintf(stderr, _("nvmtop: %s is complete\n"), shown);
		return e->code == ERR_NONE ? 0 : complain(e);
	}
	if (trace_peek(r->path, &s, &unused) == 0) {
		text_lasted(elapsed, sizeof elapsed, s.duration_ns);
		fprintf(stderr,
			P_("nvmtop: recovered %s in %s, with %llu mark\n", "nvmtop: recovered %s in %s, with %llu marks\n",
			   s.marks),
			elapsed, shown, (unsigned long long)s.marks);
		fprintf(stderr, _("  samples: %llu fast, %llu medium, %llu slow\n"), (unsigned long long)s.rows[TIER_FAST],
			(unsigned long long)s.rows[TIER_MEDIUM], (unsigned long long)s.rows[TIER_SLOW]);
	}
	fprintf(stderr, _("  missing: at most the last 250 ms, or samples after the last flush if the machine "
			  "went down\n"));
	return e->code == ERR_NONE ? 0 : complain(e);
}

static int cmd_recover(const struct options *o)
{
	struct recovery r;
	struct err e;
	int rc;

	progress_watch(signals_open(NULL));
	rc = trace_recover(o->input, o->force, progress_step, NULL, &r, &e);
	progress_show(1);
	return rc < 0 ? complain(&e) : report(&r, &e);
}

static const struct option_entry own[] = {
	{"force", NULL, N_("replace an existing FILE.bin with the recording in FILE.bin.nvmt"), FLAG(force)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_recover = {
	.name = "recover",
	.mode_value = true,
	.operands = "FILE",
	.summary = N_("complete an interrupted recording"),
	.groups = {&options},
	.finish = operands_input,
	.run = cmd_recover,
};
