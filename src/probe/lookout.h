/* lookout: a thread that looks, once a second, for what changes while nvmtop runs: settings of the machine, as texts, and
 * sources that were missing at the start. It may hang: nothing waits for it. */
#ifndef NVMTOP_PROBE_LOOKOUT_H
#define NVMTOP_PROBE_LOOKOUT_H

#include "probe/attr.h"
#include "probe/probe.h"

/* Adds it to the probe set, which owns it. Returns NULL if out of memory. */
struct lookout *lookout_new(struct probe_set *probes, const double hz[TIERS]);

/* Writes the current text for arg; returns false if it is unavailable now, which is no change. */
#define LOOKOUT_TEXT sizeof(((struct change *)NULL)->to)
typedef bool lookout_read(const struct root *r, void *arg, char *out, size_t size);

/* Watches the result of read() from now on; now is the current text. arg is freed with the lookout, or here if
 * there is no room. */
void lookout_text(struct lookout *l, const char *what, lookout_read *read, void *arg, const char *now);

/* Opens the statement again and again, until each of its n channels has a source: those of the probe set from `first`
 * on, some of which are missing. The statements are valid until release(board), which any thread may call. Returns -1
 * if out of memory. */
int lookout_statement(struct lookout *l, const struct statement *s, int64_t tick_ns, size_t first, size_t n);
void lookout_keep(struct lookout *l, void *board, void (*release)(void *board));

/* Ends what may be missing: adds the probes that read what is found later. Returns -1 if out of memory. */
int lookout_reserve(struct lookout *l, struct probe_set *probes);

/* Starts the thread. Call when the probe set is complete; its rows come at grid_ns. */
void lookout_start(struct lookout *l, const struct probe_set *probes, int64_t grid_ns);
void lookout_be_gentle(struct lookout *l); /* probe_set_be_gentle() of what is found later */
void lookout_stop(struct lookout *l);      /* and frees it; a thread that hangs does so later */

/* Gets the next change of a text that was not returned yet. Returns false if there is none. Call from one thread. */
bool lookout_changed(struct lookout *l, struct change *out);

/* Returns the channels of the probe set as they are described since the last source was found; NULL: none was. They never
 * change, and are valid until lookout_stop(). Any thread may call it. */
const struct channel *lookout_channels(const struct lookout *l);

/* Returns the nth probe set (from 0) with what was found, or NULL. Any thread may call it. */
struct probe_set *lookout_set(const struct lookout *l, size_t nth);

#endif
