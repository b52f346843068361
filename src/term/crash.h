/* crash: puts the terminal back when the program dies of a signal. */
#ifndef NVMTOP_TERM_CRASH_H
#define NVMTOP_TERM_CRASH_H

#include <stddef.h>
#include <termios.h>

struct crash_plan {
	int fd;               /* the terminal */
	struct termios shell; /* its modes before us */
	const char *bytes;    /* what makes it a shell's terminal again; outlives the plan */
	size_t n;
	int parked, real_stderr; /* see struct tty; -1 each when stderr was not parked */
};

/* From now on, whichever thread dies: one plan at a time, copied. */
void crash_arm(const struct crash_plan *plan);
/* The terminal is not ours at the moment. */
void crash_rest(void);
/* Put the old handlers back. */
void crash_disarm(void);

#endif
