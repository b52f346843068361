/* settings-save: saves settings in the background while the screen runs. */
#ifndef NVMTOP_APP_SETTINGS_SAVE_H
#define NVMTOP_APP_SETTINGS_SAVE_H

#include "app/settings-merge.h"

struct settings_saver;

/* c must outlive the saver and not change.  NULL: out of memory. */
struct settings_saver *settings_saver_new(const struct app_settings *c);
/* Copies *now and saves it shortly after the last of several changes.  Does not block. */
void settings_saver_want(struct settings_saver *s, const struct settings *now);
/* True once for each failure, with the reason in *e. */
bool settings_saver_failed(struct settings_saver *s, struct err *e);
/* Waits until everything is written, then frees s, which may be NULL.  -1: failed. */
int settings_saver_end(struct settings_saver *s, struct err *e);

/* Milliseconds until settings_saver_failed() must be called; -1: not needed. */
int settings_saver_patience_ms(const struct settings_saver *s);

#endif
