/* No signal that ends the program may leave a terminal without echo and cursor, and a
 * fault must still give its core dump.  All that is needed is prepared while all is well; the
 * handler only calls what POSIX allows in one, then lets the default action
 * happen.  It runs on a stack of its own, because an overflown stack is one of
 * the faults: the first thread's is made here, the others have theirs from
 * thread_start(). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "term/crash.h"

/* What happens again on return from the handler, and the core shows its place. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
/* What the kernel does not end a program for, or does not let it have. */
static const int harmless[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN,  SIGTTOU,
			       SIGCONT, SIGCHLD, SIGURG,  SIGWINCH};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct crash_plan plan;
static atomic_int state;
enum { RESTING, ARMED, AT_WORK };
static bool installed;
static struct sigaction before[NSIG];
static sigset_t taken;
static void *stack;

static bool among(const int *list, size_t n, int sig)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == sig)
			return true;
	return false;
}

static void put_back(void)
{
	char buf[512];
	ssize_t n;

	for (size_t done = 0; done < plan.n;) {
		struct pollfd p = {.fd = plan.fd, .events = POLLOUT};

		n = write(plan.fd, plan.bytes + done, plan.n - done);
		if (n > 0)
			done += (size_t)n;
		else if (!(n < 0 && errno == EAGAIN && poll(&p, 1, 200) == 1))
			break;
	}
	tcsetattr(plan.fd, TCSANOW, &plan.shell);
	/* why it died (an assertion, a sanitizer) may be in there */
	if (plan.real_stderr >= 0 && dup2(plan.real_stderr, STDERR_FILENO) >= 0 &&
	    lseek(plan.parked, 0, SEEK_SET) == 0)
		while ((n = read(plan.parked, buf, sizeof buf)) > 0)
			if (write(STDERR_FILENO, buf, (size_t)n) < 0)
				break;
}

static void on_fault(int sig, siginfo_t *how, void *where)
{
	(void)where;
	int was = ARMED;

	if (atomic_compare_exchange_strong(&state, &was, AT_WORK)) {
		put_back();
		atomic_store(&state, RESTING);
	}
	/* a second thread that dies must not end the process before the first is done */
	for (int i = 0; i < 100 && atomic_load(&state) == AT_WORK; i++)
		poll(NULL, 0, 10);
	signal(sig, SIG_DFL);
	/* One that somebody sent would not happen again. */
	if (how->si_code <= 0 || !among(faults, COUNT(faults), sig))
		raise(sig);
}

/* Every signal that would end the program here.  One that is blocked is read elsewhere;
 * one that somebody else handles is theirs, but for faults: a sanitizer that reports them
 * does so on the screen. */
static void take_all(void)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigset_t blocked;

	sigfillset(&act.sa_mask);
	sigemptyset(&taken);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (int sig = 1; sig < NSIG; sig++) {
		bool fault = sig == SIGABRT || among(faults, COUNT(faults), sig);

		if (among(harmless, COUNT(harmless), sig) || sigismember(&blocked, sig) ||
		    sigaction(sig, NULL, &before[sig]) < 0)
			continue;
		if ((fault || before[sig].sa_handler == SIG_DFL) && sigaction(sig, &act, NULL) == 0)
			sigaddset(&taken, sig);
	}
}

void crash_arm(const struct crash_plan *p)
{
	plan = *p;
	if (!installed) {
		size_t size = 64 * 1024; /* SIGSTKSZ is no constant any more */

		stack = malloc(size);
		if (stack) {
			stack_t alt = {.ss_sp = stack, .ss_size = size};

			sigaltstack(&alt, NULL);
		}
		take_all();
		installed = 1;
	}
	atomic_store(&state, ARMED);
}

void crash_rest(void)
{
	atomic_store(&state, RESTING);
}

void crash_disarm(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	atomic_store(&state, RESTING);
	if (!installed)
		return;
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&taken, sig) == 1)
			sigaction(sig, &before[sig], NULL);
	installed = 0;
	sigaltstack(&none, NULL);
	free(stack);
	stack = NULL;
}
