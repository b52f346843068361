/* A fault must not leave a terminal without echo and cursor, and it must still
 * give its core dump.  All that is needed is prepared while all is well; the
 * handler only calls what POSIX allows in one, then lets the default action
 * happen.  It runs on a stack of its own, because an overflown stack is one of
 * the faults: the first thread's is made here, the others have theirs from
 * thread_start(). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "nvmtop/map.h"
#include "term/crash.h"

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define FAULTS (sizeof faults / sizeof *faults)

static struct crash_plan plan;
static atomic_int state;
enum { RESTING, ARMED, AT_WORK };
static _Bool installed;
static struct sigaction before[FAULTS];
static void *stack;

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

	if (sig == SIGBUS && map_mend(how))
		return;
	if (atomic_compare_exchange_strong(&state, &was, AT_WORK)) {
		put_back();
		atomic_store(&state, RESTING);
	}
	/* a second thread that dies must not end the process before the first is done */
	for (int i = 0; i < 100 && atomic_load(&state) == AT_WORK; i++)
		poll(NULL, 0, 10);
	signal(sig, SIG_DFL);
	/* A fault of our own happens again on return, and the core shows its
	 * place; one that somebody sent would not. */
	if (how->si_code <= 0)
		raise(sig);
}

void crash_arm(const struct crash_plan *p)
{
	plan = *p;
	if (!installed) {
		size_t size = 64 * 1024; /* SIGSTKSZ is no constant any more */
		struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

		stack = malloc(size);
		if (stack) {
			stack_t alt = {.ss_sp = stack, .ss_size = size};

			sigaltstack(&alt, NULL);
		}
		sigemptyset(&act.sa_mask);
		for (size_t i = 0; i < FAULTS; i++)
			sigaction(faults[i], &act, &before[i]);
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
	for (size_t i = 0; i < FAULTS; i++)
		sigaction(faults[i], &before[i], NULL);
	installed = 0;
	sigaltstack(&none, NULL);
	free(stack);
	stack = NULL;
}
