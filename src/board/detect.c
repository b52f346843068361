/* Chooses a board: by its name, or from the best source that can be read.
 *
 * That is the device tree; but it is masked in containers, where /proc/device-tree leads into /sys/firmware.
 * There, values passed in from outside come next (variables, a file with the model's name), then the sensors,
 * whose names differ between boards. `why` names the source. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/array.h"
#include "util/intl.h"
#include "board/board.h"
#include "board/machine.h"

#define MODEL      "/proc/device-tree/model"
#define MODEL_FILE "/tmp/nv_jetson_model" /* as jetson-containers mounts it */
#define BLOB_MAX   4096

struct detection {
	const struct root *root;
	struct board **all;
	size_t n;
	char why[256];
	/* The first file that could not be read or parsed, and the first folder that could not be read. */
	struct err unusable, closed;
};

struct board *board_load(const char *name, struct err *e)
{
	char path[BOARD_PATH];
	const char *found = board_find(name, path, sizeof path, e);

	return found ? board_parse(found, e) : NULL;
}

void board_each(void (*visit)(void *arg, struct board *b, const struct err *e), void *arg)
{
	struct err e;
	size_t n;
	struct board_file *files = board_files(&n, &e);

	if (e.code != ERR_NONE)
		visit(arg, NULL, &e);
	for (size_t i = 0; i < n; i++) {
		struct board *b = board_parse(files[i].path, &e);
		if (b)
			b->rank = files[i].rank;
		visit(arg, b, b ? NULL : &e);
		board_free(b);
	}
	free(files);
}

/* A file that does not parse must not prevent the detection of another board. */
static void detect_take(void *arg, struct board *b, const struct err *e)
{
	struct detection *d = arg;
	struct board **all = b ? array_add(&d->all, &d->n, sizeof *all) : NULL;

	if (all)
		*all = board_hold(b);
	else if (b)
		err_set(&d->unusable, ERR_FAILED, _("out of memory"));
	else if (e->code == ERR_DAMAGED)
		d->closed = *e;
	else if (d->unusable.code == ERR_NONE)
		d->unusable = *e;
}

/* How well a clue fits: a text, or for CLUE_SENSE what is below the root. 0: not. */
static size_t clue_fits(const struct clue *c, const char *text, const struct root *r)
{
	size_t len = strlen(c->text);

	if (c->kind == CLUE_MATCH)
		return *c->text && !strcmp(c->text, text);
	if (c->kind == CLUE_ALIAS)
		return !strcasecmp(c->text, text);
	if (c->kind == CLUE_MODEL)
		return strncmp(text, c->text, len) ? 0 : len;
	for (size_t i = 0; i < c->n_places; i++) {
		struct place p = c->places[i];
		if (place_find(&p, r, "in") < 0 || !file_exists(r, p.path))
			return 0;
	}
	return c->n_places;
}

/* Returns the board with the clue of that kind that fits best, of several that of the first folder; -1 if none fits. */
static int best_clue(struct board *const *all, size_t n, enum clue_kind kind, const char *text, const struct root *r,
		     const struct clue **clue)
{
	size_t best = 0, points;
	int which = -1;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < all[i]->n_clues; k++) {
			const struct clue *c = &all[i]->clues[k];
			if (c->kind != kind || (points = clue_fits(c, text, r)) == 0 || points < best ||
			    (points == best && all[i]->rank >= all[which]->rank))
				continue;
			best = points;
			which = (int)i;
			*clue = c;
		}
	return which;
}

/* compatible is a list of NUL-terminated strings, the most specific first. It may name several boards, also
 * within longer words ("...-super", "...-as-p3767-0004"): so whole entries are compared, and the first entry
 * that any board has as a match decides. */
int board_match(const char *compatible, size_t len, struct board *const *boards, size_t n, const char **entry)
{
	const struct clue *c;
	int which = -1;

	for (const char *p = compatible; which < 0 && p < compatible + len; p += strlen(p) + 1) {
		*entry = p;
		which = best_clue(boards, n, CLUE_MATCH, p, NULL, &c);
	}
	return which;
}

/* Formats all entries for messages: "a", "b", "c". */
static void list_entries(const char *blob, size_t len, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < len && used < size; i += strlen(blob + i) + 1) {
		char one[96];
		if (!blob[i])
			continue;
		text_printable(one, sizeof one, blob + i, strlen(blob + i));
		int n = snprintf(out + used, size - used, "%s\"%s\"", used ? ", " : "", one);
		used += n > 0 ? (size_t)n : 0;
	}
}

