/* root: opens all kernel files below one directory.
 *
 * That is "/" for the running machine, or another directory (--sysroot) with a tree made by a test or a
 * user. A symbolic link in that tree, absolute or not, is resolved inside it. */
#ifndef NVMTOP_UTIL_ROOT_H
#define NVMTOP_UTIL_ROOT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/err.h"

struct root;

struct root *root_open(const char *dir, struct err *e);	/* NULL on error */
struct root *root_hold(struct root *r);	/* adds a reference, to be released by root_close(); thread-safe */
void root_close(struct root *r);	/* NULL is allowed */
const char *root_dir(const struct root *r);	/* as given, without a trailing '/' unless it is "/" */
bool root_is_live(const struct root *r);	/* is it "/"? */

/* Enables or disables, for this thread, giving up reads that hang: they fail with ETIME. Each read then
 * takes two context switches, so it is not for sampling. */
void root_give_up(bool hanging);
unsigned root_given_up(void);	/* number of reads given up so far */
/* pread(), or read() if at is negative, with the timeout of root_give_up(). The timeout applies to at
 * most 4096 bytes. */
ssize_t root_read_at(int fd, void *buf, size_t size, off_t at);
/* Describes an errno; ETIME means that the file did not answer. */
const char *root_error(int error);

/* Opens path (absolute, as on the machine) below the root, close-on-exec. Returns a descriptor, or -1
 * with errno. */
int root_open_file(const struct root *r, const char *path, int flags);

/* Lists the names in a directory in natural order (hwmon2 before hwmon10), without "." and "..". *names
 * is an array of *n strings in one allocation, which the caller frees. Returns 0, or -1 with errno. */
int root_list(const struct root *r, const char *path, char ***names, size_t *n);

/* Reads at most size-1 bytes of a small file and terminates them. Returns the number of bytes read; -1
 * with errno. Trailing newlines are removed, NULs in the file are kept. */
ssize_t root_read(const struct root *r, const char *path, char *buf, size_t size);

/* The same; but on the running machine others can write in folders outside of /sys, /proc and /etc: there it fails with
 * EPERM if the file is a link, or is neither of root nor of this user nor a mount point. */
ssize_t root_read_trusted(const struct root *r, const char *path, char *buf, size_t size);

/* Reads a file with one decimal integer. Returns 0, or -1 with errno (EINVAL for other contents). */
int root_read_i64(const struct root *r, const char *path, long long *out);

#endif
