/* Version 1 begins with the numbers of its rows, so it can only be written when all of them
 * are known.  The log is removed once the file that takes its place is complete. */
#include "record/convert.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/text.h"

/* Also of a log that ended early: what there is of it. */
static int convert(const char *log, const char *path, bool force, nvmt1_progress *progress, void *arg,
		   struct err *e)
{
	struct trace *t = trace_open(log, e);
	int r;

	if (!t)
		return -1;
	r = nvmt1_write(t, path, force, progress, arg, e);
	trace_close(t);
	return r;
}

int record_convert(struct log_writer *w, nvmt1_progress *progress, void *arg, struct err *e)
{
	char path[PATH_MAX], log[PATH_MAX], shown[PATH_MAX];
	struct err why;

	for (size_t i = 0; log_writer_file(w, i, log, sizeof(log), NULL); i++) {
		if (!log_file_final(log, path, sizeof(path)))
			continue;
		if (convert(log, path, log_writer_forces(w) && i == 0, progress, arg, &why) == 0) {
			unlink(log);
			log_file_list(path);
			log_writer_converted(w, i);
			continue;
		}
		text_printable(shown, sizeof(shown), path, strlen(path));
		return err_set(e, ERR_DAMAGED,
			       _("%s; the recording is %s.nvmt: nvmtop --recover %s completes it"), why.text,
			       shown, shown);
	}
	return 0;
}
