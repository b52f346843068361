/* screen-file: the screen as a file. */
#ifndef NVMTOP_APP_SCREEN_FILE_H
#define NVMTOP_APP_SCREEN_FILE_H

#include "ui/canvas.h"
#include "util/err.h"
#include "ui/settings.h"

/* Makes nvmtop-DATE-TIME.txt or .svg in the current folder; never replaces a file.  name: 64 bytes. */
int copy_file(const struct canvas *c, bool svg, enum theme theme, enum ground ground, char *name, struct err *e);

#endif
