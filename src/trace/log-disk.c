/* Where an output is written: files that follow each other, or a pipe. fsync and other slow operations are jobs:
 * writing continues meanwhile, and written data survives the process. A file that became unwritable ends, and the
 * next one begins as soon as it can be created. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
#define TRUNCATED   (-1)	   /* in place of an errno: the file is shorter than what was written to it */

/* --- what is wrong --- */

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

static void ended_early(struct err *e, int num, const char *path)
{
	char shown[PATH_MAX];

	text_printable(shown, sizeof(shown), path, strlen(path));
	if (num == TRUNCATED)
		err_set(e, ERR_FAILED, _("recording to %s ended early: another program has truncated it"), shown);
	else
		err_sys(e, ERR_FAILED, num, _("recording to %s ended early"), shown);
}

/* Ends the recording: there is no next file. */
static void fail(struct log_writer *w, int num)
{
	struct err *e = &w->stats.err;

	if (w->stats.failed)
		return;
	w->stats.reader_gone = w->output != OUT_FILE && (num == EPIPE || num == ECONNRESET);
	if (w->stats.reader_gone)
		err_set(e, ERR_FAILED, _("the reader closed the stream: the recording ended"));
	else if (w->output == OUT_FILE)
		ended_early(e, num, w->file.path);
	else if (num == ETIMEDOUT)
		err_set(e, ERR_FAILED, _("the reader of the stream does not respond: its end is lost"));
	else
		err_sys(e, ERR_FAILED, num, _("the stream to standard output ended early"));
	w->stats.failed = true;
}

/* Waits until then, or until the recording ends. */
static void pause_until(struct log_writer *w, int64_t until_ns)
{
	while (!w->quit && thread_wait(&w->wake, &w->lock, until_ns))
		continue;
}

/* --- jobs on the disk --- */

