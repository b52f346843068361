/* stream: a recording to standard output; the end of standard input means that the receiver has exited. */
#ifndef NVMTOP_APP_STREAM_H
#define NVMTOP_APP_STREAM_H

#include <stdbool.h>

#include "trace/trace.h"

/* Returns a writer to standard output; NULL with *e if that is a terminal or shared with standard error.
 * Afterwards standard output refers to standard error. */
struct log_out *stream_to_stdout(struct err *e);

/* Is standard output a pipe or a socket, so that the receiver may draw a screen on the same terminal? To
 * be called before stream_to_stdout(). */
bool stream_is_shown_elsewhere(void);

/* Discards pending standard input. Returns true at its end. */
bool stdin_ended(void);

#endif
