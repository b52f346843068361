/* saver: the settings find their way into the file while the screen goes on. */
#ifndef NVMTOP_APP_SETTINGS_SAVE_H
#define NVMTOP_APP_SETTINGS_SAVE_H

#include "app/settings-merge.h"

struct settings_saver;

/* c has to stay, and is not changed meanwhile.  NULL: out of memory. */
struct settings_saver *settings_saver_new(const struct app_settings *c);
/* These are to be kept; they are copied.  Never waits for a disk.  Written a moment after
 * the last of several changes. */
void settings_saver_want(struct settings_saver *s, const struct settings *now);
/* Once for each failure: true, and why. */
bool settings_saver_failed(struct settings_saver *s, struct err *e);
/* Until all of it is written.  -1: it is not, and why.  Frees; s may be NULL. */
int settings_saver_end(struct settings_saver *s, struct err *e);

/* When to ask settings_saver_failed() at the latest; -1: no time. */
int settings_saver_patience_ms(const struct settings_saver *s);

#endif
