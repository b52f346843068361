/* A sensor that hangs has missing samples in the trace: its name and the time are reported. */
#include "record/hangs.h"

#include <stdio.h>

#include "util/clock.h"
#include "util/intl.h"

static double hangs_seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

bool hangs_news(struct hangs_told *told, struct engine *g, char *out, size_t size)
{
	struct engine_hang h;

	for (size_t i = 0; engine_hang(g, i, &h); i++) {
		if (told->of[i] > (h.until_ns != 0))
			continue;
		snprintf(out, size,
			 told->of[i]++ ? _("%s answers again, after %.1f s")
				       : _("%s has not answered for %.1f s: its driver hangs"),
			 h.channel->name, hangs_seconds((h.until_ns ? h.until_ns : clock_now_ns()) - h.since_ns));
		return true;
	}
	return false;
}

bool hangs_line(struct engine *g, size_t nth, int64_t from_ns, int64_t to_ns, char *out, size_t size)
{
	struct engine_hang h;

	for (size_t i = 0; engine_hang(g, i, &h); i++) {
		int64_t until = h.until_ns && h.until_ns < to_ns ? h.until_ns : to_ns;
		int64_t since = h.since_ns > from_ns ? h.since_ns : from_ns;

		if (until <= since || nth--)
			continue;
		snprintf(out, size, _("%s for %.1f s, starting at %.1f s"), h.channel->name,
			 hangs_seconds(until - since), hangs_seconds(since - from_ns));
		return true;
	}
	return false;
}
