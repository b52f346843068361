/* No input from the terminal may crash or hang the reader. The first byte selects where the rest is
 * split into reads, and whether time passes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/clock.h"
#include "term/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void drain(struct input *in)
{
	struct event ev;

	while ((ev = input_event(in)).kind != EVENT_NONE) {
		if (ev.kind == EVENT_KEY && ev.key == K_NONE)
			abort();
		if (ev.kind == EVENT_MOUSE && (ev.x < 0 || ev.y < 0))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int64_t now = NS_PER_S;

	if (n < 2)
		return 0;
	struct input *in = input_open(bytes[0] & 64 ? "xterm" : "linux", bytes[0] & 128, 50);
	if (!in)
		return 0;
	size_t step = (bytes[0] & 31) + 1u;
	for (size_t done = 1, stuck = 0; done < n;) {
		size_t part = n - done < step ? n - done : step;
		size_t took = input_feed(in, (const char *)bytes + done, part, now);

		done += took;
		stuck = took ? 0 : stuck + 1;
		if (stuck > 300)
			abort(); /* a full buffer that is never emptied */
		drain(in);
		if (bytes[0] & 32) {
			now += NS_PER_S;
			input_feed(in, NULL, 0, now);
			drain(in);
		}
	}
	input_close(in);
	return 0;
}
