/* env: what the environment says of the terminal. */
#ifndef NVMTOP_TERM_ENV_H
#define NVMTOP_TERM_ENV_H

#include "term/term.h"

/* The background of a terminal of the kind term; AUTO: nothing is known. */
enum ground env_ground(const char *term);

/* How long an ESC waits for the rest: what was told, or else $ESCDELAY, 1 to 5000. */
int env_escape_ms(int told);

/* $COLUMNS and $LINES; what one of them does not say stays. */
void env_size(int *w, int *h);

#endif
