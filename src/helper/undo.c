/* The way back: what was before each change is in a file before the first write, so that it is also known after this
 * program was killed, and after a reboot. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "board/conf.h"
#include "helper/local.h"
#include "probe/attr.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/io.h"
#include "util/num.h"

#define FILE_NAME (strrchr(CONTROL_UNDO, '/') + 1)
#define MOST      ((size_t)4 * 1024 * 1024)
#define EACH_MOST 64 /* entries of one name */

int64_t undo_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / NS_PER_MS;
}

int undo_folder(const struct root *r, struct err *e)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof path, "%s%s", work_top(r), CONTROL_FOLDER);
	mkdir(path, 0700);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, ERR_FAILED, errno, "cannot open the folder %s", CONTROL_FOLDER);
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
		return fd;
	close(fd);
	return err_set(e, ERR_FAILED, "%s is not a folder of root's alone: remove it", CONTROL_FOLDER);
}

/* --- the file --- */

static char *undo_text(const struct work *w, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	fprintf(f, "{\"version\": 1, \"next\": %u, \"entries\": [", w->next_id);
	for (size_t i = 0; i < w->n_entries; i++) {
		const struct entry *e = &w->entries[i];
		fprintf(f,
			"%s\n{\"id\": %u, \"name\": \"%s\", \"before\": \"%s\", \"state\": \"%s\", \"boot\": "
			"\"%s\", "
			"\"until_ms\": %lld, \"files\": [",
			i ? "," : "", e->id, e->name, e->before, e->state, e->boot, (long long)e->until_ms);
		for (size_t k = 0; k < e->n; k++)
			fprintf(f, "%s\n [\"%s\", \"%s\"]", k ? "," : "", e->files[k].path, e->files[k].text);
		fputs("]}", f);
	}
	fputs("\n]}\n", f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static bool add_file(struct entry *e, const char *path, const char *text)
{
	struct control_file *f = array_add(&e->files, &e->n, sizeof *f);

	if (!f)
		return false;
	snprintf(f->path, sizeof f->path, "%s", path);
	snprintf(f->text, sizeof f->text, "%s", text);
	return true;
}

void undo_free(struct work *w)
{
	for (size_t i = 0; i < w->n_entries; i++)
		free(w->entries[i].files);
	free(w->entries);
	w->entries = NULL;
	w->n_entries = 0;
}

static long long number_in(const char *text)
{
	return strtoll(text + strspn(text, ": "), NULL, 10);
}

int undo_load(struct work *w, struct err *e)
{
	char *text = malloc(2 * MOST), *copy = text + MOST, *again, *line;
	bool ok = true;
	size_t len = 0;

	undo_free(w);
	w->next_id = 1;
	int fd = text ? openat(w->folder, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd < 0) {
		int error = errno;
		free(text);
		return error == ENOENT ? 0 : err_sys(e, ERR_FAILED, error, "cannot read %s", CONTROL_UNDO);
	}
	ssize_t n = read_all(fd, text, MOST - 1, 0);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	strcpy(copy, text);
	while (ok && (line = strsep(&copy, "\n"))) {
		/* its parts between quotes: 7 of the first line, 23 of an entry, 5 of a file */
		char *f[24];
		size_t fields = 0;
		while (fields < 24 && (f[fields] = strsep(&line, "\"")))
			fields++;
		struct entry *one = fields == 23   ? array_add(&w->entries, &w->n_entries, sizeof *one)
				    : w->n_entries ? &w->entries[w->n_entries - 1]
						   : NULL;
		if (fields == 7)
			w->next_id = (unsigned)number_in(f[4]);
		else if (fields == 23 && (ok = one)) {
			one->id = (unsigned)number_in(f[2]);
			snprintf(one->name, sizeof one->name, "%s", f[5]);
			snprintf(one->before, sizeof one->before, "%s", f[9]);
			snprintf(one->state, sizeof one->state, "%s", f[13]);
			snprintf(one->boot, sizeof one->boot, "%s", f[17]);
			one->until_ms = number_in(f[20]);
		} else if (fields == 5 && one)
			ok = add_file(one, f[1], f[3]);
	}
	/* Only what it would write itself: what it has been told to put back is written as root. */
	again = ok ? undo_text(w, &len) : NULL;
	ok = again && (size_t)n == len && !memcmp(text, again, len);
	free(again);
	free(text);
	if (ok)
		return 0;
	undo_free(w);
	return err_set(e, ERR_FAILED,
		       "%s is damaged: nothing is changed; move it away, and set by hand what it says",
		       CONTROL_UNDO);
}

int undo_save(struct work *w, struct err *e)
{
	char path[PATH_MAX];
	size_t len = 0;
	char *text = undo_text(w, &len);

	snprintf(path, sizeof path, "%s%s", work_top(w->root), CONTROL_UNDO);
	errno = EFBIG;
	int result = text && len < MOST - 1 ? write_anew(path, text, len) : -1;
	free(text);
	return result < 0 ? err_sys(e, ERR_FAILED, errno, "cannot write %s", CONTROL_UNDO) : 0;
}

struct entry *undo_find(struct work *w, unsigned id)
{
	for (size_t i = 0; i < w->n_entries; i++)
		if (w->entries[i].id == id)
			return &w->entries[i];
	return NULL;
}

struct entry *undo_oldest(const struct work *w, const char *name)
{
	for (size_t i = 0; i < w->n_entries; i++)
		if (!strcmp(w->entries[i].name, name))
			return &w->entries[i];
	return NULL;
}

static bool fits(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

unsigned undo_add(struct work *w, const struct control_item *u, struct err *e)
{
	struct entry *n = array_add(&w->entries, &w->n_entries, sizeof *n);
	unsigned added = n ? w->next_id++ : 0, last = 0, of = 0;
	bool noted = n;
	int64_t id;

	if (!n)
		return err_set(e, ERR_FAILED, "out of memory"), 0;
	n->id = added;
	strcpy(n->name, u->name);
	strcpy(n->before, fits(u->value) ? u->value : "?");
	strcpy(n->boot, w->boot);
	n->until_ms = w->for_ns ? undo_now_ms() + w->for_ns / NS_PER_MS : 0;
	if (u->kind == CONTROL_MODE && conf_mode_now(w->root, &id))
		snprintf(n->state, sizeof n->state, "%lld", (long long)id);
	if (u->kind == CONTROL_FAN)
		fan_state(w->root, n->state);
	if (u->kind == CONTROL_PINNED)
		clocks_kept(w);
	for (size_t i = 0; i < u->n && noted; i++)
		/* what cannot be read: of cores that are off */
		noted = !u->files[i].text[0] || (fits(u->files[i].path) && fits(u->files[i].text) &&
						 add_file(n, u->files[i].path, u->files[i].text));
	noted = noted && fits(n->state);
	/* Of very many the last but one is forgotten: it was changed again. */
	for (size_t i = 0; i + 1 < w->n_entries; i++)
		if (!strcmp(w->entries[i].name, u->name)) {
			of++;
			last = w->entries[i].id;
		}
	if (noted && of >= EACH_MOST)
		undo_drop(w, last);
	if (!noted)
		err_set(e, ERR_FAILED, "%s has a value that cannot be noted", u->name);
	else if (undo_save(w, e) == 0)
		return added;
	undo_drop(w, added);
	return 0;
}

void undo_drop(struct work *w, unsigned id)
{
	struct entry *e = undo_find(w, id);

	if (!e)
		return;
	free(e->files);
	w->n_entries--;
	memmove(e, e + 1, (size_t)(w->entries + w->n_entries - e) * sizeof *e);
}

/* --- putting back --- */

/* Is it a file of something that can be set here, or of a fan? */
static bool is_known(const struct work *w, const char *path, bool of_fan)
{
	for (size_t i = 0; i < w->items.n; i++)
		for (size_t k = 0;
		     k < w->items.at[i].n && (!of_fan || w->items.at[i].kind == CONTROL_FAN); k++)
			if (!strcmp(w->items.at[i].files[k].path, path))
				return true;
	return false;
}

/* Writes the files of an entry, or those of fans only, with what they had before the first of the changes that are put
 * back. */
static int files_back(struct work *w, const struct entry *e, bool fans, char why[240])
{
	struct control_file *want = calloc(e->n + 1, sizeof *want);
	const char *gone = NULL;
	size_t n = 0;

	for (size_t i = 0; want && i < e->n; i++) {
		if (!is_known(w, e->files[i].path, fans)) {
			gone = fans ? NULL : e->files[i].path;
			continue;
		}
		want[n] = e->files[i];
		for (size_t k = w->n_entries; k-- > 0;) {
			const struct entry *other = &w->entries[k];
			for (size_t m = 0; other->mark != ENTRY_STAYS && m < other->n; m++)
				if (!strcmp(other->files[m].path, want[n].path) &&
				    !strcmp(other->boot, w->boot))
					strcpy(want[n].text, other->files[m].text);
		}
		n++;
	}
	int result = want ? write_files(w, want, n, why) : -1;
	free(want);
	if (result || !gone)
		return result;
	snprintf(why, 240, "%s is not there now", gone);
	return -1;
}

/* later: after a reboot, which has ended what the files had. */
static int mode_back(struct work *w, const struct entry *e, bool later, char why[240])
{
	int64_t id, now;
	struct err err;

	if (!num_i64(e->state, e->state + strlen(e->state), &id)) {
		snprintf(why, 240, "%s", "which mode was set before is not known");
		return -1;
	}
	if (!conf_mode_now(w->root, &now) || now != id) {
		if (mode_needs_reboot(w->root, id)) {
			snprintf(why, 240, "that needs a reboot; run `sudo nvpmodel -m %lld`",
				 (long long)id);
			return -1;
		}
		int result = mode_set(w, id, why);
		if (result)
			return result;
	}
	/* it may have switched cores on, whose clocks have files then */
	return work_read(w, &err) < 0 ? -1 : later ? 0 : files_back(w, e, false, why);
}

static int fan_back(struct work *w, const struct entry *e, bool later, char why[240])
{
	const char *blank = strchr(e->state, ' '), *profiles = blank && blank[1] ? blank + 1 : NULL;
	bool active = !strncmp(e->state, "active ", 7);
	int result = 0;

	if (!later && !active && control_fan_service(w->root) == SERVICE_ACTIVE)
		result = fan_service(w, NULL, false, why);
	if (!later && result == 0)
		result = files_back(w, e, false, why);
	return result || !strncmp(e->state, "none", 4) ? result : fan_service(w, profiles, active, why);
}

/* Puts an entry back. Returns true if all is as it was then. */
static bool put_back(struct work *w, const struct entry *e)
{
	const struct control_item *u = control_find(&w->items, e->name);
	struct control_change c = work_change(w, e->name, e->before);
	const struct entry *mode = undo_oldest(w, "mode");
	bool later = strcmp(e->boot, w->boot) != 0;
	enum control_kind kind = u ? u->kind : CONTROL_KINDS;
	unsigned writes = work_writes;
	char other[240];
	int result = 0;
	struct err err;

	c.id = e->id;
	if (kind == CONTROL_MODE)
		result = mode_back(w, e, later, c.why);
	else if (kind == CONTROL_FAN)
		result = fan_back(w, e, later, c.why);
	else if (kind == CONTROL_SWAP)
		result = swap_exists(w->root) && !strcmp(e->before, u->value) &&
					 strcmp(e->before, "off") != 0
				 ? 0
				 : swap_set(w, e->before, c.why);
	else if (!u) {
		strcpy(c.why, "there is no such thing here now");
		result = -1;
	} else if (!later) {
		result = kind == CONTROL_PINNED ? clocks_back(w, c.why) : 0;
		/* clocks that the mode allows come with the mode */
		bool fans = kind == CONTROL_PINNED && mode && mode->mark != ENTRY_STAYS;
		int files = files_back(w, e, fans, result ? other : c.why);
		result = result ? result : files;
	}
	bool ended = later && kind != CONTROL_MODE && kind != CONTROL_FAN && kind != CONTROL_SWAP;
	if (result == 0)
		strcpy(c.why, ended ? "it has ended with the reboot" : "");
	work_read(w, &err);
	work_report(w, &c,
		    result < 0              ? CONTROL_FAILED
		    : result                ? CONTROL_NOT
		    : writes == work_writes ? CONTROL_AS_IS
					    : CONTROL_DONE);
	return result == 0;
}

/* Puts back the selected entries of one name: the oldest of those after which there is no other. */
static void name_back(struct work *w, const char *of)
{
	struct entry *target = NULL, *next = NULL;
	char name[40];

	strcpy(name, of);
	for (size_t i = w->n_entries; i-- > 0;) {
		struct entry *one = &w->entries[i];
		if (strcmp(one->name, name) != 0)
			continue;
		if (one->mark != ENTRY_SELECTED)
			next = one;
		else if (!next) {
			target = one;
			one->mark = ENTRY_BACK;
		} else {
			/* It was changed again since: the next has what was before it. */
			struct control_change c = work_change(w, name, one->before);
			c.id = one->id;
			free(next->files);
			next->files = one->files;
			next->n = one->n;
			strcpy(next->before, one->before);
			strcpy(next->state, one->state);
			strcpy(next->boot, one->boot);
			one->files = NULL;
			one->n = 0;
			one->mark = ENTRY_BACK;
			strcpy(c.why, "it was changed again since, and stays");
			work_report(w, &c, CONTROL_AS_IS);
		}
	}
	if (target && !put_back(w, target))
		for (; target < w->entries + w->n_entries; target++)
			if (!strcmp(target->name, name))
				target->mark = ENTRY_STAYS;
}

int undo_back(struct work *w, struct err *e)
{
	static const enum control_kind order[] = {CONTROL_PINNED,   CONTROL_MODE, CONTROL_CLOCK,
						  CONTROL_GOVERNOR, CONTROL_3D,   CONTROL_FAN,
						  CONTROL_SWAP,     CONTROL_KINDS};

	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		for (size_t i = 0; i < w->n_entries; i++) {
			const struct entry *one = &w->entries[i];
			const struct control_item *u = control_find(&w->items, one->name);
			if (one->mark == ENTRY_SELECTED && (u ? u->kind : CONTROL_KINDS) == order[k])
				name_back(w, one->name);
		}
	/* They were needed until now: one may have noted a file before another one did. */
	for (size_t i = w->n_entries; i-- > 0;)
		if (w->entries[i].mark == ENTRY_BACK)
			undo_drop(w, w->entries[i].id);
	return undo_save(w, e);
}
