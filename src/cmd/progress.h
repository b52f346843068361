/* progress: how far long work is, on standard error when that is a terminal. */
#ifndef NVMTOP_PROGRESS_H
#define NVMTOP_PROGRESS_H

/* Says nothing during the first second.  1: the work is done, the line goes. */
void progress_show(double done);

#endif
