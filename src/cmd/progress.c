/* Whoever waits sees that something happens; whoever does not wait, and every
 * log file, sees nothing. */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/progress.h"
#include "nvmtop/clock.h"

#define QUIET_NS NS_PER_S
#define AGAIN_NS (200 * NS_PER_MS)

void progress_show(double done)
{
	static int64_t begin_ns, next_ns;
	static bool shown;
	int64_t now;

	if (!isatty(STDERR_FILENO))
		return;
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
