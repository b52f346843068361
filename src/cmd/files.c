/* A trace is known by its first bytes, not by its name.  Only regular files are
 * looked into: opening a pipe or a device could wait for ever. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/files.h"
#include "nvmtop/intl.h"
#include "nvmtop/trace.h"

#define FILES_MAX 1000

struct found {
	struct ui_file file;
	struct timespec changed;
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
	char elapsed[32], size[32];

	int n = snprintf(out->file.path, sizeof out->file.path, "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof out->file.path || stat(out->file.path, &st) < 0 ||
	    !S_ISREG(st.st_mode) || trace_peek(out->file.path, &s, &e) < 0)
		return false;
	text_printable(out->file.name, sizeof out->file.name, name, strlen(name));
	text_lasted(elapsed, sizeof elapsed, s.duration_ns);
	text_bytes(size, sizeof size, (uint64_t)st.st_size);
	snprintf(out->file.about, sizeof out->file.about,
		 P_("%s  %s  %s  %llu mark", "%s  %s  %s  %llu marks", s.marks), s.board, elapsed, size,
		 (unsigned long long)s.marks);
	out->file.readable = true;
	out->changed = st.st_mtim;
	return true;
}

void files_scan(struct files *f, const char *folder)
{
	DIR *dir = opendir(folder);
	struct found *found = NULL;
	size_t n = 0, room = 0;
	struct dirent *entry;

	files_free(f);
	while (dir && n < FILES_MAX && (entry = readdir(dir))) {
		if (n == room) {
			struct found *more = realloc(found, (room = room * 2 + 16) * sizeof *more);
			if (!more)
				break;
			found = more;
		}
		n += look_into(folder, entry->d_name, &found[n]);
	}
	if (dir)
		closedir(dir);
	if (n)
		qsort(found, n, sizeof *found, newest_first);
	f->list = n ? calloc(n, sizeof *f->list) : NULL;
	for (size_t i = 0; f->list && i < n; i++)
		f->list[f->n++] = found[i].file;
	free(found);
}

void files_free(struct files *f)
{
	free(f->list);
	f->list = NULL;
	f->n = 0;
}
