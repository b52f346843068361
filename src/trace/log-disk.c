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
#include "util/array.h"
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
static void trouble_begin(struct log_out *o)
{
	if (!o->failed_ns) {
		o->failed_ns = clock_now_ns();
		o->stats.holes++;
	}
}

static void trouble_end(struct log_out *o)
{
	if (!o->failed_ns)
		return;
	o->stats.hole_ns += clock_now_ns() - o->failed_ns;
	o->failed_ns = 0;
	if (!o->stats.failed)
		o->stats.err.code = ERR_NONE;
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

void disk_fail(struct log_out *o, int num)
{
	struct err *e = &o->stats.err;

	if (o->stats.failed)
		return;
	o->stats.reader_gone = o->stream && (num == EPIPE || num == ECONNRESET);
	if (o->stats.reader_gone)
		err_set(e, ERR_FAILED, _("the reader closed the stream: the recording ended"));
	else if (!o->stream)
		ended_early(e, num, o->file.path);
	else if (num == ETIMEDOUT)
		err_set(e, ERR_FAILED, _("the reader of the stream does not respond: its end is lost"));
	else
		err_sys(e, ERR_FAILED, num, _("the stream to standard output ended early"));
	o->stats.failed = true;
}

/* Waits until then, or until the recording ends. */
static void pause_until(struct log_out *o, int64_t until_ns)
{
	while (!o->quit && thread_wait(&o->wake, &o->lock, until_ns))
		continue;
}

/* --- jobs on the disk --- */

struct disk_job {
	struct job job;
	struct disk_job *next;
	struct out_file file; /* with a duplicate descriptor */
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
static void job_begin(struct log_out *o, int fd, bool sync)
{
	struct disk_job *d = calloc(1, sizeof(*d));
	struct err e;

	if (!d) {
		close(fd);
		return;
	}
	d->file = o->file;
	d->file.fd = fd;
	d->sync = sync;
	d->list = sync && !o->listed;
	o->listed |= sync;
	if (job_start(&d->job, disk_run, disk_drop, &e) < 0) {
		disk_drop(&d->job);
		return;
	}
	d->next = o->jobs;
	o->jobs = d;
}

/* The file is complete, or can take no more: syncs and closes it. */
void disk_close(struct log_out *o)
{
	if (o->moved && o->stats.last.code == ERR_NONE)
		err_set(&o->stats.last, ERR_FAILED,
			_("%s was completed, but its folder was moved or unmounted"), o->stats.path);
	if (o->file.fd >= 0)
		job_begin(o, o->file.fd, o->file.bytes > 0);
	o->file.fd = -1;
	o->found = o->moved = o->listed = o->unsynced = false;
}

/* The current file has nothing. */
static void file_remove(struct log_out *o)
{
	if (!o->file.unnamed)
		unlink(o->file.path);
	close(o->file.fd);
	o->file.fd = -1;
	o->n_files--;
}

/* The current file can take no more. One that has nothing is removed: it is as if it could not be created. */
static void file_failed(struct log_out *o, int num)
{
	int64_t now = clock_now_ns(), lasted = now - o->file.since_ns;
	struct err e;

	if (!o->go_on || o->stream || (o->quit && o->file.bytes == 0)) {
		disk_fail(o, num);
		if (o->go_on && o->stats.last.code != ERR_NONE) { /* of the file before, which has something */
			o->stats.err = o->stats.last;
			file_remove(o);
		}
		return;
	}
	trouble_begin(o);
	ended_early(&e, num, o->file.path);
	err_set(&o->stats.err, ERR_FAILED, _("%s; the recording continues in a new file as soon as possible"),
		e.text);
	o->retry_ns = lasted < LASTED_NS ? now + RETRY_NS : now;
	if (o->file.bytes > 0) {
		o->stats.last = e;
		disk_close(o);
		return;
	}
	file_remove(o);
}

static void job_ended(struct log_out *o, const struct disk_job *d)
{
	bool current = o->file.fd >= 0 && d->file.since_ns == o->file.since_ns;
	int num = d->num ? d->num : d->truncated ? TRUNCATED : 0;

	if (num && !current && d->file.index < o->n_files) {
		o->files[d->file.index].complete = false;
		ended_early(&o->stats.last, num, d->file.path);
	}
	if (d->sync && o->options.sync_ns > 0)
		o->sync_ns = d->ended_ns + o->options.sync_ns;
	if (!current)
		return;
	o->found |= !d->removed && !d->moved;
	o->moved = o->found && d->moved;
	if (num || (o->found && d->removed))
		file_failed(o, num ? num : ENOENT);
}

void disk_look(struct log_out *o)
{
	int64_t now = clock_now_ns();
	bool sync;
	int fd;

	for (struct disk_job **at = &o->jobs, *d; (d = *at) != NULL;) {
		if (!job_done(&d->job, 0)) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		job_ended(o, d);
		disk_drop(&d->job);
	}
	sync = o->options.sync_ns > 0 && o->unsynced && now >= o->sync_ns;
	if (o->stream || o->file.fd < 0 || o->jobs || (now < o->look_ns && !sync))
		return;
	o->look_ns = now + LOOK_NS;
	fd = fcntl(o->file.fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0)
		job_begin(o, fd, sync);
	if (sync)
		o->unsynced = false;
}

/* --- files --- */

int disk_open(struct log_out *o, bool over, struct out_file *out, struct err *e)
{
	unsigned number = o->n_files > 0 ? o->files[o->n_files - 1].number + 1 : 1;
	struct err removed = o->stats.removed, kept = o->stats.kept;
	char path[PATH_MAX] = "";
	bool unnamed = !o->names;
	int fd = -1;

	e->num = 0;
	pthread_mutex_unlock(&o->lock);
	log_file_retain(o->path, &o->limits, &removed, &kept);
	do {
		if (!part_path_free(o->path, over, &number, path, sizeof(path))) {
			err_set(e, ERR_FAILED, _("the path is too long for the name of a next file"));
			break;
		}
		fd = log_file_make(path, over, &unnamed, e);
	} while (fd < 0 && (e->num == EEXIST || e->num == EBUSY) && !over); /* another program was first */
	pthread_mutex_lock(&o->lock);
	o->stats.removed = removed;
	o->stats.kept = kept;
	*out = (struct out_file) {.fd = fd, .number = number, .unnamed = unnamed && !over, .path = ""};
	memcpy(out->path, path, sizeof(out->path));
	return fd < 0 ? -1 : 0;
}

bool disk_use(struct log_out *o, const struct out_file *file)
{
	struct out_written *f = array_add(&o->files, &o->n_files, sizeof(*f));

	o->file = *file;
	o->file.index = o->n_files - 1;
	o->file.since_ns = clock_now_ns();
	text_printable(o->stats.path, sizeof(o->stats.path), o->file.path, strlen(o->file.path));
	if (!f) {
		disk_fail(o, ENOMEM);
		return false;
	}
	f->number = file->number;
	return true;
}

bool disk_next(struct log_out *o)
{
	struct out_file next;
	struct err e;

	pause_until(o, o->retry_ns);
	while (disk_open(o, o->force && o->stats.bytes == 0, &next, &e) < 0) {
		trouble_begin(o);
		if (o->stats.err.code == ERR_NONE || o->n_files == 0)
			err_set(&o->stats.err, ERR_FAILED,
				_("%s; the recording continues in a new file as soon as possible"), e.text);
		if (o->quit || !o->go_on) {
			o->stats.err = o->stats.last.code != ERR_NONE ? o->stats.last : e; /* the cause, if there was a file */
			o->stats.failed = true;
			return false;
		}
		o->retry_ns = clock_now_ns() + RETRY_NS;
		pause_until(o, o->retry_ns);
	}
	return disk_use(o, &next);
}

/* --- chunks --- */

/* Writes all of the chunk, or removes the part that was written. Returns 0 or an errno. */
static int write_file(const struct out_file *file, const uint8_t *p, size_t n)
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

static bool quitting(struct log_out *o)
{
	bool quit;

	pthread_mutex_lock(&o->lock);
	quit = o->quit;
	pthread_mutex_unlock(&o->lock);
	return quit;
}

/* Only sockets have a way to write that never blocks; what else polls writable has room for a piece. */
static ssize_t write_some(int fd, const uint8_t *p, size_t n)
{
	ssize_t sent = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	return sent < 0 && errno == ENOTSOCK ? write(fd, p, n < PIECE ? n : PIECE) : sent;
}

/* Waits for the reader without limit, except at the end. */
static int write_stream(struct log_out *o, const uint8_t *p, size_t size)
{
	struct pollfd ready = {.fd = o->file.fd, .events = POLLOUT};
	int64_t give_up = INT64_MAX;
	size_t done = 0;

	while (done < size) {
		ssize_t n = -1;

		errno = EAGAIN;
		if (poll(&ready, 1, LOOK_MS) > 0)
			n = write_some(o->file.fd, p + done, size - done);
		if (n > 0) {
			done += (size_t)n;
			give_up = INT64_MAX;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			return n == 0 ? ENOSPC : errno;
		} else if (give_up == INT64_MAX && quitting(o)) {
			give_up = clock_now_ns() + PATIENCE_NS;
		} else if (clock_now_ns() >= give_up) {
			return ETIMEDOUT;
		}
	}
	return 0;
}

bool disk_write(struct log_out *o)
{
	char size[32];
	int num;

	for (;;) {
		if (!o->stream && o->file.fd < 0)
			return false;
		o->write_ns = clock_now_ns();
		o->stats.held = o->bytes.n;
		pthread_mutex_unlock(&o->lock);
		num = o->stream ? write_stream(o, o->bytes.p, o->bytes.n) : write_file(&o->file, o->bytes.p, o->bytes.n);
		if (num == 0 && o->file.unnamed) {
			num = log_file_link(o->file.fd, o->file.path);
			while (num == EEXIST && o->go_on && /* another program was first */
			       part_path_free(o->path, false, &o->file.number, o->file.path, sizeof(o->file.path)))
				num = log_file_link(o->file.fd, o->file.path);
			o->file.unnamed = num != 0;
			o->names |= num != 0 && num != EEXIST;
		}
		pthread_mutex_lock(&o->lock);
		o->write_ns = 0;
		if (!o->stream && o->files[o->file.index].number != o->file.number) {
			o->files[o->file.index].number = o->file.number;
			text_printable(o->stats.path, sizeof(o->stats.path), o->file.path, strlen(o->file.path));
		}
		if (num == 0)
			break;
		if ((num != ENOSPC && num != EDQUOT) || !o->go_on || o->quit) {
			file_failed(o, num);
			return false;
		}
		/* The disk is full: chunks wait for room in the same file. */
		trouble_begin(o);
		text_bytes(size, sizeof(size), o->options.buffer);
		err_sys(&o->stats.err, ERR_FAILED, num, _("cannot write to %s, up to %s wait in memory"),
			o->stats.path, size);
		pause_until(o, clock_now_ns() + RETRY_NS);
		disk_look(o);
	}
	trouble_end(o);
	o->stats.held = 0;
	o->stats.bytes += o->bytes.n;
	o->file.bytes += o->bytes.n;
	o->unsynced = true;
	return true;
}

void disk_finish(struct log_out *o)
{
	if (!o->stream && o->file.fd >= 0 && o->file.bytes == 0)
		file_remove(o);
	else if (!o->stream)
		disk_close(o);
	trouble_end(o);
	while (o->jobs) {
		struct disk_job *d = o->jobs;

		pthread_mutex_unlock(&o->lock);
		job_done(&d->job, INT64_MAX);
		pthread_mutex_lock(&o->lock);
		disk_look(o);
	}
}
