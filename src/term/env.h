/* env: terminal settings from environment variables. */
#ifndef NVMTOP_TERM_ENV_H
#define NVMTOP_TERM_ENV_H

#include "term/term.h"

/* Background of terminal type term; GROUND_AUTO if unknown. */
enum ground env_ground(const char *term);

/* How long to wait after ESC for the rest of a sequence: told if > 0, else $ESCDELAY; 1 to 5000
 * ms. */
int env_escape_ms(int told);

/* Set w and h from $COLUMNS and $LINES; an unset or invalid variable leaves its value unchanged. */
void env_size(int *w, int *h);

#endif
