/* tty-keys: single keys from standard input while a progress line is shown; no screen, no terminal
 * library. */
#ifndef NVMTOP_APP_TTY_KEYS_H
#define NVMTOP_APP_TTY_KEYS_H

#include <stdbool.h>
#include <termios.h>

struct ttykeys {
	bool on; /* keys are read one by one without echo */
	struct termios before;
};

/* Enables it if standard input is a terminal and this job is in its foreground; otherwise `on` stays
 * false. */
void ttykeys_start(struct ttykeys *k);
void ttykeys_stop(struct ttykeys *k);
/* Returns the next key; 0: none; -1: the terminal was closed. */
int ttykeys_next(struct ttykeys *k);

#endif
