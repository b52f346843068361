/* stream: a recording to standard output, with standard input as the sign that the receiver still exists. */
#ifndef NVMTOP_APP_STREAM_H
#define NVMTOP_APP_STREAM_H

#include <stdbool.h>

#include "trace/trace.h"

/* NULL with a sentence when standard output is nothing that a stream can go to.
 * From then on standard output is where standard error is. */
struct log_writer *stream_to_stdout(struct err *e);

/* Is standard output a pipe or a socket, at whose other end a screen may be drawn on the terminal? To be
 * called before stream_to_stdout(). */
bool stream_is_shown_elsewhere(void);

/* Take what has come on standard input, and whether it has ended. */
bool stdin_ended(void);

#endif
