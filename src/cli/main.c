/* Sets up the process as every verb needs it, then runs the verb. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "util/job.h"
#include "cli/verb.h"
#include "util/descriptors.h"
#include "util/clock.h"
#include "util/intl.h"

/* Otherwise the next file to be opened would get the number of a standard descriptor that the
 * caller closed and be mistaken for it: signals for input, a trace for standard error. Reading or
 * writing the replacement fails. */
static void hold_closed_numbers(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

/* The kernel does not end a process while a read blocks in it; the user is informed. */
static int end(int status)
{
	if (engine_left_behind())
		fprintf(stderr,
			_("nvmtop: done, but a sensor does not answer, and the kernel ends this process only "
			  "when it does\n"));
	else if (jobs_abandoned(clock_now_ns() + NS_PER_S / 2))
		fprintf(stderr, _("nvmtop: done, but a disk, a driver or another program does not answer, and the kernel may "
				  "end this process only when it does\n"));
	else
		return status;
	fflush(stdout); /* of others a thread that waits may hold the lock */
	_exit(status);
}

/* ssh passes LANG to machines that do not have that locale, and the terminal is in UTF-8 all the same, unless LANG
 * names another encoding. */
static void locale_set(void)
{
	const char *all = getenv("LC_ALL"), *type = getenv("LC_CTYPE"), *lang = getenv("LANG");
	const char *name = all && *all ? all : type && *type ? type : lang && *lang ? lang : "C";
	const char *encoding = strchr(name, '.');

	if (setlocale(LC_ALL, "") || setlocale(LC_CTYPE, ""))
		return;
	if (!encoding || !strncasecmp(encoding, ".utf", 4))
		setlocale(LC_CTYPE, "C.UTF-8");
}

int main(int argc, char **argv)
{
	struct options o;
	struct err e;

	signals_hold(true); /* one may arrive as soon as the process exists */
	signal(SIGXFSZ, SIG_IGN); /* write() returns an error instead, which is reported with the file name */
	hold_closed_numbers();
	descriptors_raise();
	locale_set();
	/* Numbers are the same in every locale. */
	setlocale(LC_NUMERIC, "C");
#if ENABLE_NLS
	bindtextdomain(PACKAGE, LOCALEDIR);
	textdomain(PACKAGE);
#endif
	if (options_parse(&o, argc, argv, &e) < 0) {
		complain_help(o.verb && o.verb->name ? o.verb->name : "");
		e.code = ERR_USAGE;
		return complain(&e);
	}
	if (o.help) {
		verb_help(o.verb, stdout);
		return stdout_flush(0);
	}
	if (o.version) {
		printf("%s\n", PACKAGE_STRING);
		return stdout_flush(0);
	}
	complain_help(o.verb->name); /* what is wrong may be found only now */
	if (!o.verb->takes_signals || o.print_w)
		signals_hold(false);
	return end(o.verb->apart ? run_apart(o.verb->run, &o) : stdout_flush(o.verb->run(&o)));
}
