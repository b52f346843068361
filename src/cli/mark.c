/* nvmtop --mark: a mark into what this user records and looks at. */
#include <stdio.h>

#include "cli/cli.h"
#include "util/clock.h"
#include "util/intl.h"
#include "record/marks.h"

int cmd_mark(const struct options *o)
{
	int64_t now = clock_now_ns();
	char whom[128];
	struct err e;
	int n = marks_send(now, o->label, o->to, whom, sizeof whom, &e);

	if (n < 0)
		return complain(&e);
	/* Not an error: but whoever meant one of them should know. */
	if (n > 1)
		fprintf(stderr,
			_("nvmtop: marked %d recorders or screens, processes %s; --to PID selects "
			  "one\n"),
			n, whom);
	return 0;
}
