/* watched: how the machine is set, as text that is read once a second; a change of it is
 * reported. */
#ifndef NVMTOP_PROBE_WATCHED_H
#define NVMTOP_PROBE_WATCHED_H

#include "probe/attr.h"
#include "probe/probe.h"

#define WATCHED_TEXT sizeof(((struct change *)NULL)->to)

/* Make the text of what is at arg; false: it cannot be had now, which is no change. */
typedef bool watched_read(const struct root *r, void *arg, char *out, size_t size);

struct watched;

/* NULL: out of memory. */
struct watched *watched_new(struct root *r);
void watched_free(void *watched);

/* From now on the result of read() is watched. now: the current text. arg is freed with the list, or here
 * if there is no room. */
void watched_text(struct watched *w, const char *what, watched_read *read, void *arg, const char *now);

/* Have the probe set poll; takes ownership of w. -1: out of memory. */
int watched_add(struct watched *w, struct probe_set *probes);

#endif
