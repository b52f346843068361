/* input: bytes from the terminal to events. */
#ifndef NVMTOP_TERM_INPUT_H
#define NVMTOP_TERM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/event.h"
#include "ui/settings.h"

struct input;

/* term: $TERM.  utf8: the locale's charset; otherwise one byte is one
 * character.  escape_ms: how long an ESC waits for the rest.  NULL: errno. */
struct input *input_open(const char *term, bool utf8, int escape_ms);
void input_close(struct input *in);

/* Read what is there on fd (non-blocking), or find that an escape has waited
 * long enough.  Then fetch events until EVENT_NONE. */
void input_read(struct input *in, int fd);
/* The same for bytes that are already here; returns how many were taken, and
 * is to be called again with the rest after the events were fetched. */
size_t input_feed(struct input *in, const char *bytes, size_t n, int64_t t_ns);
struct event input_event(struct input *in);

/* Written to the terminal once, has it answer whether it can show a frame at once
 * (mode 2026); until it has, and where it does not, input_sync() is false. */
#define INPUT_ASKS "\033[?2026$p"
bool input_sync(const struct input *in);

/* The same for its background; a terminal that knows no such question says nothing,
 * but every one answers what comes behind it: then it has said all there is. */
#define INPUT_ASKS_GROUND "\033]11;?\033\\\033[c"
bool input_answered(const struct input *in);
enum ground input_ground(const struct input *in); /* AUTO: not said */

/* How long poll may wait before input_read must be called; -1: for ever. */
int input_timeout_ms(const struct input *in);

#endif
