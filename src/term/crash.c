/* Restores the terminal when a signal kills the program, and still allows a core dump.
 * Everything is prepared in advance; the handler uses only async-signal-safe functions and then
 * triggers the default action. It runs on an alternate stack because a stack overflow is one of
 * the faults; that of the first thread, where all is drawn. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "term/crash.h"

/* These recur when the handler returns, so the core shows where. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
/* Signals that do not terminate, or cannot be caught. */
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
	/* parked stderr may say why (assertion, sanitizer) */
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
	/* wait until another thread that is also dying is done */
	for (int i = 0; i < 100 && atomic_load(&state) == AT_WORK; i++)
		poll(NULL, 0, 10);
	signal(sig, SIG_DFL);
	/* a signal sent by kill() does not recur */
	if (how->si_code <= 0 || !among(faults, COUNT(faults), sig))
		raise(sig);
}

/* Install the handler for every signal that would terminate the program. Blocked signals are read
 * elsewhere. Existing handlers are kept, except for faults, where a sanitizer would report on the
 * screen. */
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
		size_t size = 64 * 1024; /* SIGSTKSZ is not constant */

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
