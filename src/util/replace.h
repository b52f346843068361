/* replace: replaces a file atomically, or leaves it as it was. */
#ifndef NVMTOP_UTIL_REPLACE_H
#define NVMTOP_UTIL_REPLACE_H

#include <limits.h>

struct replacement {
	char temp[PATH_MAX];	/* until it is renamed; "": none */
	char path[PATH_MAX];	/* final path */
};

/* Creates a temporary file in the directory of path, which need not exist; a symbolic link is replaced,
 * not its target. Returns a descriptor of mode 0600, which the caller writes to and closes; or -1 with
 * errno. */
int replace_open(struct replacement *r, const char *path);
/* Syncs the file and renames it to its path. Returns 0; or -1 with errno, and replace_drop() is required. */
int replace_done(struct replacement *r, int fd);
/* Removes the temporary file. Does nothing after replace_done(). */
void replace_drop(struct replacement *r);

#endif
