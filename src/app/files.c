/* Traces are recognised by their first bytes, not by name.  Only regular files are opened:
 * a pipe or a device could block.  So could a disk: a job lists the folder, and the screen
 * shows what it has found so far. */
#include "app/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/job.h"
#include "app/app.h"
#include "util/clock.h"
#include "util/intl.h"
#include "trace/trace.h"

#define FILES_MAX 1000
#define LOOK_MS   40  /* between two polls of the job, */
#define SLOW_MS   250 /* on a slow disk */
#define LONG_NS   (3 * NS_PER_S)

struct found {
	struct ui_file file;
	struct timespec changed;
};

struct scan {
	struct job job;
	size_t taken; /* by the screen */

	pthread_mutex_t lock; /* for the fields below, held briefly */
	struct found *found;  /* in the order of the folder */
	size_t n, room;
	char at[128];

	char folder[];
};

static int newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->changed.tv_sec != y->changed.tv_sec)
		return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
	if (x->changed.tv_nsec != y->changed.tv_nsec)
		return x->changed.tv_nsec < y->changed.tv_nsec ? 1 : -1;
	return strcmp(x->file.path, y->file.path);
}

static bool look_into(const char *folder, const char *name, struct found *out)
{
	struct trace_summary s;
	struct stat st;
	struct err e;
	char elapsed[32], size[32], lasted[40], bytes[40];

	int n = snprintf(out->file.path, sizeof out->file.path, "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof out->file.path || stat(out->file.path, &st) < 0 ||
	    !S_ISREG(st.st_mode) || trace_peek(out->file.path, &s, &e) < 0)
		return false;
	text_printable(out->file.name, sizeof out->file.name, name, strlen(name));
	text_lasted(elapsed, sizeof elapsed, s.duration_ns);
	text_bytes(size, sizeof size, (uint64_t)st.st_size);
	/* One below the other. */
	snprintf(lasted, sizeof lasted, "%6s", elapsed);
	snprintf(bytes, sizeof bytes, "%7s", size);
	snprintf(out->file.about, sizeof out->file.about,
		 P_("%s  %s  %s  %llu mark", "%s  %s  %s  %llu marks", s.marks), s.board, lasted, bytes,
		 (unsigned long long)s.marks);
	out->file.readable = true;
	out->changed = st.st_mtim;
	return true;
}

/* The file that is being read. */
static void note_at(struct scan *s, const char *name)
{
	pthread_mutex_lock(&s->lock);
	text_printable(s->at, sizeof s->at, name, strlen(name));
	pthread_mutex_unlock(&s->lock);
}

/* False: out of memory. */
static bool add(struct scan *s, const struct found *one)
{
	size_t room = s->room * 2 + 16;
	bool added;

	pthread_mutex_lock(&s->lock);
	if (s->n == s->room) {
		struct found *more = realloc(s->found, room * sizeof *more);

		if (more) {
			s->found = more;
			s->room = room;
		}
	}
	added = s->n < s->room;
	if (added)
		s->found[s->n++] = *one;
	pthread_mutex_unlock(&s->lock);
	return added;
}

static void scan_run(struct job *a)
{
	struct scan *s = (struct scan *)a;
	DIR *dir = opendir(s->folder);
	struct dirent *entry;
	struct found one;

	while (dir && s->n < FILES_MAX && !job_is_cancelled(a) && (entry = readdir(dir))) {
		note_at(s, entry->d_name);
		memset(&one, 0, sizeof one);
		if (look_into(s->folder, entry->d_name, &one) && !add(s, &one))
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

int files_read(struct files *f, const char *folder, struct err *e)
{
	size_t size = strlen(folder) + 1;
	struct scan *s;

	if (f->scan)
		return 0;
	forget(f);
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
	f->since_ns = clock_now_ns();
	return 0;
}

/* Copies and sorts the files found so far; 0: nothing new. */
static size_t copy(struct scan *s, struct found **out)
{
	size_t n = 0;

	*out = NULL;
	pthread_mutex_lock(&s->lock);
	if (s->n != s->taken && (*out = calloc(s->n, sizeof **out))) {
		n = s->taken = s->n;
		memcpy(*out, s->found, n * sizeof **out);
	}
	pthread_mutex_unlock(&s->lock);
	if (n)
		qsort(*out, n, sizeof **out, newest_first);
	return n;
}

static bool take_found(struct files *f)
{
	struct found *found;
	size_t n = copy(f->scan, &found);
	struct ui_file *list = n ? calloc(n, sizeof *list) : NULL;

	for (size_t i = 0; list && i < n; i++)
		list[i] = found[i].file;
	free(found);
	if (!list)
		return false;
	forget(f);
	f->list = list;
	f->n = n;
	return true;
}

bool files_take(struct files *f, int64_t until_ns)
{
	char at[sizeof f->at];
	bool done, changed;

	if (!f->scan)
		return false;
	done = job_done(&f->scan->job, until_ns);
	changed = take_found(f);
	pthread_mutex_lock(&f->scan->lock);
	memcpy(at, f->scan->at, sizeof at);
	pthread_mutex_unlock(&f->scan->lock);
	changed |= strcmp(at, f->at) != 0;
	memcpy(f->at, at, sizeof at);
	if (!done)
		return changed;
	scan_drop(&f->scan->job);
	f->scan = NULL;
	return true;
}

int files_patience_ms(const struct files *f)
{
	if (!f->scan)
		return -1;
	return clock_now_ns() - f->since_ns < LONG_NS ? LOOK_MS : SLOW_MS;
}

void files_free(struct files *f)
{
	if (f->scan)
		job_cancel(&f->scan->job);
	f->scan = NULL;
	forget(f);
}
