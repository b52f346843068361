/* Signals are blocked before the first thread starts, so that every thread inherits the mask, and the
 * main loop reads them from a descriptor. No code runs in a handler. */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/app.h"
#include "util/intl.h"

static const int ours[] = {SIGINT,  SIGTERM, SIGHUP,  SIGUSR1,  SIGUSR2, SIGQUIT,
			   SIGALRM, SIGXCPU, SIGCHLD, SIGWINCH, SIGTSTP, SIGCONT};
#define HELD 5 /* of them; with Ctrl-\ the user can end a start that hangs */
/* Writes to a closed pipe or beyond the file size limit must fail with an error; a background job that
 * writes to the terminal must not be stopped. */
static const int ignored[] = {SIGPIPE, SIGXFSZ, SIGTTOU};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The first n of ours. A blocked signal is queued even if it is ignored, so SIGHUP under nohup is left out. */
static void first_of_ours(size_t n, sigset_t *set)
{
	struct sigaction was;

	sigemptyset(set);
	for (size_t i = 0; i < n; i++)
		if (ours[i] != SIGHUP || sigaction(SIGHUP, NULL, &was) < 0 || was.sa_handler != SIG_IGN)
			sigaddset(set, ours[i]);
}

void signals_hold(bool hold)
{
	sigset_t set;

	first_of_ours(HELD, &set);
	sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

int signals_open(struct err *e)
{
	sigset_t set;

	first_of_ours(COUNT(ours), &set);
	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	/* A script starts its background jobs with SIGINT ignored, and then sends it to end a recording.
	 * SIGHUP stays ignored under nohup. */
	signal(SIGINT, SIG_DFL);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot block signals"));
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot open a descriptor for signals"));
	return fd;
}

int signals_next(int fd, bool *from_terminal)
{
	struct signalfd_siginfo si;

	if (read(fd, &si, sizeof si) != (ssize_t)sizeof si)
		return 0;
	if (from_terminal)
		*from_terminal = si.ssi_code == SI_KERNEL;
	return (int)si.ssi_signo;
}

bool signal_ends(int sig)
{
	switch (sig) {
	case SIGINT:
	case SIGQUIT:
	case SIGTERM:
	case SIGHUP:
	case SIGALRM:
	case SIGXCPU:
		return true;
	default:
		return false;
	}
}

void signals_default(void)
{
	sigset_t none;

	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
