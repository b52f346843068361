/* Progress is shown only on a terminal and only for work of more than a second. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "app/app.h"
#include "app/progress.h"
#include "util/clock.h"

#define QUIET_NS NS_PER_S
#define AGAIN_NS (200 * NS_PER_MS)
#define CHECK_NS (20 * NS_PER_MS)

static int watched = -1;

void progress_watch(int signals_fd)
{
	watched = signals_fd;
}

/* False after a signal to end. */
static bool go_on(void)
{
	static bool ended;
	int sig;

	while (watched >= 0 && (sig = signals_next(watched, NULL)) != 0) {
		if (sig == SIGTSTP)
			raise(SIGSTOP);
		ended |= signal_ends(sig);
	}
	return !ended;
}

static void line(double done)
{
	static int64_t begin_ns, next_ns;
	static bool shown;
	int64_t now;

	now = clock_now_ns();
	if (!begin_ns)
		begin_ns = now;
	if (done >= 1) {
		if (shown)
			fprintf(stderr, "\r      \r");
		shown = false;
	} else if (now - begin_ns >= QUIET_NS && now >= next_ns) {
		fprintf(stderr, "\r%3d %%", (int)(100 * done));
		fflush(stderr);
		shown = true;
		next_ns = now + AGAIN_NS;
	}
}

/* Called for every few rows, which cost less than a system call. */
bool progress_show(double done)
{
	static int64_t next_ns;
	static bool goes_on = true;
	int64_t now = clock_now_ns();

	if (done < 1 && now < next_ns)
		return goes_on;
	next_ns = now + CHECK_NS;
	if (isatty(STDERR_FILENO))
		line(done);
	goes_on = go_on();
	return goes_on;
}

bool progress_step(void *unused, double done)
{
	(void)unused;
	return progress_show(done);
}
