/* tty: terminal modes and non-blocking output. */
#ifndef NVMTOP_TERM_TTY_H
#define NVMTOP_TERM_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "util/err.h"

struct tty {
	int fd;                /* /dev/tty, opened separately, non-blocking */
	struct termios shell;  /* modes to restore on exit */
	bool shared;           /* keep other readers from getting its bytes */
	bool gone;             /* hung up */
	char *queue;           /* bytes not yet accepted by the kernel */
	size_t from, to, size; /* queue[from..to) is pending */
	int parked;            /* replaces stderr meanwhile; -1: none */
	int real_stderr;       /* the original stderr; -1: not parked */
};

/* ERR_USAGE if there is no terminal. */
int tty_open(struct tty *t, struct err *e);
void tty_close(struct tty *t);

/* Switch to raw mode and back. In a background job tty_raw() stops the process until it is in
 * the foreground. */
int tty_raw(struct tty *t);
void tty_cooked(struct tty *t);

/* Append bytes to the queue; -1: out of memory, nothing appended. */
int tty_queue(struct tty *t, const char *bytes, size_t n);
/* Write what the kernel accepts now; true if the queue is empty. */
bool tty_flush(struct tty *t);
/* True if the queue is empty and the kernel's buffer nearly so. */
bool tty_ready(struct tty *t);
/* Wait, with a time limit, until the queue is empty; false: some bytes remain. */
bool tty_drain(struct tty *t);
/* Discard the queue. */
void tty_drop(struct tty *t);

/* False if the kernel does not know the size. */
bool tty_size(const struct tty *t, int *w, int *h);

/* Redirect stderr to memory while the screen is up; tty_unpark() prints it. */
void tty_park(struct tty *t);
void tty_unpark(struct tty *t);

#endif
