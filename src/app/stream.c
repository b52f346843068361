/* A recording to standard output. The stream gets a descriptor of its own, and other output to standard
 * output (of a recorded command) goes to standard error, where it cannot end up between the samples. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/stream.h"
#include "util/intl.h"

/* 2>&1: messages would be in the stream. */
static bool one_pipe_for_both(void)
{
	struct stat out, err;

	return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
	       !S_ISCHR(out.st_mode) && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

struct log_out *stream_to_stdout(struct err *e)
{
	int fd;

	if (isatty(STDOUT_FILENO)) {
		err_set(e, ERR_USAGE,
			_("standard output is a terminal: write a stream to a pipe or a file, as in nvmtop "
			  "record - | nvmtop replay -"));
		return NULL;
	}
	if (one_pipe_for_both()) {
		err_set(e, ERR_USAGE,
			_("standard error is redirected into the stream: remove \"2>&1\", its text would "
			  "damage the stream"));
		return NULL;
	}
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot write to standard output"));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	return log_out_fd(fd, e);
}

bool stream_is_shown_elsewhere(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

bool stdin_ended(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	char unused[4096];

	/* In the background a read would stop the whole job. */
	if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp())
		return false;
	while (poll(&p, 1, 0) > 0) {
		ssize_t n = read(STDIN_FILENO, unused, sizeof unused);

		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			return true;
		if (n < 0)
			break;
	}
	return false;
}
