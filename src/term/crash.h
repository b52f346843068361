/* crash: restores the terminal when a signal kills the program. */
#ifndef NVMTOP_TERM_CRASH_H
#define NVMTOP_TERM_CRASH_H

#include <stddef.h>
#include <termios.h>

struct crash_plan {
	int fd;               /* the terminal */
	struct termios shell; /* terminal modes at start */
	const char *bytes;    /* escape sequences that restore the terminal; must outlive the plan */
	size_t n;
	int parked, real_stderr; /* see struct tty; both -1 if stderr was not parked */
};

/* Covers all threads. One plan at a time; it is copied. */
void crash_arm(const struct crash_plan *plan);
/* Pause while the shell has the terminal. */
void crash_rest(void);
/* Restore the previous signal handlers. */
void crash_disarm(void);

#endif
