/* alert: runs a program each time a condition becomes true. */
#ifndef NVMTOP_APP_ALERT_H
#define NVMTOP_APP_ALERT_H

#include "app/app.h"

struct alerts;

/* The options --on and --every, for the channels of this engine. Returns NULL and sets *e on error. */
struct alerts *alerts_new(const struct options *o, struct engine *g, struct err *e);

/* An alert is a mark, too. */
struct sink *alerts_sink(struct alerts *a);
/* For engine_call(): looks at the last rows of the stream, so that marks of theirs are still in a recording. */
int alerts_finish(void *alerts, const struct session *now, struct err *e);

/* Writes the next sentence about commands, each said once: one that fails, still runs or prints too much, and after
 * alerts_end() how many alerts there were and which signal had no value. Returns false if there is none. */
#define ALERT_NEWS 768
bool alerts_news(struct alerts *a, char *out, size_t size);

/* Call after the stream has ended: waits for commands that run, and ends them after two seconds. */
void alerts_end(struct alerts *a);
void alerts_free(struct alerts *a); /* NULL is fine */

#endif
