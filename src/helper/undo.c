/* The way back: what was before each change is in a file before the first write, so that it is also known after this
 * program was killed, and after a reboot. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "board/conf.h"
#include "helper/local.h"
#include "probe/attr.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/num.h"

#define FILE_NAME (strrchr(CONTROL_UNDO, '/') + 1)
#define MOST      ((size_t)1024 * 1024)

int64_t undo_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / NS_PER_MS;
}

int undo_folder(const struct root *r, struct err *e)
{
	const char *base;
	struct stat st;
	int parent = folder_of(r, CONTROL_FOLDER, &base);

	if (parent >= 0)
		mkdirat(parent, base, 0700);
	int fd = parent < 0 ? -1 : openat(parent, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int error = errno;
	if (parent >= 0)
		close(parent);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
		return fd;
	if (fd < 0)
		return err_sys(e, ERR_FAILED, error, _("cannot open the folder %s"), CONTROL_FOLDER);
	close(fd);
	return err_set(e, ERR_FAILED, _("%s is not a folder of root's alone: remove it"), CONTROL_FOLDER);
}

/* --- the file --- */

static void put(FILE *f, const struct work *w)
{
	fprintf(f, "{\"version\": 1, \"next\": %u, \"entries\": [", w->next_id);
	for (size_t i = 0; i < w->n_entries; i++) {
		const struct entry *e = &w->entries[i];
		fprintf(f,
			"%s\n{\"id\": %u, \"name\": \"%s\", \"before\": \"%s\", \"state\": \"%s\", \"boot\": "
			"\"%s\", \"until_ms\": %lld, \"files\": [",
			i ? "," : "", e->id, e->name, e->before, e->state, e->boot, (long long)e->until_ms);
		for (size_t k = 0; k < e->n; k++)
			fprintf(f, "%s\n [\"%s\", \"%s\"]", k ? "," : "", e->files[k].path, e->files[k].text);
		fputs("]}", f);
	}
	fputs("\n]}\n", f);
}

