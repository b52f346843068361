/* LD_PRELOAD library: a disk that blocks or is full while files with these names exist in
 * the directory $DISK, whose path must not contain symbolic links:
 *
 *   write.hangs      block write() to a log in it
 *   sync.hangs       block fdatasync(); each call appends a byte to DISK/syncs
 *   convert.hangs    block write() to a file with .bin. in its name
 *   convert.full     let it fail */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool there(const char *what)
{
	char name[4096];

	snprintf(name, sizeof name, "%s/%s", getenv("DISK"), what);
	return access(name, F_OK) == 0;
}

/* True if the file is in the directory and its name contains part, or it has none yet. */
static bool is_file(int fd, const char *part)
{
	char link[64], name[4096] = "";
	size_t n = strlen(getenv("DISK"));

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return readlink(link, name, sizeof name - 1) > 0 && !strncmp(name, getenv("DISK"), n) &&
	       (strstr(name + n, part) || !strncmp(name + n, "/#", 2));
}

static void wait_for(const char *what)
{
	while (there(what))
		usleep(10000);
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (is_file(fd, ".nvmt"))
		wait_for("write.hangs");
	if (is_file(fd, ".bin.")) {
		wait_for("convert.hangs");
		if (there("convert.full")) {
			errno = ENOSPC;
			return -1;
		}
	}
	return ((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, p, n);
}

int fdatasync(int fd)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof name, "%s/syncs", getenv("DISK"));
	f = fopen(name, "a");
	if (f && fputc('.', f) != EOF)
		fclose(f);
	wait_for("sync.hangs");
	return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
