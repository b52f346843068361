/* Runs a fuzz target without a fuzzer: reproducible inputs made of meaningful tokens and random bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS 30000
#define SIZE   300

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint32_t seed = 20261122;

static unsigned roll(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static size_t piece(uint8_t *out)
{
	static const char *const known[] = {
		"\033[",          "\033O",      "\033]11;",  "\033\\", "\033[<",       "\033[M",
		"\033[?2026;2$y", "\033[200~",  "\033[201~", "\033[I", "\033[1;5D",    "\302\233",
		"\303\251",       "\342\243",   "\360\237",  "\007",   "\233",         "\033\033",
		"99999999",       ";;;;;;;;;;", "4;5;6M",    "\033P",  "\033[<0;5;5M", "q",
		"\033[u",         "\033[27;5~",
	};
	const char *s = known[roll(sizeof(known) / sizeof(known[0]))];

	if (roll(3) == 0) {
		out[0] = (uint8_t)roll(256);
		return 1;
	}
	memcpy(out, s, strlen(s));
	return strlen(s);
}

int main(void)
{
	uint8_t bytes[SIZE + 32];

	puts("1..1");
	for (int i = 0; i < INPUTS; i++) {
		size_t n = 1, most = 2 + roll(SIZE - 2);

		bytes[0] = (uint8_t)roll(256);
		while (n < most)
			n += piece(bytes + n);
		LLVMFuzzerTestOneInput(bytes, n);
	}
	printf("ok 1 - %d inputs\n", INPUTS);
	return 0;
}
