/* progress: a progress line on standard error, if that is a terminal. */
#ifndef NVMTOP_APP_PROGRESS_H
#define NVMTOP_APP_PROGRESS_H

#include <stdbool.h>

/* Prints nothing in the first second; at 1 the line is removed.  False after a signal to end
 * from the descriptor of progress_watch(). */
bool progress_show(double done);
bool progress_step(void *unused, double done); /* the same */
void progress_watch(int signals_fd);

#endif
