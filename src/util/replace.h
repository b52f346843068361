/* replace: a file that takes the place of another in one step, or leaves it as it was. */
#ifndef NVMTOP_UTIL_REPLACE_H
#define NVMTOP_UTIL_REPLACE_H

#include <limits.h>

struct replacement {
	char temp[PATH_MAX];	/* until it is renamed; "": none */
	char path[PATH_MAX];	/* which it takes */
};

/* Create a new file beside path, which need not exist; a symbolic link is replaced, not its target.
 * Returns a descriptor of mode 0600 to write to and close; or -1 with errno. */
int replace_open(struct replacement *r, const char *path);
/* All is written: to the disk and into its place.  0; or -1 with errno, and it is to be dropped. */
int replace_done(struct replacement *r, int fd);
/* Not to be: remove it.  Harmless when it has its place. */
void replace_drop(struct replacement *r);

#endif
