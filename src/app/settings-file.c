/* The file is replaced by a rename, so that a full disk or a power loss leaves the old one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/settings-words.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/replace.h"

int conf_path(char *out, size_t size)
{
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
	int n;

	/* The XDG specification: relative paths are ignored. */
	if (xdg && *xdg == '/')
		n = snprintf(out, size, "%s/nvmtop/nvmtop.conf", xdg);
	else if (home && *home == '/')
		n = snprintf(out, size, "%s/.config/nvmtop/nvmtop.conf", home);
	else
		return -1;
	return n < 0 || (size_t)n >= size ? -1 : 0;
}

static int cannot(struct err *e, int num, const char *what, const char *path)
{
	char shown[256];

	text_printable(shown, sizeof shown, path, strlen(path));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return err_sys(e, ERR_FAILED, num, what, shown);
#pragma GCC diagnostic pop
}

/* Read a regular file of at most CONF_MOST bytes; the caller frees it.  NULL with errno. */
static char *slurp(const char *path, size_t *n, mode_t *mode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), num;
	char *text = NULL;
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0)
		goto fail;
	errno = S_ISDIR(st.st_mode)      ? EISDIR
		: !S_ISREG(st.st_mode)   ? EINVAL
		: st.st_size > CONF_MOST ? EFBIG
					 : 0;
	if (errno)
		goto fail;
	if (mode)
		*mode = st.st_mode & 0777;
	text = malloc(CONF_MOST);
	got = text ? read_all(fd, text, CONF_MOST, 0) : -1;
	if (got >= 0) {
		*n = (size_t)got;
		close(fd);
		return text;
	}
fail:
	num = errno;
	close(fd);
	free(text);
	errno = num;
	return NULL;
}

int conf_load(const char *path, bool must, struct settings *s, const struct conf_reader *who, struct err *e)
{
	size_t n;
	char *text = slurp(path, &n, NULL);

	if (!text && !must && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!text)
		return cannot(e, errno, _("cannot read the settings: %s"), path);
	conf_read(s, text, n, who);
	free(text);
	return 0;
}

/* Make the folder of a path and its parents. */
static int make_folders(char *path)
{
	char *slash = strrchr(path, '/');
	int rc = 0;

	if (!slash || slash == path)
		return 0;
	*slash = 0;
	if (mkdir(path, 0700) < 0 && errno == ENOENT) {
		rc = make_folders(path);
		if (rc == 0)
			rc = mkdir(path, 0700);
	}
	if (rc < 0 && errno == EEXIST)
		rc = 0;
	*slash = '/';
	return rc;
}

/* Follow symbolic links. */
static int target(char out[PATH_MAX], const char *path)
{
	if (realpath(path, out))
		return 0;
	if (errno != ENOENT || strlen(path) >= PATH_MAX)
		return -1;
	strcpy(out, path);
	return 0;
}

int conf_may_save(const char *path, struct err *e)
{
	char there[PATH_MAX], *slash;
	int rc = target(there, path);

	/* the nearest existing folder */
	while (rc == 0 && (slash = strrchr(there, '/')) != NULL && slash != there) {
		*slash = 0;
		if (access(there, F_OK) == 0) {
			rc = access(there, W_OK | X_OK);
			break;
		}
	}
	return rc < 0 ? cannot(e, errno, _("cannot save the settings in %s"), path) : 0;
}

/* Never replace a file that is not regular or too long: nvmtop did not write it. */
static bool is_ours(const char *path, mode_t *mode)
{
	size_t n;
	char *text = slurp(path, &n, mode);

	free(text);
	return text || errno == ENOENT;
}

static int replace(const char *path, const struct settings *s, mode_t mode)
{
	struct replacement r;
	int fd = replace_open(&r, path), rc = -1, num;
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");

	if (out) {
		rc = conf_write(s, false, out);
		if (fclose(out) != 0)
			rc = -1;
		if (rc == 0)
			rc = fchmod(fd, mode) < 0 ? -1 : replace_done(&r, fd);
	}
	num = errno;
	if (fd >= 0) {
		replace_drop(&r);
		close(fd);
	}
	errno = num;
	return rc;
}

int conf_save(const char *path, const struct settings *s, struct err *e)
{
	char there[PATH_MAX];
	mode_t mode = 0644;

	if (target(there, path) < 0 || make_folders(there) < 0 || !is_ours(there, &mode) ||
	    replace(there, s, mode) < 0)
		return cannot(e, errno, _("cannot save the settings in %s"), path);
	return 0;
}
