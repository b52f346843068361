/* chosen: the settings of the file, what the command line says instead, and what a
 * person then changes on the screen. */
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
/* Keep what differs from how it began; where nothing does, nothing is written, unless
 * something was before (again). */
int app_settings_save(const struct app_settings *c, const struct settings *now, bool again, struct err *e);
/* What the screen and the terminal are to know of them. */
void app_settings_options(const struct app_settings *c, const struct options *o, struct ui_options *ui,
			  struct term_options *term);

#endif
