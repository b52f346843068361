/* A swap file: one, of one name, and taken away only if it was made here: then an entry of CONTROL_UNDO says that there
 * was none before. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/local.h"
#include "util/intl.h"
#include "util/num.h"

#define NAME (&CONTROL_SWAPFILE[1])

bool swap_exists(const struct root *r)
{
	struct stat st;
	int top = root_open_file(r, "/", O_RDONLY | O_DIRECTORY);
	bool there = top >= 0 && fstatat(top, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (top >= 0)
		close(top);
	return there;
}

/* Returns an error number; 0 if it is gone; -1: why has it. */
static int take_away(struct work *w, int top, const char *path, char why[240])
{
	const struct control_unit *u = control_unit_find(&w->units, "swap");
	struct stat st;

	if (fstatat(top, NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1) {
		snprintf(why, 240, _("%s is not the file that was made here; it stays"), CONTROL_SWAPFILE);
		return -1;
	}
	if (u && strcmp(u->item.value, "off") != 0 && PROGRAM(w, 300, why, "/sbin/swapoff", path) < 0)
		return -1;
	if (unlinkat(top, NAME, 0) < 0)
		return errno;
	work_wrote();
	return 0;
}

/* The same for one that is made. */
static int make(struct work *w, int top, const char *path, uint64_t bytes, char why[240])
{
	int fd = openat(top, NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	work_wrote();
	int error = posix_fallocate(fd, 0, (off_t)bytes);
	if (close(fd) < 0 && !error)
		error = errno;
	if (!error &&
	    (PROGRAM(w, 300, why, "/sbin/mkswap", path) < 0 || PROGRAM(w, 60, why, "/sbin/swapon", path) < 0))
		error = -1;
	if (error)
		unlinkat(top, NAME, 0);
	return error;
}

int swap_set(struct work *w, const char *value, char why[240])
{
	char path[PATH_MAX];
	uint64_t bytes = 0;
	int top = root_open_file(w->root, "/", O_RDONLY | O_DIRECTORY);

	snprintf(path, sizeof path, "%s%s", work_top(w->root), CONTROL_SWAPFILE);
	int error = top < 0 ? errno : take_away(w, top, path, why);
	if (!error && num_bytes(value, &bytes))
		error = make(w, top, path, bytes, why);
	if (error > 0)
		snprintf(why, 240, "%s: %s", CONTROL_SWAPFILE, strerror(error));
	if (top >= 0)
		close(top);
	return error ? -1 : 0;
}
