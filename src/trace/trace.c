/* Opens traces. Every trace is read as a log: a file of version 1 is first imported into a temporary one, for
 * the screen in the background while the trace grows. */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "util/io.h"
#include "util/text.h"
#include "util/job.h"
#include "trace/log-read.h"
#include "trace/nvmt1.h"
#include "trace/trace-file.h"

#define FIRST_NS (300 * NS_PER_MS) /* wait for an import before a part of it is shown */
#define LOOK_NS	 (NS_PER_S / 2)	   /* between two polls of a growing log */

/* --- import --- */

struct import {
	struct job job;
	struct nvmt1_import file;
	int from; /* the file of version 1 */
	struct log *log;
	struct log_out *out; /* of it, to the temporary log */
	char *shown;
	trace_progress *progress;
	void *arg;
	atomic_int permille;
	int64_t looked_ns;
	int rc;
	struct err err;
};

static bool import_goes_on(void *arg, double done)
{
	struct import *m = arg;

	atomic_store(&m->permille, (int)(done * 1000));
	return log_out_ready(m->out) && !job_is_cancelled(&m->job) && (!m->progress || m->progress(m->arg, done));
}

static void import_run(struct job *j)
{
	struct import *m = (struct import *)j;
	struct err failed;

	m->rc = nvmt1_import(m->from, m->shown, &m->file, &m->err);
	log_sink(m->log)->ops->end(log_sink(m->log), NULL);
	if (log_out_end(m->out, &failed) < 0)
		m->rc = err_sys(&m->err, ERR_FAILED, failed.num,
				_("cannot read %s: it is converted in a temporary folder (TMPDIR) that cannot take it"), m->shown);
}

