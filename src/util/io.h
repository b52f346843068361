/* io: read and write all of it, whatever the kernel transfers at a time. */
#ifndef NVMTOP_UTIL_IO_H
#define NVMTOP_UTIL_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* n bytes at an offset: how many were read, fewer only at the end of the file; -1 with errno. */
ssize_t read_all(int fd, void *to, size_t n, uint64_t at);
/* n bytes to a blocking descriptor: 0, or -1 with errno. */
int write_all(int fd, const void *from, size_t n);

#endif
