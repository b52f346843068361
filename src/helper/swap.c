/* A swap file: one, of one name, and taken away only if it was made here: then an entry of CONTROL_UNDO says that there
 * was none before. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/local.h"
#include "util/num.h"

bool swap_exists(const struct root *r)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof path, "%s%s", work_top(r), CONTROL_SWAPFILE);
	return lstat(path, &st) == 0;
}

int swap_set(struct work *w, const char *value, char why[240])
{
	const struct control_item *u = control_find(&w->items, "swap");
	char path[PATH_MAX];
	uint64_t bytes;
	struct stat st;

	snprintf(path, sizeof path, "%s%s", work_top(w->root), CONTROL_SWAPFILE);
	int error = lstat(path, &st) < 0 ? errno : 0;
	if (!error) {
		if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1) {
			snprintf(why, 240, "%s is not the file that was made here; it stays",
				 CONTROL_SWAPFILE);
			return -1;
		}
		if (u && strcmp(u->value, "off") != 0 && PROGRAM(w, 300, why, "/sbin/swapoff", path) < 0)
			return -1;
		error = unlink(path) < 0 ? errno : 0;
		work_wrote();
	} else if (error == ENOENT)
		error = 0;
	if (!error && num_bytes(value, &bytes)) {
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			work_wrote();
		error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
		if (fd >= 0 && close(fd) < 0 && !error)
			error = errno;
		if (!error && PROGRAM(w, 300, why, "/sbin/mkswap", path) == 0 &&
		    PROGRAM(w, 60, why, "/sbin/swapon", path) == 0)
			return 0;
		if (fd >= 0)
			unlink(path);
		if (!error)
			return -1;
	}
	if (error)
		snprintf(why, 240, "%s: %s", CONTROL_SWAPFILE, strerror(error));
	return error ? -1 : 0;
}
