/* settings-merge: settings of the file, overridden by options, then changed on the screen. */
#ifndef NVMTOP_APP_SETTINGS_MERGE_H
#define NVMTOP_APP_SETTINGS_MERGE_H

#include <limits.h>

#include "app/app.h"
#include "app/settings-file.h"

struct app_settings {
	struct settings kept;  /* as the file has them */
	struct settings begun; /* with the command line */
	char path[PATH_MAX];   /* "": none is read or written */
	char trouble[256];     /* the first line that cannot be read, or "" */
	unsigned troubles;
};

int app_settings_load(struct app_settings *c, const struct options *o, struct err *e);
/* Save what was changed since the start.  again: write even if nothing differs, because an
 * earlier change was written. */
int app_settings_save(const struct app_settings *c, const struct settings *now, bool again, struct err *e);
/* Fill in the options of the screen and of the terminal. */
void app_settings_options(const struct app_settings *c, const struct options *o, struct ui_options *ui,
			  struct term_options *term);

#endif
