/* Converts a trace for other programs: to standard output, or to a file that only appears once complete. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/verb.h"
#include "trace/nvmt1.h"
#include "util/intl.h"
#include "util/replace.h"

/* The output; `made` is removed if incomplete, unless empty. */
struct target {
	const char *made;
	struct replacement beside; /* temporary file that finally replaces the existing one */
};

/* Opens a temporary file in the same folder, to be renamed. If the folder accepts no new
 * file, opens the existing one. */
static int open_beside(const char *path, const struct stat *st, struct target *to)
{
	char there[PATH_MAX];
	int fd = realpath(path, there) ? replace_open(&to->beside, there) : -1;

	if (fd >= 0) {
		to->made = to->beside.temp;
		(void)!fchown(fd, st->st_uid, st->st_gid); /* keep the owner where permitted */
		fchmod(fd, st->st_mode & 07777);
		return fd;
	}
	return open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
}

static FILE *target_open(const struct options *o, const char *shown, struct target *to, struct err *e)
{
	struct stat st;
	FILE *f;
	int fd = open(o->out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	to->beside.temp[0] = '\0';
	to->made = o->out;
	if (fd < 0 && errno == EEXIST && stat(o->out, &st) == 0) {
		if (S_ISREG(st.st_mode) && !o->force) {
			err_set(e, ERR_FAILED, _("%s already exists: choose another name, or use --force"),
				shown);
			return NULL;
		}
		if (S_ISREG(st.st_mode)) {
			fd = open_beside(o->out, &st, to);
		} else {
			to->made = "";
			fd = open(o->out, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
		}
	}
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f) {
		err_sys(e, ERR_FAILED, errno, _("cannot write %s"), shown);
		replace_drop(&to->beside);
		if (fd >= 0)
			close(fd);
	}
	return f;
}

/* Completes the output. Returns 0 or an errno. */
static int target_close(FILE *f, struct target *to)
{
	int num = 0;

	if (fflush(f) != 0 || (to->beside.temp[0] && replace_done(&to->beside, fileno(f)) < 0))
		num = errno;
	if (fclose(f) != 0 && num == 0)
		num = errno;
	return num;
}

/* Would the output overwrite the input? */
static bool same_file(const char *a, const char *b)
{
	struct stat s, t;

	return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static int export_to_file(const struct options *o, struct trace *t, const char *shown, struct err *e)
{
	struct target to;
	FILE *f;
	int r, num;

	f = target_open(o, shown, &to, e);
	if (!f)
		return -1;
	if (to.made[0]) /* not for a pipe: writing may block forever, and must be killable */
		progress_watch(signals_open(NULL));
	r = export_write(t, &o->pick, o->form, o->resample_hz, o->force, f, progress_show, e);
	num = !ferror(f) ? 0 : errno ? errno : EIO;
	if (r < 0 || num)
		fclose(f);
	else
		num = target_close(f, &to);
	if (r == 0 && num)
		r = err_sys(e, ERR_FAILED, num, _("cannot write %s"), shown);
	if (r < 0 && to.made[0])
		unlink(to.made);
	return r;
}

static int export_as(const struct options *o, struct trace *t, struct err *e)
{
	bool to_file = o->out && !is_stream(o->out);
	char shown[512];

	if (!to_file && o->form == EXPORT_NVMT1)
		return err_set(e, ERR_USAGE, _("nvmtop export nvmt1 needs a file: name it with -o"));
	if (!to_file)
		return export_write(t, &o->pick, o->form, o->resample_hz, o->force, stdout, progress_show, e);
	text_printable(shown, sizeof shown, o->out, strlen(o->out));
	for (size_t i = 0; i < o->n_files; i++)
		if (same_file(o->out, o->files[i]))
			return err_set(e, ERR_FAILED, _("%s is the trace itself: choose another name"), shown);
	if (o->form != EXPORT_NVMT1)
		return export_to_file(o, t, shown, e);
	progress_watch(signals_open(NULL));
	return nvmt1_write(t, o->out, o->force, progress_step, NULL, e);
}

static int cmd_export(const struct options *o)
{
	struct err e, damage;
	struct trace *t = open_trace(o->files, o->n_files, &damage);
	int status, r;

	if (!t)
		return complain(&damage);
	signal(SIGPIPE, SIG_IGN);
	status = damage.code == ERR_NONE ? 0 : complain(&damage);
	r = export_as(o, t, &e);
	if (r == 0)
		status = stdout_result(status);
	progress_show(1);
	if (r < 0)
		status = complain(&e);
	return close_read(t, status);
}

static bool picks(const struct options *o)
{
	return o->pick.select || o->pick.epoch || o->pick.tier >= 0 || o->pick.has_from || o->pick.has_to ||
	       o->resample_hz > 0;
}

static int finish(struct options *o, struct err *e)
{
	if (o->n_files == 0)
		return err_set(e, ERR_USAGE,
			       _("missing FORMAT and FILE: give a format (%s) and the name of a trace"),
			       EXPORT_FORMS(EXPORT_LIST) "nvmt1");
	if (value_form(o, o->files[0], e) < 0)
		return -1;
	o->files++;
	o->n_files--;
	if (o->form == EXPORT_NVMT1 && picks(o))
		return err_set(e, ERR_USAGE,
			       _("nvmtop export nvmt1 writes the whole trace, without --select, --phase, "
				 "--from, --to, --tier or --resample: nvmtop cut writes a range of time"));
	return check_files(o, e) < 0 ? -1 : operands_files(o, e);
}

/* Order of enum tier. */
static const char *const tiers[] = {"fast", "medium", "slow", NULL};
static const struct option_entry own[] = {
	{"tier", "NAME", N_("only fast, medium or slow"), WORD(pick.tier, int, tiers), .wants = N_("fast, medium or slow")},
	{"resample", "HZ", N_("resample all signals to HZ rows a second"), RATE(resample_hz)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

#define EXPORT_OPERAND(name) #name "|"

const struct verb verb_export = {
	.name = "export",
	.operands = EXPORT_FORMS(EXPORT_OPERAND) "nvmt1 FILE...",
	.summary = N_("convert a trace for other programs"),
	.groups = {&options, &group_output, &group_signals, &group_time},
	.finish = finish,
	.run = cmd_export,
};
