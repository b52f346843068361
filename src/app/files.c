/* Lists the traces and the folders in a folder. Traces are recognised by their first bytes, not by name. Only
 * regular files are opened, since a pipe or a device could block. A disk could block as well, so a job lists
 * the folder and the screen shows the files found so far. */
#include "app/loop.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/array.h"
#include "util/job.h"
#include "util/clock.h"
#include "util/intl.h"
#include "trace/trace.h"

#define FILES_MAX 1000
#define LOOK_MS   100 /* between two polls of the job */

struct scan {
	struct job job;
	size_t taken; /* entries already copied to the screen's list */

	pthread_mutex_t lock;  /* protects the fields below; held briefly */
	struct ui_file *found; /* in directory order */
	size_t n;
	char at[128], real[PATH_MAX]; /* real: the folder without links, "" if it does not exist */

	char folder[];
};

static int newest_first(const void *a, const void *b)
{
	const struct ui_file *x = a, *y = b;

	if (x->folder != y->folder)
		return x->folder ? 1 : -1;
	if (x->folder)
		return strcmp(x->name, y->name);
	if (x->changed_ns != y->changed_ns)
		return x->changed_ns < y->changed_ns ? 1 : -1;
	return strcmp(x->path, y->path);
}

/* Hidden folders are left out. */
static bool is_folder(const struct stat *st, const char *name)
{
	return S_ISDIR(st->st_mode) && (name[0] != '.' || !strcmp(name, ".."));
}

static bool look_into(const char *folder, const char *name, struct ui_file *out)
{
	struct trace_summary s;
	struct stat st;
	struct err e = {.code = ERR_NONE};
	int n = snprintf(out->path, sizeof out->path, "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof out->path || stat(out->path, &st) < 0)
		return false;
	text_printable(out->name, sizeof out->name, name, strlen(name));
	out->changed_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	out->folder = is_folder(&st, name);
	if (out->folder || !S_ISREG(st.st_mode) || trace_peek(out->path, &s, &e) < 0)
		return out->folder;
	out->duration_ns = s.duration_ns;
	out->bytes = (uint64_t)st.st_size;
	out->marks = s.marks;
	memcpy(out->board, s.board, sizeof out->board);
	out->damaged = e.code == ERR_DAMAGED;
	out->readable = true;
	return true;
}

/* Records the file being read. */
static void note_at(struct scan *s, const char *name)
{
	pthread_mutex_lock(&s->lock);
	text_printable(s->at, sizeof s->at, name, strlen(name));
	pthread_mutex_unlock(&s->lock);
}

/* Returns false if out of memory. */
static bool add(struct scan *s, const struct ui_file *one)
{
	struct ui_file *found;

	pthread_mutex_lock(&s->lock);
	found = array_add(&s->found, &s->n, sizeof *found);
	if (found)
		*found = *one;
	pthread_mutex_unlock(&s->lock);
	return found;
}

static void scan_run(struct job *a)
{
	struct scan *s = (struct scan *)a;
	DIR *dir = opendir(s->folder);
	char real[PATH_MAX] = "";
	struct dirent *entry;
	struct ui_file one;

	if (!dir || !realpath(s->folder, real))
		real[0] = '\0';
	pthread_mutex_lock(&s->lock);
	memcpy(s->real, real, sizeof s->real);
	pthread_mutex_unlock(&s->lock);
	while (dir && s->n < FILES_MAX && !job_is_cancelled(a) && (entry = readdir(dir))) {
		note_at(s, entry->d_name);
		memset(&one, 0, sizeof one);
		if (look_into(real, entry->d_name, &one) && !add(s, &one))
			break;
		note_at(s, "");
	}
	if (dir)
		closedir(dir);
}

static void scan_drop(struct job *a)
{
	struct scan *s = (struct scan *)a;

	pthread_mutex_destroy(&s->lock);
	free(s->found);
	free(s);
}

/* Drops the old list. */
static void forget(struct files *f)
{
	free(f->list);
	f->list = NULL;
	f->n = 0;
	f->serial++;
}

void files_free(struct files *f)
{
	if (f->scan)
		job_cancel(&f->scan->job);
	f->scan = NULL;
	forget(f);
}

int files_read(struct files *f, const char *folder, struct err *e)
{
	size_t size = strlen(folder) + 1;
	struct scan *s;

	if (f->scan && !strcmp(f->scan->folder, folder))
		return 0;
	files_free(f);
	text_printable(f->folder, sizeof f->folder, folder, strlen(folder));
	s = calloc(1, sizeof *s + size);
	if (!s)
		return err_set(e, ERR_FAILED, _("out of memory"));
	memcpy(s->folder, folder, size);
	pthread_mutex_init(&s->lock, NULL);
	if (job_start(&s->job, scan_run, scan_drop, e) < 0) {
		scan_drop(&s->job);
		return -1;
	}
	f->scan = s;
	return 0;
}

/* Copies the files found so far, and the name of the one being read. Returns true if something changed. */
static bool take_found(struct files *f)
{
	struct scan *s = f->scan;
	struct ui_file *list = NULL;
	bool changed;

	pthread_mutex_lock(&s->lock);
	changed = strcmp(s->at, f->at) != 0;
	memcpy(f->at, s->at, sizeof f->at);
	if (s->real[0])
		text_printable(f->folder, sizeof f->folder, s->real, strlen(s->real));
	if (s->n != s->taken && (list = calloc(s->n, sizeof *list))) {
		forget(f);
		f->list = memcpy(list, s->found, s->n * sizeof *list);
		f->n = s->taken = s->n;
	}
	pthread_mutex_unlock(&s->lock);
	if (list)
		qsort(list, f->n, sizeof *list, newest_first);
	return list || changed;
}

bool files_take(struct files *f, int64_t until_ns)
{
	bool done, changed;

	if (!f->scan)
		return false;
	done = job_done(&f->scan->job, until_ns);
	changed = take_found(f);
	if (!done)
		return changed;
	scan_drop(&f->scan->job);
	f->scan = NULL;
	return true;
}

int files_patience_ms(const struct files *f)
{
	return f->scan ? LOOK_MS : -1;
}
