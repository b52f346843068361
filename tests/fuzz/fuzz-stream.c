/* Arbitrary bytes as a growing log: followed, then opened. Most inputs get valid checksums, so that the
 * code after the checks is reached. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/follow.h"
#include "trace/trace.h"
#include "../unit/live-log.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed)
{
	n = LLVMFuzzerMutate(bytes, n, most);
	if (seed % 8 == 0)
		return n;
	for (size_t at = 0; n - at >= LOG_HEAD;) {
		struct log_in in = {bytes + at, bytes + at + LOG_HEAD, false};
		struct log_head h;
		size_t room = n - at - LOG_HEAD;

		log_in_take(&in, 4);
		h.kind = (uint8_t)log_get_u8(&in);
		h.version = (uint8_t)log_get_u8(&in);
		h.codec = (uint8_t)log_get_u8(&in);
		h.flags = (uint8_t)log_get_u8(&in);
		h.session = log_get_u32(&in);
		h.generation = log_get_u32(&in);
		h.seq = log_get_u64(&in);
		h.stored = log_get_u32(&in);
		h.raw = log_get_u32(&in);
		h.cell = log_get_i64(&in);
		h.stored = h.stored < room ? h.stored : (uint32_t)room;
		h.crc = log_crc(bytes + at + LOG_HEAD, h.stored);
		log_head_put(bytes + at, &h);
		at += LOG_HEAD + h.stored;
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
	struct live_log *h;
	struct follow *f;
	struct err e;
	char path[64];

	if (memory < 0)
		memory = memfd_create("stream", MFD_CLOEXEC);
	if (ftruncate(memory, 0) < 0 || pwrite(memory, bytes, n, 0) != (ssize_t)n)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	h = live_log_new();
	f = follow_open(path, live_log_sink(h), &e);
	while (f && follow_take(f, &e) > 0)
		;
	follow_close(f);
	look_at(live_log_look(h));
	live_log_free(h);
	trace_close(trace_open(path, &e));
	return 0;
}
