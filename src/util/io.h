/* io: complete reads and writes, however many bytes the kernel transfers at once; files of the build. */
#ifndef NVMTOP_UTIL_IO_H
#define NVMTOP_UTIL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Reads n bytes at an offset. Returns the number read, fewer only at the end of the file; -1 with errno. */
ssize_t read_all(int fd, void *to, size_t n, uint64_t at);
/* Reads a regular file of at most `most` bytes, with a NUL behind them; to be freed. st: NULL, or what the file is. Returns
 * NULL with errno: EISDIR for a folder, EINVAL for what is no file, EFBIG. */
char *read_file(const char *path, size_t most, size_t *n, struct stat *st);
/* Writes n bytes to a blocking descriptor. Returns 0, or -1 with errno. */
int write_all(int fd, const void *from, size_t n);
/* Finds a file of the source tree in which the running program was built, so that the program works before
 * it is installed. Returns false if it does not exist. */
bool build_tree_file(const char *name, char *out, size_t size);

#endif
