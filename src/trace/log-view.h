/* log-view: a log in memory as one thread reads it. */
#ifndef TRACE_LOG_VIEW_H
#define TRACE_LOG_VIEW_H

#include "model/timeline.h"
#include "trace/log-memory.h"

struct log_view;
struct log_view *log_view_new(struct log *l, struct err *e); /* to be freed before the log */
void log_view_free(struct log_view *v);
/* From now on the timeline is the newest state of the log. Before the first look it has nothing. */
void log_view_look(struct log_view *v);
/* Of the rows that are not kept any more it has what is left: columns of the finest zoom, and their means. */
struct timeline *log_view_timeline(struct log_view *v);
/* The state that is shown. */
const struct log_look *log_view_state(const struct log_view *v);

#endif