static void import_free(struct job *j)
{
	struct import *m = (struct import *)j;

	log_out_free(m->out);
	log_free(m->log);
	if (m->from >= 0)
		close(m->from);
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

/* Starts to import the file into a temporary log, which becomes that of the trace. */
static struct import *import_new(struct trace *t, struct err *e)
{
	struct import *m = calloc(1, sizeof(*m));
	int to;

	if (!m) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	to = trace_temporary();
	m->from = fcntl(t->version1, F_DUPFD_CLOEXEC, 3);
	m->shown = strdup(t->shown);
	t->files[0].fd = to;
	if (to < 0 || m->from < 0 || !m->shown)
		no_temporary(t->shown, e);
	else if ((m->log = log_new(&(struct log_bound) {.now = false}, e)) != NULL)
		m->out = log_out_fd(fcntl(to, F_DUPFD_CLOEXEC, 3), e);
	if (m->out) /* a tier may be far ahead in hostile files: nothing is dropped */
		log_out_options(m->out)->buffer = SIZE_MAX / 4;
	if (m->out && log_out_begin(m->out, m->log, INT64_MIN, INT64_MAX, e) == 0) {
		m->file = (struct nvmt1_import) {.to = log_sink(m->log), .progress = import_goes_on, .of = m};
		return m;
	}
	import_free(&m->job);
	return NULL;
}

/* It has ended: takes over its results. */
static int import_take(struct trace *t, struct err *e)
{
	struct import *m = t->import;
	int rc = m->rc;

	t->import = NULL;
	if (rc == 0)
		rc = log_files_read(t, e);
	else
		*e = m->err;
	if (rc == 0)
		t->wrong = m->err;
	import_free(&m->job);
	return rc;
}

/* view: returns when a part of a long file can be read, and goes on in the background. */
static int import_open(struct trace *t, bool view, trace_progress *progress, void *arg, struct err *e)
{
	struct import *m = import_new(t, e);

	if (!m)
		return -1;
	m->progress = view ? NULL : progress;
	m->arg = arg;
	if (view && job_start(&m->job, import_run, import_free, e) < 0) {
		import_free(&m->job);
		return -1;
	}
	t->import = m;
	if (!view)
		import_run(&m->job);
	for (int64_t wait = FIRST_NS; view && !job_done(&m->job, clock_now_ns() + wait); wait = LOOK_NS / 5) {
		m->looked_ns = clock_now_ns();
		if (log_files_read(t, e) == 0)
			return 0;
	}
	return import_take(t, e);
}

/* --- an open trace --- */

static void look_for_damage(struct trace *t)
{
	uint64_t size = 0;
	char text[512] = "";
	struct stat st;

	trace_damage_text(t, text, sizeof(text));
	for (const struct log_piece *f = t->files; f < t->files + t->n_files; f++)
		size += fstat(f->fd, &st) == 0 && (uint64_t)st.st_size < f->size ? (uint64_t)st.st_size : f->size;
	if (size < t->size)
		snprintf(text, sizeof(text), _("it was truncated to %llu bytes"), (unsigned long long)size);
	if (text[0])
		err_set(&t->wrong, ERR_DAMAGED, _("%s is damaged: %s"), t->shown, text);
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

int trace_file_open(const char *path, const char *shown, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), num = errno;
	char log[PATH_MAX], named[512];

	if (fd >= 0)
		return fd;
	err_sys(e, ERR_FAILED, num, _("cannot read %s"), shown);
	if (num != ENOENT || !nvmt1_log_name(path, log, sizeof(log)))
		return -1;
	if (access(log, F_OK) < 0 && snprintf(log, sizeof(log), "%s.nvmt", path) >= (int)sizeof(log))
		return -1;
	text_printable(named, sizeof(named), log, strlen(log));
	if (access(log, F_OK) == 0)
		err_num(e, ERR_FAILED, ENOENT,
			_("%s does not exist, but %s, of which it is made at the end of a recording: nvmtop export "
			  "nvmt1 %s -o %s makes it"),
			shown, named, named, shown);
	return -1;
}

bool trace_notice(struct trace *t, char *out, size_t size)
{
	struct log_damage d;
	size_t n = 0;

	trace_damage(t, &d);
	if (t->absent > 0)
		n = (size_t)snprintf(out, size,
				     P_("%s: %llu of the files of this recording is missing, which is a gap",
					"%s: %llu of the files of this recording are missing, which are gaps", t->absent),
				     t->shown, (unsigned long long)t->absent);
	if (d.unknown > 0 && n < size)
		snprintf(out + n, size - n,
			 _("%s%s has parts that this version of nvmtop does not know: %llu of its chunks were skipped"),
			 n ? "; " : "", t->shown, (unsigned long long)d.unknown);
	return t->absent > 0 || d.unknown > 0;
}

int trace_piece_open(struct trace_piece *p, const char *path, struct err *e)
{
	struct stat st;

	*p = (struct trace_piece) {.path = path};
	text_printable(p->shown, sizeof(p->shown), path, strlen(path));
	p->fd = strcmp(path, "-") == 0 ? spool(p->shown, e) : trace_file_open(path, p->shown, e);
	if (p->fd < 0)
		return -1;
	if (check_kind(p->fd, p->shown, &st, e) == 0) {
		p->bytes = (uint64_t)st.st_size;
		p->version1 = nvmt1_begins(p->fd);
		if (p->version1 || log_first(p->fd, &p->first))
			return 0;
		err_set(e, ERR_FAILED, _("%s is not a trace: it does not begin with the magic number of NVMT"), p->shown);
	}
	close(p->fd);
	return -1;
}

static int by_seq(const void *a, const void *b)
{
	const struct trace_piece *p = a, *q = b;

	return (p->first.seq > q->first.seq) - (p->first.seq < q->first.seq);
}

/* Sorts the files. Returns -1 if they are not different files of one recording. */
static int pieces_sort(struct trace_piece *list, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].version1)
			return err_set(e, ERR_FAILED, _("%s is of NVMT version 1, which has no recordings of several files: "
							"nvmtop FILE --with %s compares it"), list[i].shown, list[i].shown);
	for (size_t i = 1; i < n; i++)
		if (list[i].first.session != list[0].first.session)
			return err_set(e, ERR_FAILED, _("%s and %s are of two recordings: nvmtop %s --with %s compares them"),
				       list[0].shown, list[i].shown, list[0].shown, list[i].shown);
	qsort(list, n, sizeof(*list), by_seq);
	for (size_t i = 1; i < n; i++)
		if (list[i].first.seq == list[i - 1].first.seq)
			return err_set(e, ERR_FAILED, _("%s and %s are the same file of a recording: give it once"),
				       list[i - 1].shown, list[i].shown);
	return 0;
}

struct trace *trace_open_files(const char *const *paths, size_t n, bool view, trace_progress *progress, void *arg,
			       struct err *e)
{
	struct trace_piece *list = calloc(n, sizeof(*list));
	char shown[sizeof(list->shown) + 64];
	struct err failed = {.code = ERR_NONE};
	struct trace *t = NULL;
	size_t opened = 0, length;
	int rc = list ? 0 : -1;

