/* Arbitrary bytes as a trace: opened, queried as by a view, closed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static bool is_sound(void *arg, const struct range *r)
{
	if (r->end_ns < r->begin_ns || !r->name || !r->lane)
		abort();
	return ++*(size_t *)arg < 100000;
}

static void look_at(struct timeline *tl)
{
	const struct session *s = tl->ops->session(tl);
	int64_t from = 0, to = 0;
	struct bin bins[32];
	struct mark marks[4];
	struct gap gaps[4];
	const struct range_lane *lanes[4];
	size_t n = 0;

	tl->ops->extent(tl, &from, &to);
	tl->ops->marks(tl, from, to, marks, 4);
	tl->ops->gaps(tl, from, to, gaps, 4);
	if (tl->ops->ranges) {
		tl->ops->ranges(tl, from, to, 0, is_sound, &n);
		tl->ops->ranges(tl, from, to, 1000000, is_sound, &n);
		tl->ops->lanes(tl, lanes, 4);
	}
	for (int i = 0; i < TIERS; i++)
		tl->ops->step(tl, (enum tier)i, from, 2);
	for (size_t i = 0; i < s->n_channels && i < 64; i++) {
		tl->ops->value(tl, i, to, NULL);
		for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom += 3)
			tl->ops->columns(tl, i, zoom, from >> zoom, 32, bins);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int memory = -1;
	struct trace_summary sum;
	struct trace_state state = {.building = true};
	const char *name;
	struct trace *t;
	struct err e;
	char path[64];

	if (memory < 0)
		memory = memfd_create("trace", MFD_CLOEXEC);
	if (ftruncate(memory, 0) < 0 || pwrite(memory, bytes, n, 0) != (ssize_t)n)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	trace_peek(path, &sum, &e);
	/* The last byte selects whether it is read at once or in the background. */
	name = path;
	t = trace_open_files(&name, 1, n > 0 && bytes[n - 1] & 1, NULL, NULL, &e);
	if (t) {
		look_at(trace_timeline(t));
		while (state.building)
			trace_look(t, &state);
		look_at(trace_timeline(t));
		/* half of the file disappears meanwhile */
		if (ftruncate(memory, (off_t)(n / 2)) == 0)
			look_at(trace_timeline(t));
	}
	trace_close(t);
	return 0;
}
