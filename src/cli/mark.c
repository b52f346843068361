/* nvmtop mark: sets a mark in all recordings and live screens of this user. */
#include <stdio.h>

#include "cli/verb.h"
#include "util/clock.h"
#include "util/intl.h"
#include "record/marks.h"

static int cmd_mark(const struct options *o)
{
	int64_t now = clock_now_ns();
	char whom[128];
	struct err e;
	int n;

	if (o->nvtx_mark && nvtx_mark(o->label ? o->label : "", &now, &e) < 0)
		return complain(&e);
	n = marks_send(now, o->label, o->to, whom, sizeof whom, &e);

	if (n < 0 || (n == 0 && !o->quiet))
		return complain(&e);
	/* Not an error, but worth a message. */
	if (n > 1 && !o->quiet)
		fprintf(stderr,
			_("nvmtop: marked %d recorders or screens, processes %s; --pid PID selects "
			  "one\n"),
			n, whom);
	return 0;
}

static int finish(struct options *o, struct err *e)
{
	if (o->n_files > 1)
		return err_set(e, ERR_USAGE, _("unexpected \"%s\": put a label of several words in quotes"),
			       shown_word(o->files[1]));
	o->label = o->n_files ? o->files[0] : NULL;
	return 0;
}

#define PID COUNT(to, 1, INT32_MAX), .wants = N_("a process ID")
static const struct option_entry own[] = {
	{"pid", "PID", N_("only in the recording or screen of this process"), PID},
	{"to", "PID", N_("same as --pid"), PID},
	{"quiet", NULL, N_("say nothing and succeed if nothing records; tell of no other receivers"), .letter = 'q', FLAG(quiet)},
	{"nvtx", NULL, N_("pass the mark also to Nsight Systems or the NVTX tool that this runs under"),
	 FLAG(nvtx_mark)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_mark = {
	.name = "mark",
	.operands = "[LABEL]",
	.summary = N_("set a mark, with an optional LABEL, in your recordings and live screens"),
	.groups = {&options},
	.finish = finish,
	.run = cmd_mark,
};
