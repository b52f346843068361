/* fake-pread: redirects every pread() of the program under test to faked_pread(), which the test
 * defines; pread_really() calls the system. */
#ifndef TESTS_FAKE_PREAD_H
#define TESTS_FAKE_PREAD_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t faked_pread(int fd, void *buf, size_t size, off64_t offset);

static inline ssize_t pread_really(int fd, void *buf, size_t size, off64_t offset)
{
	return (ssize_t)syscall(SYS_pread64, fd, buf, size, offset);
}

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	return faked_pread(fd, buf, size, offset);
}

ssize_t pread64(int fd, void *buf, size_t size, off64_t offset)
{
	return faked_pread(fd, buf, size, offset);
}

#endif
