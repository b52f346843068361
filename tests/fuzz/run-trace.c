/* A short run of the fuzz target for every build: the saved traces with reproducible random changes.
 * Many of them keep the chunk checksums valid, so that the code after the checks is reached. With
 * --enable-sanitizers it finds what libFuzzer would find first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/layout.h"
#include "trace/log.h"

#ifndef ROUNDS
#define ROUNDS 1000 /* per trace */
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint64_t seed = 88172645463325252;

static uint64_t dice(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? (seed >> 8) % below : 0;
}

/* Typical wrong values for counts and offsets. */
static void odd_number(uint8_t *p, size_t left)
{
	static const uint64_t odd[] = {0,         1,          UINT64_MAX,     INT64_MAX,     UINT32_MAX,
				       INT32_MAX, UINT16_MAX, UINT64_MAX / 2, 0x80000000ULL, 1ULL << 63};
	uint64_t v = odd[dice(sizeof(odd) / sizeof(*odd))];

	if (left >= 8 && dice(2))
		put_u64(p, v);
	else if (left >= 4)
		put_u32(p, (uint32_t)v);
}

static void change(uint8_t *p, size_t n)
{
	for (uint64_t k = dice(4) + 1; k > 0 && n > 0; k--) {
		size_t at = (size_t)dice(n);

		if (dice(3))
			p[at] = (uint8_t)dice(256);
		else
			odd_number(p + at / 4 * 4, n - at / 4 * 4);
	}
}

/* Change the payload of a chunk of a log; its checksum is valid again. */
static void change_packed(uint8_t *p, size_t n)
{
	static struct log_packer *packer;
	static struct log_unpacker *unpacker;
	struct log_bytes raw = {.n = 0}, chunk = {.n = 0};
	struct log_head h, last = {.raw = 0};
	size_t at = 0, chosen = 0;

	packer = packer ? packer : log_packer_new();
	unpacker = unpacker ? unpacker : log_unpacker_new();
	for (uint64_t k = dice(40) + 1; k > 0 && n - at >= LOG_HEAD && log_head_get(p + at, &h) &&
	     h.stored <= n - at - LOG_HEAD; k--) {
		last = h;
		chosen = at;
		at += LOG_HEAD + h.stored;
	}
	if (packer && unpacker && last.raw > 0 &&
	    log_unpack(unpacker, &last, p + chosen + LOG_HEAD, &raw) == LOG_OK) {
		change(raw.p, raw.n < 64 || dice(2) ? raw.n : 64);
		if (log_pack(packer, &last, raw.p, raw.n, &chunk) == 0 && chunk.n <= at - chosen)
			memcpy(p + chosen, chunk.p, chunk.n);
	}
	log_bytes_free(&raw);
	log_bytes_free(&chunk);
}

static double odd_time(double last)
{
	static const double odd[] = {0,    -1,    -0.0,       1e308, (double)NAN, (double)INFINITY,
				     3e7,  1e-9,  MAX_TIME_S, 1e9,   5e-324,      -(double)INFINITY};

	return dice(3) ? last * (double)dice(1000001) / 1e6 : odd[dice(sizeof(odd) / sizeof(*odd))];
}

/* Wrong times in a tier that random changes do not produce: one at an end, all of them, repeated,
 * swapped blocks, or wrong rows between the ones a spot check would read. */
static void disorder(uint8_t *p, size_t n)
{
	enum tier tier = (enum tier)dice(TIERS);
	uint64_t at = HEADER_SIZE, rows = get_u64(p + H_COUNTS + 8 * tier), how = dice(7), every = dice(9) + 1;
	double last;

	for (int t = 0; t < (int)tier; t++)
		at += get_u64(p + H_COUNTS + 8 * t) * row_size[t];
	if (rows == 0 || at + rows * row_size[tier] > n)
		return;
	last = get_f64(p + at + (rows - 1) * row_size[tier]);
	if (how < 2) {
		uint64_t row = how ? rows - 1 : dice(2) ? 0 : dice(rows);

		put_f64(p + at + row * row_size[tier], odd_time(last));
		return;
	}
	for (uint64_t i = 0; i < rows; i++) {
		double s = how == 2   ? odd_time(last)
			   : how == 3 ? last * (double)(rows - i) / (double)rows
			   : how == 4 ? last / 2
			   : how == 5 ? last * (double)(i * 7 / 100 % 7) / 7
				      : last * (double)dice(1000001) / 1e6;

		if (how < 6 || i % every)
			put_f64(p + at + i * row_size[tier], s);
	}
}

static size_t load(const char *name, uint8_t *to, size_t room)
{
	const char *source = getenv("NVMTOP_SRC");
	char path[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/tests/traces/%s", source ? source : ".", name);
	f = fopen(path, "rb");
	n = f ? fread(to, 1, room, f) : 0;
	if (f)
		fclose(f);
	return n;
}

int main(void)
{
	static const char *const names[] = {"small.nvmt", "version-1.bin", "ranges.nvmt"};
	static uint8_t good[1 << 20], bad[1 << 20];

	printf("1..3\n");
	for (int i = 0; i < 3; i++) {
		size_t n = load(names[i], good, sizeof(good));
		bool log = strstr(names[i], ".nvmt") != NULL;

		if (n < HEADER_SIZE) {
			printf("Bail out! %s cannot be read\n", names[i]);
			return 99;
		}
		for (int round = 0; round < ROUNDS; round++) {
			size_t size = dice(8) ? n : (size_t)dice(n);

			memcpy(bad, good, n);
			if (log && dice(4))
				change_packed(bad, n);
			else if (!log && dice(4) == 0)
				disorder(bad, n);
			else
				change(bad, dice(4) ? n : HEADER_SIZE);
			alarm(120); /* time limit for each */
			LLVMFuzzerTestOneInput(bad, size);
		}
		printf("ok %d - %s, changed in %d ways\n", i + 1, names[i], ROUNDS);
		fflush(stdout);
	}
	return 0;
}
