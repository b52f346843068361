/* A trace for other programs, to standard output or into a file that is only
 * there when it is whole. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "nvmtop/intl.h"

static FILE *target_open(const struct options *o, const char *shown, bool *made, struct err *e)
{
	struct stat st;
	FILE *f;
	int fd = open(o->out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	*made = fd >= 0;
	if (fd < 0 && errno == EEXIST && stat(o->out, &st) == 0) {
		if (S_ISREG(st.st_mode) && !o->force) {
			err_set(e, ERR_FAILED, _("%s exists already: choose another name, or use --force"),
				shown);
			return NULL;
		}
		fd = open(o->out, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
		*made = S_ISREG(st.st_mode);
	}
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f) {
		err_sys(e, ERR_FAILED, errno, _("cannot write %s"), shown);
		if (fd >= 0)
			close(fd);
	}
	return f;
}

/* Is the file that would be written the one that is read? */
static bool same_file(const char *a, const char *b)
{
	struct stat s, t;

	return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static int export_to_file(const struct options *o, struct trace *t, struct err *e)
{
	char shown[512];
	bool made;
	FILE *f;
	int r;

	text_printable(shown, sizeof shown, o->out, strlen(o->out));
	if (same_file(o->out, o->files[0]))
		return err_set(e, ERR_FAILED, _("%s is the trace itself: choose another name"), shown);
	f = target_open(o, shown, &made, e);
	if (!f)
		return -1;
	if (made) /* what is not whole is removed; a pipe may block for ever, and is just left */
		progress_watch(signals_open(NULL));
	r = export_write(t, &o->pick, o->form, o->resample_hz, f, progress_show, e);
	int num = errno;
	bool bad = ferror(f);

	if (!bad && fflush(f) != 0) {
		bad = true;
		num = errno;
	}
	if (fclose(f) != 0 && !bad) {
		bad = true;
		num = errno;
	}
	if (r == 0 && bad)
		r = err_sys(e, ERR_FAILED, num, _("cannot write %s"), shown);
	if (r < 0 && made)
		unlink(o->out);
	return r;
}

int cmd_export(const struct options *o)
{
	struct err e, damage;
	struct trace *t = open_trace(o->files[0], &damage);
	int status, r;

	if (!t)
		return complain(&damage);
	signal(SIGPIPE, SIG_IGN);
	status = damage.code == ERR_NONE ? 0 : complain(&damage);
	if (o->out && strcmp(o->out, "-") != 0)
		r = export_to_file(o, t, &e);
	else if ((r = export_write(t, &o->pick, o->form, o->resample_hz, stdout, progress_show, &e)) == 0)
		status = stdout_result(status);
	progress_show(1);
	if (r < 0)
		status = complain(&e);
	trace_close(t);
	return status;
}
