/* Version 1 begins with the numbers of its rows, so it can only be written when all of them
 * are known.  The log is removed once the file that takes its place is complete. */
#include "record/convert.h"

int record_convert(struct log_writer *w, nvmt1_progress *progress, void *arg, struct err *e)
{
	char path[PATH_MAX], log[PATH_MAX];

	for (size_t i = 0; log_writer_file(w, i, log, sizeof(log), NULL); i++) {
		if (!log_file_final(log, path, sizeof(path)))
			continue;
		if (nvmt1_finish(log, path, log_writer_forces(w) && i == 0, progress, arg, e) < 0)
			return -1;
		log_writer_converted(w, i);
	}
	return 0;
}
