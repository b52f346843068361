/* progress: how far long work is, on standard error when that is a terminal. */
#ifndef NVMTOP_APP_PROGRESS_H
#define NVMTOP_APP_PROGRESS_H

#include <stdbool.h>

/* Says nothing during the first second.  1: the work is done, the line goes.
 * False when a signal that progress_watch() has the descriptor of says to end. */
bool progress_show(double done);
void progress_watch(int signals_fd);

#endif