struct disk_job {
	struct job job;
	struct disk_job *next;
	struct part file; /* with a duplicate descriptor */
	bool sync, list;
	int num; /* errno of the sync */
	int64_t ended_ns;
	bool removed, moved, truncated;
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
	d->truncated = (uint64_t)st.st_size < d->file.bytes;
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

/* The file is complete, or can take no more: syncs and closes it. */
void disk_close(struct log_writer *w)
{
	if (w->moved && w->stats.last.code == ERR_NONE)
		err_set(&w->stats.last, ERR_FAILED,
			_("%s was completed, but its folder was moved or unmounted"), w->stats.path);
	if (w->file.fd >= 0)
		job_begin(w, w->file.fd, w->file.bytes > 0);
	w->file.fd = -1;
	w->found = w->moved = w->listed = w->unsynced = false;
}

/* The current file has nothing. */
static void file_remove(struct log_writer *w)
{
	if (!w->file.unnamed)
		unlink(w->file.path);
	close(w->file.fd);
	w->file.fd = -1;
	w->n_files--;
}

/* The current file can take no more. One that has nothing is removed: it is as if it could not be created. */
static void file_failed(struct log_writer *w, int num)
{
	int64_t now = clock_now_ns(), lasted = now - w->file.since_ns;
	struct err e;

	if (!w->go_on || w->quit || w->output != OUT_FILE) {
		fail(w, num);
		return;
	}
	trouble_begin(w);
	ended_early(&e, num, w->file.path);
	err_set(&w->stats.err, ERR_FAILED, _("%s; the recording continues in a new file as soon as possible"),
		e.text);
	w->retry_ns = lasted < LASTED_NS ? now + RETRY_NS : now;
	if (w->file.bytes > 0) {
		w->stats.last = e;
		disk_close(w);
		return;
	}
	file_remove(w);
	w->number = w->file.number - 1;
}

static void job_ended(struct log_writer *w, const struct disk_job *d)
{
	bool current = w->file.fd >= 0 && d->file.since_ns == w->file.since_ns;
	int num = d->num ? d->num : d->truncated ? TRUNCATED : 0;

	if (num && !current && d->file.index < w->n_files) {
		w->files[d->file.index].complete = false;
		ended_early(&w->stats.last, num, d->file.path);
	}
	if (d->sync && w->options.sync_ns > 0)
		w->sync_ns = d->ended_ns + w->options.sync_ns;
	if (!current)
		return;
	w->found |= !d->removed && !d->moved;
	w->moved = w->found && d->moved;
	if (num || (w->found && d->removed))
		file_failed(w, num ? num : ENOENT);
}

void disk_look(struct log_writer *w)
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

int disk_open(struct log_writer *w, bool over, struct part *out, struct err *e)
{
	unsigned number = w->number + 1;
	struct err removed = w->stats.removed, kept = w->stats.kept;
	char path[PATH_MAX] = "";
	bool unnamed = !w->names;
	int fd = -1;

	e->num = 0;
	pthread_mutex_unlock(&w->lock);
	log_file_retain(w->path, &w->limits, &removed, &kept);
	do {
		if (!part_path_free(w->path, over, &number, path, sizeof(path))) {
			err_set(e, ERR_FAILED, _("the path is too long for the name of a next file"));
			break;
		}
		fd = log_file_make(path, over, &unnamed, e);
	} while (fd < 0 && (e->num == EEXIST || e->num == EBUSY) && !over); /* another program was first */
	pthread_mutex_lock(&w->lock);
	w->stats.removed = removed;
	w->stats.kept = kept;
	*out = (struct part) {.fd = fd, .number = number, .unnamed = unnamed && !over, .path = ""};
	memcpy(out->path, path, sizeof(out->path));
	if (fd < 0)
		return -1;
	w->number = number;
	return 0;
}

bool disk_use(struct log_writer *w, const struct part *file)
{
	struct file_done *files = reallocarray(w->files, w->n_files + 1, sizeof(*files));

	w->file = *file;
	w->file.index = w->n_files;
	w->file.since_ns = clock_now_ns();
	text_printable(w->stats.path, sizeof(w->stats.path), w->file.path, strlen(w->file.path));
	if (!files) {
		fail(w, ENOMEM);
		return false;
	}
	w->files = files;
	w->files[w->n_files++] = (struct file_done) {.number = file->number};
	return true;
}

bool disk_need(struct log_writer *w, struct part *out)
{
	struct err e;

	pause_until(w, w->retry_ns);
	while (disk_open(w, w->force && w->made == 0 && w->begins, out, &e) < 0) {
		trouble_begin(w);
		if (w->stats.err.code == ERR_NONE || w->n_files == 0)
			err_set(&w->stats.err, ERR_FAILED,
				_("%s; the recording continues in a new file as soon as possible"), e.text);
		if (w->quit || !w->go_on) {
			w->stats.err = e;
			w->stats.failed = true;
			return false;
		}
		w->retry_ns = clock_now_ns() + RETRY_NS;
		pause_until(w, w->retry_ns);
	}
	return true;
}

/* --- chunks --- */

/* Writes all of the chunk, or removes the part that was written. Returns 0 or an errno. */
static int write_file(const struct part *file, const uint8_t *p, size_t n)
{
	struct stat before, after;
	int num;

	if (fstat(file->fd, &before) < 0)
		return errno;
	if ((uint64_t)before.st_size < file->bytes)
		return TRUNCATED;
	if (write_all(file->fd, p, n) == 0)
		return 0;
	num = errno;
	if (fstat(file->fd, &after) == 0 && after.st_size > before.st_size &&
	    ftruncate(file->fd, before.st_size) < 0)
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
static int write_stream(struct log_writer *w, const uint8_t *p, size_t size)
{
	struct pollfd ready = {.fd = w->file.fd, .events = POLLOUT};
	int64_t give_up = INT64_MAX;
	size_t done = 0;

	while (done < size) {
		ssize_t n = -1;

		errno = EAGAIN;
		if (w->output == OUT_OTHER || poll(&ready, 1, LOOK_MS) > 0)
			n = write_some(w, p + done, size - done);
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

bool disk_write(struct log_writer *w)
{
	char size[32];
	int num;

	for (;;) {
		if (w->output == OUT_FILE && w->file.fd < 0)
			return false;
		w->write_ns = clock_now_ns();
		w->stats.held = w->bytes.n;
		pthread_mutex_unlock(&w->lock);
		num = w->output == OUT_FILE ? write_file(&w->file, w->bytes.p, w->bytes.n)
					    : write_stream(w, w->bytes.p, w->bytes.n);
		if (num == 0 && w->file.unnamed) {
			num = log_file_link(w->file.fd, w->file.path);
			while (num == EEXIST && w->go_on && /* another program was first */
			       part_path_free(w->path, false, &w->file.number, w->file.path, sizeof(w->file.path)))
				num = log_file_link(w->file.fd, w->file.path);
			w->file.unnamed = num != 0;
			w->names |= num != 0 && num != EEXIST;
		}
		pthread_mutex_lock(&w->lock);
		w->write_ns = 0;
		if (w->output == OUT_FILE && w->files[w->file.index].number != w->file.number) {
			w->number = w->files[w->file.index].number = w->file.number;
			text_printable(w->stats.path, sizeof(w->stats.path), w->file.path, strlen(w->file.path));
		}
		if (num == 0)
			break;
		if ((num != ENOSPC && num != EDQUOT) || !w->go_on || w->quit) {
			file_failed(w, num);
			return false;
		}
		/* The disk is full: chunks wait for room in the same file. */
		trouble_begin(w);
		text_bytes(size, sizeof(size), w->options.buffer);
		err_sys(&w->stats.err, ERR_FAILED, num, _("cannot write to %s, up to %s wait in memory"),
			w->stats.path, size);
		pause_until(w, clock_now_ns() + RETRY_NS);
		disk_look(w);
	}
	trouble_end(w);
	w->stats.held = 0;
	w->stats.bytes += w->bytes.n;
	w->file.bytes += w->bytes.n;
	w->unsynced = true;
	return true;
}

void disk_finish(struct log_writer *w)
{
	if (w->output == OUT_FILE && w->file.fd >= 0 && w->file.bytes == 0) {
		file_remove(w);
	} else if (w->output == OUT_FILE) {
		disk_close(w);
	}
	trouble_end(w);
	while (w->jobs) {
		struct disk_job *d = w->jobs;

		pthread_mutex_unlock(&w->lock);
		job_done(&d->job, INT64_MAX);
		pthread_mutex_lock(&w->lock);
		disk_look(w);
	}
}