	err_set(&failed, ERR_FAILED, _("out of memory"));
	while (rc == 0 && opened < n) {
		rc = trace_piece_open(&list[opened], paths[opened], &failed);
		opened += rc == 0;
	}
	if (rc == 0 && n > 1)
		rc = pieces_sort(list, n, &failed);
	if (rc == 0) {
		length = (size_t)snprintf(shown, sizeof(shown), "%s", list[0].shown);
		if (n > 1)
			snprintf(shown + length, sizeof(shown) - length, P_(" and %zu other file", " and %zu other files", n - 1), n - 1);
		t = log_files_new(n, shown, &failed);
	}
	for (size_t i = 0; i < opened; i++) {
		if (!t) {
			close(list[i].fd);
			continue;
		}
		t->files[i] = (struct log_piece) {.fd = list[i].version1 ? -1 : list[i].fd, .path = strdup(list[i].path)};
		t->n_files++;
		t->bytes += list[i].bytes;
		t->version1 = list[i].version1 ? list[i].fd : -1;
		rc = t->files[i].path ? rc : -1;
	}
	if (rc == 0 && t && list[0].version1)
		rc = import_open(t, view, progress, arg, &failed);
	else if (rc == 0 && t)
		rc = log_files_read(t, &failed);
	if (rc < 0) {
		trace_close(t);
		t = NULL;
	}
	if (t && !t->import)
		look_for_damage(t);
	if (t)
		t->told = t->wrong;
	if (e)
		*e = t ? t->wrong : failed;
	free(list);
	return t;
}

struct trace *trace_open(const char *path, struct err *e)
{
	return trace_open_files(&path, 1, false, NULL, NULL, e);
}

uint32_t trace_recording(const char *path, uint64_t *seq)
{
	struct trace_piece p = {.fd = -1};
	struct err unheard;

	if (strcmp(path, "-") != 0 && trace_piece_open(&p, path, &unheard) == 0)
		close(p.fd);
	if (seq)
		*seq = p.first.seq;
	return p.first.session;
}

void trace_look(struct trace *t, struct trace_state *out)
{
	struct err unheard = {.code = ERR_NONE};

	if (!t->import) {
		look_for_damage(t);
	} else if (job_done(&t->import->job, 0)) {
		import_take(t, &t->wrong);
	} else if (clock_now_ns() >= t->import->looked_ns + LOOK_NS) {
		log_files_read(t, &unheard);
		t->import->looked_ns = clock_now_ns();
	}
	out->building = t->import != NULL;
	out->built = t->import ? atomic_load(&t->import->permille) / 1000.0 : 1;
	out->news = strcmp(t->told.text, t->wrong.text) != 0;
	out->damage = t->wrong;
	t->told = t->wrong;
}

const char *trace_path(const struct trace *t)
{
	return t->files[0].path;
}

const char *trace_last_path(const struct trace *t)
{
	return t->files[t->n_files - 1].path;
}

const char *trace_name(const struct trace *t)
{
	return t->shown;
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

int trace_peek(const char *path, struct trace_summary *out, struct err *e)
{
	struct trace_piece p;
	struct trace *t;
	bool done = false;

	/* A file of version 1 is not imported for a list of files. */
	if (trace_piece_open(&p, path, e) < 0)
		return -1;
	if (e)
		e->code = ERR_NONE;
	done = p.version1 && nvmt1_peek(p.fd, out);
	close(p.fd);
	t = done ? NULL : trace_open(path, e);
	if (t)
		trace_summary(t, out);
	trace_close(t);
	return done || t ? 0 : -1;
}

bool trace_lists_gaps(const struct trace *t)
{
	return t->version1 < 0 || t->import;
}

uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max)
{
	struct trace_epoch now = {.from_ns = trace_session(t)->start.mono_ns};
	int64_t first_ns, last_ns;
	size_t n;
	const struct mark *marks = trace_marks(t, &n);

	trace_extent(t, &first_ns, &last_ns);
	for (size_t i = 0; i <= n && i < max; i++) {
		const struct mark *m = i < n ? &marks[i] : NULL;
		uint64_t row = m ? trace_row_from(t, TIER_FAST, m->t_ns) : trace_rows(t, TIER_FAST);

		now.n = row - now.first;
		now.to_ns = m ? m->t_ns : last_ns > now.from_ns ? last_ns : now.from_ns;
		out[i] = now;
		if (!m)
			break;
		now = (struct trace_epoch) {.id = m->id, .first = row, .from_ns = m->t_ns};
		snprintf(now.label, sizeof(now.label), "%s", m->label);
	}
	return n + 1;
}
