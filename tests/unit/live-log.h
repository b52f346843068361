/* live-log: a log in memory with one view, as the live screen has them. */
#ifndef TEST_LIVE_LOG_H
#define TEST_LIVE_LOG_H

#include <stdlib.h>

#include "trace/log-view.h"

struct live_log {
	struct log *log;
	struct log_view *view;
};

static inline struct live_log *live_log_bound(const struct log_bound *bound)
{
	struct live_log *l = calloc(1, sizeof(*l));
	struct err e;

	if (!l || !(l->log = log_new(bound, &e)) || !(l->view = log_view_new(l->log, &e)))
		abort();
	return l;
}

static inline struct live_log *live_log_new(void)
{
	return live_log_bound(&(struct log_bound) {.rows_ns = LOG_ROWS_NS, .bytes = LOG_ROWS_BYTES});
}

static inline struct sink *live_log_sink(struct live_log *l)
{
	return log_sink(l->log);
}

/* All rows so far. */
static inline struct timeline *live_log_look(struct live_log *l)
{
	log_view_look(l->view);
	return log_view_timeline(l->view);
}

static inline void live_log_free(struct live_log *l)
{
	log_view_free(l->view);
	log_free(l->log);
	free(l);
}

#endif
