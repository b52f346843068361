/* scrape: all values of a machine at this moment, and what those of the last seconds and since the start come to, for those
 * who ask at times of their own. */
#ifndef NVMTOP_SERVE_SCRAPE_H
#define NVMTOP_SERVE_SCRAPE_H

#include <stdio.h>

#include "live/live.h"

/* Writes metrics of n channels. now_ns: as for tally_newest(). older: in the text format before OpenMetrics. Asking changes
 * nothing, so that those who ask do not disturb each other. Returns -1 if out of memory; what was written is then not whole. */
int scrape_write(FILE *f, struct tally *t, const size_t *channels, size_t n, int64_t now_ns, bool older);

#endif