/* If nothing matches, d->why gets the entries of the device tree. */
static int by_compatible(struct detection *d)
{
	char blob[BLOB_MAX], entries[192];
	const char *entry = NULL;

	ssize_t len = root_read(d->root, FILE_COMPATIBLE, blob, sizeof blob);
	int error = errno;
	if (len < 0) {
		if (error == ENOENT)
			snprintf(d->why, sizeof d->why, _("there is no %s"), FILE_COMPATIBLE);
		else
			snprintf(d->why, sizeof d->why, "%s: %.60s", FILE_COMPATIBLE, strerror(error));
		return -1;
	}
	int which = board_match(blob, (size_t)len, d->all, d->n, &entry);
	if (which < 0) {
		list_entries(blob, (size_t)len, entries, sizeof entries);
		snprintf(d->why, sizeof d->why, _("%.100s has %.140s"), FILE_COMPATIBLE, *entries ? entries : "\"\"");
		return -1;
	}
	text_printable(entries, sizeof entries, entry, strlen(entry));
	snprintf(d->why, sizeof d->why, _("%.150s has \"%.90s\""), FILE_COMPATIBLE, entries);
	return which;
}

/* source says text, which is the begin of the model of a board, or an alias. */
static int by_text(struct detection *d, enum clue_kind kind, const char *text, const char *source)
{
	const struct clue *c;
	char shown[96];
	int which = best_clue(d->all, d->n, kind, text, NULL, &c);

	text_printable(shown, sizeof shown, text, strlen(text));
	if (which >= 0)
		snprintf(d->why, sizeof d->why, _("%s says \"%s\""), source, shown);
	return which;
}

static int by_model_file(struct detection *d, const char *path)
{
	char text[160];

	if (file_line(d->root, path, text, sizeof text))
		return by_text(d, CLUE_MODEL, text, path);
	if (errno == EPERM)
		snprintf(d->why, sizeof d->why,
			 _("%s is not believed: it must be a file of root or of this user, or mounted"), path);
	return -1;
}

static int identify(struct detection *d)
{
	/* a name such as JETSON_ORIN_NANO, or a model */
	const char *name = root_is_live(d->root) ? getenv("JETSON_MODEL_NAME") : NULL;
	char before[sizeof d->why], line[96];
	const struct clue *c;
	int which = by_compatible(d);

	if (which < 0)
		which = by_model_file(d, MODEL);
	for (int kind = CLUE_ALIAS; which < 0 && name && *name && kind >= CLUE_MODEL; kind--)
		which = by_text(d, (enum clue_kind)kind, name, "JETSON_MODEL_NAME");
	if (which < 0)
		which = by_model_file(d, MODEL_FILE);
	if (which >= 0)
		return which;
	memcpy(before, d->why, sizeof before);
	which = best_clue(d->all, d->n, CLUE_SENSE, "", d->root, &c);
	/* With the release file it is a Jetson; the file may be mounted into a container. */
	if (which >= 0)
		snprintf(d->why, sizeof d->why, _("recognised by its sensors (%s): %.150s"), c->text, before);
	else if (file_line(d->root, FILE_RELEASE, line, sizeof line))
		snprintf(d->why, sizeof d->why, _("a Jetson of unknown model: %.120s; set NVMTOP_BOARD or mount %s"),
			 before, MODEL_FILE);
	else
		snprintf(d->why, sizeof d->why, _("not a known Jetson: %.200s"), before);
	return which;
}

/* Reports what was ignored, since it may have led to the wrong board or to none; e->code is ERR_NONE if
 * nothing was. */
static void tell_ignored(const struct detection *d, bool recognised, struct err *e)
{
	const struct err *file = &d->unusable;

	e->code = ERR_NONE;
	if (file->code != ERR_NONE && !recognised)
		err_set(e, ERR_DAMAGED, _("%s; it may describe this machine, and no other board file does"),
			file->text);
	else if (file->num)
		err_set(e, ERR_DAMAGED, "%s", file->text);
	else if (file->code != ERR_NONE)
		err_set(e, ERR_DAMAGED, _("board file ignored: %s"), file->text);
	else if (d->closed.code != ERR_NONE && !recognised)
		err_set(e, ERR_DAMAGED,
			_("%s; a file in it may describe this machine, and no other board file does"),
			d->closed.text);
}

struct board *board_detect(const struct root *r, char *why, size_t size, struct err *e)
{
	const char *name = root_is_live(r) ? getenv("NVMTOP_BOARD") : NULL;
	struct detection d = {.root = r};
	struct err told = {.code = ERR_NONE};
	struct board *found = name && *name ? board_load(name, &told) : NULL;

	/* What the user names takes precedence. */
	if (told.code != ERR_NONE) {
		err_set(e, told.code, "NVMTOP_BOARD: %s", told.text);
		return NULL;
	}
	if (found) {
		snprintf(why, size, _("%s says \"%s\""), "NVMTOP_BOARD", found->name);
	} else {
		board_each(detect_take, &d);
		int which = identify(&d);
		text_printable(why, size, d.why, strlen(d.why));
		for (size_t i = 0; i < d.n; i++)
			if ((int)i != which)
				board_free(d.all[i]);
			else
				found = d.all[i];
		free(d.all);
		tell_ignored(&d, found, &told);
	}
	if (!found)
		found = board_load("generic", e);
	if (found && e)
		*e = told;
	return found;
}
