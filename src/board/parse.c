/* Board files to boards: reading them, what they include, and what belongs to whom. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/intl.h"
#include "board/parser.h"

#define FILE_MAX  (1024 * 1024)
#define FILES_MAX 64

void *board_grow(void *array, size_t n, size_t each)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? n * 2 : 1, each);
}

/* Parse text, which is the board's from now on. */
static int parse_text(struct board *b, const char *path, char *text, size_t len, const struct parser *outer,
		      struct err *e)
{
	struct parser p = {.b = b, .outer = outer, .depth = outer ? outer->depth + 1 : 0};
	struct words w;
	int got;

	lex_begin(&p.lexer, path, text, len);
	while ((got = lex_next(&p.lexer, &w, e)) > 0)
		if (board_say(&p, &w, e) < 0)
			return -1;
	return got;
}

/* Have the board own a text; it is freed at once on error. */
static int own(struct board *b, char *text, const char *path, struct err *e)
{
	char **all = b->n_texts < FILES_MAX * 2 ? board_grow(b->texts, b->n_texts, sizeof *all) : NULL;

	if (!all) {
		free(text);
		return err_set(e, ERR_FAILED, _("\"%s\": out of memory, or more than %d files"), path,
			       FILES_MAX);
	}
	b->texts = all;
	all[b->n_texts++] = text;
	return 0;
}

/* The whole of a file with a byte of room behind it. */
static char *slurp(const char *path, size_t *len, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text = NULL;
	size_t used = 0;
	ssize_t n = 0;
	char shown[512];

	text_printable(shown, sizeof shown, path, strlen(path));
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot read the board file \"%s\""), shown);
		goto out;
	}
	if (S_ISDIR(st.st_mode)) {
		err_sys(e, ERR_FAILED, EISDIR, _("cannot read the board file \"%s\""), shown);
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
		err_set(e, ERR_FAILED, _("\"%s\" is not a board file: not a regular file of at most 1 MiB"),
			shown);
		goto out;
	}
	text = malloc(FILE_MAX + 1);
	while (text && used < FILE_MAX && (n = read(fd, text + used, FILE_MAX - used)) > 0)
		used += (size_t)n;
	if (!text || n < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot read the board file \"%s\""), shown);
		free(text);
		text = NULL;
	} else {
		char *smaller = realloc(text, used + 1);
		text = smaller ? smaller : text;
	}
	*len = used;
out:
	if (fd >= 0)
		close(fd);
	return text;
}

bool board_readable(const char *path, struct err *e)
{
	size_t len;
	char *text = slurp(path, &len, e);

	free(text);
	return text != NULL;
}

int board_parse_file(struct board *b, const char *path, const struct parser *outer, struct err *e)
{
	size_t len = 0;
	char *name = strdup(path), *text;

	/* The name lives as long as the statements that point to it. */
	if (!name)
		return err_sys(e, ERR_FAILED, errno, _("cannot read the board file \"%s\""), path);
	if (own(b, name, path, e) < 0 || !(text = slurp(path, &len, e)) || own(b, text, path, e) < 0)
		return -1;
	return parse_text(b, name, text, len, outer, e);
}

static struct board *finish(struct board *b, int result, struct err *e)
{
	if (!result && (!b->name[0] || !b->title[0]))
		result = err_set(e, ERR_FAILED,
				 _("%s: a board file needs a line \"board NAME\" and one \"title TEXT\""),
				 b->path);
	else if (!result && !b->n_statements)
		result = err_set(e, ERR_FAILED, _("%s: this board file has no signals"), b->path);
	if (!result)
		return b;
	board_free(b);
	return NULL;
}

static struct board *begin(const char *path, struct err *e)
{
	struct board *b = calloc(1, sizeof *b);

	if (!b)
		err_sys(e, ERR_FAILED, errno, _("cannot read the board file \"%s\""), path);
	else
		snprintf(b->path, sizeof b->path, "%s", path);
	return b;
}

struct board *board_parse(const char *path, struct err *e)
{
	struct board *b = begin(path, e);

	return b ? finish(b, board_parse_file(b, path, NULL, e), e) : NULL;
}

struct board *board_parse_text(const char *path, const char *text, size_t len, struct err *e)
{
	struct board *b = begin(path, e);
	char *copy = b ? malloc(len + 1) : NULL;

	if (!b)
		return NULL;
	if (!copy)
		return finish(b, err_sys(e, ERR_FAILED, errno, _("cannot read the board file \"%s\""), path),
			      e);
	memcpy(copy, text, len);
	if (own(b, copy, path, e) < 0)
		return finish(b, -1, e);
	return finish(b, parse_text(b, b->path, copy, len, NULL, e), e);
}

void board_free(struct board *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_texts; i++)
		free(b->texts[i]);
	for (size_t i = 0; i < b->n_arrays; i++)
		free(b->arrays[i]);
	free(b->texts);
	free(b->arrays);
	free(b->matches);
	free(b->clues);
	free(b->facts);
	free(b->statements);
	free(b);
}

const char *board_name(const struct board *b)
{
	return b->name;
}

const char *board_title(const struct board *b)
{
	return b->title;
}

const char *board_path(const struct board *b)
{
	return b->path;
}
