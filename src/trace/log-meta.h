/* log-meta: encodes META. */
#ifndef TRACE_LOG_META_H
#define TRACE_LOG_META_H

#include "trace/log-builder.h"

struct log_meta {
	const struct session *about;
	const struct log_options *options;
	const uint8_t *boot; /* 16 bytes */
	const struct clock_anchor *start, *now;
	const struct fact *facts; /* current values; as many as the session has */
	bool any_ranges; /* the recording has had ranges */
	bool full;       /* false: only what changes from group to group */
};
void log_meta_put(struct log_bytes *raw, const struct log_meta *m);

/* Sets session and uuid to random numbers unless given, and boot to the boot id if the stream is live. */
void log_identify(struct log_options *o, uint8_t boot[16]);

#endif
