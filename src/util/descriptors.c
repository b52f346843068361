/* The soft limit of descriptors is often lower than the hard one, and a board has hundreds of sensors. If even the hard
 * limit is too low, searches take a file that cannot be opened for a missing one and lose errno: so it is kept here,
 * where all files are opened. */
#include <errno.h>
#include <sys/resource.h>

#include "util/descriptors.h"
#include "util/intl.h"

static struct rlimit before;
static bool raised;
static _Thread_local int lacked;

void descriptors_raise(void)
{
	struct rlimit now;

	if (raised || getrlimit(RLIMIT_NOFILE, &now) < 0)
		return;
	before = now;
	now.rlim_cur = now.rlim_max;
	raised = setrlimit(RLIMIT_NOFILE, &now) == 0;
}

void descriptors_restore(pid_t pid)
{
	if (raised)
		prlimit(pid, RLIMIT_NOFILE, &before, NULL);
}

void descriptors_note(int error)
{
	if (error == EMFILE || error == ENFILE)
		lacked = error;
}

bool descriptors_lacked(struct err *e)
{
	struct rlimit now;
	int error = lacked;

	lacked = 0;
	if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &now) == 0)
		err_set(e, ERR_FAILED, _("only %llu open files are allowed, and each sensor is one; raise the limit (ulimit -n)"),
			(unsigned long long)now.rlim_cur);
	else if (error)
		err_set(e, ERR_FAILED,
			_("too many open files on this machine; close some or raise fs.file-max (sysctl)"));
	return error;
}
