/* A log can be read after any crash.  Recovery only gives it an end, and a .bin its form. */
#include "trace/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "trace/log-reader.h"
#include "trace/trace.h"

/* END behind the last chunk. */
static int append_end(int fd, struct log_reader *r, struct err *e)
{
	struct log_bytes raw = {.n = 0}, chunk = {.n = 0};
	struct log_packer *packer = log_packer_new();
	struct log_head h;
	struct log_tail tail;
	int rc = -1;

	log_reader_tail(r, &tail);
	for (int t = 0; t < TIERS; t++)
		tail.tally.rows[t] = log_reader_rows(r, (enum tier)t);
	log_reader_marks(r, &tail.tally.marks);
	log_put_u8(&raw, LOG_STOPPED);
	log_put_u64(&raw, 0);
	log_tally_put(&raw, &tail.tally);
	log_put_str(&raw, "");
	log_reader_last(r, &h);
	h = (struct log_head) {.kind = LOG_END,
			       .version = LOG_VERSION,
			       .session = h.session,
			       .generation = h.generation,
			       .seq = h.seq + 1,
			       .cell = h.cell};
	if (packer && !raw.failed && log_pack(packer, &h, raw.p, raw.n, &chunk) == 0) {
		errno = ENOSPC;
		rc = write(fd, chunk.p, chunk.n) == (ssize_t)chunk.n && fsync(fd) == 0 ? 0 : -1;
		if (rc < 0)
			err_sys(e, ERR_FAILED, errno, _("the end of the recording could not be written"));
	} else {
		err_set(e, ERR_FAILED, _("out of memory"));
	}
	log_packer_free(packer);
	log_bytes_free(&raw);
	log_bytes_free(&chunk);
	return rc;
}

static int end_log(int fd, const char *shown, struct recovery *out, struct err *e)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct log_reader *r = copy >= 0 ? log_reader_open(copy, 0, shown, e) : NULL;
	struct log_tail tail;
	struct stat st;
	int rc = -1;

	if (copy < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	if (!r)
		return -1;
	log_reader_tail(r, &tail);
	out->torn = tail.torn;
	out->complete = tail.ended && tail.torn == 0;
	if (out->complete)
		rc = 0;
	else if (fstat(fd, &st) < 0 || (tail.torn > 0 && ftruncate(fd, st.st_size - (off_t)tail.torn) < 0))
		err_sys(e, ERR_FAILED, errno, _("cannot write %s"), shown);
	else
		rc = tail.ended ? 0 : append_end(fd, r, e);
	log_reader_close(r);
	return rc;
}

static bool is_recorded(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_SETLK, &l) < 0 && (errno == EAGAIN || errno == EACCES);
}

static bool ends_in_nvmt(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && !strcmp(path + n - m, end);
}

/* The log of a recording to a .bin, and the .bin. */
static int find_log(const char *path, char *log, char *bin, size_t size)
{
	int n;

	bin[0] = '\0';
	if (ends_in_nvmt(path, ".bin.nvmt")) {
		n = snprintf(bin, size, "%.*s", (int)(strlen(path) - 5), path);
		return n < 0 || snprintf(log, size, "%s", path) >= (int)size ? -1 : 0;
	}
	n = snprintf(log, size, "%s.nvmt", path);
	if (n < 0 || (size_t)n >= size)
		return -1;
	if (access(path, F_OK) < 0 && access(log, F_OK) == 0)
		snprintf(bin, size, "%s", path);
	else
		snprintf(log, size, "%s", path);
	return 0;
}

int trace_recover(const char *path, nvmt1_progress *progress, void *arg, struct recovery *out, struct err *e)
{
	char log[sizeof(out->path)], bin[sizeof(out->path)], shown[512];
	int fd, rc;

	memset(out, 0, sizeof(*out));
	text_printable(shown, sizeof(shown), path, strlen(path));
	if (find_log(path, log, bin, sizeof(log)) < 0)
		return err_sys(e, ERR_FAILED, ENAMETOOLONG, _("cannot read %s"), shown);
	memcpy(out->path, bin[0] ? bin : log, sizeof(out->path));
	fd = open(log, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot open %s"), shown);
	e->code = ERR_NONE;
	if (nvmt1_begins(fd) && nvmt1_complete(fd)) {
		out->complete = true;
		rc = 0;
	} else if (is_recorded(fd)) {
		rc = err_set(e, ERR_FAILED, _("%s is still being recorded"), shown);
	} else if (!log_begins(fd) || nvmt1_begins(fd)) {
		struct trace *t = trace_open(log, e); /* its sentence says what the file is */

		trace_close(t);
		rc = t ? err_set(e, ERR_FAILED,
				 _("%s is an unfinished recording of nvmtop 0.1: complete it with nvmtop 0.1 --recover"),
				 shown)
		       : -1;
	} else {
		rc = end_log(fd, shown, out, e);
	}
	close(fd);
	if (rc == 0 && bin[0]) {
		rc = nvmt1_finish(log, bin, false, progress, arg, e);
		out->complete = false;
	}
	return rc;
}
