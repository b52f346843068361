/* Bytes of any kind as a stream: taken in as it grows, and unpacked.  Most inputs
 * have right sums, or nothing behind the sums would ever be reached. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/history.h"
#include "trace/trace.h"
#include "trace/again.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Chunks of a copy of the description that follow each other: one copy, with the right
 * sum, or it would never be used. */
static void seal_copy(uint8_t *p, size_t n)
{
	uint32_t sum = 0;
	uint16_t parts = 0;
	struct chunk c;

	for (int pass = 0; pass < 2; pass++) {
		uint16_t part = 0;

		for (size_t at = 0, size; n - at > CHUNK_HEAD; at += size) {
			uint8_t *payload = p + at + CHUNK_HEAD;

			if (!chunk_head_decode(p + at, &c) || c.id != CHUNK_AGAIN || c.length < AGAIN_MORE ||
			    c.length > n - at - CHUNK_HEAD - CHUNK_CRC)
				break;
			size = CHUNK_HEAD + (size_t)c.length + CHUNK_CRC;
			if (pass == 0) {
				sum = chunk_crc_more(sum, payload + AGAIN_HEAD,
						     (size_t)c.length - AGAIN_HEAD);
				parts++;
				continue;
			}
			put_u32(payload, sum);
			put_u16(payload + 4, part++);
			put_u16(payload + 6, parts);
			chunk_seal(p + at, CHUNK_AGAIN, (size_t)c.length);
		}
	}
}

static void seal_copies(uint8_t *p, size_t n)
{
	bool before = false;
	struct chunk c;

	for (size_t at = 0;
	     n - at > CHUNK_HEAD && chunk_head_decode(p + at, &c) && c.length < n - at - CHUNK_HEAD;
	     at += CHUNK_HEAD + (size_t)c.length + CHUNK_CRC) {
		if (c.id == CHUNK_AGAIN && !before)
			seal_copy(p + at, n - at);
		before = c.id == CHUNK_AGAIN;
		if (n - at < CHUNK_HEAD + (size_t)c.length + CHUNK_CRC)
			break;
	}
}

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
	seal_copies(bytes, n);
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
