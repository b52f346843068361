/* chosen: the settings of the file, what the command line says instead, and what a
 * person then changes on the screen. */
#ifndef CMD_CHOSEN_H
#define CMD_CHOSEN_H

#include <limits.h>

#include "cmd/cmd.h"
#include "nvmtop/conf.h"

struct chosen {
	struct settings kept;  /* as the file has them */
	struct settings begun; /* with the command line */
	char path[PATH_MAX];   /* "": none is read or written */
	char trouble[256];     /* the first line that cannot be read, or "" */
	unsigned troubles;
};

int chosen_load(struct chosen *c, const struct options *o, struct err *e);
/* Keep what differs from how it began; where nothing does, nothing is written, unless
 * something was before (again). */
int chosen_save(const struct chosen *c, const struct settings *now, bool again, struct err *e);
/* What the screen and the terminal are to know of them. */
void chosen_options(const struct chosen *c, const struct options *o, struct ui_options *ui,
		    struct term_options *term);

#endif