static char *text_of(const struct work *w, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (f)
		put(f, w);
	if (f && fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static bool take(const char **p, const char *literal)
{
	size_t len = strlen(literal);

	if (!*p || strncmp(*p, literal, len) != 0)
		return false;
	*p += len;
	return true;
}

static bool take_text(const char **p, const char *before, char *out, size_t size)
{
	size_t len;

	if (!take(p, before) || (len = strcspn(*p, "\"\n")) >= size)
		return false;
	snprintf(out, size, "%.*s", (int)len, *p);
	*p += len;
	return true;
}

static bool take_number(const char **p, const char *before, int64_t *out)
{
	if (take(p, before))
		*p = num_i64(*p, *p + strlen(*p), out);
	else
		*p = NULL;
	return *p;
}

static bool take_entry(const char **p, struct entry *e)
{
	int64_t id;

	if (!take_number(p, "\n{\"id\": ", &id) || !take_text(p, ", \"name\": \"", e->name, sizeof e->name) ||
	    !take_text(p, "\", \"before\": \"", e->before, sizeof e->before) ||
	    !take_text(p, "\", \"state\": \"", e->state, sizeof e->state) ||
	    !take_text(p, "\", \"boot\": \"", e->boot, sizeof e->boot) ||
	    !take_number(p, "\", \"until_ms\": ", &e->until_ms) || !take(p, ", \"files\": ["))
		return false;
	e->id = (unsigned)id;
	while (!take(p, "]}")) {
		struct control_file *all = reallocarray(e->files, e->n + 1, sizeof *all);
		if (!all)
			return false;
		e->files = all;
		struct control_file *f = memset(&all[e->n], 0, sizeof *f);
		e->n++;
		if (!take_text(p, "\n [\"", f->path, sizeof f->path) ||
		    !take_text(p, "\", \"", f->text, sizeof f->text) || !take(p, "\"]"))
			return false;
		take(p, ",");
	}
	return true;
}

static struct entry *add_entry(struct work *w)
{
	struct entry *all = reallocarray(w->entries, w->n_entries + 1, sizeof *all);

	if (!all)
		return NULL;
	w->entries = all;
	return memset(&all[w->n_entries++], 0, sizeof *all);
}

void undo_free(struct work *w)
{
	for (size_t i = 0; i < w->n_entries; i++)
		free(w->entries[i].files);
	free(w->entries);
	w->entries = NULL;
	w->n_entries = 0;
}

int undo_load(struct work *w, struct err *e)
{
	char *text = malloc(MOST), *again = NULL;
	const char *p = text;
	size_t len;
	int64_t next = 1;

	undo_free(w);
	w->next_id = 1;
	int fd = text ? openat(w->folder, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd < 0) {
		int error = errno;
		free(text);
		return error == ENOENT ? 0 : err_sys(e, ERR_FAILED, error, _("cannot read %s"), CONTROL_UNDO);
	}
	ssize_t n = read_all(fd, text, MOST - 1, 0);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	bool ok = take_number(&p, "{\"version\": 1, \"next\": ", &next) && take(&p, ", \"entries\": [");
	w->next_id = (unsigned)next;
	while (ok && *p == '\n' && p[1] == '{') {
		struct entry *one = add_entry(w);
		ok = one && take_entry(&p, one);
		if (ok)
			take(&p, ",");
	}
	/* Only what it would write itself: what it has been told to put back is written as root. */
	again = ok ? text_of(w, &len) : NULL;
	ok = again && (size_t)n == len && !memcmp(text, again, len);
	free(again);
	free(text);
	if (ok)
		return 0;
	undo_free(w);
	return err_set(e, ERR_FAILED,
		       _("%s is damaged: nothing is changed; move it away, and set by hand what it says"),
		       CONTROL_UNDO);
}

int undo_save(struct work *w, struct err *e)
{
	size_t len;
	char *text = text_of(w, &len);
	int result = text ? write_anew(w->root, w->folder, FILE_NAME, text, len) : -1;

	free(text);
	return result < 0 ? err_sys(e, ERR_FAILED, errno, _("cannot write %s"), CONTROL_UNDO) : 0;
}

struct entry *undo_find(struct work *w, unsigned id)
{
	for (size_t i = 0; i < w->n_entries; i++)
		if (w->entries[i].id == id)
			return &w->entries[i];
	return NULL;
}

struct entry *undo_oldest(struct work *w, const char *name)
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

unsigned undo_add(struct work *w, const struct control_unit *u, struct err *e)
{
	struct entry *n = add_entry(w);
	int64_t id;
	bool ok = n != NULL;

	if (ok && u->n && !(n->files = calloc(u->n, sizeof *n->files)))
		ok = false;
	if (!ok) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return 0;
	}
	n->id = w->next_id++;
	snprintf(n->name, sizeof n->name, "%s", u->item.name);
	snprintf(n->before, sizeof n->before, "%s", fits(u->item.value) ? u->item.value : "?");
	snprintf(n->boot, sizeof n->boot, "%s", w->boot);
	n->until_ms = w->for_ns ? undo_now_ms() + w->for_ns / NS_PER_MS : 0;
	if (u->item.kind == CONTROL_MODE && conf_mode_now(w->root, &id))
		snprintf(n->state, sizeof n->state, "%lld", (long long)id);
	if (u->item.kind == CONTROL_FAN)
		fan_state(w->root, n->state);
	ok = fits(n->state);
	for (size_t i = 0; i < u->n; i++) {
		if (!u->files[i].text[0]) /* cannot be read: of cores that are off */
			continue;
		n->files[n->n++] = u->files[i];
		ok = ok && fits(u->files[i].path) && fits(u->files[i].text);
	}
	unsigned added = n->id;
	if (!ok)
		err_set(e, ERR_FAILED, _("%s has a value that cannot be noted"), u->item.name);
	if (ok && undo_save(w, e) == 0)
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

static bool is_known(const struct work *w, const char *path, bool of_fan)
{
	for (size_t i = 0; i < w->units.n; i++)
		for (size_t k = 0;
		     k < w->units.at[i].n && (!of_fan || w->units.at[i].item.kind == CONTROL_FAN); k++)
			if (!strcmp(w->units.at[i].files[k].path, path))
				return true;
	return false;
}

/* Writes the files of an entry, or those of fans only; FIRST: with what they had before the first of the changes that are
 * put back. */
enum which { OWN, FIRST, FANS };
static int files_back(struct work *w, const struct entry *e, enum which which, char why[240])
{
	struct control_file *want = calloc(e->n + 1, sizeof *want);
	size_t n = 0;
	const char *gone = NULL;

	for (size_t i = 0; want && i < e->n; i++) {
		struct control_file *f = &want[n];
		if (!is_known(w, e->files[i].path, which == FANS)) {
			gone = which == FANS ? NULL : e->files[i].path;
			continue;
		}
		want[n++] = e->files[i];
		for (size_t k = w->n_entries; which == FIRST && k-- > 0;)
			for (size_t m = 0; w->entries[k].mark != ENTRY_STAYS && m < w->entries[k].n; m++)
				if (!strcmp(w->entries[k].files[m].path, f->path) &&
				    !strcmp(w->entries[k].boot, w->boot))
					strcpy(f->text, w->entries[k].files[m].text);
	}
	int result = want ? write_files(w, want, n, why) : -1;
	free(want);
	if (result == 0 && gone) {
		snprintf(why, 240, _("%s is not there now"), gone);
		return -1;
	}
	return result;
}

static bool files_differ(const struct work *w, const struct entry *e)
{
	char now[64];

	for (size_t i = 0; i < e->n; i++)
		if (!file_line(w->root, e->files[i].path, now, sizeof now) ||
		    strcmp(now, e->files[i].text) != 0)
			return true;
	return false;
}

static int mode_back(struct work *w, const struct entry *e, bool later, char why[240])
{
	int64_t id, now;
	struct err err;

	if (!num_i64(e->state, e->state + strlen(e->state), &id)) {
		snprintf(why, 240, "%s", _("which mode was set before is not known"));
		return -1;
	}
	if (!conf_mode_now(w->root, &now) || now != id) {
		if (mode_needs_reboot(w->root, id)) {
			snprintf(why, 240, _("that needs a reboot; run `sudo nvpmodel -m %lld`"),
				 (long long)id);
			return -1;
		}
		int result = mode_set(w, id, why);
		if (result)
			return result;
	}
	/* it may have switched cores on, whose clocks have files then */
	return work_read(w, &err) < 0 ? -1 : later ? 0 : files_back(w, e, FIRST, why);
}

static int fan_back(struct work *w, const struct entry *e, bool later, char why[240])
{
	const char *blank = strchr(e->state, ' '), *profiles = blank && blank[1] ? blank + 1 : NULL;
	bool active = !strncmp(e->state, "active ", 7);
	int result = 0;

	if (!later && !active && control_fan_service(w->root) == SERVICE_ACTIVE)
		result = fan_service(w, NULL, false, why);
	if (!later && result == 0)
		result = files_back(w, e, OWN, why);
	return result == 0 && strncmp(e->state, "none", 4) != 0 ? fan_service(w, profiles, active, why)
								: result;
}

static void put_back(struct work *w, struct entry *e, struct control_change *c)
{
	struct control_unit *u = control_unit_find(&w->units, e->name);
	bool later = strcmp(e->boot, w->boot) != 0;
	char state[128], why[240] = "";
	int result = 0;
	struct err err;

	snprintf(c->name, sizeof c->name, "%s", e->name);
	snprintf(c->wanted, sizeof c->wanted, "%s", e->before);
	c->id = e->id;
	if (!u) {
		snprintf(c->why, sizeof c->why, "%s", _("there is no such thing here now"));
		work_report(w, c, CONTROL_FAILED);
		return;
	}
	enum control_kind kind = u->item.kind;
	snprintf(c->before, sizeof c->before, "%s", u->item.value);
	fan_state(w->root, state);
	bool same = !strcmp(u->item.value, e->before) && (later || !files_differ(w, e)) &&
		    (kind != CONTROL_PINNED || !clocks_kept(w)) &&
		    (kind != CONTROL_SWAP || swap_exists(w->root) == (strcmp(e->before, "off") != 0)) &&
		    (kind != CONTROL_FAN || !strcmp(state, e->state));
	bool lasting = kind == CONTROL_MODE || kind == CONTROL_FAN || kind == CONTROL_SWAP;
	if (later && !lasting) {
		if (kind == CONTROL_PINNED)
			unlinkat(w->folder, "jetson_clocks", 0);
		snprintf(c->why, sizeof c->why, "%s", _("it has ended with the reboot"));
		same = true;
	} else if (same)
		result = 0;
	else if (kind == CONTROL_MODE)
		result = mode_back(w, e, later, why);
	else if (kind == CONTROL_FAN)
		result = fan_back(w, e, later, why);
	else if (kind == CONTROL_SWAP)
		result = swap_set(w, e->before, why);
	else {
		const struct entry *mode = kind == CONTROL_PINNED ? undo_oldest(w, "mode") : NULL;
		char second[240];
		result = kind == CONTROL_PINNED ? clocks_back(w, why) : 0;
		/* clocks that the mode allows come with the mode */
		enum which which = mode && mode->mark == ENTRY_SELECTED ? FANS
				   : kind == CONTROL_CLOCK              ? FIRST
									: OWN;
		int files = files_back(w, e, which, second);
		if (files && !result) {
			strcpy(why, second);
			result = files;
		}
	}
	if (work_read(w, &err) == 0 && (u = control_unit_find(&w->units, e->name)))
		snprintf(c->after, sizeof c->after, "%s", u->item.value);
	if (result)
		snprintf(c->why, sizeof c->why, "%s", why);
	work_report(w, c,
		    result < 0 ? CONTROL_FAILED
		    : result   ? CONTROL_NOT
		    : same     ? CONTROL_AS_IS
			       : CONTROL_DONE);
}

/* Puts back the selected entries of one name: the oldest of those after which there is no other. */
static void name_back(struct work *w, const char *of)
{
	struct control_change c = {.id = 0};
	struct entry *target = NULL;
	char name[40];
	bool last = true;
	unsigned id;

	snprintf(name, sizeof name, "%s", of);
	for (size_t i = w->n_entries; i-- > 0;) {
		struct entry *one = &w->entries[i];
		if (strcmp(one->name, name) != 0)
			continue;
		last = last && one->mark == ENTRY_SELECTED;
		if (last)
			target = one;
	}
	if (target) {
		id = target->id;
		put_back(w, target, &c);
		bool done = c.result == CONTROL_DONE || c.result == CONTROL_AS_IS;
		for (size_t i = w->n_entries; i-- > 0;) {
			struct entry *one = &w->entries[i];
			if (!strcmp(one->name, name) && one->id >= id)
				one->mark = done ? ENTRY_BACK : ENTRY_STAYS;
		}
	}
	/* An older one that was changed again since: the next has what was before it. */
	for (size_t i = 0; i < w->n_entries; i++) {
		struct entry *one = &w->entries[i], *next = one + 1;
		if (strcmp(one->name, name) != 0 || one->mark != ENTRY_SELECTED)
			continue;
		while (strcmp(next->name, name) != 0)
			next++;
		c = (struct control_change) {.id = one->id};
		strcpy(c.name, name);
		strcpy(c.wanted, one->before);
		struct entry swapped = *one;
		one->files = next->files;
		next->files = swapped.files;
		next->n = swapped.n;
		strcpy(next->before, swapped.before);
		strcpy(next->state, swapped.state);
		strcpy(next->boot, swapped.boot);
		snprintf(c.why, sizeof c.why, _("it was changed again since, and stays"));
		work_report(w, &c, CONTROL_AS_IS);
		one->mark = ENTRY_BACK;
	}
}

int undo_back(struct work *w, struct err *e)
{
	static const enum control_kind order[] = {CONTROL_PINNED,   CONTROL_MODE, CONTROL_CLOCK,
						  CONTROL_GOVERNOR, CONTROL_3D,   CONTROL_FAN,
						  CONTROL_SWAP,     CONTROL_KINDS};

	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		for (size_t i = 0; i < w->n_entries; i++) {
			const struct entry *one = &w->entries[i];
			const struct control_unit *u = control_unit_find(&w->units, one->name);
			if (one->mark != ENTRY_SELECTED || (u ? u->item.kind : CONTROL_KINDS) != order[k])
				continue;
			name_back(w, one->name);
		}
	/* They were needed until now: one may have noted a file before another one did. */
	for (size_t i = w->n_entries; i-- > 0;)
		if (w->entries[i].mark == ENTRY_BACK)
			undo_drop(w, w->entries[i].id);
	return undo_save(w, e);
}
