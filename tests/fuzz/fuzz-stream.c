/* Bytes of any kind as a stream: taken in as it grows, and unpacked.  Most inputs
 * have right sums, or nothing behind the sums would ever be reached. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nvmtop/history.h"
#include "nvmtop/trace.h"
#include "trace/chunk.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed)
{
	n = LLVMFuzzerMutate(bytes, n, most);
	if (seed % 8 == 0)
		return n;
	for (size_t at = 0; n - at >= CHUNK_HEAD + CHUNK_CRC;) {
		size_t room = n - at - CHUNK_HEAD - CHUNK_CRC;
		uint64_t length = get_u64(bytes + at + 8);

		at += chunk_seal(bytes + at, get_u32(bytes + at), length < room ? (size_t)length : room);
	}
	return n;
}

static void look_at(struct timeline *tl)
{
	const struct session *s = tl->ops->session(tl);
	int64_t from = 0, to = 0;
	struct bin bins[16];

	if (!tl->ops->extent(tl, &from, &to))
		return;
	for (size_t i = 0; i < s->n_channels && i < 16; i++) {
		tl->ops->value(tl, i, to, NULL);
		tl->ops->columns(tl, i, 29, from >> 29, 16, bins);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int memory = -1;
	struct history *h;
	struct trace_tail *t;
	struct err e;
	char path[64];

	if (memory < 0)
		memory = memfd_create("stream", MFD_CLOEXEC);
	if (ftruncate(memory, 0) < 0 || pwrite(memory, bytes, n, 0) != (ssize_t)n)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	h = history_new(&e);
	t = trace_tail_open(path, history_sink(h), &e);
	while (t && trace_tail_take(t, &e) > 0)
		;
	trace_tail_close(t);
	look_at(history_timeline(h));
	history_free(h);
	trace_close(trace_open(path, &e));
	return 0;
}
