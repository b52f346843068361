/* The soft limit of descriptors is often lower than the hard one, and a board can have more sensors than
 * either. If even the hard limit is too low, searches take a file that cannot be opened for a missing one
 * and lose errno: so failures are counted here, where all files are opened. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "util/descriptors.h"
#include "util/intl.h"

#define SPARE 16 /* the next file of a recording, a socket, a directory, pending reads */

static struct rlimit before;
static bool raised;
static rlim_t all; /* the full limit while some are spared; else 0 */

static _Thread_local unsigned refused;
static _Thread_local int last;

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

/* If the limit is low, a quarter of it is spared. */
static rlim_t spared(rlim_t of)
{
	return of / 4 < SPARE ? of / 4 : SPARE;
}

void descriptors_spare(bool spare)
{
	struct rlimit now;

	if (spare == (all != 0) || getrlimit(RLIMIT_NOFILE, &now) < 0)
		return;
	if (spare) {
		all = now.rlim_cur;
		now.rlim_cur -= spared(all);
	} else {
		now.rlim_cur = all;
		all = 0;
	}
	setrlimit(RLIMIT_NOFILE, &now);
}

void descriptors_note(int error)
{
	if (error != EMFILE && error != ENFILE)
		return;
	refused++;
	last = error;
}

unsigned descriptors_refused(void)
{
	return refused;
}

void descriptors_reason(char *buf, size_t size)
{
	struct rlimit now;

	if (last == EMFILE && getrlimit(RLIMIT_NOFILE, &now) == 0)
		snprintf(buf, size, _("only %llu open files are allowed; raise the limit (ulimit -n)"),
			 (unsigned long long)(all ? all : now.rlim_cur));
	else
		snprintf(buf, size, "%s",
			 _("too many open files on this machine; close some or raise fs.file-max (sysctl)"));
}
