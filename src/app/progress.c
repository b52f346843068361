/* Progress is shown only on a terminal and only for work of more than a second. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "app/app.h"
#include "util/clock.h"

#define QUIET_NS NS_PER_S
#define AGAIN_NS (200 * NS_PER_MS)
#define CHECK_NS (20 * NS_PER_MS)

static int watched = -1;
static bool ended;

void progress_watch(int signals_fd)
{
	watched = signals_fd;
}

static void read_signals(void)
{
	int sig;

	while (watched >= 0 && (sig = signals_next(watched, NULL)) != 0) {
		if (sig == SIGTSTP)
			raise(SIGSTOP);
		ended |= signal_ends(sig);
	}
}

/* Called for every few rows, so usually it must cost less than a system call. */
bool progress_show(double done)
{
	static int64_t begin_ns, check_ns, line_ns;
	static bool shown;
	int64_t now = clock_now_ns();

	if (done < 1 && now < check_ns)
		return !ended;
	check_ns = now + CHECK_NS;
	if (!begin_ns)
		begin_ns = now;
	if (done >= 1 && shown) {
		fprintf(stderr, "\r      \r");
		shown = false;
	} else if (done < 1 && now - begin_ns >= QUIET_NS && now >= line_ns && isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r%3d %%", (int)(100 * done));
		fflush(stderr);
		shown = true;
		line_ns = now + AGAIN_NS;
	}
	read_signals();
	return !ended;
}

bool progress_step(void *unused, double done)
{
	(void)unused;
	return progress_show(done);
}
