/* Saves the screen as text or SVG. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/screen-file.h"
#include "record/naming.h"
#include "util/intl.h"
#include "term/term.h"

#define NAME_SIZE 64
#define TRIES     100

static int create(char *name, const char *suffix)
{
	char base[40];
	int fd = -1;

	name_now(base, sizeof base);
	for (int i = 1; fd < 0 && i <= TRIES; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof number, ".%d", i);
		snprintf(name, NAME_SIZE, "%s%s.%s", base, number, suffix);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

int copy_file(const struct canvas *c, bool svg, enum theme theme, enum ground ground, char *name,
	      struct err *e)
{
	int fd = create(name, svg ? "svg" : "txt"), num;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool failed;

	if (!out) {
		num = errno;
		if (fd >= 0)
			close(fd);
		return err_sys(e, ERR_FAILED, num, _("cannot write the screen to %s"), name);
	}
	if (svg)
		term_svg(c, theme, ground, out);
	else
		canvas_print(c, out);
	errno = 0;
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed)
		return 0;
	num = errno ? errno : EIO;
	unlink(name);
	return err_sys(e, ERR_FAILED, num, _("cannot write the screen to %s"), name);
}
