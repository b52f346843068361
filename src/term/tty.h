/* tty: the line to the terminal: its modes, and bytes that never block. */
#ifndef NVMTOP_TERM_TTY_H
#define NVMTOP_TERM_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "util/err.h"

struct tty {
	int fd;                /* /dev/tty, an open file of our own, non-blocking */
	struct termios shell;  /* the modes it had, for whoever comes after us */
	bool shared;           /* keep its bytes from others who wait for some */
	bool gone;             /* hung up: nothing reaches it any more */
	char *queue;           /* written, but not yet taken by the kernel */
	size_t from, to, size; /* queue[from..to) waits */
	int parked;            /* what goes to stderr meanwhile; -1: nowhere */
	int real_stderr;       /* where stderr went before; -1: not parked */
};

/* ERR_USAGE when there is no terminal to talk to. */
int tty_open(struct tty *t, struct err *e);
void tty_close(struct tty *t);

/* Every key as a byte, every byte as it is; and back.  A job in the background
 * stops here until it is brought to the front, as any other program does. */
int tty_raw(struct tty *t);
void tty_cooked(struct tty *t);

/* Append bytes to what waits; -1: out of memory, nothing was appended. */
int tty_queue(struct tty *t, const char *bytes, size_t n);
/* Hand the kernel what it takes now; true when nothing waits any more. */
bool tty_flush(struct tty *t);
/* Nothing waits here, and what the kernel holds is nearly through the line. */
bool tty_ready(struct tty *t);
/* Wait until all is written, but not for ever; false: some was not. */
bool tty_drain(struct tty *t);
/* Forget what was not yet sent. */
void tty_drop(struct tty *t);

/* False when the kernel does not know the size. */
bool tty_size(const struct tty *t, int *w, int *h);

/* While the screen is up stderr goes into memory; unpark prints it. */
void tty_park(struct tty *t);
void tty_unpark(struct tty *t);

#endif
