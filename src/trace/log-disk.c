/* The thread that writes chunks to disk, or to a pipe. fsync and other slow operations are jobs: writing
 * continues meanwhile, and written data survives the process. If a file becomes unwritable, it ends, and the
 * next one begins as soon as it can be created. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/log-output.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/job.h"
#include "util/text.h"
#include "util/thread.h"

#define PATIENCE_NS (2 * NS_PER_S) /* at the end, for a reader that has stopped reading */
#define LOOK_MS     50
#define PIECE       4096     /* PIPE_BUF: a pipe that polls writable has room for this */
#define LOOK_NS     NS_PER_S /* how often to check that the file still has its name */
#define RETRY_NS    NS_PER_S
#define LASTED_NS   (2 * NS_PER_S) /* a file that failed sooner is not retried at once */

/* --- jobs on the disk --- */

struct disk_job {
	struct job job;
	struct disk_job *next;
	struct part file; /* with a duplicate descriptor */
	bool sync, list;
	int num; /* errno of the sync */
	int64_t ended_ns;
	bool removed, moved;
};

/* Does the path no longer lead to the file? The current directory may have lost its path, too. */
static bool is_moved(const char *path, const struct stat *st)
{
	char folder[PATH_MAX];
	struct stat named;

	if (path[0] != '/' && !getcwd(folder, sizeof(folder)) && errno == ENOENT)
		return true;
	return stat(path, &named) < 0 || named.st_ino != st->st_ino || named.st_dev != st->st_dev;
}

static void disk_run(struct job *j)
{
	struct disk_job *d = (struct disk_job *)j;
	struct stat st;

	if (d->sync && fdatasync(d->file.fd) < 0)
		d->num = errno;
	if (d->list)
		log_file_list(d->file.path);
	d->ended_ns = clock_now_ns();
	if (fstat(d->file.fd, &st) < 0)
		return;
	d->removed = st.st_nlink == 0;
	d->moved = is_moved(d->file.path, &st);
}

static void disk_drop(struct job *j)
{
	struct disk_job *d = (struct disk_job *)j;

	close(d->file.fd);
	free(d);
}

/* Starts a job; takes over fd. */
static void job_begin(struct log_writer *w, int fd, bool sync)
{
	struct disk_job *d = calloc(1, sizeof(*d));
	struct err e;

	if (!d) {
		close(fd);
		return;
	}
	d->file = w->file;
	d->file.fd = fd;
	d->sync = sync;
	d->list = sync && !w->listed;
	w->listed |= sync;
	if (job_start(&d->job, disk_run, disk_drop, &e) < 0) {
		disk_drop(&d->job);
		return;
	}
	d->next = w->jobs;
	w->jobs = d;
}

static void file_failed(struct log_writer *w, int num);

static void job_ended(struct log_writer *w, const struct disk_job *d)
{
	bool current = w->file.fd >= 0 && d->file.since_ns == w->file.since_ns;

	char shown[PATH_MAX];

	if (d->num && !current && d->file.part < w->n_files) {
		w->files[d->file.part].complete = false;
		text_printable(shown, sizeof(shown), d->file.path, strlen(d->file.path));
		err_sys(&w->stats.last, ERR_FAILED, d->num, _("recording to %s ended early"), shown);
	}
	if (d->sync && w->options.sync_ns > 0)
		w->sync_ns = d->ended_ns + w->options.sync_ns;
	if (!current)
		return;
	w->found |= !d->removed && !d->moved;
	w->moved = w->found && d->moved;
	if (d->num || (w->found && d->removed))
		file_failed(w, d->num ? d->num : ENOENT);
}

