/* saver: the settings find their way into the file while the screen goes on. */
#ifndef CMD_SAVER_H
#define CMD_SAVER_H

#include "cmd/chosen.h"

struct saver;

/* c has to stay, and is not changed meanwhile.  NULL: out of memory. */
struct saver *saver_new(const struct chosen *c);
/* These are to be kept; they are copied.  Never waits for a disk.  Written a moment after
 * the last of several changes. */
void saver_want(struct saver *s, const struct settings *now);
/* Once for each failure: true, and why. */
bool saver_failed(struct saver *s, struct err *e);
/* Until all of it is written.  -1: it is not, and why.  Frees; s may be NULL. */
int saver_end(struct saver *s, struct err *e);

#endif
