/* Runs NVIDIA's programs and the system's: by fixed paths, with arguments that are no one's but this program's, without
 * a shell, and not for longer than they may take. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"

#define SYSTEMD_RUN "/usr/bin/systemd-run"

void program_signals(void (*how)(int))
{
	sigset_t none;

	for (int number = 1; number < 32; number++)
		signal(number, number == SIGCHLD ? SIG_DFL : how);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: nothing of what this program has, but where its output goes. */
static void become(const struct root *r, const char *path, const char *const *argv, int out)
{
	static char search[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", sysroot[PATH_MAX + 16];
	char *env[] = {search, root_is_live(r) ? NULL : sysroot, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	program_signals(SIG_DFL);
	umask(022); /* everyone reads the status files that they write */
	snprintf(sysroot, sizeof sysroot, "NVMTOP_SYSROOT=%s", root_dir(r));
	if (null >= 0 && dup2(null, 0) == 0 && dup2(out < 0 ? null : out, 1) == 1 && dup2(1, 2) == 2)
		execve(path, (char *const *)(uintptr_t)argv, env);
	_exit(127);
}

int program_run(const struct root *r, int seconds, char why[240], const char *const *argv)
{
	char path[PATH_MAX], raw[512], said[sizeof raw];
	int out = memfd_create("said", MFD_CLOEXEC), status = 0;
	bool late = false;
	pid_t got;

	seconds = work_patience ? work_patience : seconds;
	snprintf(path, sizeof path, "%s%s", work_top(r), argv[0]);
	pid_t child = out < 0 ? -1 : fork();
	if (child == 0)
		become(r, path, argv, out);
	/* One that waits for a driver may also outlive SIGKILL. */
	int64_t until = clock_now_ns() + seconds * NS_PER_S;
	while ((got = child < 0 ? -1 : waitpid(child, &status, WNOHANG)) == 0 &&
	       clock_now_ns() < until + 2 * NS_PER_S) {
		if (!late && clock_now_ns() >= until) {
			late = true;
			kill(-child, SIGKILL);
		}
		nanosleep(&(struct timespec) {.tv_nsec = 10 * NS_PER_MS}, NULL);
	}
	if (got < 0) {
		snprintf(why, 240, "cannot start %s: %s", argv[0], strerror(errno));
		if (out >= 0)
			close(out);
		return -1;
	}
	work_wrote();
	/* the last line of what it said */
	off_t size = lseek(out, 0, SEEK_END), from = size > (off_t)sizeof raw ? size - (off_t)sizeof raw : 0;
	ssize_t end = pread(out, raw, sizeof raw, from), begin;
	close(out);
	while (end > 0 && strchr("\r\n", raw[end - 1]))
		end--;
	for (begin = end > 0 ? end : 0; begin > 0 && !strchr("\r\n", raw[begin - 1]);)
		begin--;
	text_printable(said, sizeof said, raw + begin, end > 0 ? (size_t)(end - begin) : 0);
	if (late || got == 0)
		snprintf(why, 240, "%s did not end within %d s, and was killed", argv[0], seconds);
	else if (!WIFEXITED(status))
		snprintf(why, 240, "%s was killed by signal %d", argv[0], WTERMSIG(status));
	else if (WEXITSTATUS(status) == 127 && !*said)
		snprintf(why, 240, "cannot run %s", argv[0]);
	else if (WEXITSTATUS(status))
		snprintf(why, 240, "%s failed with status %d: %.150s", argv[0], WEXITSTATUS(status), said);
	else {
		snprintf(why, 240, "%.150s", said); /* it may have lied */
		return 0;
	}
	return -1;
}

int program_apart(const struct root *r, const char *verb, const char *word, char why[240])
{
	char self[PATH_MAX] = "";
	const char *argv[9] = {SYSTEMD_RUN, "--quiet", "--collect", self}, **own = argv + 3;
	size_t n = 4;
	int status = 1;

	if (!root_is_live(r)) {
		argv[n++] = "--sysroot";
		argv[n++] = root_dir(r);
	}
	argv[n++] = verb;
	argv[n] = word;
	/* A service of its own, which is none of the login session that may end before. */
	if (readlink("/proc/self/exe", self, sizeof self - 1) > 0 && file_exists(r, "/run/systemd/system") &&
	    file_exists(r, SYSTEMD_RUN) && program_run(r, 20, why, argv) == 0)
		return 0;
	pid_t child = fork();
	if (child == 0) {
		setsid();
		pid_t next = fork();
		if (next == 0)
			become(r, "/proc/self/exe", own, -1);
		_exit(next < 0);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && !status)
		return 0;
	snprintf(why, 240, "cannot start %.170s: %.50s", self, strerror(errno));
	return -1;
}
