/* Writes files of the kernel and of the system, and reads back what they have then. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/local.h"
#include "probe/attr.h"
#include "util/io.h"
#include "util/replace.h"
#include "util/text.h"

int write_text(const struct root *r, const char *path, const char *text)
{
	const char *slash = strrchr(path, '/');
	char parent[256], line[80];
	struct stat st;
	int result = -1;

	/* a link in place of the file itself is not followed */
	snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
	int folder = root_open_file(r, parent, O_RDONLY | O_DIRECTORY);
	int fd = folder < 0 ? -1
			    : openat(folder, slash + 1,
				     O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		errno = EINVAL;
		if (S_ISREG(st.st_mode))
			result = write_all(fd, line, (size_t)snprintf(line, sizeof line, "%s\n", text));
	}
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	work_wrote();
	errno = error;
	return result;
}

/* Is it the speed of a fan that something else than this program sets? */
static bool is_driven(const struct work *w, const struct control_file *f, const struct control_file *next)
{
	const char *base = strrchr(f->path, '/') + 1;

	if ((strncmp(base, "pwm", 3) != 0 && strcmp(base, "target_pwm") != 0) ||
	    text_ends_in(base, "_enable"))
		return false;
	if (control_fan_service(w->root) == SERVICE_ACTIVE)
		return true;
	return next && (text_ends_in(next->path, "_enable")
				? strcmp(next->text, "1") > 0
				: text_ends_in(next->path, "/temp_control") && !strcmp(next->text, "1"));
}

int write_files(struct work *w, const struct control_file *want, size_t n, char why[240])
{
	const struct control_file *bad = NULL;
	char now[64], is[64] = "";
	int error = 0;

	/* Twice, since the lowest clock may not be above the highest, and either may have to come first. */
	for (int pass = 0; pass < 3; pass++) {
		bad = NULL;
		for (size_t i = 0; i < n; i++) {
			if (pass && is_driven(w, &want[i], i + 1 < n ? &want[i + 1] : NULL))
				continue;
			*now = '\0';
			if (file_line(w->root, want[i].path, now, sizeof now) && !strcmp(now, want[i].text))
				continue;
			bad = &want[i];
			strcpy(is, now);
			if (pass < 2)
				error = write_text(w->root, want[i].path, want[i].text) < 0 ? errno : 0;
		}
	}
	if (bad && error)
		snprintf(why, 240, "cannot write %s to %.120s: %s", bad->text, bad->path, strerror(error));
	else if (bad)
		snprintf(why, 240, "%.100s has %.50s, not %.50s", bad->path, is, bad->text);
	return !bad ? 0 : error ? -1 : 1;
}

int write_anew(const char *path, const char *text, size_t len)
{
	struct stat st = {.st_mode = 0600, .st_uid = geteuid(), .st_gid = getegid()};
	struct replacement r;
	int fd = replace_open(&r, path);

	if (fd < 0)
		return -1;
	lstat(path, &st);
	int result = write_all(fd, text, len) < 0 || fchown(fd, st.st_uid, st.st_gid) < 0 ||
				     fchmod(fd, st.st_mode & 0777) < 0 || replace_done(&r, fd) < 0
			     ? -1
			     : 0;
	int error = errno;
	close(fd);
	replace_drop(&r);
	work_wrote();
	errno = error;
	return result;
}
