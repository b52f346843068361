/* root: everything of the kernel is opened below one directory.
 *
 * With "/" that is the running machine.  With another directory (--sysroot) it
 * is a tree that a test or a user made: a symbolic link in it, absolute or not,
 * is resolved inside it and never leads out. */
#ifndef NVMTOP_UTIL_ROOT_H
#define NVMTOP_UTIL_ROOT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/err.h"

struct root;

struct root *root_open(const char *dir, struct err *e);	/* NULL on error */
struct root *root_hold(struct root *r);	/* another reference, to be closed as well; from any thread */
void root_close(struct root *r);	/* NULL is fine */
const char *root_dir(const struct root *r);	/* as given, without a trailing '/' unless it is "/" */
bool root_is_live(const struct root *r);	/* is it "/"? */

/* Until it is called again, this thread gives up reads that hang, with ETIME. Each read then takes two
 * context switches: not for sampling. */
void root_give_up(bool hanging);
unsigned root_given_up(void);	/* how many reads were, so far */
/* pread(), or read() where at is negative, that can be given up.  Of more than 4096 bytes it
 * cannot. */
ssize_t root_read_at(int fd, void *buf, size_t size, off_t at);
/* What an errno means, for ETIME that it did not answer. */
const char *root_error(int error);

/* Open path (absolute, as on the machine) below the root, close-on-exec.
 * Returns a descriptor, or -1 with errno. */
int root_open_file(const struct root *r, const char *path, int flags);

/* Names in the directory, sorted in natural order (hwmon2 before hwmon10), "."
 * and ".." left out.  *names is an array of *n strings in one allocation:
 * free(*names).  0 or -1 with errno. */
int root_list(const struct root *r, const char *path, char ***names, size_t *n);

/* Read at most size-1 bytes of a small file, terminate, and return how many
 * were read; -1 with errno.  Trailing newlines are cut off the text; NULs that
 * the file holds are kept. */
ssize_t root_read(const struct root *r, const char *path, char *buf, size_t size);

/* Read a file that holds one decimal integer.  0 or -1 with errno (EINVAL when
 * it holds something else). */
int root_read_i64(const struct root *r, const char *path, long long *out);

#endif
