/* input: converts bytes from the terminal to events. */
#ifndef NVMTOP_TERM_INPUT_H
#define NVMTOP_TERM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/event.h"
#include "ui/settings.h"

struct input;

/* term: $TERM. utf8: the locale's charset is UTF-8, otherwise one byte is one character.
 * escape_ms: how long to wait after ESC. Returns NULL and sets errno on error. */
struct input *input_open(const char *term, bool utf8, int escape_ms);
void input_close(struct input *in);

/* Read what is available on fd (non-blocking), or handle an escape timeout. Then fetch events
 * until EVENT_NONE. */
void input_read(struct input *in, int fd);
/* Like input_read() for bytes in memory. Returns the number of bytes consumed; call again with
 * the rest after fetching the events. */
size_t input_feed(struct input *in, const char *bytes, size_t n, int64_t t_ns);
struct event input_event(struct input *in);

/* Query for synchronized output (mode 2026). input_sync() is false until the terminal reports
 * support. */
#define INPUT_ASKS "\033[?2026$p"
bool input_sync(const struct input *in);

/* Query for the background colour. Terminals without this query ignore it, but all answer the
 * DA1 query after it, so input_answered() marks the end of the replies. */
#define INPUT_ASKS_GROUND "\033]11;?\033\\\033[c"
bool input_answered(const struct input *in);
enum ground input_ground(const struct input *in); /* AUTO: unknown */

/* Longest time poll may wait before input_read() must be called; -1: no limit. */
int input_timeout_ms(const struct input *in);

#endif
