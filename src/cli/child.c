/* A process cannot exit while a driver blocks a read of one of its threads, possibly forever. Commands that
 * print and exit therefore run in a child; the shell waits for the parent, which exits once the child has
 * printed everything, whether or not the child can exit. Also starts the command of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/verb.h"
#include "util/clock.h"
#include "util/descriptors.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/job.h"

#define ALL_MS  60000 /* a reading takes a second, and longer if files hang */
#define END_NS  (100 * NS_PER_MS)
#define JOBS_NS (NS_PER_S / 2)
#define LOOK_NS NS_PER_MS

/* Closes the output and reports the status to the parent: the child may not exit, and
 * readers of a pipe need EOF. */
static void say_all(int to, int status)
{
	unsigned char byte = (unsigned char)status;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	while (write(to, &byte, 1) < 0 && errno == EINTR)
		;
}

/* Has the child exited within the time? Negative: wait forever. */
static bool ended(pid_t child, int64_t within_ns, int *status)
{
	int64_t until = clock_now_ns() + within_ns;
	pid_t got;

	while ((got = waitpid(child, status, within_ns < 0 ? 0 : WNOHANG)) == 0 && clock_now_ns() < until)
		nanosleep(&(struct timespec) {.tv_nsec = LOOK_NS}, NULL);
	return got == child;
}

static int as_child(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	return 1;
}

static int wait_for(pid_t child, int from)
{
	struct pollfd p = {.fd = from, .events = POLLIN};
	unsigned char byte;
	int status, ready;
	struct err e;

	while ((ready = poll(&p, 1, ALL_MS)) < 0 && errno == EINTR)
		;
	if (ready == 0) {
		err_set(&e, ERR_FAILED, _("a kernel file does not answer; nvmtop has given up"));
		return complain(&e);
	}
	if (read(from, &byte, 1) != 1)
		return ended(child, -1, &status) ? as_child(status) : 1;
	return ended(child, END_NS, &status) ? as_child(status) : byte;
}

int stdout_flush(int status)
{
	fflush(stdout);
	return stdout_result(status);
}

int run_apart(int (*what)(const struct options *o), const struct options *o)
{
	pid_t parent = getpid(), child;
	int said[2], status;

	if (pipe2(said, O_CLOEXEC) < 0)
		return stdout_flush(what(o));
	child = fork();
	if (child > 0) {
		close(said[1]);
		return wait_for(child, said[0]);
	}
	close(said[0]);
	if (child < 0) {
		close(said[1]);
		return stdout_flush(what(o));
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	status = stdout_flush(what(o));
	/* a search for sources may still be in a read */
	if (jobs_abandoned(clock_now_ns() + JOBS_NS) || root_given_up() || engine_left_behind())
		say_all(said[1], status);
	exit(status);
}

static bool runnable(const char *file)
{
	struct stat st;

	if (access(file, X_OK) < 0 || stat(file, &st) < 0)
		return false;
	errno = EACCES;
	return S_ISREG(st.st_mode);
}

bool command_find(const char *name)
{
	char file[4096];
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return runnable(name);
	errno = ENOENT;
	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t len = strcspn(p, ":");
		int n = snprintf(file, sizeof file, "%.*s/%s", len ? (int)len : 1, len ? p : ".", name);
		if (n > 0 && (size_t)n < sizeof file && runnable(file))
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

int command_check(const char *name)
{
	char shown[256];
	struct err e;
	int missing;

	if (command_find(name))
		return 0;
	missing = errno;
	text_printable(shown, sizeof shown, name, strlen(name));
	err_sys(&e, ERR_FAILED, missing, _("cannot run \"%s\""), shown);
	complain(&e);
	return missing == ENOENT || missing == ENOTDIR ? 127 : 126;
}

static _Noreturn void become(char **argv)
{
	char shown[512];

	signals_default();
	descriptors_restore(0);
	execvp(argv[0], argv);
	int num = errno;

	text_printable(shown, sizeof shown, argv[0], strlen(argv[0]));
	dprintf(STDERR_FILENO, "nvmtop: %s: %s\n", shown, strerror(num));
	_exit(num == ENOENT ? 127 : 126);
}

void terminal_pass(pid_t from, pid_t to)
{
	if (tcgetpgrp(STDIN_FILENO) == from)
		tcsetpgrp(STDIN_FILENO, to);
}

int command_hold(char **argv, bool group, pid_t *child, int *go, struct err *e)
{
	pid_t ours = getpgrp();
	int ends[2], num = pipe2(ends, O_CLOEXEC) < 0 ? errno : 0;
	pid_t pid = num ? -1 : fork();
	char byte;

	if (pid < 0)
		return err_sys(e, ERR_FAILED, num ? num : errno, _("cannot start the command \"%s\""),
			       argv[0]);
	if (pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		if (group)
			terminal_pass(ours, getpid());
		become(argv);
	}
	if (group)
		setpgid(pid, pid);
	close(ends[0]);
	*child = pid;
	*go = ends[1];
	return 0;
}

void command_release(int *go)
{
	if (*go < 0)
		return;
	write_all(*go, "", 1);
	close(*go);
	*go = -1;
}
