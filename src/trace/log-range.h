/* log-range: the payload of RANGE chunks. */
#ifndef TRACE_LOG_RANGE_H
#define TRACE_LOG_RANGE_H

#include "model/range.h"
#include "trace/log.h"

#define LOG_RANGES_MAX 8192 /* in a chunk */
#define LOG_NAME_MAX   1024 /* bytes of a name, with its zero byte */

/* Appends a payload; n is at most LOG_RANGES_MAX. */
void log_ranges_put(struct log_bytes *raw, const struct range *list, size_t n);
/* Calls visit() for each range, with names and lanes of the store. Returns false if the payload is damaged. */
bool log_ranges_get(const uint8_t *p, size_t n, struct ranges *names, range_visit *visit, void *arg);

#endif
