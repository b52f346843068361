/* copy: what is on the screen, as a file. */
#ifndef CMD_COPY_H
#define CMD_COPY_H

#include "nvmtop/canvas.h"
#include "nvmtop/err.h"
#include "nvmtop/settings.h"

/* nvmtop-DATE-TIME.txt, or .svg, here; never over a file that there is.  name: 64 bytes. */
int copy_file(const struct canvas *c, bool svg, enum theme theme, enum ground ground, char *name, struct err *e);

#endif
