/* text: formats messages, times and sizes, and measures the width of texts. */
#ifndef NVMTOP_UTIL_TEXT_H
#define NVMTOP_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "util/err.h"

/* Prints "nvmtop: SENTENCE" to standard error; returns the exit status for it. After a usage error also the help to look
 * at, of the verb that complain_help() was told, "" for the screen; NULL: none. */
void complain_help(const char *verb);
int complain(const struct err *e);

/* Checks for errors right after output to standard output. Returns the exit status: the given one if the
 * output succeeded, or if a reader closed the pipe early. */
int stdout_result(int status);

/* "12:31" or "1:02:31" from nanoseconds; "81.0 MB" from bytes. */
void text_elapsed(char *buf, size_t size, int64_t ns);
/* The same for a completed interval: below 10 s with a fraction, "0.42 s". */
void text_lasted(char *buf, size_t size, int64_t ns);
void text_bytes(char *buf, size_t size, uint64_t bytes);

/* Decodes the next character of a text in the locale's charset; undecodable and unprintable characters
 * become '?'. Width 0 is a combining mark. Returns false at the end. */
bool text_next(const char **p, mbstate_t *state, wchar_t *ch, int *width);
int text_width(const char *text); /* width in terminal columns */
int terminal_width(int fd);        /* in columns; 0: not a terminal, or it does not tell */

/* Does text end in `end`? */
bool text_ends_in(const char *text, const char *end);

#endif
