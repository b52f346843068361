/* Options in, one of cmd/ out. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/job.h"
#include "cli/cli.h"
#include "util/descriptors.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/map.h"

/* The next file to be opened would get the number of one that the caller closed, and be
 * taken for it: signals for input, a trace for the place where errors go.  What is put
 * there instead can neither be read from nor written to. */
static void hold_closed_numbers(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

/* A closed or full standard output is an error, not silence. */
static int flush_stdout(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	struct err e;
	err_sys(&e, ERR_FAILED, errno, _("cannot write to standard output"));
	return complain(&e);
}

/* The kernel lets no process go while it holds a read of it: then at least the person who
 * waits for the end is told why. */
static int end(int status)
{
	if (engine_left_behind())
		fprintf(stderr,
			_("nvmtop: done, but a sensor does not answer, and the kernel ends this process only "
			  "when it does\n"));
	else if (jobs_abandoned(clock_now_ns() + NS_PER_S / 2))
		fprintf(stderr, _("nvmtop: done, but a disk does not answer, and the kernel may end this "
				  "process only when it does\n"));
	else
		return status;
	fflush(NULL);
	_exit(status);
}

static int once(const struct options *o)
{
	return flush_stdout(cmd_once(o));
}

static int boards(const struct options *o)
{
	return flush_stdout(cmd_boards(o));
}

static int print(const struct options *o)
{
	return flush_stdout(cmd_print(o));
}

/* A mark may come as soon as the process is there, and must not end it. */
static void hold_marks(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(how, &set, NULL);
}

int main(int argc, char **argv)
{
	struct options o;
	struct err e;

	hold_marks(SIG_BLOCK);
	hold_closed_numbers();
	map_guard();
	descriptors_raise();
	setlocale(LC_ALL, "");
	/* Numbers are written and read alike everywhere. */
	setlocale(LC_NUMERIC, "C");
#if ENABLE_NLS
	bindtextdomain(PACKAGE, LOCALEDIR);
	textdomain(PACKAGE);
#endif
	if (options_parse(&o, argc, argv, &e) < 0) {
		complain(&e);
		fprintf(stderr, _("Try 'nvmtop --help'.\n"));
		return ERR_USAGE;
	}
	if (o.mode != MODE_TOP && o.mode != MODE_RECORD)
		hold_marks(SIG_UNBLOCK);
	switch (o.mode) {
	case MODE_HELP:
		options_help(stdout);
		return flush_stdout(0);
	case MODE_VERSION:
		printf("%s\n", PACKAGE_STRING);
		return flush_stdout(0);
	case MODE_TOP:
		return end(cmd_top(&o));
	case MODE_RECORD:
		return end(cmd_record(&o));
	case MODE_RECOVER:
		return cmd_recover(&o);
	case MODE_ONCE:
		return run_apart(once, &o);
	case MODE_BOARDS:
		return run_apart(boards, &o);
	case MODE_PRINT:
		return o.replay ? print(&o) : run_apart(print, &o);
	case MODE_REPORT:
		return flush_stdout(cmd_report(&o));
	case MODE_EXPORT:
		return flush_stdout(cmd_export(&o));
	case MODE_CUT:
		return cmd_cut(&o);
	case MODE_JOIN:
		return cmd_join(&o);
	case MODE_CHECK:
		return flush_stdout(cmd_check(&o));
	case MODE_CONFIG:
		return flush_stdout(cmd_config(&o));
	case MODE_MARK:
		return cmd_mark(&o);
	}
	return ERR_FAILED;
}
