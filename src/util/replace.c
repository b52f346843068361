/* Files are replaced by rename(), so that a full disk or a power failure leaves the old file. */
#include "util/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int replace_open(struct replacement *r, const char *path)
{
	size_t n = strlen(path);
	int fd;

	r->temp[0] = '\0';
	if (n >= sizeof r->path ||
	    snprintf(r->temp, sizeof r->temp, "%s.XXXXXX", path) >= (int)sizeof r->temp) {
		r->temp[0] = '\0';
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(r->path, path, n + 1);
	fd = mkostemp(r->temp, O_CLOEXEC);
	if (fd < 0)
		r->temp[0] = '\0';
	return fd;
}

/* Makes the rename survive a power failure. */
static void sync_folder(char *path)
{
	char *slash = strrchr(path, '/');
	int fd;

	if (slash && slash != path)
		*slash = '\0';
	fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

int replace_done(struct replacement *r, int fd)
{
	if (fsync(fd) < 0 || rename(r->temp, r->path) < 0)
		return -1;
	r->temp[0] = '\0';
	sync_folder(r->path);
	return 0;
}

void replace_drop(struct replacement *r)
{
	if (r->temp[0])
		unlink(r->temp);
	r->temp[0] = '\0';
}