/* Handles finished jobs and starts the next one; never waits. */
static void jobs_look(struct log_writer *w)
{
	int64_t now = clock_now_ns();
	bool sync;
	int fd;

	for (struct disk_job **at = &w->jobs, *d; (d = *at) != NULL;) {
		if (!job_done(&d->job, 0)) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		job_ended(w, d);
		disk_drop(&d->job);
	}
	sync = w->options.sync_ns > 0 && w->unsynced && now >= w->sync_ns;
	if (w->output != OUT_FILE || w->file.fd < 0 || w->jobs || (now < w->look_ns && !sync))
		return;
	w->look_ns = now + LOOK_NS;
	fd = fcntl(w->file.fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		job_begin(w, fd, sync);
	if (sync)
		w->unsynced = false;
}

/* --- files --- */

/* The file is complete: sync and close it. */
static void file_close(struct log_writer *w)
{
	if (w->moved && w->stats.last.code == ERR_NONE)
		err_set(&w->stats.last, ERR_FAILED,
			_("%s was completed, but its folder was moved or unmounted"), w->stats.path);
	if (w->file.fd >= 0)
		job_begin(w, w->file.fd, w->file.bytes > 0);
	w->file.fd = -1;
	w->found = w->moved = w->listed = w->unsynced = false;
}

/* Creates the next file, with a number that is not in use. Releases the lock meanwhile. */
static int file_open(struct log_writer *w, struct part *out, struct err *e)
{
	unsigned number = w->number + 1;
	struct err removed = w->stats.removed, kept = w->stats.kept;
	char path[PATH_MAX];
	int fd = -1;

	pthread_mutex_unlock(&w->lock);
	log_file_retain(w->path, &w->limits, &removed, &kept);
	if (part_path_free(w->path, false, &number, path, sizeof(path)))
		fd = log_file_make(path, false, e);
	else
		err_set(e, ERR_FAILED, _("the path is too long for the name of a next file"));
	pthread_mutex_lock(&w->lock);
	w->stats.removed = removed;
	w->stats.kept = kept;
	if (fd < 0)
		return -1;
	*out = (struct part) {.fd = fd, .number = number, .path = ""};
	memcpy(out->path, path, sizeof(path));
	w->number = number;
	return 0;
}

/* Opens the next file before the current one ends. */
static void next_open(struct log_writer *w)
{
	struct err e;

	if (file_open(w, &w->next, &e) == 0) {
		w->want = false;
		w->stats.err.code = ERR_NONE;
		return;
	}
	w->retry_ns = clock_now_ns() + RETRY_NS;
	err_set(&w->stats.err, ERR_FAILED, _("%s; the recording continues in the previous file"), e.text);
}

static void next_remove(struct log_writer *w)
{
	if (w->next.fd < 0)
		return;
	unlink(w->next.path);
	close(w->next.fd);
	w->next.fd = -1;
}

/* An interruption begins; it lasts until a write succeeds. */
static void trouble_begin(struct log_writer *w)
{
	if (!w->failed_ns) {
		w->failed_ns = clock_now_ns();
		w->stats.holes++;
	}
}

static void trouble_end(struct log_writer *w)
{
	if (!w->failed_ns)
		return;
	w->stats.hole_ns += clock_now_ns() - w->failed_ns;
	w->failed_ns = 0;
	if (!w->stats.failed)
		w->stats.err.code = ERR_NONE;
}

/* Ends the recording: there is no next file. */
static void fail(struct log_writer *w, int num)
{
	struct err *e = &w->stats.err;

	w->stats.reader_gone = w->output != OUT_FILE && (num == EPIPE || num == ECONNRESET);
	if (w->stats.reader_gone)
		err_set(e, ERR_FAILED, _("the reader closed the stream: the recording ended"));
	else if (w->output == OUT_FILE)
		err_sys(e, ERR_FAILED, num, _("recording to %s ended early"), w->stats.path);
	else if (num == ETIMEDOUT)
		err_set(e, ERR_FAILED, _("the reader of the stream does not respond: its end is lost"));
	else
		err_sys(e, ERR_FAILED, num, _("the stream to standard output ended early"));
	w->stats.failed = true;
	while (w->head)
		queue_taken(w, false);
}

/* Makes sure that the file of the first chunk is open. Returns false if not; it is then retried later. */
static bool file_ready(struct log_writer *w)
{
	struct err e;
	unsigned part = w->head->part;

	if (w->output != OUT_FILE || (w->file.fd >= 0 && w->file.part == part))
		return true;
	file_close(w);
	if (w->next.fd < 0 && file_open(w, &w->next, &e) < 0) {
		trouble_begin(w);
		if (w->stats.err.code == ERR_NONE)
			err_set(&w->stats.err, ERR_FAILED,
				_("%s; the recording continues in a new file as soon as possible"), e.text);
		w->retry_ns = clock_now_ns() + RETRY_NS;
		if (w->quit)
			fail(w, e.num);
		return false;
	}
	w->file = w->next;
	w->next.fd = -1;
	w->want = false;
	w->file.part = part;
	w->file.since_ns = clock_now_ns();
	text_printable(w->stats.path, sizeof(w->stats.path), w->file.path, strlen(w->file.path));
	if (part >= w->n_files && writer_part_add(w, w->file.number))
		fail(w, ENOMEM);
	return !w->stats.failed;
}

/* Removes the current file, which is empty. */
static void file_remove(struct log_writer *w)
{
	unlink(w->file.path);
	close(w->file.fd);
	w->file.fd = -1;
	w->number--;
	w->n_files--;
}

static void file_failed(struct log_writer *w, int num)
{
	int64_t now = clock_now_ns(), lasted = now - w->file.since_ns;
	unsigned part = w->file.part;
	struct err *e = &w->stats.last;
	char path[PATH_MAX];

	if (!w->go_on || w->quit || w->output != OUT_FILE) {
		if (!w->stats.failed)
			fail(w, num);
		return;
	}
	trouble_begin(w);
	err_sys(e, ERR_FAILED, num, _("recording to %s ended early"), w->stats.path);
	err_set(&w->stats.err, ERR_FAILED, _("%s; the recording continues in a new file as soon as possible"),
		e->text);
	w->retry_ns = lasted < LASTED_NS ? now + RETRY_NS : now;
	if (w->file.bytes == 0) {
		file_remove(w);
		return;
	}
	file_close(w);
	queue_return(w, part);
	if (w->part == part) {
		w->part++;
		w->cutting = false;
		w->made += w->file.bytes;
		log_builder_restart(w->builder, writer_part_name(w, w->file.number, path));
	}
}

/* --- chunks --- */

/* Writes all of the chunk, or removes the part that was written. Returns 0 or an errno. */
static int write_file(int fd, const struct block *b)
{
	struct stat before, after;
	int num;

	if (fstat(fd, &before) < 0)
		return errno;
	if (write_all(fd, b->bytes, b->n) == 0)
		return 0;
	num = errno;
	if (fstat(fd, &after) == 0 && after.st_size > before.st_size && ftruncate(fd, before.st_size) < 0)
		return EIO;
	return num;
}

static bool quitting(struct log_writer *w)
{
	bool quit;

	pthread_mutex_lock(&w->lock);
	quit = w->quit;
	pthread_mutex_unlock(&w->lock);
	return quit;
}

static ssize_t write_some(const struct log_writer *w, const uint8_t *p, size_t n)
{
	if (w->output == OUT_SOCKET)
		return send(w->file.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(w->file.fd, p, w->output == OUT_PIPE && n > PIECE ? PIECE : n);
}

/* Waits for the reader without limit, except at the end. */
static int write_stream(struct log_writer *w, const struct block *b)
{
	struct pollfd ready = {.fd = w->file.fd, .events = POLLOUT};
	int64_t give_up = INT64_MAX;
	size_t done = 0;

	while (done < b->n) {
		ssize_t n = -1;

		errno = EAGAIN;
		if (w->output == OUT_OTHER || poll(&ready, 1, LOOK_MS) > 0)
			n = write_some(w, b->bytes + done, b->n - done);
		if (n > 0) {
			done += (size_t)n;
			give_up = INT64_MAX;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			return n == 0 ? ENOSPC : errno;
		} else if (give_up == INT64_MAX && quitting(w)) {
			give_up = clock_now_ns() + PATIENCE_NS;
		} else if (clock_now_ns() >= give_up) {
			return ETIMEDOUT;
		}
	}
	return 0;
}

/* The disk is full: chunks wait for room in the same file. */
static void wait_for_room(struct log_writer *w, int num)
{
	char size[32];

	trouble_begin(w);
	text_bytes(size, sizeof(size), w->options.buffer);
	err_sys(&w->stats.err, ERR_FAILED, num, _("cannot write to %s, up to %s wait in memory"),
		w->stats.path, size);
	w->retry_ns = clock_now_ns() + RETRY_NS;
}

static void chunk_written(struct log_writer *w)
{
	struct block *b = w->head;

	trouble_end(w);
	w->file.bytes += b->n;
	w->unsynced = true;
	if (b->about.kind == LOG_END && w->output == OUT_FILE)
		w->files[b->part].complete = true;
	queue_taken(w, true);
}

/* Writes the first chunk. Releases the lock meanwhile. */
static void write_next(struct log_writer *w)
{
	struct block *b = w->head;
	int num;

	if (!file_ready(w))
		return;
	w->write_ns = clock_now_ns();
	pthread_mutex_unlock(&w->lock);
	num = w->output == OUT_FILE ? write_file(w->file.fd, b) : write_stream(w, b);
	pthread_mutex_lock(&w->lock);
	w->write_ns = 0;
	if (num == 0)
		chunk_written(w);
	else if ((num == ENOSPC || num == EDQUOT) && w->go_on && !w->quit)
		wait_for_room(w, num);
	else
		file_failed(w, num);
}

/* Waits for chunks. Packs rows whose cell has ended even if no further rows arrive. */
static void wait_for_chunks(struct log_writer *w)
{
	int64_t now = clock_now_ns(), due = now + (INT64_C(1) << LOG_CELL_ZOOM);

	if (!w->quit && w->options.live && log_builder_due(w->builder) < due)
		due = log_builder_due(w->builder);
	if (w->head && w->retry_ns < due)
		due = w->retry_ns;
	if (due > now)
		thread_wait(&w->wake, &w->lock, due);
	else if (!w->head || now < w->retry_ns)
		log_builder_run(w->builder, now);
}

static void finish(struct log_writer *w)
{
	if (w->output == OUT_FILE && w->file.fd >= 0 && w->file.bytes == 0)
		file_remove(w);
	else if (w->output == OUT_FILE)
		file_close(w);
	next_remove(w);
	trouble_end(w);
	while (w->jobs) {
		struct disk_job *d = w->jobs;

		pthread_mutex_unlock(&w->lock);
		job_done(&d->job, INT64_MAX);
		pthread_mutex_lock(&w->lock);
		jobs_look(w);
	}
}

static void *disk_main(void *arg)
{
	struct log_writer *w = arg;

	prctl(PR_SET_NAME, "nvmtop-disk");
	pthread_mutex_lock(&w->lock);
	while (!w->discard && (w->head || !w->quit)) {
		bool wait;

		jobs_look(w);
		wait = !w->quit && clock_now_ns() < w->retry_ns;
		if (w->want && w->next.fd < 0 && !wait && !w->quit)
			next_open(w);
		else if (w->head && !wait)
			write_next(w);
		else
			wait_for_chunks(w);
	}
	finish(w);
	writer_leave(w);
	return NULL;
}

int disk_start(struct log_writer *w)
{
	pthread_t thread;
	int num;

	w->file.since_ns = clock_now_ns();
	w->look_ns = w->file.since_ns;
	w->sync_ns = w->file.since_ns + w->options.sync_ns;
	num = thread_start(&thread, disk_main, w);
	if (num)
		return num;
	pthread_detach(thread);
	w->thread = true;
	return 0;
}
