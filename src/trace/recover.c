/* Completes an interrupted recording. A log can be read after any crash: recovery only appends an INDEX of
 * its last groups and an END, and converts the log of a .bin. */
#include "trace/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/io.h"
#include "trace/log-index.h"
#include "trace/log-tree.h"
#include "trace/trace.h"

struct ending {
	int fd;
	struct log_reader *r;
	struct log_index *index;
	struct log_packer *packer;
	struct log_bytes raw, chunk;
	struct log_head last;
	uint64_t at; /* the end of the file */
};

/* Adds a chunk that no INDEX lists to the new INDEX. */
static void list_item(struct ending *n, const struct log_item *item)
{
	struct log_entry e = {.distance = item->at, .stored = item->stored, .kind = item->kind, .aux = item->aux,
			      .cell = item->cell};
	struct log_head h;

	if (!log_read_chunk(n->r, item, &h, &n->raw))
		return;
	for (int t = 0; t < TIERS; t++)
		e.rows[t] = item->rows[t];
	if ((item->kind == LOG_LOD || item->kind == LOG_STAT) && n->raw.n > 0)
		e.aux = n->raw.p[0];
	log_index_add(n->index, &e, n->raw.p, n->raw.n);
}

static int append(struct ending *n, enum log_kind kind, int64_t cell, uint32_t *stored, struct err *e)
{
	struct log_head h = {.kind = (uint8_t)kind,
			     .version = LOG_VERSION,
			     .session = n->last.session,
			     .generation = n->last.generation,
			     .seq = ++n->last.seq,
			     .cell = cell};

	n->chunk.n = 0;
	if (n->raw.failed || log_pack(n->packer, &h, n->raw.p, n->raw.n, &n->chunk) < 0)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (write_all(n->fd, n->chunk.p, n->chunk.n) < 0)
		return err_sys(e, ERR_FAILED, errno, _("the end of the recording could not be written"));
	*stored = h.stored;
	n->at += n->chunk.n;
	return 0;
}

/* Appends an INDEX for each group without one, the oldest first. */
static int append_index(struct ending *n, struct err *e)
{
	const struct log_items *groups = &n->r->levels[1];
	struct log_entry entry;

	for (size_t i = 0; i < groups->n; i++) {
		if (groups->p[i].kind == LOG_INDEX)
			continue;
		n->raw.n = 0;
		log_index_make(n->index, 1, log_span(groups->p[i].cell, 1), n->at, &n->raw, &entry);
		if (append(n, LOG_INDEX, entry.cell, &entry.stored, e) < 0)
			return -1;
		log_index_add(n->index, &entry, n->raw.p, n->raw.n);
	}
	return 0;
}

static int append_end(struct ending *n, struct err *e)
{
	uint64_t newest = 0;
	uint32_t stored;
	bool any = log_index_newest(n->index, &newest);

	n->raw.n = 0;
	log_put_u8(&n->raw, LOG_STOPPED);
	log_put_u64(&n->raw, any ? n->at - newest : 0);
	log_put_str(&n->raw, "");
	return append(n, LOG_END, n->last.cell, &stored, e);
}

/* Appends INDEX and END after the last chunk, which ends at `at`. */
static int append_tail(int fd, struct log_reader *r, uint64_t at, struct err *e)
{
	struct ending n = {.fd = fd, .r = r, .index = log_index_new(), .packer = log_packer_new(), .at = at};
	int rc = -1;

	log_reader_last(r, &n.last);
	if (!n.index || !n.packer) {
		err_set(e, ERR_FAILED, _("out of memory"));
	} else {
		for (size_t i = 0; i < r->roots.n; i++)
			if (r->roots.p[i].kind)
				list_item(&n, &r->roots.p[i]);
		for (size_t i = 0; i < r->loose.n; i++)
			list_item(&n, &r->loose.p[i]);
		if (append_index(&n, e) == 0 && append_end(&n, e) == 0)
			rc = fsync(fd) == 0 ? 0
					    : err_sys(e, ERR_FAILED, errno,
						      _("the end of the recording could not be written"));
	}
	log_index_free(n.index);
	log_packer_free(n.packer);
	log_bytes_free(&n.raw);
	log_bytes_free(&n.chunk);
	return rc;
}

static int end_log(int fd, const char *shown, struct recovery *out, struct err *e)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct log_reader *r = copy >= 0 ? log_reader_open(copy, 0, shown, e) : NULL;
	struct log_tail tail;
	struct stat st;
	char text[400];
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
	else if (tail.other)
		err_set(e, ERR_DAMAGED, _("%s: another recording follows in it, the last %llu bytes: nothing was changed"),
			shown, (unsigned long long)tail.other);
	else if (fstat(fd, &st) < 0 || (tail.torn > 0 && ftruncate(fd, st.st_size - (off_t)tail.torn) < 0))
		err_sys(e, ERR_FAILED, errno, _("cannot write %s"), shown);
	else
		rc = tail.ended ? 0 : append_tail(fd, r, (uint64_t)st.st_size - tail.torn, e);
	if (rc == 0 && log_damage_text(r, text, sizeof(text)))
		err_set(e, ERR_DAMAGED, "%s: %s", shown, text);
	log_reader_close(r);
	return rc;
}

static bool is_recorded(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_SETLK, &l) < 0 && (errno == EAGAIN || errno == EACCES);
}

/* Finds the log of a recording, and the .bin that it records to; bin is empty if there is none. */
static int find_log(const char *path, char *log, char *bin, size_t size)
{
	if (log_file_final(path, bin, size))
		return snprintf(log, size, "%s", path) < (int)size ? 0 : -1;
	if (log_file_name(path, log, size) < 0)
		return -1;
	bin[0] = '\0';
	if (strcmp(path, log) && access(log, F_OK) == 0)
		snprintf(bin, size, "%s", path);
	else
		snprintf(log, size, "%s", path);
	return 0;
}

int trace_recover(const char *path, bool force, nvmt1_progress *progress, void *arg, struct recovery *out, struct err *e)
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
		struct trace *t = trace_open(log, e); /* the error names the kind of the file */

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
		rc = nvmt1_finish(log, bin, force, NULL, progress, arg, e);
		out->complete = false;
	}
	return rc;
}

bool trace_unfinished(const char *path, struct err *e)
{
	struct flock recorder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char log[4096], shown[512];
	bool found = false;
	int fd;

	if (log_file_name(path, log, sizeof(log)) < 0 || !strcmp(path, log))
		return false;
	fd = open(log, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	found = fcntl(fd, F_OFD_GETLK, &recorder) < 0 || recorder.l_type == F_UNLCK;
	close(fd);
	text_printable(shown, sizeof(shown), path, strlen(path));
	if (found)
		err_set(e, ERR_FAILED, _("%s.nvmt is an unfinished recording: nvmtop recover %s%s completes it"), shown,
			access(path, F_OK) == 0 ? "--force " : "", shown);
	return found;
}
