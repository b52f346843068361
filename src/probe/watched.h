/* watched: settings of the machine, as texts that are read once a second; changes are reported. */
#ifndef NVMTOP_PROBE_WATCHED_H
#define NVMTOP_PROBE_WATCHED_H

#include "probe/attr.h"
#include "probe/probe.h"

#define WATCHED_TEXT sizeof(((struct change *)NULL)->to)

/* Writes the current text for arg; returns false if it is unavailable now, which is no change. */
typedef bool watched_read(const struct root *r, void *arg, char *out, size_t size);

struct watched;

/* Returns NULL if out of memory. */
struct watched *watched_new(struct root *r);
void watched_free(void *watched);

/* Watches the result of read() from now on; now is the current text. arg is freed with the list, or here if
 * there is no room. */
void watched_text(struct watched *w, const char *what, watched_read *read, void *arg, const char *now);

/* Makes the probe set poll; takes ownership of w. Returns -1 if out of memory. */
int watched_add(struct watched *w, struct probe_set *probes);

#endif
