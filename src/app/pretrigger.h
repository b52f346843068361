/* keeping: ring mode as people see it, on the progress line and on the screen. */
#ifndef NVMTOP_APP_PRETRIGGER_H
#define NVMTOP_APP_PRETRIGGER_H

#include <stdio.h>

#include "app/app.h"
#include "record/pretrigger.h"

/* The options --keep, --after and --trigger, for the channels of this engine. log: what the screen shows, of which
 * keep_ns can be written; NULL: it keeps a log of its own. */
struct pretrigger *keeping_new(const struct options *o, struct engine *g, struct log *log, int64_t keep_ns, struct err *e);
/* "keeping the last 30 s in at most 8.2 MB; w, SIGUSR2 or gpu > 95 writes them to a file" */
void keeping_begun(const struct options *o, struct pretrigger *k, char *buf, size_t size);
/* For the progress line: how much is kept, and what was written. */
void keeping_progress(struct pretrigger *k, char *held, char *files, size_t size);
/* The next file that was written or failed, since *told; false: none. */
bool keeping_news(struct pretrigger *k, size_t *told, char *buf, size_t size, bool *failed);
/* The answer to a trigger without --keep. */
const char *keeping_nothing(void);
/* Ends the files, and waits until they are complete, or a signal or `q` ends the wait. */
void keeping_end(struct pretrigger *k, int signals);
/* Prints the summary of --keep on standard error; returns the exit status for it. */
int keeping_ended(const struct options *o, struct pretrigger *k);

#endif
