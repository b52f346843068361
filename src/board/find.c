/* Finds board files, and what lies beside them. The first folder that has a name wins, so that a user's agx_orin.board replaces the
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
#include "board/board.h"

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

static int compare(const void *x, const void *y)
{
	return strcmp(((const struct board_file *)x)->name, ((const struct board_file *)y)->name);
}

/* Returns true if the error means that a path does not exist; with any other error it might. */
static bool is_absent(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

/* Adds the board files of a folder, without names that earlier folders have. A folder that cannot be read has
 * no boards; e gets the reason. */
static void add_folder(struct board_file **files, size_t *n, int rank, const char *dir, struct err *e)
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
		return;
	}
	while ((entry = readdir(d)) && *n < FILES_MOST) {
		int len = (int)strlen(entry->d_name) - 6;
		if (entry->d_name[0] == '.' || len + 6 >= 64 || !text_ends_in(entry->d_name, ".board"))
			continue;
		size_t i = 0;
		while (i < earlier &&
		       (strncmp((*files)[i].name, entry->d_name, (size_t)len) != 0 || (*files)[i].name[len]))
			i++;
		if (i < earlier)
			continue;
		struct board_file *f = array_add(files, n, sizeof *f);
		if (!f) {
			err_sys(e, ERR_FAILED, ENOMEM, _("cannot list the board files"));
			break;
		}
		f->rank = rank;
		snprintf(f->name, sizeof f->name, "%.*s", len, entry->d_name);
		snprintf(f->path, sizeof f->path, "%.440s/%.63s", dir, entry->d_name);
	}
	closedir(d);
}

struct board_file *board_files(size_t *n, struct err *e)
{
	struct board_file *files = NULL;
	char dir[PATH_SIZE];

	*n = 0;
	e->code = ERR_NONE;
	for (int rank = 0; rank < FOLDERS; rank++)
		if (board_folder(rank, dir))
			add_folder(&files, n, rank, dir, e);
	if (*n)
		qsort(files, *n, sizeof *files, compare);
	return files;
}

const char *board_find(const char *name, char *path, size_t size, struct err *e)
{
	char dir[PATH_SIZE], hiding[PATH_SIZE], tried[512] = "", shown[256];
	size_t len = strlen(name), used = 0;
	int hidden = 0;

	text_printable(shown, sizeof shown, name, len);
	if (strchr(name, '/') || text_ends_in(name, ".board")) {
		if (access(name, F_OK) == 0 || !is_absent(errno))
			return name;
		err_sys(e, ERR_USAGE, errno, _("there is no board file \"%s\""), shown);
		return NULL;
	}
	for (int i = 0; i < FOLDERS && len && len < 64 && name[0] != '.'; i++) {
		if (!board_folder(i, dir))
			continue;
		snprintf(path, size, "%s/%s.board", dir, name);
		if (access(path, F_OK) == 0)
			return path;
		if (!is_absent(errno) && !hidden) {
			hidden = errno;
			text_printable(hiding, sizeof hiding, dir, strlen(dir));
		}
		int wrote = snprintf(tried + used, sizeof tried - used, "%s%s", used ? ", " : "", dir);
		used += wrote > 0 && (size_t)wrote < sizeof tried - used ? (size_t)wrote : 0;
	}
	/* Every installation has generic.board. */
	if (hidden)
		err_sys(e, ERR_FAILED, hidden, _("cannot look for the board \"%s\" in \"%s\""), shown, hiding);
	else if (*tried && !board_find_file("generic.board", path, size))
		err_set(e, ERR_FAILED,
			_("the board files of nvmtop are in none of the folders %s; run `make install`, or set "
			  "NVMTOP_BOARDS to the folder they are in"),
			tried);
	else
		err_set(e, ERR_USAGE, _("unknown board \"%s\"; searched %s; `nvmtop boards` lists all"),
			shown, *tried ? tried : "-");
	return NULL;
}
