/* nvmtop --mark: a mark into what this user records and looks at. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "nvmtop/clock.h"
#include "nvmtop/intl.h"
#include "nvmtop/marks.h"

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
		fprintf(stderr, _("nvmtop: marked in %d places, of the processes %s; --to PID chooses one\n"),
			n, whom);
	return 0;
}
