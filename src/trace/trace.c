/* Opens traces. Every trace is read as a log: a file of version 1 is first imported into a temporary one, for
 * the screen in the background while the trace grows. */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/io.h"
#include "util/text.h"
#include "util/job.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

#define FIRST_NS (300 * NS_PER_MS) /* wait for an import before a part of it is shown */
#define LOOK_NS	 (NS_PER_S / 2)	   /* between two polls of a growing log */

/* --- import --- */

struct import {
	struct job job;
	struct nvmt1_import file;
	int from, to; /* the file of version 1, the temporary log */
	char *shown;
	trace_progress *progress;
	void *arg;
	atomic_bool stop;
	atomic_int permille;
	int64_t looked_ns;
	int write_error;
	int rc;
	struct err err;
};

static bool import_emit(void *to, const struct log_entry *about, const uint8_t *chunk, size_t n)
{
	struct import *m = to;

	(void)about;
	if (!m->write_error && write_all(m->to, chunk, n) < 0)
		m->write_error = errno;
	return !m->write_error;
}

static bool import_goes_on(void *arg, double done)
{
	struct import *m = arg;

	atomic_store(&m->permille, (int)(done * 1000));
	return !m->write_error && !atomic_load(&m->stop) && (!m->progress || m->progress(m->arg, done));
}

static void import_run(struct job *j)
{
	struct import *m = (struct import *)j;

	m->rc = nvmt1_import(m->from, m->shown, &m->file, &m->err);
	if (m->write_error) {
		m->rc = -1;
		err_sys(&m->err, ERR_FAILED, m->write_error,
			_("cannot read %s: it is converted in a temporary folder (TMPDIR) that cannot take it"), m->shown);
	}
}

static void import_free(struct job *j)
{
	struct import *m = (struct import *)j;

	if (m->from >= 0)
		close(m->from);
	if (m->to >= 0)
		close(m->to);
	free(m->file.anchors);
	free(m->shown);
	free(m);
}

int trace_temporary(void)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(name, sizeof(name), "%s/nvmtop-XXXXXX", folder) >= (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

static int no_temporary(const char *shown, struct err *e)
{
	return err_sys(e, ERR_FAILED, errno, _("cannot read %s: no temporary file (TMPDIR)"), shown);
}

static struct import *import_new(int fd, const char *shown, struct err *e)
{
	struct import *m = calloc(1, sizeof(*m));

	if (!m) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	m->file = (struct nvmt1_import) {.emit = import_emit, .progress = import_goes_on, .of = m};
	m->from = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	m->to = trace_temporary();
	m->shown = strdup(shown);
	if (m->from >= 0 && m->to >= 0 && m->shown)
		return m;
	no_temporary(shown, e);
	import_free(&m->job);
	return NULL;
}

/* --- an open trace --- */

static void damage(struct trace *t, const char *text)
{
	err_set(&t->damage, ERR_DAMAGED, _("%s is damaged: %s"), t->shown, text);
}

static void *copy(const void *list, size_t n, size_t size)
{
	void *to = calloc(n + 1, size);

	if (to && n > 0)
		memcpy(to, list, n * size);
	return to;
}

bool session_copy(struct session *to, const struct session *from, struct channel **channels, struct fact **facts)
{
	*channels = copy(from->channels, from->n_channels, sizeof(**channels));
	*facts = copy(from->facts, from->n_facts, sizeof(**facts));
	*to = *from;
	to->channels = *channels;
	to->facts = *facts;
	return *channels && *facts;
}

/* Loads the chunks that a log has now. Takes over fd, also on error. */
static int load(struct trace *t, int fd, uint64_t from, struct err *e)
{
	struct log_reader *log = log_reader_open(fd, from, t->shown, e);

	if (!log)
		return -1;
	if (t->log)
		log_reader_renew(t->log, log);
	else
		t->log = log;
	return 0;
}

static void look_for_damage(struct trace *t)
{
	char text[512];
	uint64_t from, n;
	struct stat st;

	if (log_damage_text(t->log, text, sizeof(text)))
		damage(t, text);
	if (fstat(log_reader_file(t->log, &from, &n), &st) == 0 && (uint64_t)st.st_size < from + n) {
		snprintf(text, sizeof(text), _("it was truncated to %llu bytes"), (unsigned long long)st.st_size);
		damage(t, text);
	}
}

static int load_import(struct trace *t, struct err *e)
{
	int fd = fcntl(t->import->to, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), t->shown);
	return load(t, fd, 0, e);
}

