/* Runs NVIDIA's programs and the system's: by fixed paths, with arguments that are no one's but this program's, without
 * a shell, and not for longer than they may take. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"

#define ARGS_MAX 12

static const int ends[] = {SIGINT, SIGHUP, SIGQUIT, SIGTERM, SIGPIPE};

/* In the child: nothing of what this program has, but the error output or a pipe. */
static void become(const struct root *r, const char *const *argv, int to)
{
	static char sysroot[PATH_MAX + 16];
	static char search[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char path[PATH_MAX], *env[] = {search, NULL, NULL};
	char *args[ARGS_MAX + 1];
	size_t n = 0;

	for (; argv[n] && n < ARGS_MAX; n++)
		args[n] = (char *)(uintptr_t)argv[n];
	args[n] = NULL;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		signal(ends[i], SIG_DFL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(to < 0 ? null : to, 1) < 0 ||
	    dup2(to < 0 ? null : to, 2) < 0)
		_exit(127);
	umask(022); /* everyone reads the status files that they write */
	snprintf(path, sizeof path, "%s%s", argv[0][0] == '/' && !root_is_live(r) ? root_dir(r) : "",
		 argv[0]);
	if (!root_is_live(r)) {
		snprintf(sysroot, sizeof sysroot, "NVMTOP_SYSROOT=%s", root_dir(r));
		env[1] = sysroot;
	}
	execve(path, args, env);
	_exit(127);
}

/* Keeps the last line of what it says. */
static void hear(char *last, size_t size, const char *from, size_t len)
{
	size_t used = strlen(last);

	for (size_t i = 0; i < len; i++)
		if (from[i] != '\n' && from[i] != '\r') {
			if (used && last[used - 1] == '\n')
				used = 0;
			if (used + 2 < size)
				last[used++] = from[i];
		} else if (used && last[used - 1] != '\n')
			last[used++] = '\n';
	last[used] = '\0';
}

int program_run(const struct root *r, int seconds, char why[240], const char *const *argv)
{
#ifdef NVMTOP_CONTROL_TEST
	seconds = work_patience ? work_patience : seconds;
#endif
	int64_t until = clock_now_ns() + seconds * NS_PER_S;
	char last[160] = "", buf[512];
	int from[2], status = 0;
	bool open = true;
	pid_t got = 0;

	*why = '\0';
	pid_t child = pipe2(from, O_CLOEXEC) < 0 ? -1 : fork();
	if (child == 0) {
		setsid();
		become(r, argv, from[1]);
	}
	if (child < 0) {
		snprintf(why, 240, _("cannot start %s: %s"), argv[0], strerror(errno));
		return -1;
	}
	close(from[1]);
	/* Its output may be kept open by what it has started. */
	while (got == 0 && clock_now_ns() < until) {
		struct pollfd p = {.fd = open ? from[0] : -1, .events = POLLIN};
		if (poll(&p, 1, 20) > 0) {
			ssize_t n = read(from[0], buf, sizeof buf);
			open = n > 0;
			hear(last, sizeof last, buf, n > 0 ? (size_t)n : 0);
		}
		got = waitpid(child, &status, WNOHANG);
	}
	if (got == 0) {
		kill(-child, SIGKILL);
		waitpid(child, &status, 0);
	}
	fcntl(from[0], F_SETFL, O_NONBLOCK);
	for (ssize_t n; open && (n = read(from[0], buf, sizeof buf)) > 0;)
		hear(last, sizeof last, buf, (size_t)n);
	close(from[0]);
	work_wrote();
	last[strcspn(last, "\n")] = '\0';
	text_printable(buf, sizeof last, last, strlen(last));
	if (got == 0)
		snprintf(why, 240, _("%s did not end within %d s, and was killed"), argv[0], seconds);
	else if (!WIFEXITED(status))
		snprintf(why, 240, _("%s was killed by signal %d"), argv[0], WTERMSIG(status));
	else if (WEXITSTATUS(status) == 127 && !*last)
		snprintf(why, 240, _("cannot run %s"), argv[0]);
	else if (WEXITSTATUS(status))
		snprintf(why, 240, _("%s failed with status %d: %.150s"), argv[0], WEXITSTATUS(status), buf);
	else {
		snprintf(why, 240, "%.150s", buf); /* what it said: it may have lied */
		return 0;
	}
	return -1;
}

int program_apart(struct work *w, const char *verb, const char *word, char why[240])
{
	bool live = root_is_live(w->root);
	int status;

	/* A service of its own, which is none of the login session that may end before. */
	if (file_exists(w->root, "/run/systemd/system") && file_exists(w->root, "/usr/bin/systemd-run"))
		return live ? PROGRAM(w, 20, why, "/usr/bin/systemd-run", "--quiet", "--collect", w->self,
				      verb, word)
			    : PROGRAM(w, 20, why, "/usr/bin/systemd-run", "--quiet", "--collect", w->self,
				      "--sysroot", root_dir(w->root), verb, word);
	pid_t child = fork();
	if (child == 0) {
		const char *const args[] = {w->self, "--sysroot", root_dir(w->root), verb, word, NULL};
		const char *const plain[] = {w->self, verb, word, NULL};
		setsid();
		pid_t grandchild = fork();
		if (grandchild)
			_exit(grandchild < 0);
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
		char *env[] = {NULL};
		execve(w->self, (char *const *)(uintptr_t)(live ? plain : args), env);
		_exit(127);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	snprintf(why, 240, _("cannot start %s: %s"), w->self, strerror(errno));
	return -1;
}
