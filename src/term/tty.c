/* The terminal device.
 *
 * A terminal may accept bytes slowly (serial console) or not at all for a while (stopped ssh). The
 * drawing thread also handles keys and signals, so it must never block in write(). We open the terminal
 * separately, because the shell shares the flags of an inherited file and must not get O_NONBLOCK, and
 * queue what the kernel does not accept.
 *
 * We use /dev/tty because stdin and stdout may be redirected. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "term/tty.h"

#define DRAIN_STALL_MS 500 /* without progress */
#define DRAIN_TOTAL_MS 3000
#define PARKED_PRINTED 65536 /* most bytes printed, from the end of parked stderr */

int tty_open(struct tty *t, struct err *e)
{
	*t = (struct tty) {.fd = -1, .parked = -1, .real_stderr = -1};
	t->fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->fd < 0)
		return err_sys(e, ERR_USAGE, errno,
			       _("there is no terminal for the screen: ssh -t HOST nvmtop and docker exec -it have "
				 "one; without one use nvmtop record, nvmtop once or --print WxH: /dev/tty"));
	if (tcgetattr(t->fd, &t->shell) < 0) {
		err_sys(e, ERR_USAGE, errno,
			_("the terminal cannot be used for the screen; use nvmtop record, nvmtop once or --print "
			  "WxH instead: /dev/tty"));
		tty_close(t);
		return -1;
	}
	return 0;
}

void tty_close(struct tty *t)
{
	tty_unpark(t);
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	free(t->queue);
	t->queue = NULL;
	t->from = t->to = t->size = 0;
}

int tty_raw(struct tty *t)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, was;
	sigset_t ttou, mask;
	struct termios raw;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigaction(SIGTTOU, &stop, &was);
	pthread_sigmask(SIG_UNBLOCK, &ttou, &mask);
	/* in the background this stops us; the shell may change the modes meanwhile */
	int rc = tcgetattr(t->fd, &raw);
	if (rc == 0)
		rc = tcsetattr(t->fd, TCSANOW, &raw);
	if (rc == 0 && tcgetattr(t->fd, &raw) == 0) {
		t->shell = raw;
		/* OPOST off: ncurses expects \n to move straight down */
		raw.c_iflag &= ~(tcflag_t)(BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
		raw.c_oflag &= ~(tcflag_t)OPOST;
		raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
		/* poll() does not wake other readers below VMIN bytes, but our non-blocking read still
		 * gets them. */
		raw.c_cc[VMIN] = t->shared ? 255 : 1;
		raw.c_cc[VTIME] = 0;
		rc = tcsetattr(t->fd, TCSANOW, &raw);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTTOU, &was, NULL);
	return rc;
}

void tty_cooked(struct tty *t)
{
	/* not TCSADRAIN: it would block on a stopped terminal */
	tcsetattr(t->fd, TCSANOW, &t->shell);
}

int tty_queue(struct tty *t, const char *bytes, size_t n)
{
	if (t->from == t->to)
		t->from = t->to = 0;
	if (n > t->size - t->to) {
		size_t size = t->to + n + 4096;
		char *bigger = realloc(t->queue, size);

		if (!bigger)
			return -1;
		t->queue = bigger;
		t->size = size;
	}
	if (n)
		memcpy(t->queue + t->to, bytes, n);
	t->to += n;
	return 0;
}

bool tty_flush(struct tty *t)
{
	while (t->from < t->to && !t->gone) {
		ssize_t n = write(t->fd, t->queue + t->from, t->to - t->from);

		if (n > 0)
			t->from += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			return false;
		else if (!(n < 0 && errno == EINTR))
			t->gone = true;
	}
	if (t->gone)
		t->from = t->to = 0;
	return true;
}

bool tty_ready(struct tty *t)
{
	struct pollfd p = {.fd = t->fd, .events = POLLOUT};

	/* The kernel reports POLLOUT when fewer than 256 bytes are pending. So on a serial console a
	 * frame is drawn after the previous one was sent, not when it fits in the queue. */
	return tty_flush(t) && (t->gone || (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT)));
}

bool tty_drain(struct tty *t)
{
	int64_t end = clock_now_ns() + DRAIN_TOTAL_MS * NS_PER_MS;

	while (!tty_flush(t)) {
		struct pollfd p = {.fd = t->fd, .events = POLLOUT};
		size_t before = t->to - t->from;

		if (clock_now_ns() >= end || poll(&p, 1, DRAIN_STALL_MS) == 0)
			return false;
		if (tty_flush(t))
			return true;
		if (t->to - t->from == before) {
			/* reported writable but accepts nothing: avoid a busy loop */
			poll(NULL, 0, 10);
		}
	}
	return true;
}

void tty_drop(struct tty *t)
{
	t->from = t->to = 0;
	tcflush(t->fd, TCOFLUSH);
}

bool tty_size(const struct tty *t, int *w, int *h)
{
	struct winsize ws;

	if (ioctl(t->fd, TIOCGWINSZ, &ws) < 0 || ws.ws_col == 0 || ws.ws_row == 0)
		return false;
	*w = ws.ws_col;
	*h = ws.ws_row;
	return true;
}

void tty_park(struct tty *t)
{
	/* with 2>file, output must reach the file, and at once */
	if (t->real_stderr >= 0 || !isatty(STDERR_FILENO))
		return;
	if (t->parked < 0)
		t->parked = memfd_create("stderr", MFD_CLOEXEC);
	if (t->parked < 0)
		return;
	t->real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (t->real_stderr >= 0 && dup2(t->parked, STDERR_FILENO) < 0) {
		close(t->real_stderr);
		t->real_stderr = -1;
	}
}

void tty_unpark(struct tty *t)
{
	char buf[4096];
	ssize_t n;

	if (t->real_stderr >= 0) {
		dup2(t->real_stderr, STDERR_FILENO);
		close(t->real_stderr);
		t->real_stderr = -1;
		off_t size = lseek(t->parked, 0, SEEK_END);
		lseek(t->parked, size > PARKED_PRINTED ? size - PARKED_PRINTED : 0, SEEK_SET);
		while ((n = read(t->parked, buf, sizeof buf)) > 0)
			if (write(STDERR_FILENO, buf, (size_t)n) < 0)
				break;
	}
	if (t->parked >= 0)
		close(t->parked);
	t->parked = -1;
}