/* The import has ended: reload the log and take over its results. */
static int import_take(struct trace *t, struct err *e)
{
	struct import *m = t->import;
	int rc = m->rc;

	if (rc < 0)
		*e = m->err;
	else
		rc = load_import(t, e);
	if (rc == 0) {
		t->damage = m->err;
		t->lists_gaps = m->file.lists_gaps;
		t->imported = true;
		t->anchors = m->file.anchors;
		t->n_anchors = m->file.n_anchors;
		m->file.anchors = NULL;
	}
	t->import = NULL;
	import_free(&m->job);
	return rc;
}

/* For the screen: returns when a part of a long file can be read. */
static int import_in_background(struct trace *t, struct err *e)
{
	struct import *m = t->import;

	if (job_start(&m->job, import_run, import_free, e) < 0) {
		t->import = NULL;
		import_free(&m->job);
		return -1;
	}
	for (int64_t wait = FIRST_NS; !job_done(&m->job, clock_now_ns() + wait); wait = LOOK_NS / 5) {
		m->looked_ns = clock_now_ns();
		if (load_import(t, e) == 0) {
			t->lists_gaps = true;
			return 0;
		}
	}
	return import_take(t, e);
}

static int open_version1(struct trace *t, int fd, bool view, trace_progress *progress, void *arg, struct err *e)
{
	t->version1 = fd;
	t->import = import_new(fd, t->shown, e);
	if (!t->import)
		return -1;
	if (view)
		return import_in_background(t, e);
	t->import->progress = progress;
	t->import->arg = arg;
	import_run(&t->import->job);
	return import_take(t, e);
}

static struct trace *trace_new(const char *path)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->version1 = -1;
	t->lists_gaps = true;
	pthread_mutex_init(&t->raw_lock, NULL);
	t->path = strdup(path);
	t->shown = malloc(strlen(path) + 1);
	if (t->path && t->shown) {
		text_printable(t->shown, strlen(path) + 1, path, strlen(path));
		return t;
	}
	trace_close(t);
	return NULL;
}

/* --- files --- */

/* Copies standard input to an unnamed file. */
static int spool(const char *shown, struct err *e)
{
	static uint8_t bytes[65536];
	int fd = trace_temporary();
	ssize_t n;

	if (fd < 0)
		return no_temporary(shown, e);
	for (;;) {
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || write_all(fd, bytes, (size_t)n) < 0)
			break;
	}
	if (n == 0)
		return fd;
	if (n > 0)
		no_temporary(shown, e);
	else
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	close(fd);
	return -1;
}

/* Rejects all but regular files that are not empty. */
static int check_kind(int fd, const char *shown, struct stat *st, struct err *e)
{
	if (fstat(fd, st) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	if (S_ISDIR(st->st_mode))
		return err_num(e, ERR_FAILED, EISDIR, _("%s is a folder, not a trace"), shown);
	if (S_ISFIFO(st->st_mode))
		return err_set(e, ERR_FAILED,
			       _("%s is a pipe, not a regular file: read a stream from standard input, with - as FILE"),
			       shown);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_FAILED, _("%s is not a regular file: a trace must be one"), shown);
	if (st->st_size == 0)
		return err_set(e, ERR_FAILED, _("%s is empty: it is not a trace"), shown);
	return 0;
}

/* Whether it is an interrupted recording or a stream of nvmtop 0.1. */
static bool unfinished(int fd, const char *path)
{
	uint8_t magic[4];

	return text_ends_in(path, ".part") || text_ends_in(path, ".part.side") ||
	       (pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "NVMS", 4));
}

