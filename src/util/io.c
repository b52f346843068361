/* A signal or a disk that is nearly full can make a transfer short; these functions continue it. */
#include "util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t read_all(int fd, void *to, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

char *read_file(const char *path, size_t most, size_t *n, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), num;
	char *text = malloc(most + 1);
	struct stat own;
	ssize_t got = -1;

	st = st ? st : &own;
	if (fd >= 0 && text && fstat(fd, st) == 0) {
		if (S_ISREG(st->st_mode) && st->st_size <= (off_t)most)
			got = read_all(fd, text, most, 0);
		else
			errno = S_ISDIR(st->st_mode) ? EISDIR : S_ISREG(st->st_mode) ? EFBIG : EINVAL;
	}
	num = errno;
	if (fd >= 0)
		close(fd);
	if (got < 0) {
		free(text);
		errno = num;
		return NULL;
	}
	*n = (size_t)got;
	text[got] = '\0';
	return text;
}

int write_all(int fd, const void *from, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t put = write(fd, (const char *)from + done, n - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			errno = put == 0 ? ENOSPC : errno;
			return -1;
		}
		done += (size_t)put;
	}
	return 0;
}

bool build_tree_file(const char *name, char *out, size_t size)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof exe);
	int n;

	if (len <= 0 || (size_t)len == sizeof exe)
		return false;
	while (len && exe[len - 1] != '/')
		len--;
	n = snprintf(out, size, "%.*s../%s", (int)len, exe, name);
	return len && n > 0 && (size_t)n < size && access(out, F_OK) == 0;
}
