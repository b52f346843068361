/* text: messages, times and sizes as people read them, and how wide a text is. */
#ifndef NVMTOP_UTIL_TEXT_H
#define NVMTOP_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "util/err.h"

/* "nvmtop: <sentence>" on standard error; returns the exit status for it. */
int complain(const struct err *e);

/* Right after something was written to standard output: the exit status, which is
 * as it was when a reader that has seen enough closed the pipe. */
int stdout_result(int status);

/* "12:31" or "1:02:31" from nanoseconds; "81.0 MB" from bytes. */
void text_elapsed(char *buf, size_t size, int64_t ns);
/* The same of what is over: below 10 s with a fraction, "0.42 s". */
void text_lasted(char *buf, size_t size, int64_t ns);
void text_bytes(char *buf, size_t size, uint64_t bytes);

/* The next character of the locale's text; what cannot be decoded or shown is
 * '?'.  Width 0 is a combining mark.  False at the end. */
bool text_next(const char **p, mbstate_t *state, wchar_t *ch, int *width);
int text_width(const char *text); /* columns it takes */

/* Is that the end of the text, or all of it? */
bool text_ends_in(const char *text, const char *end);

#endif