int trace_file_open(const char *path, bool *beside)
{
	char log[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*beside = false;
	if (fd < 0 && errno == ENOENT && snprintf(log, sizeof(log), "%s.nvmt", path) < (int)sizeof(log)) {
		fd = open(log, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		*beside = fd >= 0;
		errno = ENOENT;
	}
	return fd;
}

void trace_beside_text(const char *shown, char *out, size_t size)
{
	snprintf(out, size, _("%s is not complete: %s.nvmt is read; nvmtop recover %s completes it"), shown,
		 shown, shown);
}

bool trace_notice(const struct trace *t, char *out, size_t size)
{
	struct log_damage d;
	size_t n;

	out[0] = '\0';
	if (t->beside)
		trace_beside_text(t->shown, out, size);
	log_reader_damage(t->log, &d);
	n = strlen(out);
	if (d.unknown > 0)
		snprintf(out + n, size - n,
			 _("%s%s has parts that this version of nvmtop does not know: %llu of its chunks "
			   "were skipped"),
			 n ? "; " : "", t->shown, (unsigned long long)d.unknown);
	return out[0] != '\0';
}

/* Returns a descriptor of the file and sets *st; returns -1 and sets *e on error. */
static int open_file(const char *path, const char *shown, struct stat *st, bool *beside, struct err *e)
{
	bool piped = strcmp(path, "-") == 0;
	int fd = piped ? spool(shown, e) : trace_file_open(path, beside);

	if (fd < 0)
		return piped ? -1 : err_sys(e, ERR_FAILED, errno, _("cannot read %s"), shown);
	if (check_kind(fd, shown, st, e) == 0)
		return fd;
	close(fd);
	return -1;
}

static int no_trace(int fd, const char *path, const char *shown, struct err *e)
{
	bool old = unfinished(fd, path);

	close(fd);
	if (old)
		return err_set(e, ERR_FAILED,
			       _("%s is an unfinished recording or a stream of nvmtop 0.1: complete it with "
				 "nvmtop 0.1 --recover"),
			       shown);
	return err_set(e, ERR_FAILED, _("%s is not a trace: it does not begin with the magic number of NVMT"), shown);
}

void trace_file_tail(int fd, uint64_t from, const char *shown, struct log_tail *out)
{
	int copied = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct log_reader *r;
	struct err e;

	*out = (struct log_tail) {.ended = false};
	r = copied >= 0 ? log_reader_open(copied, from, shown, &e) : NULL;
	if (r)
		log_reader_tail(r, out);
	log_reader_close(r);
}

/* Returns the offset of the log after the rows of version 1, to be read instead of them, if it has all of
 * them or an END; else 0. */
static off_t whole_log(int fd, const char *shown)
{
	off_t at = nvmt1_log(fd);
	int copied = at ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	struct trace_summary s;
	struct log_reader *r;
	struct log_tail tail;
	struct err e;
	bool all;

	r = copied >= 0 ? log_reader_open(copied, (uint64_t)at, shown, &e) : NULL;
	if (!r)
		return 0;
	log_reader_tail(r, &tail);
	all = nvmt1_peek(fd, &s);
	for (enum tier i = 0; i < TIERS; i++)
		all &= log_reader_rows(r, i) == s.rows[i];
	log_reader_close(r);
	return all || tail.ended ? at : 0;
}

/* Loads the log after rows of version 1. It is written in one go, so a missing end is damage. */
static int load_behind(struct trace *t, int fd, off_t log, struct err *e)
{
	struct log_tail tail;

	t->version1 = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (load(t, fd, (uint64_t)log, e) < 0)
		return -1;
	log_reader_tail(t->log, &tail);
	if (!tail.ended)
		damage(t, _("the end of the log behind its rows is missing"));
	return 0;
}

static int open_any(struct trace *t, bool view, trace_progress *progress, void *arg, struct err *e)
{
	struct stat st;
	int fd = open_file(t->path, t->shown, &st, &t->beside, e);
	off_t log;

	if (fd < 0)
		return -1;
	t->bytes = (uint64_t)st.st_size;
	if (!nvmt1_begins(fd))
		return log_begins(fd) ? load(t, fd, 0, e) : no_trace(fd, t->path, t->shown, e);
	if (unfinished(fd, t->path))
		return no_trace(fd, t->path, t->shown, e);
	log = whole_log(fd, t->shown);
	if (log)
		return load_behind(t, fd, log, e);
	if (open_version1(t, fd, view, progress, arg, e) < 0)
		return -1;
	if (nvmt1_log(fd) && t->damage.code == ERR_NONE)
		damage(t, _("it ends within the log behind its rows; what version 1 holds is shown"));
	return 0;
}

static struct trace *open_trace(const char *path, bool view, trace_progress *progress, void *arg, struct err *e)
{
	struct err failed = {.code = ERR_NONE};
	struct trace *t = trace_new(path);

	if (!t)
		err_set(&failed, ERR_FAILED, _("out of memory"));
	else if (open_any(t, view, progress, arg, &failed) < 0) {
		trace_close(t);
		t = NULL;
	} else if (!t->import) {
		look_for_damage(t);
	}
	if (t)
		t->told = t->damage;
	if (e)
		*e = t ? t->damage : failed;
	return t;
}

struct trace *trace_open_progress(const char *path, trace_progress *progress, void *arg, struct err *e)
{
	return open_trace(path, false, progress, arg, e);
}

struct trace *trace_open(const char *path, struct err *e)
{
	return open_trace(path, false, NULL, NULL, e);
}

struct trace *trace_open_view(const char *path, struct err *e)
{
	return open_trace(path, true, NULL, NULL, e);
}

static void take_more(struct trace *t)
{
	struct import *m = t->import;
	struct err e = {.code = ERR_NONE};

	if (job_done(&m->job, 0)) {
		if (import_take(t, &e) < 0)
			t->damage = e;
	} else if (clock_now_ns() >= m->looked_ns + LOOK_NS) {
		load_import(t, &e);
		m->looked_ns = clock_now_ns();
	}
}

void trace_look(struct trace *t, struct trace_state *out)
{
	if (t->import)
		take_more(t);
	else
		look_for_damage(t);
	out->building = t->import != NULL;
	out->built = t->import ? atomic_load(&t->import->permille) / 1000.0 : 1;
	out->news = strcmp(t->told.text, t->damage.text) != 0;
	out->damage = t->damage;
	t->told = t->damage;
}

void trace_settle(struct trace *t)
{
	struct err e = {.code = ERR_NONE};

	if (t->import && job_done(&t->import->job, INT64_MAX) && import_take(t, &e) < 0)
		t->damage = e;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	if (t->import) {
		atomic_store(&t->import->stop, true);
		job_cancel(&t->import->job);
	}
	log_reader_close(t->log);
	if (t->raw)
		munmap(t->raw, t->raw_size);
	if (t->version1 >= 0)
		close(t->version1);
	pthread_mutex_destroy(&t->raw_lock);
	free(t->anchors);
	free(t->path);
	free(t->shown);
	free(t);
}

struct timeline *trace_timeline(struct trace *t)
{
	return log_reader_timeline(t->log);
}

const char *trace_path(const struct trace *t)
{
	return t->path;
}

void trace_summary(const struct trace *t, struct trace_summary *out)
{
	const struct session *session = trace_session(t);
	const char *board = fact_get(session->facts, session->n_facts, "board");
	int64_t first, last;
	size_t marks;

	memset(out, 0, sizeof(*out));
	trace_marks(t, &marks);
	out->bytes = (int64_t)t->bytes;
	out->duration_ns = trace_extent(t, &first, &last) ? last - session->start.mono_ns : 0;
	for (enum tier i = 0; i < TIERS; i++)
		out->rows[i] = trace_rows(t, i);
	out->marks = marks;
	out->real_ns = session->start.real_ns;
	if (board)
		text_printable(out->board, sizeof(out->board), board, strlen(board));
}

/* A file of version 1 without a log is not imported for a list of files. */
static int peek(struct trace *t, struct trace_summary *out, struct err *e)
{
	struct stat st;
	int fd = open_file(t->path, t->shown, &st, &t->beside, e);
	bool done;

	if (fd < 0)
		return -1;
	done = nvmt1_begins(fd) && !unfinished(fd, t->path) && !whole_log(fd, t->shown) && nvmt1_peek(fd, out);
	close(fd);
	if (!done && open_any(t, false, NULL, NULL, e) < 0)
		return -1;
	if (!done)
		trace_summary(t, out);
	return 0;
}

int trace_peek(const char *path, struct trace_summary *out, struct err *e)
{
	struct trace *t = trace_new(path);
	int rc;

	if (!t)
		return err_set(e, ERR_FAILED, _("out of memory"));
	rc = peek(t, out, e);
	if (rc == 0 && e)
		*e = t->damage;
	trace_close(t);
	return rc;
}
