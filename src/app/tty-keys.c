/* Only canonical mode and echo are switched off, so that Ctrl-C and Ctrl-Z stay signals and
 * other settings of the terminal are kept, even if the program crashes. */
#include <poll.h>
#include <unistd.h>

#include "app/tty-keys.h"
#include "term/crash.h"

void ttykeys_start(struct ttykeys *k)
{
	struct termios t;

	k->on = false;
	if (tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &k->before) < 0)
		return;
	crash_arm(&(struct crash_plan) {
		.fd = STDIN_FILENO, .shell = k->before, .bytes = "", .parked = -1, .real_stderr = -1});
	t = k->before;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	k->on = tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0;
	if (!k->on)
		crash_disarm();
}

void ttykeys_stop(struct ttykeys *k)
{
	if (k->on) {
		tcsetattr(STDIN_FILENO, TCSADRAIN, &k->before);
		crash_disarm();
	}
	k->on = false;
}

/* Returns a byte; 0: none waiting; -1: the terminal was closed. */
static int next_byte(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char c;

	/* In the background, a read would stop the job. */
	if (tcgetpgrp(STDIN_FILENO) != getpgrp() || poll(&p, 1, 0) <= 0)
		return 0;
	return read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

/* Arrow and function keys send ESC, [ or O, and more. Skip the sequence, since its last letter is not a
 * key. */
static int skip_sequence(void)
{
	int c = next_byte(), most = 16;

	if (c != '[' && c != 'O')
		return c ? c : 27;
	while (most-- > 0 && (c = next_byte()) > 0 && (c < '@' || c > '~'))
		continue;
	return next_byte();
}

int ttykeys_next(struct ttykeys *k)
{
	int c = k->on ? next_byte() : 0;

	return c == 27 ? skip_sequence() : c;
}
