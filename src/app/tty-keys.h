/* ttykeys: single keys from standard input while one line of progress is shown;
 * no screen, no terminal library. */
#ifndef NVMTOP_APP_TTY_KEYS_H
#define NVMTOP_APP_TTY_KEYS_H

#include <stdbool.h>
#include <termios.h>

struct ttykeys {
	bool on; /* keys are read one by one and not echoed */
	struct termios before;
};

/* Start when standard input is a terminal and this job is in its foreground;
 * otherwise nothing happens and `on` stays false. */
void ttykeys_start(struct ttykeys *k);
void ttykeys_stop(struct ttykeys *k);
/* The next key; 0: none; -1: the terminal has gone. */
int ttykeys_next(struct ttykeys *k);

#endif
