/* Finds board files. The first folder that has a name wins, so that a user's agx_orin.board replaces the
 * installed one. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/text.h"
#include "board/parsed.h"

#define FOLDERS    4
#define FILES_MOST 512
#define PATH_SIZE  448

static bool installed_only;

void board_installed_only(void)
{
	installed_only = true;
}

/* Gets the nth folder. Returns false if it is not set or does not fit. */
static bool board_folder(int n, char out[PATH_SIZE])
{
	const char *var = NULL, *behind = "";
	int len;

	if (installed_only && n < FOLDERS - 1)
		return false;
	switch (n) {
	case 0:
		var = getenv("NVMTOP_BOARDS");
		break;
	case 1:
		var = getenv("XDG_CONFIG_HOME");
		behind = "/nvmtop/boards";
		if (!var || *var != '/') {
			var = getenv("HOME");
			behind = "/.config/nvmtop/boards";
		}
		break;
	case 2:
		return build_tree_file("boards", out, PATH_SIZE);
	default:
		var = BOARDDIR;
	}
	if (!var || !*var)
		return false;
	len = snprintf(out, PATH_SIZE, "%s%s", var, behind);
	return len > 0 && len < PATH_SIZE;
}

bool board_find_file(const char *name, char *path, size_t size)
{
	char dir[PATH_SIZE];

	for (int i = 0; i < FOLDERS; i++) {
		if (!board_folder(i, dir))
			continue;
		int n = snprintf(path, size, "%s/%s", dir, name);
		if (n > 0 && (size_t)n < size && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool is_board_file(const char *name)
{
	return strlen(name) < 64 && name[0] != '.' && text_ends_in(name, ".board");
}

static int compare(const void *x, const void *y)
{
	const struct board_file *a = x, *b = y;

	return a->rank != b->rank ? a->rank - b->rank : strcmp(a->name, b->name);
}

/* Returns true if the error means that a path does not exist; with any other error it might. */
static bool is_absent(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

/* Adds the board files of a folder, without names that earlier folders have. A folder that cannot be read has
 * no boards; e gets the reason. */
static int add_folder(struct board_file **files, size_t *n, int rank, const char *dir, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	size_t earlier = *n;
	char shown[PATH_SIZE];

	if (!d) {
		int error = errno;

		text_printable(shown, sizeof shown, dir, strlen(dir));
		if (!is_absent(error))
			err_sys(e, ERR_DAMAGED, error, _("cannot read the folder of board files \"%s\""),
				shown);
		return 0;
	}
	while ((entry = readdir(d)) && *n < FILES_MOST) {
		if (!is_board_file(entry->d_name))
			continue;
		int len = (int)strlen(entry->d_name) - 6;
		size_t i = 0;
		while (i < earlier &&
		       (strncmp((*files)[i].name, entry->d_name, (size_t)len) != 0 || (*files)[i].name[len]))
			i++;
		if (i < earlier)
			continue;
		struct board_file *f = array_add(files, n, sizeof *f);
		if (!f) {
			closedir(d);
			return err_sys(e, ERR_FAILED, ENOMEM, _("cannot list the board files"));
		}
		f->rank = rank;
		snprintf(f->name, sizeof f->name, "%.*s", len, entry->d_name);
		snprintf(f->path, sizeof f->path, "%.440s/%.63s", dir, entry->d_name);
	}
	closedir(d);
	return 0;
}

int board_files(struct board_file **files, size_t *n, struct err *e)
{
	char dir[PATH_SIZE];

	*files = NULL;
	*n = 0;
	e->code = ERR_NONE;
	for (int rank = 0; rank < FOLDERS; rank++)
		if (board_folder(rank, dir) && add_folder(files, n, rank, dir, e) < 0) {
			free(*files);
			return -1;
		}
	if (*n)
		qsort(*files, *n, sizeof **files, compare);
	return 0;
}

struct board *board_load(const char *name, struct err *e)
{
	char dir[PATH_SIZE], path[PATH_SIZE + 80], tried[512] = "", shown[256];
	char hiding[PATH_SIZE];
	size_t len = strlen(name), used = 0;
	int hidden = 0;

	text_printable(shown, sizeof shown, name, len);
	if (strchr(name, '/') || text_ends_in(name, ".board")) {
		if (access(name, F_OK) == 0 || !is_absent(errno))
			return board_parse(name, e);
		err_sys(e, ERR_USAGE, errno, _("there is no board file \"%s\""), shown);
		return NULL;
	}
	for (int i = 0; i < FOLDERS && len && len < 64 && name[0] != '.'; i++) {
		if (!board_folder(i, dir))
			continue;
		snprintf(path, sizeof path, "%s/%s.board", dir, name);
		if (access(path, F_OK) == 0)
			return board_parse(path, e);
		if (!is_absent(errno) && !hidden) {
			hidden = errno;
			memcpy(hiding, dir, sizeof hiding);
		}
		int wrote = snprintf(tried + used, sizeof tried - used, "%s%s", used ? ", " : "", dir);
		used += wrote > 0 && (size_t)wrote < sizeof tried - used ? (size_t)wrote : 0;
	}
	if (hidden) {
		text_printable(dir, sizeof dir, hiding, strlen(hiding));
		err_sys(e, ERR_FAILED, hidden, _("cannot look for the board \"%s\" in \"%s\""), shown, dir);
		return NULL;
	}
	/* Every installation has it. */
	if (*tried && !board_find_file("generic.board", path, sizeof path))
		err_set(e, ERR_FAILED,
			_("the board files of nvmtop are in none of the folders %s; run `make install`, or set "
			  "NVMTOP_BOARDS to the folder they are in"),
			tried);
	else
		err_set(e, ERR_USAGE, _("unknown board \"%s\"; searched %s; `nvmtop boards` lists all"),
			shown, *tried ? tried : "-");
	return NULL;
}

static int compare_name(const void *x, const void *y)
{
	const struct board_file *a = x, *b = y;

	return strcmp(a->name, b->name);
}

void board_each(void (*visit)(void *arg, const struct board *b, const struct err *e), void *arg)
{
	struct board_file *files;
	struct err e = {.code = ERR_NONE};
	size_t n;

	if (board_files(&files, &n, &e) < 0) {
		visit(arg, NULL, &e);
		return;
	}
	if (e.code != ERR_NONE)
		visit(arg, NULL, &e);
	if (n)
		qsort(files, n, sizeof *files, compare_name);
	for (size_t i = 0; i < n; i++) {
		struct err why = {.code = ERR_NONE};
		struct board *b = board_parse(files[i].path, &why);
		visit(arg, b, b ? NULL : &why);
		board_free(b);
	}
	free(files);
}
